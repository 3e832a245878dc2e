package core

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// LCM goes to a phase when the one before it is through (docs/mosk.md#phases): none is done while an earlier one runs or has not
// begun, whatever kubelets were newer before the update.
func TestNoPhaseIsDoneBeforeAnEarlierOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := healthy()
		sc.update(time.Duration(rapid.IntRange(1, 600).Draw(t, "begun")) * time.Minute)
		for _, l := range sc.ClusterLocks {
			l.RawState = rapid.SampledFrom([]LockState{LockActive, LockInactive}).Draw(t, "cluster lock")
		}
		for _, role := range []Role{RoleMaster, RoleCompute, RoleGateway} {
			if !rapid.Bool().Draw(t, "newer from before") {
				break // a kubelet is never newer than its API server: workers follow their masters
			}
			for _, n := range sc.Nodes {
				if n.Is(role) {
					n.KubeletVersion = "v1.31.9"
				}
			}
		}
		phases := sc.Phases()
		for i, p := range phases {
			for _, before := range phases[:i] {
				if p.State == PhaseDone && (before.State == PhaseRunning || before.State == PhasePending) {
					t.Fatalf("%s: phase %d rests on %q, phase %d on %q", states(phases), p.ID, p.Evidence, before.ID, before.Evidence)
				}
			}
		}
	})
}
