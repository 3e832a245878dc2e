package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A request by hand is for the release on the controllers' locks, unless another is asked for.
func TestARequestByHandHasTheReleaseOfTheLocks(t *testing.T) {
	sc := newScene()
	sc.node("cmp-1", RoleCompute)
	if got := sc.AskedRelease(""); got != "" {
		t.Errorf("without a lock the release is %q", got)
	}
	sc.byHandCluster()
	sc.ClusterLocks[0].Release = "21.0.0+25.2.9"
	sc.lock("", ControllerCeph, LockInactive).Release = "another"
	if got := sc.AskedRelease(""); got != "21.0.0+25.2.9" {
		t.Errorf("of the cluster %q: the OpenStack controller answers its own only", got)
	}
	p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-1"})
	i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.Intent.Kind == IntentAskNode })
	if i < 0 {
		t.Fatalf("not offered: %q", outline(p))
	}
	for _, st := range append([]Step{p.Steps[i]}, p.Steps[i].Alternatives...) {
		if c, ok := st.Change.(CreateRequest); !ok || c.Request.Release != "17.4.0+25.1" || !st.Doable() {
			t.Errorf("%s: %+v, %s", st.Title, st.Change, st.Blocker())
		}
	}
}

// A plan that runs is an update, also before its maintenance request is there.
func TestNobodyAsksForTheClusterByHandDuringAnUpdate(t *testing.T) {
	m := resting()
	ask := Intent{Kind: IntentAskCluster}
	if st := Plan(m.join().Snapshot, ask); !st.Doable() {
		t.Fatalf("at rest: %s", st.Blocker())
	}
	m = resting()
	m.planned(1)
	if got := failing(Plan(m.join().Snapshot, ask)); !slices.Equal(got, []GuardID{"no-update"}) {
		t.Errorf("during a plan %q fail", got)
	}
	m = resting()
	m.aged(SourcePlans, time.Hour)
	if got := failing(Plan(m.join().Snapshot, ask)); !slices.Equal(got, []GuardID{"fresh"}) {
		t.Errorf("with old plans %q fail", got)
	}
}

// Where the management cluster is connected maintenance mode comes first; else the request by hand.
func TestWhichWayOfMaintenanceComesFirst(t *testing.T) {
	first := func(sc scene, kind ProcedureKind) Step {
		p, _ := sc.Procedure(ProcedureKey{Kind: kind})
		i := slices.IndexFunc(p.Steps, func(st Step) bool {
			return st.Intent.Kind == IntentAskCluster || st.Intent.Kind == IntentEnterCluster
		})
		if i < 0 {
			t.Fatalf("none is offered: %q", outline(p))
		}
		return p.Steps[i]
	}
	st := first(resting().join(), ProcedureCluster)
	if st.Intent.Kind != IntentEnterCluster || len(st.Alternatives) != 1 || !strings.Contains(st.Alternatives[0].Why, "maintenance mode comes first") {
		t.Errorf("connected: %s, %+v", st.Title, st.Alternatives)
	}
	for _, kind := range []ProcedureKind{ProcedureCluster, ProcedureMaintenance} {
		if st := first(healthy(), kind); st.Intent.Kind != IntentAskCluster || !strings.Contains(st.Why, "this is the way without it") {
			t.Errorf("not connected, %s: %s: %s", kind, st.Title, st.Why)
		}
	}
}

// A node that does not come back does not keep its request for ever: giving it up is possible, by the request's full name.
func TestAMaintenanceOfADeadNodeCanBeGivenUp(t *testing.T) {
	sc := newScene()
	sc.node("cmp-1", RoleCompute).Ready = "Unknown"
	sc.Nodes["cmp-1"].Cordoned = true
	sc.byHandCluster()
	r := sc.request("cmp-1", time.Hour)
	r.MadeBy, r.Name = MadeByLockstep, "by-hand-cmp-1"
	st := Plan(sc.Snapshot, Intent{Kind: IntentWithdraw, Object: r.Ref()})
	if !st.Doable() || st.Risk != RiskHighest || st.Type != "by-hand-cmp-1" {
		t.Errorf("risk %s, type %q, blocked by %q", st.Risk, st.Type, st.Blocker())
	}
	if !strings.Contains(st.Why, "only when it is not coming back") || !strings.Contains(st.Then, "without an end") {
		t.Errorf("why %q, then %q", st.Why, st.Then)
	}
	was := st.Basis
	sc.Nodes["cmp-1"].Ready = "True"
	sc.Nodes["cmp-1"].Cordoned = false
	st = Plan(sc.again().Snapshot, st.Intent)
	if st.Risk != RiskHigh || len(ChangedFacts(was, st.Basis)) == 0 {
		t.Errorf("once it is back: risk %s, %v", st.Risk, ChangedFacts(was, st.Basis))
	}
}
