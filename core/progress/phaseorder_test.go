package progress

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"

	"pgregory.net/rapid"
)

// LCM begins a phase when the one before it is done (docs/mosk.md#phases): no phase is done while an earlier one runs or is
// pending, even if kubelets were newer before the update.
func TestNoPhaseIsDoneBeforeAnEarlierOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.Healthy()
		sc.Update(time.Duration(rapid.IntRange(1, 600).Draw(t, "begun")) * time.Minute)
		for _, l := range sc.ClusterLocks {
			l.RawState = rapid.SampledFrom([]core.LockState{core.LockActive, core.LockInactive}).Draw(t, "cluster lock")
		}
		for _, role := range []core.Role{core.RoleMaster, core.RoleCompute, core.RoleGateway} {
			if !rapid.Bool().Draw(t, "newer from before") {
				break // a kubelet is never newer than its API server: workers follow their masters
			}
			for _, n := range sc.Nodes {
				if n.Is(role) {
					n.KubeletVersion = "v1.31.9"
				}
			}
		}
		phases := Phases(sc.Snapshot)
		for i, p := range phases {
			for _, before := range phases[:i] {
				if p.State == core.PhaseDone && (before.State == core.PhaseRunning || before.State == core.PhasePending) {
					t.Fatalf("%s: phase %d rests on %q, phase %d on %q", states(phases), p.ID, p.Evidence, before.ID, before.Evidence)
				}
			}
		}
	})
}
