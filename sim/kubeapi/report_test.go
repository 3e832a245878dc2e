package kubeapi_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

// A repeated report counts.
func TestReportsAreEvents(t *testing.T) {
	w := start(t, kubeapi.Options{})
	say := func(reason string) {
		if err := w.Report(kubeapi.Report{APIVersion: "v1", Kind: "Node", Name: "cmp-01", UID: "u", Reason: reason, Message: "so",
			From: "kubelet", Warning: reason == "NodeNotReady"}); err != nil {
			t.Fatal(err)
		}
	}
	say("NodeNotReady")
	w.clock.Advance(time.Minute)
	say("NodeNotReady")
	say("Rebooted")
	list, err := w.typed(kubeapi.Admin).CoreV1().Events("default").List(w.ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Node,involvedObject.name=cmp-01,type=Warning"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d events, %v", len(list.Items), err)
	}
	if e := list.Items[0]; e.Count != 2 || !e.LastTimestamp.After(e.FirstTimestamp.Time) || e.Source.Component != "kubelet" {
		t.Errorf("the event is %+v", e)
	}
}

// Events expire an hour after they were last written, by the clock: on every server, whoever wrote them, and with no further write.
func TestEventsExpireByTheClock(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1)})
		events := w.typed(kubeapi.Admin).CoreV1().Events("default")
		write := func(name string) {
			t.Helper()
			if _, err := events.Create(w.ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name},
				InvolvedObject: corev1.ObjectReference{Kind: "Machine", Namespace: "default", Name: "m"}, Reason: "Rebooted"},
				metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		wantLeft := func(want string) {
			t.Helper()
			list, err := events.List(w.ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range list.Items {
				names = append(names, e.Name)
			}
			if left := strings.Join(names, " "); left != want {
				t.Fatalf("%q are left, want %q", left, want)
			}
		}
		// The server looks at its clock and then sleeps: what passes between the two would be lost.
		advance := func(d time.Duration) {
			synctest.Wait()
			w.clock.Advance(d)
			synctest.Wait()
		}
		write("counted")
		write("once")
		watcher, err := events.Watch(w.ctx, metav1.ListOptions{FieldSelector: "metadata.name=once"})
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Stop()
		next(t, watcher) // it is there
		advance(50 * time.Minute)
		e, err := events.Get(w.ctx, "counted", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		e.Count = 2
		if _, err := events.Update(w.ctx, e, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		write("later")
		wantLeft("counted later once")
		advance(12 * time.Minute)
		wantLeft("counted later")
		if e := next(t, watcher); e.Type != watch.Deleted {
			t.Errorf("a watch was told of %s", e.Type)
		}
		advance(time.Hour)
		wantLeft("")
	})
}
