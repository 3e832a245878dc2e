package procedure_test

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A node whose Node was deleted does not return: neither its stage nor its steps speak of a maintenance, whatever its lock says.
func TestANodeThatWasDeletedLeaves(t *testing.T) {
	const finalizer = core.FinalizersOfRockoon + "node-finalizer"
	for name, tt := range map[string]struct {
		played     bool
		lock       core.LockState
		finalizers []string
		stage      core.Stage
		reason     string
		steps      []string
	}{
		"the controller has it": {false, core.LockInactive, []string{finalizer}, core.StageReleased,
			"its Node was deleted, and waits for the OpenStack controller",
			[]string{"done: the Node of cmp-01 is deleted | since 11:59", "waiting: cmp-01 is gone | held by " + finalizer}},
		"Lockstep plays it": {true, core.LockActive, []string{finalizer}, core.StageWaiting,
			"its Node was deleted, and you play the OpenStack controller: let it go",
			[]string{"done: the Node of cmp-01 is deleted | since 11:59", "ready: let the Node cmp-01 go",
				"waiting: cmp-01 is gone | held by " + finalizer}},
		"another's finalizer": {true, core.LockInactive, []string{"a.b/c"}, core.StageReleased, "its Node was deleted",
			[]string{"done: the Node of cmp-01 is deleted | since 11:59", "waiting: cmp-01 is gone | held by a.b/c"}},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			if tt.played {
				sc.Settings = scene.PlaysOpenStack()
			}
			sc.Snapshot.Write.Armed = true
			sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
			scene.OwnLockOf(sc, "cmp-01").RawState = tt.lock
			sc.Nodes["cmp-01"].Deleting, sc.Nodes["cmp-01"].Finalizers = scene.Ago(time.Minute), tt.finalizers
			s := sc.Again().Snapshot
			if v, _ := progress.NodeView(s, "cmp-01"); v.Stage != tt.stage || v.Reason != tt.reason {
				t.Errorf("it is %s: %q", v.Stage, v.Reason)
			}
			p, ok := procedure.Of(s, scene.OfNode("cmp-01"))
			if got := scene.Outline(p); !ok || p.Title != "Let cmp-01 leave the cluster" || !slices.Equal(got, tt.steps) {
				t.Errorf("%q: %q", p.Title, got)
			}
		})
	}
}
