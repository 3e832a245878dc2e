package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// rearmLock plans that a lock that was left inactive is active again.
func (p *planner) rearmLock() {
	s := p.s
	p.step.Title, p.step.Risk = "set the lock active again", core.RiskMedium
	sources := []core.SourceID{core.SourceNodes}
	sources = append(sources, served(s, core.SourceDeletionRequests)...)
	l := p.lock(sources...)
	if l == nil {
		return
	}
	node := l.Node
	p.step.Title = "set the lock of " + LockLabel(s, l) + " active again"
	p.guard(core.Guard{ID: core.GuardOpenStackLock, Text: "it is a node's lock of the OpenStack controller",
		Holds: l.Controller == core.ControllerOpenStack && node != "", Answer: LockLabel(s, l),
		Remedy: "the other controllers take their own locks back"})
	p.guard(core.Guard{ID: core.GuardLockInactive, Text: "the lock is inactive", Holds: l.State() == core.LockInactive,
		Answer: "it is " + wording.OneLine(string(l.State()), 40)})
	asked := core.Guard{ID: core.GuardNoRequest, Text: "nobody asks for the node", Holds: true,
		Answer: "it has no NodeMaintenanceRequest, and no NodeDeletionRequest", Remedy: "wait until that is over"}
	switch r, d := s.NodeRequest(node), s.Deletions[node]; {
	case r != nil:
		asked.Holds, asked.Answer = false, "its NodeMaintenanceRequest is there since "+wording.ClockText(r.Created)
	case d != nil:
		asked.Holds, asked.Answer = false, "its NodeDeletionRequest is there since "+wording.ClockText(d.Created)
	case s.Disablings[node] != nil:
		asked.Holds, asked.Answer = false, "its machine is disabled"
	}
	p.guard(asked)
	settled := core.Guard{ID: core.GuardSettled, Text: "it stays so by itself", Holds: progress.LeftLock(s, node) != nil || !asked.Holds ||
		l.State() != core.LockInactive, Answer: "nobody has taken it back since",
		Remedy: "wait a minute: the controller may be about to"}
	if !settled.Holds {
		settled.Answer = "its maintenance has ended just now"
	}
	p.guard(settled)
	if progress.PlaysAlone(s, node) {
		p.guard(core.Guard{ID: core.GuardNotPlayed, Text: "it is not Lockstep's own turn, as the OpenStack controller", Answer: "it is",
			Remedy: "take it back by the node's own steps, which look at its nova-compute first"})
	}
	p.guardNodeBack(node)
	if svc := s.Services[s.HostOf(node)]; svc != nil {
		p.fact("service state", core.ServiceText(svc))
	}
	p.step.Why = "Until the lock is active, the OpenStack controller prepares nothing at the next maintenance of " +
		wording.OneLine(s.Label(node), 64) + ", and LCM drains and reboots the host with what runs on it."
	p.step.Then = "LCM waits for the lock at the next maintenance, and the controller moves the instances first. Whether nova-compute is " +
		"in scheduling is a step of its own."
	to := core.LockStatus{State: core.LockActive}
	p.step.Undo = "set it back: " + LockCommand(l.Ref(), core.LockStatus{State: core.LockInactive, Message: l.Message})
	if l.State() == core.LockActive {
		p.done = "the lock is active"
		return
	}
	p.step.Commands = []string{LockCommand(l.Ref(), to)}
	p.step.Change = core.SetLock{Lock: l.Ref(), Was: l.RawState, To: to}
}
