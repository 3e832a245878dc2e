package step

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A running plan is an update, even before its maintenance request exists.
func TestNobodyAsksForTheClusterByHandDuringAnUpdate(t *testing.T) {
	m := scene.Resting()
	ask := core.Intent{Kind: core.IntentAskCluster}
	if st := Plan(m.Join().Snapshot, ask); !st.Doable() {
		t.Fatalf("at rest: %s", st.Blocker())
	}
	m = scene.Resting()
	m.Planned(1)
	if got := scene.Failing(Plan(m.Join().Snapshot, ask)); !slices.Equal(got, []core.GuardID{"no-update"}) {
		t.Errorf("during a plan %q fail", got)
	}
	m = scene.Resting()
	m.Aged(core.SourcePlans, time.Hour)
	if got := scene.Failing(Plan(m.Join().Snapshot, ask)); !slices.Equal(got, []core.GuardID{"fresh"}) {
		t.Errorf("with old plans %q fail", got)
	}
}

// Without the controller's finalizer a request that is withdrawn is gone at once, and nobody takes the node back (docs/mosk.md#finalizers).
func TestWithdrawingARequestThatIsNotHeldLeavesTheLock(t *testing.T) {
	for held, says := range map[bool]string{true: "take their locks back",
		false: "gone at once, and the controller does not take the node back"} {
		sc := scene.NewScene()
		sc.Node("cmp-1", core.RoleCompute)
		sc.ByHandCluster()
		sc.NodeLock("cmp-1", core.ControllerOpenStack).RawState = core.LockInactive
		r := sc.Request("cmp-1", time.Hour)
		if r.MadeBy, r.Name, r.Finalizers = core.MadeByLockstep, "by-hand-cmp-1", nil; held {
			r.Finalizers = scene.HeldBy
		}
		s := sc.Again().Snapshot
		st := Plan(s, core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()})
		if !strings.Contains(st.Then, says) || (st.Risk == core.RiskHighest) == held {
			t.Errorf("held %v: risk %s, then %q", held, st.Risk, st.Then)
		}
	}
}

// A node that does not return does not keep its request forever: the request can be given up, by its full name.
func TestAMaintenanceOfADeadNodeCanBeGivenUp(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-1", core.RoleCompute).Ready = "Unknown"
	sc.Nodes["cmp-1"].Cordoned = true
	sc.ByHandCluster()
	r := sc.Request("cmp-1", time.Hour)
	r.MadeBy, r.Name = core.MadeByLockstep, "by-hand-cmp-1"
	st := Plan(sc.Snapshot, core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()})
	if !st.Doable() || st.Risk != core.RiskHighest || st.Type != "by-hand-cmp-1" {
		t.Errorf("risk %s, type %q, blocked by %q", st.Risk, st.Type, st.Blocker())
	}
	if !strings.Contains(st.Why, "only when it is not coming back") || !strings.Contains(st.Then, "without an end") {
		t.Errorf("why %q, then %q", st.Why, st.Then)
	}
	was := st.Basis
	sc.Nodes["cmp-1"].Ready = "True"
	sc.Nodes["cmp-1"].Cordoned = false
	st = Plan(sc.Again().Snapshot, st.Intent)
	if st.Risk != core.RiskHigh || len(ChangedFacts(was, st.Basis)) == 0 {
		t.Errorf("once it is back: risk %s, %v", st.Risk, ChangedFacts(was, st.Basis))
	}
}
