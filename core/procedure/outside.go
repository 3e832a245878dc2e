package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// restore adds the steps that set annotations that Lockstep changed back, once the node is back.
func (b *nodeSteps) restore() {
	if b.v.Node == nil {
		return
	}
	if st, ok := RestoreAttempts(b.s, b.v.Name); ok {
		st = optionalIf(b.preparedFor(b.s.History.Tries[b.v.Node.UID]), st)
		if b.v.Request != nil && st.State != core.StepRunning {
			st.State, st.Status = core.StepLater, "when the node is back"
		}
		b.add(st)
	}
	change, changed := b.s.History.Changes[b.v.Node.UID]
	if !changed {
		return
	}
	st := optionalIf(b.preparedFor(change), step.Plan(b.s, core.Intent{Kind: core.IntentRestoreMode, Node: b.v.Name}))
	if b.v.Request != nil && st.State != core.StepRunning && st.State != core.StepDone {
		st.State, st.Status = core.StepLater, "when the node is back"
	}
	b.add(st)
}

// outside adds the steps on a node that nobody asks for: what can be settled before its turn, and after it.
func (b *nodeSteps) outside() {
	b.stuckLockSteps()
	b.serviceSteps()
	if b.ownReturn() {
		b.endedPodSteps()
	}
	b.act()
	if b.ownReturn() {
		b.leftLockSteps()
		b.restore()
		return // nothing is prepared for the next time before this one is over
	}
	b.leftLockSteps()
	switch b.v.Stage {
	case core.StageDone:
		b.add(b.other("done", b.v.Label+" went through its maintenance", "", core.StepDone, b.v.What))
		b.returnedDown()
		b.remoteUsers()
		b.leftInner()
		b.restore()
		b.compute()
		b.volumeScheduling()
		return
	case core.StageIdle:
	default:
		b.add(b.other("stage", wording.TextOf(b.v.What, string(b.v.Stage)), b.v.Reason, core.StepWaiting, string(b.v.Stage)))
		for _, l := range b.v.Locks {
			if l.State() == core.LockFailed {
				b.add(lockStep(b.s, l, "the lock of "+wording.OneLine(l.Controller, 40), false))
			}
		}
	}
	b.restore()
	b.leftInner()
	soon := b.v.Stage == core.StageIdle && b.s.ClusterRequest() != nil
	if soon {
		b.ahead()
	}
	b.preparation()
	if b.v.Stage == core.StageIdle && !soon {
		b.ahead()
	}
	if cmr := b.s.ClusterRequest(); b.v.Node != nil && cmr != nil && cmr.ByHand() {
		b.askByHand()
	}
	if b.v.Stage == core.StageIdle {
		state, status := core.StepLater, "no update runs"
		switch {
		case b.s.ClusterRequest() != nil && b.s.ClusterRequest().ByHand():
			return
		case b.s.ClusterRequest() != nil:
			state, status = core.StepWaiting, "an update runs; its turn has not come"
		case !b.s.Known(core.SourceClusterRequests):
			status = "whether an update runs is not known"
		}
		b.add(b.other("asked", "LCM asks for "+b.v.Label, "LCM makes a NodeMaintenanceRequest when the node's turn comes.", state, status))
	}
}

// returnedDown adds the steps that restart what is not heard from since the node was taken back.
func (b *nodeSteps) returnedDown() {
	compute, agents := progress.ReturnedDown(b.s, b.v)
	if compute {
		b.add(b.restartCompute()...)
	}
	if len(agents) > 0 {
		b.add(b.restartAgents()...)
	}
}

// preparation adds what can be settled before the node's turn (docs/mosk.md#before-the-update).
func (b *nodeSteps) preparation() {
	if b.v.Node == nil {
		return
	}
	b.remoteUsers()
	nodes := []string{b.v.Name}
	if progress.ModeCounts(b.s, b.v.Name) {
		for _, mode := range []core.MigrationMode{core.ModeLive, core.ModeManual, core.ModeSkip} {
			b.add(optional(step.Plan(b.s, core.Intent{Kind: core.IntentSetMode, Nodes: nodes, Mode: mode}))...)
		}
	}
	b.ignoredModeSteps()
	if b.v.Node.Is(core.RoleCompute) {
		i := core.Intent{Kind: core.IntentSetAttempts, Nodes: nodes, Attempts: progress.ExampleAttempts}
		if b.v.AttemptsRaw != "" {
			i.Attempts = 0
		}
		b.add(optional(step.Plan(b.s, i))...)
	}
	b.compute()
	b.volumeScheduling()
}

// compute adds the step that takes the node's host out of scheduling, or puts it back. Only a host that the maintenance left disabled
// is waited for.
func (b *nodeSteps) compute() {
	svc := b.v.Service
	switch {
	case svc == nil:
	case svc.Enabled:
		b.add(optional(step.Plan(b.s, core.Intent{Kind: core.IntentDisableCompute, Node: b.v.Name,
			Reason: progress.OutOfSchedulingReason(b.s)}))...)
	default:
		left := b.v.Stage == core.StageDone && svc.LeftDisabled()
		b.add(optionalIf(!left, step.Plan(b.s, core.Intent{Kind: core.IntentEnableCompute, Node: b.v.Name})))
	}
}

// ahead adds the steps on the quorums and instances that will hold the node when its turn comes. Nobody waits for them yet.
func (b *nodeSteps) ahead() {
	b.quorumAhead()
	s, name := b.s, b.v.Name
	m := progress.MaintenanceOf(s, name)
	if !m.Compute || !s.Known(core.SourceInstances) {
		return
	}
	var held []core.InstanceView
	for _, v := range progress.InstanceViews(s, name) {
		if progress.HoldsAhead(v) {
			held = append(held, v)
		}
	}
	if len(held) == 0 {
		return
	}
	b.add(progress.TellOwners(s, b.target, name, b.v.Label, held))
	if b.v.Mode == core.ModeManual {
		if movable, _ := step.Movable(s, name); len(movable) >= 2 || b.batchRuns() {
			st := step.Plan(s, core.Intent{Kind: core.IntentLiveMigrateAll, Node: name})
			st.Why = wording.Join(st.Why, "Until the node's turn others can be put there, unless its nova-compute is disabled first.")
			b.add(optional(st)...)
		}
	}
	for _, v := range held {
		b.add(optional(instanceStep(s, v))...)
	}
}
