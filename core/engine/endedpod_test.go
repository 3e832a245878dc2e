package engine

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// The deletion is recorded in the journal, and done when the pod is gone. What the server shows right before decides.
func TestAPodThatHasEndedIsDeleted(t *testing.T) {
	ended := func(name string) core.EndedPod {
		return core.EndedPod{Namespace: "openstack", Name: name, UID: "pod-" + name, Phase: "Failed"}
	}
	for name, tt := range map[string]struct {
		meanwhile func(c *testCloud) // after the look, before the step
		state     core.OperationState
		says      string
		left      int
	}{
		"it goes":           {func(*testCloud) {}, core.OperationDone, "it is gone", 0},
		"it is gone":        {func(c *testCloud) { c.pods = nil }, core.OperationFailed, "is gone", 0},
		"it is another one": {func(c *testCloud) { c.pods.Ended[0].UID = "another" }, core.OperationFailed, "another one now", 1},
		"it runs":           {func(c *testCloud) { c.pods.Ended[0].Phase = "Running" }, core.OperationFailed, "has not ended", 1},
		"it is deleted":     {func(c *testCloud) { c.pods.Ended[0].Deleting = worldTime }, core.OperationFailed, "being deleted already", 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := atRest()
				c.pods = &core.NodePods{Node: "cmp-1", NotReady: []core.PodName{{Namespace: "openstack", Name: "api-1"}},
					Ended: []core.EndedPod{ended("api-1")}}
				b := newBench(t, t.TempDir(), c)
				defer b.end()
				b.arm()
				c.mu.Lock()
				if c.pods = clonePods(c.pods); true {
					tt.meanwhile(c)
				}
				c.mu.Unlock()
				e := ended("api-1")
				id, err := b.confirm(core.Intent{Kind: core.IntentDeletePod, Node: "cmp-1", Object: e.Ref()})
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
				if tt.state == core.OperationDone && !slices.ContainsFunc(b.journal(), func(r Record) bool {
					return r.Kind == RecordBefore && slices.Equal(r.Commands, []string{"kubectl -n openstack delete pod api-1"})
				}) {
					t.Error("the journal has no record of it")
				}
			})
		})
	}
}

func clonePods(p *core.NodePods) *core.NodePods {
	c := *p
	c.Ended = slices.Clone(p.Ended)
	return &c
}

// Several go one after the other, under one confirmation.
func TestPodsThatHaveEndedAreDeletedTogether(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := atRest()
		c.pods = &core.NodePods{Node: "cmp-1"}
		for _, name := range []string{"api-1", "api-2", "api-3"} {
			e := core.EndedPod{Namespace: "openstack", Name: name, UID: "pod-" + name, Phase: "Succeeded"}
			c.pods.Ended = append(c.pods.Ended, e)
			c.pods.NotReady = append(c.pods.NotReady, e.PodName())
		}
		b := newBench(t, t.TempDir(), c)
		defer b.end()
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentDeletePods, Node: "cmp-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone || len(c.pods.Ended) != 0 {
			t.Errorf("it ended as %s: %s; %d left", op.State, op.Text, len(c.pods.Ended))
		}
	})
}
