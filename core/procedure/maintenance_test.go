package procedure

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// A request without an effect yet is waited for, not done; no step is offered twice.
func TestMaintenanceThatIsOnItsWay(t *testing.T) {
	m := scene.Resting()
	m.Cluster.Maintenance = new(true)
	m.Update(time.Minute)
	sc := m.Join()
	if st := step.Plan(sc.Snapshot, core.Intent{Kind: core.IntentEnterCluster}); st.State != core.StepWaiting || st.Doable() {
		t.Errorf("%s, %q", st.State, st.Status)
	}
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureMaintenance})
	if !slices.ContainsFunc(p.Steps, func(st core.Step) bool {
		return st.Title == "the cluster lock of ceph is released" && st.State == core.StepWaiting
	}) {
		t.Errorf("what it waits for is not shown: %+v", p.Steps)
	}
}
