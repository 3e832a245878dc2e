package core

// leftLock is the OpenStack controller's lock on a node that was left inactive: nobody asks for the node's maintenance or removal, and
// the controller takes back only what a request asks of it (docs/mosk.md#left-over-locks). Nil when there is none, or when that is not
// known: a request and its lock are two streams, and the lock's end is told first or last.
func (s *Snapshot) leftLock(name string) *WorkloadLock {
	n, l := s.Nodes[name], s.NodeLock(name, ControllerOpenStack)
	switch {
	case n == nil || l == nil || l.State() != LockInactive || !l.Deleting.IsZero():
		return nil
	case s.NodeRequest(name) != nil || s.Deletions[name] != nil || s.Disablings[name] != nil:
		return nil
	case !s.known(SourceNodeRequests) || !s.known(SourceNodeLocks):
		return nil
	case !s.known(SourceDeletionRequests) && s.Sources[SourceDeletionRequests].State != SourceAbsent:
		return nil
	}
	if r := s.History.Rounds[n.UID]; !r.Ended.IsZero() && s.Now.Sub(r.Ended) < innerSettles {
		return nil
	}
	return l
}

// playsAlone tells whether Lockstep plays the OpenStack controller on the node, and is the only one who does: what it does there are the
// steps of the controller's flow.
func (s *Snapshot) playsAlone(node string) bool {
	a, played := s.actAs(ControllerOpenStack)
	return played && a.holds(s.Nodes[node]) && s.guardNobodyElse(a).Holds
}

// leftText says what a lock that was left inactive means.
func (s *Snapshot) leftText(name string) string {
	label := oneLine(s.Label(name), 64)
	if n := s.Nodes[name]; n != nil && n.Is(RoleCompute) {
		return "its lock was left inactive: the next maintenance of " + label + " will drain and reboot it without moving anything"
	}
	return "its lock was left inactive: the next maintenance of " + label + " will not wait for the OpenStack controller"
}

// lockLeft is a lock that the controller never takes back, and that is dangerous at the next maintenance.
func (f *attentionFacts) lockLeft(n nodeAttention) {
	l := f.s.leftLock(n.Name)
	if l == nil || f.s.playsAlone(n.Name) {
		return // where it is played alone, its own entry says that it is to be taken back
	}
	a := n.entry(RuleLockLeft)
	a.Severity, a.Since = SeverityUrgent, f.s.History.Locks[l.UID].Since
	a.Reason = f.s.leftText(n.Name)
	if r := f.s.leftUnseen(n.Name); r.Unseen {
		a.Detail = "Its request went " + clockText(r.Ended) + ", and the OpenStack controller had never seen it: it does not take the node back."
		f.add(a)
		return
	}
	a.Detail = "Nobody asks for the node any more, and the controller takes a lock back only when a request that it has seen goes. A removal that was withdrawn leaves this behind, or a request that came and went while the controller did not run."
	f.add(a)
}

// leftUnseen is the node's last maintenance where its request came and went without the controller; zero when that is not certain.
func (s *Snapshot) leftUnseen(name string) Round {
	if n := s.Nodes[name]; n != nil {
		if r := s.History.Rounds[n.UID]; r.Unseen && !r.Ended.IsZero() {
			return r
		}
	}
	return Round{}
}

// ownLockLeft is a node whose lock the OpenStack controller never takes back.
func ownLockLeft(f *stageFacts) (verdict, bool) {
	if f.s.leftLock(f.name) == nil {
		return verdict{}, false
	}
	return verdict{reason: f.s.leftText(f.name), what: "its lock was left inactive"}, true
}

// leftLockSteps set the lock active again, and put the host back into scheduling.
func (b *nodeSteps) leftLockSteps() {
	l := b.s.leftLock(b.v.Name)
	if l == nil || b.s.playsAlone(b.v.Name) {
		return
	}
	b.add(Plan(b.s, Intent{Kind: IntentRearmLock, Object: l.Ref()}))
	if svc := b.v.Service; svc != nil && !svc.Enabled && svc.DisabledReason == DisabledReasonMaintenance {
		b.add(Plan(b.s, Intent{Kind: IntentEnableCompute, Node: b.v.Name}))
	}
}

// rearmLock plans that a lock that was left inactive holds again.
func (p *planner) rearmLock() {
	s := p.s
	p.step.Title, p.step.Risk = "set the lock active again", RiskMedium
	sources := []SourceID{SourceNodes}
	if s.Sources[SourceDeletionRequests].State != SourceAbsent { // an older release knows no such requests
		sources = append(sources, SourceDeletionRequests)
	}
	l := p.lock(sources...)
	if l == nil {
		return
	}
	node := l.Node
	p.step.Title = "set the lock of " + s.lockLabel(l) + " active again"
	p.guard(Guard{ID: GuardOpenStackLock, Text: "it is a node's lock of the OpenStack controller", Holds: l.Controller == ControllerOpenStack && node != "", Answer: s.lockLabel(l),
		Remedy: "the other controllers take their own locks back"})
	p.guard(Guard{ID: GuardLockInactive, Text: "the lock is inactive", Holds: l.State() == LockInactive, Answer: "it is " + oneLine(string(l.State()), 40)})
	asked := Guard{ID: GuardNoRequest, Text: "nobody asks for the node", Holds: true, Answer: "it has no NodeMaintenanceRequest, and no NodeDeletionRequest", Remedy: "wait until that is over"}
	switch r, d := s.NodeRequest(node), s.Deletions[node]; {
	case r != nil:
		asked.Holds, asked.Answer = false, "its NodeMaintenanceRequest is there since "+clockText(r.Created)
	case d != nil:
		asked.Holds, asked.Answer = false, "its NodeDeletionRequest is there since "+clockText(d.Created)
	case s.Disablings[node] != nil:
		asked.Holds, asked.Answer = false, "its machine is disabled"
	}
	p.guard(asked)
	settled := Guard{ID: GuardSettled, Text: "it was left so", Holds: s.leftLock(node) != nil || !asked.Holds || l.State() != LockInactive, Answer: "nobody has taken it back since",
		Remedy: "wait a minute: the controller may be about to"}
	if !settled.Holds {
		settled.Answer = "its maintenance has ended just now"
	}
	p.guard(settled)
	if s.playsAlone(node) {
		p.guard(Guard{ID: GuardNotPlayed, Text: "it is not Lockstep's own turn, as the OpenStack controller", Answer: "it is", Remedy: "take it back by the node's own steps, which look at its nova-compute first"})
	}
	p.guardNodeBack(node)
	if svc := s.Services[s.HostOf(node)]; svc != nil {
		p.fact("service state", serviceText(svc))
	}
	p.step.Why = "Until the lock is active, the OpenStack controller prepares nothing at the next maintenance of " + oneLine(s.Label(node), 64) + ", and LCM drains and reboots the host with what runs on it."
	p.step.Then = "LCM waits for the lock at the next maintenance, and the controller moves the instances first. Whether nova-compute is in scheduling is a step of its own."
	to := LockStatus{State: LockActive}
	p.step.Undo = "set it back: " + lockCommand(l.Ref(), LockStatus{State: LockInactive, Message: l.Message})
	if l.State() == LockActive {
		p.done = "the lock is active"
		return
	}
	p.step.Commands = []string{lockCommand(l.Ref(), to)}
	p.step.Change = SetLock{Lock: l.Ref(), Was: l.RawState, To: to}
}
