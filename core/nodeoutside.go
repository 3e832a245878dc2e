package core

// restore offers an annotation that Lockstep changed back to what it was, once the node is through.
func (b *nodeSteps) restore() {
	if b.v.Node == nil {
		return
	}
	if st, ok := b.s.restoreTries(b.v.Name); ok {
		st = optionalIf(b.preparedFor(b.s.History.Tries[b.v.Node.UID]), st)
		if b.v.Request != nil && st.State != StepRunning {
			st.State, st.Status = StepLater, "when the node is back"
		}
		b.add(st)
	}
	change, changed := b.s.History.Changes[b.v.Node.UID]
	if !changed {
		return
	}
	st := optionalIf(b.preparedFor(change), Plan(b.s, Intent{Kind: IntentRestoreMode, Node: b.v.Name}))
	if b.v.Request != nil && st.State != StepRunning && st.State != StepDone {
		st.State, st.Status = StepLater, "when the node is back"
	}
	b.add(st)
}

// outside are the steps on a node of which nothing is asked: what can be settled before its turn comes, and after it.
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
	case StageDone:
		b.add(b.other("done", b.v.Label+" went through its maintenance", "", StepDone, b.v.What))
		b.remoteUsers()
		b.leftInner()
		b.restore()
		b.compute()
		b.volumeScheduling()
		return
	case StageIdle:
	default:
		b.add(b.other("stage", textOf(b.v.What, string(b.v.Stage)), b.v.Reason, StepWaiting, string(b.v.Stage)))
		for _, l := range b.v.Locks {
			if l.State() == LockFailed {
				b.add(b.s.lockStep(l, "the lock of "+oneLine(l.Controller, 40), false))
			}
		}
	}
	b.restore()
	b.leftInner()
	soon := b.v.Stage == StageIdle && b.s.ClusterRequest() != nil
	if soon {
		b.ahead()
	}
	b.preparation()
	if b.v.Stage == StageIdle && !soon {
		b.ahead()
	}
	if cmr := b.s.ClusterRequest(); b.v.Node != nil && cmr != nil && cmr.ByHand() {
		b.askByHand()
	}
	if b.v.Stage == StageIdle {
		state, status := StepLater, "no update runs"
		switch {
		case b.s.ClusterRequest() != nil && b.s.ClusterRequest().ByHand():
			return
		case b.s.ClusterRequest() != nil:
			state, status = StepWaiting, "an update runs; its turn has not come"
		case !b.s.known(SourceClusterRequests):
			status = "whether an update runs is not known"
		}
		b.add(b.other("asked", "LCM asks for "+b.v.Label, "LCM makes a NodeMaintenanceRequest when the node's turn comes.", state, status))
	}
}

// exampleAttempts is the number of attempts that the documents use as their example (docs/mosk.md#migration-mode).
const exampleAttempts = 5

// preparation is what can be settled before the node's turn comes (docs/mosk.md#before-the-update).
func (b *nodeSteps) preparation() {
	if b.v.Node == nil {
		return
	}
	b.remoteUsers()
	nodes := []string{b.v.Name}
	if b.s.modeCounts(b.v.Name) {
		for _, mode := range []MigrationMode{ModeLive, ModeManual, ModeSkip} {
			b.add(optional(Plan(b.s, Intent{Kind: IntentSetMode, Nodes: nodes, Mode: mode}))...)
		}
	}
	b.ignoredModeSteps()
	if b.v.Node.Is(RoleCompute) {
		i := Intent{Kind: IntentSetAttempts, Nodes: nodes, Attempts: exampleAttempts}
		if b.v.AttemptsRaw != "" {
			i.Attempts = 0
		}
		b.add(optional(Plan(b.s, i))...)
	}
	b.compute()
	b.volumeScheduling()
}

// compute offers to take the node's host out of scheduling, or to put it back, which is waited for where the maintenance has left it out.
func (b *nodeSteps) compute() {
	svc := b.v.Service
	switch {
	case svc == nil:
	case svc.Enabled:
		b.add(optional(Plan(b.s, Intent{Kind: IntentDisableCompute, Node: b.v.Name, Reason: b.s.outOfScheduling()}))...)
	default:
		left := b.v.Stage == StageDone && svc.leftDisabled()
		b.add(optionalIf(!left, Plan(b.s, Intent{Kind: IntentEnableCompute, Node: b.v.Name})))
	}
}

// outOfScheduling is the reason that Lockstep proposes for a host that is taken out of scheduling.
func (s *Snapshot) outOfScheduling() string {
	reason := disabledByLockstep
	if s.Operator != "" {
		reason += " by " + oneLine(s.Operator, 100)
	}
	return reason
}
