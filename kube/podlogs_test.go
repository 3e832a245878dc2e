package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// reader is a log that is being read.
type reader struct {
	t    *testing.T
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	lines   []core.LogLine
	pods    []core.LogPod
	trouble *core.APIError
	err     error
	changed chan struct{}
}

func readLog(t *testing.T, l *Looker, r core.LogRequest) *reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := &reader{t: t, stop: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	go func() {
		defer close(out.done)
		err := l.Log(ctx, r, out.take)
		out.mu.Lock()
		out.err = err
		out.mu.Unlock()
		out.take(core.LogPart{})
	}()
	t.Cleanup(func() { cancel(); <-out.done })
	return out
}

func (r *reader) take(p core.LogPart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, p.Lines...)
	if p.Pods != nil {
		r.pods = p.Pods
	}
	if r.trouble = p.Trouble; p.Well {
		r.trouble = nil
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// until waits until the log is as wanted.
func (r *reader) until(what string, wanted func(*reader) bool) {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		ok, changed := wanted(r), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.mu.Lock()
			defer r.mu.Unlock()
			r.t.Fatalf("never: %s; %d lines, trouble %v, error %v", what, len(r.lines), r.trouble, r.err)
		}
	}
}

// texts are the lines, notices in brackets.
func (r *reader) texts() []string {
	var out []string
	for _, l := range r.lines {
		if l.Notice {
			l.Text = "[" + l.Text + "]"
		}
		out = append(out, l.Text)
	}
	return out
}

func (r *reader) ended(*reader) bool {
	select {
	case <-r.done:
		return true
	default:
		return r.err != nil
	}
}

const rockoonPod = `{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: osh-system, labels: {app.kubernetes.io/name: rockoon}},
  spec: {nodeName: ctl-01, containers: [{name: osdpl, image: x}, {name: nodemaintenancerequest, image: x}]}, status: {phase: Running,
  containerStatuses: [{name: nodemaintenancerequest, image: x, imageID: x, ready: true, restartCount: %d,
  state: {running: {startedAt: "%s"}}}]}}`

func (c *cluster) rockoonSays(text string) {
	c.WriteLog("osh-system", "rockoon", "", "nodemaintenancerequest", text)
}

func rockoonLog() core.LogTarget {
	return core.LogTarget{Server: core.ServerKubernetes, Namespace: "osh-system", Part: "rockoon-", Container: "nodemaintenancerequest",
		Label: "rockoon"}
}

// setStatus changes the status of a pod in osh-system.
func (c *cluster) setStatus(pod string, change func(object map[string]any)) {
	c.t.Helper()
	pods := c.admin.Resource(gvrPods).Namespace("osh-system")
	u, err := pods.Get(c.t.Context(), pod, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	change(u.Object)
	if _, err := pods.UpdateStatus(c.t.Context(), u, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// A followed log is cut again and again, cleanly and in the middle of a line, while lines come of which many have the same time:
// each line comes once, in order.
func TestAFollowedLogLosesNothingWhereItIsCut(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(fmt.Sprintf(rockoonPod, "rockoon-1", 0, time.Now().UTC().Format(time.RFC3339)))
		var want []string
		write := func(n int) {
			for range n {
				text := fmt.Sprintf("line %d", len(want))
				want = append(want, text)
				c.rockoonSays(text)
			}
		}
		write(40)
		r := readLog(t, NewLooker(c.client(kubeapi.Readonly), nil), core.LogRequest{LogTarget: rockoonLog(), Follow: true})
		r.until("the first lines", func(r *reader) bool { return len(r.lines) == 40 })
		for i := range 30 {
			write(3)
			time.Sleep(time.Duration(i%4) * 170 * time.Millisecond)
			write(i % 3)
			c.CutLogs(i%2 == 0)
			write(2)
			time.Sleep(time.Duration(i%7) * 400 * time.Millisecond)
		}
		r.until("all lines", func(r *reader) bool { return len(r.lines) >= len(want) })
		time.Sleep(time.Minute)
		r.mu.Lock()
		defer r.mu.Unlock()
		if got := r.texts(); !slices.Equal(got, want) {
			t.Errorf("%d lines came of %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		}
		if r.trouble != nil {
			t.Errorf("trouble is left: %v", r.trouble)
		}
	})
}

// While the server is away nothing comes, and the operator sees why; afterwards the log goes on where it was.
func TestALogGoesOnAfterAnOutage(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(fmt.Sprintf(rockoonPod, "rockoon-1", 0, time.Now().UTC().Format(time.RFC3339)))
		c.rockoonSays("before")
		r := readLog(t, NewLooker(c.client(kubeapi.Readonly), nil), core.LogRequest{LogTarget: rockoonLog(), Follow: true})
		r.until("the first line", func(r *reader) bool { return len(r.lines) == 1 })
		if err := c.Outage(true); err != nil {
			t.Fatal(err)
		}
		c.rockoonSays("meanwhile")
		r.until("trouble", func(r *reader) bool { return r.trouble != nil && r.trouble.Kind == core.ErrUnreachable })
		if err := c.Outage(false); err != nil {
			t.Fatal(err)
		}
		r.until("the rest, and no trouble", func(r *reader) bool {
			return slices.Equal(r.texts(), []string{"before", "meanwhile"}) && r.trouble == nil
		})
	})
}

// What a container wrote last before it was started again is read from its previous run, and the log says what happened. A pod's
// successor is found.
func TestALogFollowsItsContainerAndItsPod(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{InstantPodDeletion: true})
		c.create(fmt.Sprintf(rockoonPod, "rockoon-1", 0, time.Now().UTC().Format(time.RFC3339)))
		say := func(text string) { c.rockoonSays(text); time.Sleep(2 * time.Second) }
		say("one")
		looker := NewLooker(c.client(kubeapi.Readonly), nil)
		r := readLog(t, looker, core.LogRequest{LogTarget: rockoonLog(), Follow: true})
		r.until("the first line", func(r *reader) bool { return len(r.lines) == 1 })
		c.CutLogs(false)
		c.rockoonSays("last words")
		time.Sleep(100 * time.Millisecond)
		c.setStatus("rockoon-1", func(o map[string]any) {
			status := fields(o).at("status")["containerStatuses"].([]any)[0].(map[string]any)
			status["restartCount"] = int64(1)
			status["state"] = map[string]any{"running": map[string]any{
				"startedAt": time.Now().Add(time.Second).UTC().Format(time.RFC3339)}}
		})
		time.Sleep(3 * time.Second)
		say("two")
		r.until("both runs", func(r *reader) bool {
			return slices.Equal(r.texts(), []string{"one", "last words",
				"[the container nodemaintenancerequest of rockoon-1 has started again: restart 1]", "two"})
		})
		before := readLog(t, looker, core.LogRequest{LogTarget: rockoonLog(), Previous: true})
		before.until("the previous run", func(r *reader) bool { return slices.Equal(r.texts(), []string{"one", "last words"}) })
		c.delete(gvrPods, "osh-system", "rockoon-1")
		time.Sleep(2 * time.Second)
		c.create(fmt.Sprintf(rockoonPod, "rockoon-2", 0, time.Now().UTC().Format(time.RFC3339)))
		say("three")
		r.until("the successor's line", func(r *reader) bool {
			n := len(r.lines)
			return r.lines[n-1].Text == "three" && r.lines[n-1].Pod == "rockoon-2" && r.lines[n-2].Notice && r.pods[0].Name == "rockoon-2"
		})
	})
}

// What cannot be read says why and what to do, and a line may be as long as it likes.
func TestWhatALogCannotShow(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		began := time.Now().UTC().Format(time.RFC3339)
		c.create(fmt.Sprintf(rockoonPod, "rockoon-1", 0, began))
		c.create(`{apiVersion: v1, kind: Pod, metadata: {name: starting, namespace: osh-system}, spec: {containers: [{name: c, image: x}]},
  status: {containerStatuses: [{name: c, image: x, imageID: x, restartCount: 0, state: {waiting: {reason: ContainerCreating}}}]}}`)
		huge := strings.Repeat("é", 1<<20)
		c.SetLog("osh-system", "rockoon-1", "osdpl", []string{"connect to https://admin:hunter2@host/", huge, "\x1b[31mred\x1b[0m", "end"})
		if err := c.SetUser(kubeapi.User{Name: "ann", Rules: slices.DeleteFunc(kubeapi.ReadonlyRules(), func(r kubeapi.Rule) bool {
			return slices.Contains(r.Resources, "pods/log")
		})}); err != nil {
			t.Fatal(err)
		}
		at := func(pod string) core.LogTarget {
			return core.LogTarget{Server: core.ServerKubernetes, Namespace: "osh-system", Pod: pod, Label: pod}
		}
		for _, test := range []struct {
			what, user string
			r          core.LogRequest
			kind       core.ErrorKind
			says       string
		}{
			{"no right", "ann", core.LogRequest{LogTarget: at("rockoon-1"), Follow: true}, core.ErrForbidden,
				"You may not get pods/log in namespace osh-system: ask an administrator to apply deploy/rbac-readonly.yaml."},
			{"no pod", kubeapi.Readonly, core.LogRequest{LogTarget: at("gone"), Follow: true}, core.ErrNotFound, "its log is gone with it"},
			{"no pod of a workload", kubeapi.Readonly, core.LogRequest{LogTarget: core.LogTarget{Server: core.ServerKubernetes,
				Namespace: "openstack", Selector: "application=nova", Node: "cmp-01"}}, core.ErrNotFound,
				"no pod of namespace openstack with application=nova runs on node cmp-01"},
			{"no earlier run", kubeapi.Readonly, core.LogRequest{LogTarget: at("rockoon-1"), Previous: true}, core.ErrInvalid,
				"has not been started again"},
			{"it has not started", kubeapi.Readonly, core.LogRequest{LogTarget: at("starting")}, core.ErrInvalid,
				`container "c" in pod "starting" is waiting to start: ContainerCreating`},
			{"no management cluster", kubeapi.Readonly, core.LogRequest{LogTarget: core.LogTarget{Server: core.ServerManagement}},
				core.ErrConfiguration, "--management-context"},
		} {
			r := readLog(t, NewLooker(c.client(test.user), nil), test.r)
			r.until(test.what+" ends it", r.ended)
			<-r.done
			var e *core.APIError
			if !errors.As(r.err, &e) || e.Kind != test.kind || !strings.Contains(e.Error()+" "+e.Remedy, test.says) {
				t.Errorf("%s: %v, remedy %q", test.what, r.err, e.Remedy)
			}
		}
		r := readLog(t, NewLooker(c.client(kubeapi.Readonly), nil), core.LogRequest{LogTarget: at("rockoon-1")})
		<-r.done
		if len(r.lines) != 4 || r.err != nil {
			t.Fatalf("%d lines, %v", len(r.lines), r.err)
		}
		if got := r.lines[0].Text; strings.Contains(got, "hunter2") || !strings.Contains(got, core.Hidden) {
			t.Errorf("a password is shown: %q", got)
		}
		if l := r.lines[1]; l.Length != 2<<20 || len(l.Text) > core.MaxLogLine+3 || len(l.Text) < core.MaxLogLine {
			t.Errorf("2 MiB became %d bytes, said to be %d", len(l.Text), l.Length)
		}
		if l := r.lines[3]; l.Text != "end" || l.Length != 0 || l.At.IsZero() {
			t.Errorf("the last line is %+v", l)
		}
		// A container that starts soon is waited for.
		waits := readLog(t, NewLooker(c.client(kubeapi.Readonly), nil), core.LogRequest{LogTarget: at("starting"), Follow: true})
		waits.until("that it waits", func(r *reader) bool { return r.trouble != nil })
		c.setStatus("starting", func(o map[string]any) { fields(o).at("status")["containerStatuses"] = nil })
		c.SetLog("osh-system", "starting", "c", []string{"hello"})
		waits.until("its line", func(r *reader) bool { return slices.Equal(r.texts(), []string{"hello"}) && r.trouble == nil })
	})
}

// The log of a workload goes on whatever happens to one of its pods: an answer that the pod is not there, at a moment when it is; a
// pod whose log may not be read; a pod that goes.
func TestOnePodDoesNotEndTheLogOfAWorkload(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{InstantPodDeletion: true})
		begin := func(name string) {
			c.create(fmt.Sprintf(rockoonPod, name, 0, time.Now().UTC().Format(time.RFC3339)))
		}
		gone := kubeapi.Fault{Verb: "get", Resource: "pods", Subresource: "log", Code: 404, Message: `pods "rockoon-1" not found`, Times: 1}
		begin("rockoon-1")
		c.rockoonSays("one")
		looker := NewLooker(c.client(kubeapi.Readonly), nil)
		c.AddFault(gone)
		r := readLog(t, looker, core.LogRequest{LogTarget: rockoonLog(), Follow: true})
		r.until("the first line", func(r *reader) bool { return slices.Equal(r.texts(), []string{"one"}) })
		c.AddFault(gone)
		c.CutLogs(false)
		c.rockoonSays("two")
		r.until("the next line, once, and no trouble", func(r *reader) bool {
			return slices.Equal(r.texts(), []string{"one", "two"}) && r.trouble == nil
		})

		allow := c.AddFault(kubeapi.Fault{Verb: "get", Resource: "pods", Subresource: "log", Name: "rockoon-2", Code: 403})
		begin("rockoon-2")
		r.until("the second pod, which may not be read", func(r *reader) bool {
			return len(r.pods) == 2 && strings.Contains(r.texts()[len(r.lines)-1], "[the log of rockoon-2 cannot be read: ")
		})
		once := readLog(t, looker, core.LogRequest{LogTarget: rockoonLog()})
		<-once.done
		if got := strings.Join(once.texts(), ", "); once.err != nil || len(once.lines) != 3 || !strings.Contains(got, "one, two") ||
			!strings.Contains(got, "rockoon-2 cannot be read") {
			t.Errorf("read once are %q, %v", got, once.err)
		}
		c.delete(gvrPods, "osh-system", "rockoon-1")
		time.Sleep(time.Minute)
		allow()
		c.delete(gvrPods, "osh-system", "rockoon-2")
		time.Sleep(time.Second)
		begin("rockoon-3")
		c.rockoonSays("three")
		r.until("the line of the third", func(r *reader) bool { return r.texts()[len(r.lines)-1] == "three" })

		// Where none can be read it is tried again, and where none ever could it ends. Both say why.
		allow = c.AddFault(kubeapi.Fault{Verb: "get", Resource: "pods", Subresource: "log", Code: 403})
		c.CutLogs(false)
		c.rockoonSays("four")
		r.until("trouble", func(r *reader) bool { return r.trouble != nil && r.trouble.Kind == core.ErrForbidden })
		never := readLog(t, looker, core.LogRequest{LogTarget: rockoonLog(), Follow: true})
		never.until("the end", never.ended)
		<-never.done
		var e *core.APIError
		if !errors.As(never.err, &e) || e.Kind != core.ErrForbidden {
			t.Errorf("it ended with %v", never.err)
		}
		allow()
		r.until("the line after the trouble", func(r *reader) bool { return r.texts()[len(r.lines)-1] == "four" && r.trouble == nil })
		if got := strings.Join(r.texts(), " "); strings.Count(got, "three") != 1 {
			t.Errorf("a line came twice: %s", got)
		}
	})
}

// No more pods are read at the same time than are allowed, and which ones are is told.
func TestAsManyPodsAreReadAsAreAllowed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		for i := range core.MostLogPods + 3 {
			c.create(fmt.Sprintf(rockoonPod, fmt.Sprintf("rockoon-%02d", i), 0, time.Now().UTC().Format(time.RFC3339)))
			c.SetLog("osh-system", fmt.Sprintf("rockoon-%02d", i), "", []string{"hello"})
			time.Sleep(time.Second)
		}
		r := readLog(t, NewLooker(c.client(kubeapi.Readonly), nil), core.LogRequest{LogTarget: rockoonLog(), Follow: true})
		r.until("all lines", func(r *reader) bool { return len(r.lines) >= core.MostLogPods })
		time.Sleep(time.Minute)
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.lines) != core.MostLogPods || len(r.pods) != core.MostLogPods+3 {
			t.Errorf("%d lines of %d pods", len(r.lines), len(r.pods))
		}
		for i, p := range r.pods {
			if p.Read != (i < core.MostLogPods) {
				t.Errorf("pod %d, %s: read %v", i, p.Name, p.Read)
			}
		}
	})
}

// A range of time is read from its beginning to its end, and nothing behind it.
func TestARangeOfALog(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(fmt.Sprintf(rockoonPod, "rockoon-1", 0, time.Now().UTC().Format(time.RFC3339)))
		began := time.Now()
		for i := range 60 {
			c.rockoonSays(fmt.Sprint("minute ", i))
			time.Sleep(time.Minute)
		}
		looker := NewLooker(c.client(kubeapi.Readonly), nil)
		for _, test := range []struct {
			from, to    time.Duration
			first, last string
			lines       int
		}{
			{10 * time.Minute, 20 * time.Minute, "minute 10", "minute 19", 10},
			{10*time.Minute + 500*time.Millisecond, 12*time.Minute + 500*time.Millisecond, "minute 11", "minute 12", 2},
			{50 * time.Minute, 3 * time.Hour, "minute 50", "minute 59", 10},
		} {
			r := readLog(t, looker, core.LogRequest{LogTarget: rockoonLog(), Tail: 3, From: began.Add(test.from), To: began.Add(test.to)})
			<-r.done
			if got := r.texts(); r.err != nil || len(got) != test.lines || got[0] != test.first || got[len(got)-1] != test.last {
				t.Errorf("from %s to %s: %q, %v", test.from, test.to, got, r.err)
			}
		}
		r := readLog(t, looker, core.LogRequest{LogTarget: rockoonLog(), From: began.Add(58 * time.Minute), Follow: true})
		r.until("the lines since then", func(r *reader) bool { return len(r.lines) == 2 })
		c.rockoonSays("a new one")
		r.until("what comes", func(r *reader) bool { return slices.Equal(r.texts(), []string{"minute 58", "minute 59", "a new one"}) })
	})
}
