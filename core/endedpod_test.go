package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// endedOn has pods that have ended on a node that returns, and nothing else that its return waits for.
func endedOn(sc scene, node string, names ...string) *NodePods {
	p := &NodePods{Node: node, Total: 20}
	for i, name := range names {
		e := EndedPod{Namespace: "openstack", Name: name, UID: "pod-" + name, Phase: "Failed", Reason: "Evicted", Owner: "ReplicaSet", Since: Since{At: ago(time.Duration(i+1) * 30 * time.Hour), Exact: true}}
		p.Ended = append(p.Ended, e)
		p.NotReady = append(p.NotReady, e.name())
	}
	sc.Pods[node] = p
	return p
}

// returning is a healthy cluster in which cmp-01 is Ready again, and its request is being removed.
func returning() scene {
	sc := healthy()
	l := sc.maintained("cmp-01", "")
	l.RawState = LockInactive
	sc.NodeRequests["cmp-01"][0].Deleting = ago(3 * time.Minute)
	return sc
}

func entryOf(s *Snapshot, rule string) (Attention, bool) {
	all := s.Attention()
	i := slices.IndexFunc(all, func(a Attention) bool { return a.ID == rule || strings.HasPrefix(a.ID, rule+"/") })
	if i < 0 {
		return Attention{}, false
	}
	return all[i], true
}

// A pod that has ended holds the return of its node for ever, and the controller does not say so: it is named, at once, with its phase and
// since when, and so long as it is what the return waits for.
func TestPodsThatHaveEndedAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(sc scene)
		told   bool
	}{
		"one pod":            {func(sc scene) { endedOn(sc, "cmp-01", "octavia-1") }, true},
		"played by Lockstep": {func(sc scene) { endedOn(sc, "cmp-01", "octavia-1"); sc.Settings = playsOpenStack() }, true},
		"another is not ready": {func(sc scene) {
			p := endedOn(sc, "cmp-01", "octavia-1")
			p.NotReady = append(p.NotReady, PodName{"openstack", "ovs"})
		}, false},
		"it is being deleted":  {func(sc scene) { endedOn(sc, "cmp-01", "octavia-1").Ended[0].Deleting = ago(time.Second) }, false},
		"the node is not back": {func(sc scene) { endedOn(sc, "cmp-01", "octavia-1"); sc.Nodes["cmp-01"].Ready = "False" }, false},
		"the node leaves yet": {func(sc scene) {
			endedOn(sc, "cmp-01", "octavia-1")
			sc.NodeRequests["cmp-01"][0].Deleting = time.Time{}
		}, false},
		"it was never begun": {func(sc scene) {
			endedOn(sc, "cmp-01", "octavia-1")
			sc.NodeLock("cmp-01", ControllerOpenStack).InnerState = InnerInactive
		}, false},
		"the pods are not known": {func(sc scene) { endedOn(sc, "cmp-01", "octavia-1"); sc.source(SourceNodePods, SourceForbidden) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := returning()
			tt.change(sc)
			s := sc.again().Snapshot
			a, told := entryOf(s, "ended-pods")
			if told != tt.told {
				t.Fatalf("told %v: %+v", told, s.Attention())
			}
			if told && (a.Severity != SeverityUrgent || a.Node != "cmp-01" || a.Resolve == nil ||
				!strings.Contains(a.Reason, "its return waits for 1 pod that has ended: openstack/octavia-1 (Failed (Evicted), since 2026-03-13 06:00)")) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// While they hold the return, the entry that a node is slow to return says nothing more.
func TestPodsThatHaveEndedAreToldOnce(t *testing.T) {
	sc := returning()
	sc.NodeRequests["cmp-01"][0].Deleting = ago(2 * time.Hour)
	endedOn(sc, "cmp-01", "octavia-1", "octavia-2")
	s := sc.again().Snapshot
	var own []string
	for _, a := range s.Attention() {
		if a.Node == "cmp-01" {
			own = append(own, a.ID)
		}
	}
	if !slices.Equal(own, []string{"ended-pods/uid-cmp-01"}) {
		t.Errorf("entries: %q", own)
	}
	v, _ := s.NodeView("cmp-01")
	if !strings.Contains(v.What, "pods ended: octavia-1 and 1 more") {
		t.Errorf("the node says %q", v.What)
	}
}

// The node's steps offer their deletion: one as it is, more as a list of which each can be done by itself.
func TestPodsThatHaveEndedAreOfferedForDeletion(t *testing.T) {
	sc := returning()
	endedOn(sc, "cmp-01", "octavia-1")
	step := func(s *Snapshot, kind IntentKind) (Step, Procedure) {
		p, _ := s.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
		for _, st := range p.Steps {
			if st.Intent.Kind == kind {
				return st, p
			}
		}
		return Step{}, p
	}
	one, p := step(sc.again().Snapshot, IntentDeletePod)
	if !one.Doable() || one.Target != (Ref{Kind: KindPod, Namespace: "openstack", Name: "octavia-1", UID: "pod-octavia-1"}) ||
		!slices.Equal(one.Commands, []string{"kubectl -n openstack delete pod octavia-1"}) || one.Risk != RiskMedium ||
		!strings.Contains(one.Then, "its logs") || !strings.Contains(one.Then, "ReplicaSet") {
		t.Errorf("%+v", one)
	}
	if !slices.ContainsFunc(p.Summary, func(line string) bool {
		return strings.Contains(line, "pod ended, and is waited for: openstack/octavia-1, Failed (Evicted), since 2026-03-13 06:00")
	}) {
		t.Errorf("the page says %q", p.Summary)
	}
	endedOn(sc, "cmp-01", "octavia-1", "octavia-2")
	all, _ := step(sc.again().Snapshot, IntentDeletePods)
	if b, ok := all.Change.(Batch); !ok || len(b.Items) != 2 || len(all.Alternatives) != 2 || len(all.Commands) != 2 || all.Type != "cmp-01" || !all.Doable() {
		t.Errorf("%+v", all)
	}
	// A pod of the same name with another UID is another pod.
	ref := one.Target
	ref.UID = "another"
	if st := Plan(sc.again().Snapshot, Intent{Kind: IntentDeletePod, Node: "cmp-01", Object: ref}); st.Doable() {
		t.Errorf("%+v", st)
	}
	sc.Pods["cmp-01"] = &NodePods{Node: "cmp-01"}
	if st := Plan(sc.again().Snapshot, one.Intent); st.Doable() || st.State != StepDone {
		t.Errorf("once it is gone: %s, %q", st.State, st.Blocker())
	}
}

// The deletion is journalled, and done when the pod is gone; what the server shows right before decides.
func TestAPodThatHasEndedIsDeleted(t *testing.T) {
	ended := func(name string) EndedPod {
		return EndedPod{Namespace: "openstack", Name: name, UID: "pod-" + name, Phase: "Failed"}
	}
	for name, tt := range map[string]struct {
		meanwhile func(c *testCloud) // after the look, before the step
		state     OperationState
		says      string
		left      int
	}{
		"it goes":           {func(*testCloud) {}, OperationDone, "it is gone", 0},
		"it is gone":        {func(c *testCloud) { c.pods = nil }, OperationFailed, "is gone", 0},
		"it is another one": {func(c *testCloud) { c.pods.Ended[0].UID = "another" }, OperationFailed, "another one now", 1},
		"it runs":           {func(c *testCloud) { c.pods.Ended[0].Phase = "Running" }, OperationFailed, "has not ended", 1},
		"it is deleted":     {func(c *testCloud) { c.pods.Ended[0].Deleting = worldTime }, OperationFailed, "being deleted already", 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := atRest()
				c.pods = &NodePods{Node: "cmp-1", NotReady: []PodName{{"openstack", "api-1"}}, Ended: []EndedPod{ended("api-1")}}
				b := newBench(t, t.TempDir(), c)
				defer b.end()
				b.arm()
				c.mu.Lock()
				if c.pods = clonePods(c.pods); true {
					tt.meanwhile(c)
				}
				c.mu.Unlock()
				e := ended("api-1")
				id, err := b.confirm(Intent{Kind: IntentDeletePod, Node: "cmp-1", Object: e.Ref()})
				if err != nil {
					t.Fatal(err)
				}
				op := b.awaitEnd(id)
				left := 0
				if c.pods != nil {
					left = len(c.pods.Ended)
				}
				if op.State != tt.state || !strings.Contains(op.Text, tt.says) || left != tt.left {
					t.Errorf("it ended as %s: %s; %d left", op.State, op.Text, left)
				}
				if tt.state == OperationDone && !slices.ContainsFunc(b.journal(), func(r Record) bool {
					return r.Kind == RecordBefore && slices.Equal(r.Commands, []string{"kubectl -n openstack delete pod api-1"})
				}) {
					t.Error("the journal has no record of it")
				}
			})
		})
	}
}

func clonePods(p *NodePods) *NodePods {
	c := *p
	c.Ended = slices.Clone(p.Ended)
	return &c
}

// Several go one after the other, under one confirmation.
func TestPodsThatHaveEndedAreDeletedTogether(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := atRest()
		c.pods = &NodePods{Node: "cmp-1"}
		for _, name := range []string{"api-1", "api-2", "api-3"} {
			e := EndedPod{Namespace: "openstack", Name: name, UID: "pod-" + name, Phase: "Succeeded"}
			c.pods.Ended = append(c.pods.Ended, e)
			c.pods.NotReady = append(c.pods.NotReady, e.name())
		}
		b := newBench(t, t.TempDir(), c)
		defer b.end()
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentDeletePods, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationDone || len(c.pods.Ended) != 0 {
			t.Errorf("it ended as %s: %s; %d left", op.State, op.Text, len(c.pods.Ended))
		}
	})
}
