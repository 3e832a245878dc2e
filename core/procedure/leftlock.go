package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// leftLockSteps set the lock active again, and put the host back into scheduling.
func (b *nodeSteps) leftLockSteps() {
	l := progress.LeftLock(b.s, b.v.Name)
	if l == nil || progress.PlaysAlone(b.s, b.v.Name) {
		return
	}
	b.add(step.Plan(b.s, core.Intent{Kind: core.IntentRearmLock, Object: l.Ref()}))
	if svc := b.v.Service; svc != nil && !svc.Enabled && svc.DisabledReason == core.DisabledReasonMaintenance {
		b.add(step.Plan(b.s, core.Intent{Kind: core.IntentEnableCompute, Node: b.v.Name}))
	}
}
