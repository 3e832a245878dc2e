package kubeapi_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/sim/kubeapi"
)

// A repeated report counts; an hour after its last time an Event is gone.
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
	w.clock.Advance(2 * time.Hour)
	for range 100 {
		say("NodeReady")
	}
	if list, err := w.typed(kubeapi.Admin).CoreV1().Events("default").List(w.ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 1 {
		t.Errorf("%d events are left, %v", len(list.Items), err)
	}
}
