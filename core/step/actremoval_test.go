package step

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// Nothing is released while the nodes cannot be seen, or while it is unknown whether the OpenStack controller runs: a lock that is
// not taken back would look like that of a node that never was.
func TestNothingIsLetGoUnseen(t *testing.T) {
	sc := scene.Healthy()
	sc.Settings = scene.PlaysOpenStack()
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
	sc.Maintained("cmp-01", "").RawState = core.LockInactive
	r := sc.NodeRequest("cmp-01")
	r.Deleting, r.Finalizers = scene.Noon, []string{"lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"}
	let := core.Intent{Kind: core.IntentActLetGo, Controller: core.ControllerOpenStack, Object: r.Ref()}
	if got := scene.Failing(Plan(sc.Snapshot, let)); !slices.Equal(got, []core.GuardID{"taken-back"}) {
		t.Errorf("not taken back: held by %q", got)
	}
	nodes := sc.Nodes
	sc.Nodes = map[string]*core.Node{}
	sc.Source(core.SourceNodes, core.SourceConnecting)
	if got := scene.Failing(Plan(sc.Again().Snapshot, let)); !slices.Contains(got, "fresh") {
		t.Errorf("with the nodes not seen yet: held by %q", got)
	}
	sc.Nodes = nodes
	sc.Sources[core.SourceNodes] = sc.Sources[core.SourceNodeLocks]
	l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
	l.RawState, l.InnerState = core.LockActive, core.InnerInactive
	if st := Plan(sc.Again().Snapshot, let); !st.Doable() {
		t.Errorf("taken back: %s", st.Blocker())
	}
	sc.Source(core.SourceOpenStackController, core.SourceStale)
	if got := scene.Failing(Plan(sc.Again().Snapshot, let)); !slices.Equal(got, []core.GuardID{"fresh"}) {
		t.Errorf("with the controller not seen any more: held by %q", got)
	}
}

// The lock of a node that is gone stays while it is unknown whether Cinder still has its host.
func TestNoLockIsDroppedWhileCinderIsNotSeen(t *testing.T) {
	for state, want := range map[core.SourceState]bool{core.SourceLive: true, core.SourceAbsent: true, core.SourceFailed: false,
		core.SourceForbidden: false} {
		sc := scene.Healthy()
		sc.Settings = scene.PlaysOpenStack()
		sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
		delete(sc.Nodes, "cmp-01")
		delete(sc.Services, "cmp-01")
		delete(sc.ByHost, "cmp-01")
		l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
		sc.Source(core.SourceVolumeServices, state)
		if st := Plan(sc.Snapshot, core.Intent{Kind: core.IntentActDropLock, Controller: core.ControllerOpenStack,
			Node: "cmp-01"}); st.Doable() != want {
			t.Errorf("drop, volume services %s: %v, %s", state, st.Doable(), st.Blocker())
		}
		l.Deleting, l.Finalizers = scene.Noon, []string{"lcm.mirantis.com/rockoon.nodeworkloadlock-finalizer"}
		if st := Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentActLetGo, Controller: core.ControllerOpenStack,
			Object: l.Ref()}); st.Doable() != want {
			t.Errorf("let go, volume services %s: %v, %s", state, st.Doable(), st.Blocker())
		}
	}
}
