package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// A request by hand is for the release on the controllers' locks, unless another release is asked for.
func TestARequestByHandHasTheReleaseOfTheLocks(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-1", core.RoleCompute)
	if got := AskedRelease(sc.Snapshot, ""); got != "" {
		t.Errorf("without a lock the release is %q", got)
	}
	sc.ByHandCluster()
	sc.ClusterLocks[0].Release = "21.0.0+25.2.9"
	sc.Lock("", core.ControllerCeph, core.LockInactive).Release = "another"
	if got := AskedRelease(sc.Snapshot, ""); got != "21.0.0+25.2.9" {
		t.Errorf("of the cluster %q: the OpenStack controller answers its own only", got)
	}
	p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == core.IntentAskNode })
	if i < 0 {
		t.Fatalf("not offered: %q", scene.Outline(p))
	}
	for _, st := range append([]core.Step{p.Steps[i]}, p.Steps[i].Alternatives...) {
		if c, ok := st.Change.(core.CreateRequest); !ok || c.Request.Release != "17.4.0+25.1" || !st.Doable() {
			t.Errorf("%s: %+v, %s", st.Title, st.Change, st.Blocker())
		}
	}
}

// Where the management cluster is connected, maintenance mode comes first; otherwise the request by hand does.
func TestWhichWayOfMaintenanceComesFirst(t *testing.T) {
	first := func(sc scene.Scene, kind core.ProcedureKind) core.Step {
		p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: kind})
		i := slices.IndexFunc(p.Steps, func(st core.Step) bool {
			return st.Intent.Kind == core.IntentAskCluster || st.Intent.Kind == core.IntentEnterCluster
		})
		if i < 0 {
			t.Fatalf("none is offered: %q", scene.Outline(p))
		}
		return p.Steps[i]
	}
	st := first(scene.Resting().Join(), core.ProcedureCluster)
	if st.Intent.Kind != core.IntentEnterCluster || len(st.Alternatives) != 1 ||
		!strings.Contains(st.Alternatives[0].Why, "maintenance mode comes first") {
		t.Errorf("connected: %s, %+v", st.Title, st.Alternatives)
	}
	for _, kind := range []core.ProcedureKind{core.ProcedureCluster, core.ProcedureMaintenance} {
		if st := first(scene.Healthy(), kind); st.Intent.Kind != core.IntentAskCluster ||
			!strings.Contains(st.Why, "this is the way without it") {
			t.Errorf("not connected, %s: %s: %s", kind, st.Title, st.Why)
		}
	}
}
