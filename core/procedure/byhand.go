package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// leftInner adds the step that clears an inner_state that was left behind.
func (b *nodeSteps) leftInner() {
	if b.lock == nil || b.lock.InnerState != core.InnerActive || b.lock.State() != core.LockActive || !b.s.Known(core.SourceNodeRequests) ||
		progress.PlaysOn(b.s, core.ControllerOpenStack, b.v.Name) {
		return // where it is played, the work is ended by its own step
	}
	b.add(step.Plan(b.s, core.Intent{Kind: core.IntentClearInner, Object: b.lock.Ref()}))
}

// askByHand adds the step that asks for the node without an update. Scope os comes first, as it protects the instances.
func (b *nodeSteps) askByHand() {
	release := AskedRelease(b.s, b.v.Name)
	st := step.Plan(b.s, core.Intent{Kind: core.IntentAskNode, Node: b.v.Name, Scope: core.ScopeOS, Release: release})
	st.Alternatives = []core.Step{step.Plan(b.s,
		core.Intent{Kind: core.IntentAskNode, Node: b.v.Name, Scope: core.ScopeDrain, Release: release})}
	b.add(st)
}

// byHand adds the steps after the release of a node that an operator asked for: LCM does nothing on it.
func (b *nodeSteps) byHand() {
	released := len(b.v.Locks) > 0 || b.s.Known(core.SourceNodeLocks)
	for _, l := range b.v.Locks {
		released = released && l.State() == core.LockInactive
	}
	work := b.other("work", "your work on "+b.v.Label,
		"The request was made by hand: LCM neither drains, updates nor reboots the node. Do that yourself, and bring it back.", core.StepLater,
		"when all locks are inactive")
	if b.v.Node != nil {
		work.Commands = []string{
			wording.ShellCommand("kubectl", "drain", b.v.Node.Name, "--ignore-daemonsets", "--delete-emptydir-data"),
			wording.ShellCommand("kubectl", "uncordon", b.v.Node.Name),
		}
	}
	if released {
		work.State, work.Status = core.StepWaiting, "the node is yours"
	}
	b.add(work)
	st := step.Plan(b.s, core.Intent{Kind: core.IntentWithdraw, Object: b.v.Request.Ref()})
	if !released && st.State == core.StepReady {
		st.Why = wording.Join(st.Why, "Not all locks are released yet: this gives the maintenance up.")
	}
	b.add(optionalIf(!released, st))
}

// byHand are the cluster's steps of a maintenance without an update.
func byHand(s *core.Snapshot) []core.Step {
	r := s.ClusterRequest()
	switch {
	case r == nil:
		return []core.Step{askClusterStep(s)}
	case r.ByHand():
		return []core.Step{optionalIf(!anyThrough(s), step.Plan(s, core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()}))}
	}
	return nil
}

// askClusterStep begins maintenance without an update: by maintenance mode where the management cluster is connected, as LCM then
// drains the nodes and brings them back; else by a request made by hand.
func askClusterStep(s *core.Snapshot) core.Step {
	hand := step.Plan(s, core.Intent{Kind: core.IntentAskCluster, Release: AskedRelease(s, "")})
	if why := step.NotConnected(s); why != "" {
		hand.Why = wording.Join(hand.Why, "Maintenance mode, by the management cluster, would come first; this is the way without it.")
		return hand
	}
	hand.Why = wording.Join("The way without the management cluster. It is connected: maintenance mode comes first, for LCM drains the "+
		"nodes then and brings them back.", hand.Why)
	st := step.Plan(s, core.Intent{Kind: core.IntentEnterCluster})
	st.Alternatives = []core.Step{hand}
	return st
}

// AskedRelease is the release for a request made by hand: the one on the OpenStack controller's lock of the node, or of the cluster
// when node is empty, as it answers no other (text A); else the one on which all locks there agree. Empty when there is none.
func AskedRelease(s *core.Snapshot, node string) string {
	locks := s.ClusterLocks
	if node != "" {
		locks = s.NodeLocks.At(node)
	}
	agreed := ""
	for i, l := range locks {
		switch {
		case l.Controller == core.ControllerOpenStack && l.Release != "":
			return wording.OneLine(l.Release, 60)
		case i == 0:
			agreed = wording.OneLine(l.Release, 60)
		case agreed != wording.OneLine(l.Release, 60):
			agreed = ""
		}
	}
	return agreed
}
