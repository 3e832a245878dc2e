package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func (p *planner) actOutOfScheduling(l *core.WorkloadLock, turn progress.ActTurn) {
	p.step.Risk = core.RiskLow
	p.turnGuard(turn, progress.TurnPrepare, progress.TurnRemove)
	if turn != progress.TurnRemove { // a removal counts against no concurrency
		p.guard(core.Guard{ID: core.GuardBegun, Text: "the work on the node was begun", Holds: l.InnerState == core.InnerActive,
			Answer: InnerText(l.InnerState)})
	}
	svc := p.actService()
	if svc == nil {
		return
	}
	p.step.Why = "The scheduler must put nothing more on a host that is about to go down. The reason is the one by which Rockoon and " +
		"Lockstep know what they disabled."
	p.step.Then = "Instances on it stay; migrations to it are refused."
	if !svc.Enabled {
		p.done = "nova-compute is " + core.ServiceText(svc)
		return
	}
	p.step.Commands = []string{wording.ShellCommand("openstack", "compute", "service", "set", "--disable", "--disable-reason",
		core.DisabledReasonMaintenance, svc.Host, "nova-compute")}
	p.step.Undo = "enable it: " + wording.ShellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")
	p.step.Change = core.SetComputeService{Service: svc.Ref(), Enabled: false, Reason: core.DisabledReasonMaintenance, WasEnabled: true,
		WasReason: svc.DisabledReason}
}

// actService is the nova-compute of the node, with its guard and facts; nil when there is none.
func (p *planner) actService() *core.ComputeService {
	svc := p.s.Services[p.s.HostOf(p.i.Node)]
	if svc == nil {
		p.unknown("the compute service exists", "Nova knows no nova-compute on "+wording.OneLine(p.s.HostOf(p.i.Node), 64))
		return nil
	}
	p.fact("service", svc.ID)
	p.fact("service state", core.ServiceText(svc))
	return svc
}

// actRelease plans the release of the lock: LCM may go on.
func (p *planner) actRelease(a core.ActAs, l *core.WorkloadLock, turn progress.ActTurn, who string) {
	s, node := p.s, p.i.Node
	p.step.Risk = core.RiskHigh
	p.step.Type = typable(p.step.Label, l.UID)
	p.turnGuard(turn, progress.TurnPrepare, progress.TurnRemove)
	if turn == progress.TurnRemove {
		p.actRemovalRelease(a, l, who)
		return
	}
	p.lcmFacts(l)
	if node == "" {
		p.step.Type = typable(s.Cluster, l.UID)
		p.step.Why = "LCM asks for the cluster and waits for every cluster lock. With this one " + who + " says that it is ready, or updated."
		p.step.Then = lcmThen(s, l, core.LockInactive)
		if a.Controller == core.ControllerOpenStack {
			p.guardHeld(s.ClusterRequest())
			p.guardApplied(s.ClusterRequest())
			p.guard(core.Guard{ID: core.GuardLockRelease, Text: "the lock is of OpenStack's release", Holds: !progress.LockBehind(s, a, l),
				Answer: "the lock is of " + wording.TextOf(wording.OneLine(l.Release, 40), "none"),
				Remedy: "take it back at " + wording.OneLine(progress.OpenStackRelease(s), 40) + " first"})
			p.guardOpenStackHealthy()
			p.guard(core.Guard{ID: core.GuardPodsReady, Text: "its pods are ready", Holds: true,
				Answer: "those in " + wording.TextOf(a.Namespace, "no namespace") + " are asked for right before"})
		}
		p.lockChange(a, l, turn == progress.TurnReleased, core.LockStatus{State: core.LockInactive})
		return
	}
	p.step.Why = "LCM asks for the node and waits for every lock on it. With this one " + who + " says that its workload is out of the way."
	p.step.Then = wording.Join(lcmThen(s, l, core.LockInactive), progress.RemoteLoss(s, p.i.Node))
	p.guard(core.Guard{ID: core.GuardBegun, Text: "the work on the node was begun", Holds: l.InnerState == core.InnerActive,
		Answer: InnerText(l.InnerState), Remedy: "begin it first"})
	if a.Controller == core.ControllerOpenStack {
		p.guardHeld(s.NodeRequest(node)) // begin, which asks it too, is done already where an inner_state is left over
	}
	if r := s.NodeRequest(node); progress.ReleaseMatters(s, a, r) {
		p.guardApplied(r) // one can be taken over that was begun for another request, or by another controller
	}
	if a.Controller == core.ControllerOpenStack && progress.HasGuests(s, a, node) {
		p.guard(guardHostKnown(s, s.Nodes[node])) // whatever the scope is: the controller fails on it (docs/mosk.md#no-compute-service)
	}
	if a.Controller == core.ControllerOpenStack && progress.MaintenanceOf(s, node).Compute && !s.Settings.AcrossZones {
		p.guardZoneFirst(a)
	}
	if svc := s.Services[s.HostOf(node)]; a.Controller == core.ControllerOpenStack && progress.HasGuests(s, a, node) && svc != nil {
		p.fact("service state", core.ServiceText(svc))
		p.guard(core.Guard{ID: core.GuardOutOfScheduling, Text: "the scheduler puts nothing more on the host", Holds: !svc.Enabled,
			Answer: "nova-compute is " + core.ServiceText(svc), Remedy: "take it out of scheduling first"})
	}
	if a.Controller == core.ControllerOpenStack {
		p.guardScope(s.NodeRequest(node))
		p.guardWord(node)
		p.guardVolumes(true)
	}
	p.guardQuorum(a.Controller, node)
	if progress.MovesInstances(s, a, node) {
		p.guard(guardHostEmpty(s, node))
		p.guard(guardNoMigration(s, s.HostOf(node)))
		p.hostFacts(node)
		p.hostModeFact(s.Nodes[node])
	}
	p.lockChange(a, l, turn == progress.TurnReleased, core.LockStatus{State: core.LockInactive})
}

// lockChange plans the change of a lock's state and of its release.
func (p *planner) lockChange(a core.ActAs, l *core.WorkloadLock, done bool, to core.LockStatus) {
	if done {
		p.done = "the lock says " + string(to.State)
		return
	}
	to.Release = progress.ReleaseFor(p.s, a, p.i.Node)
	p.fact("release", to.Release)
	p.step.Commands = []string{LockCommand(l.Ref(), to)}
	p.step.Undo = "set it back: " + LockCommand(l.Ref(), core.LockStatus{State: l.State(), Message: l.Message, Release: l.Release}) +
		"; what LCM did in between stays done"
	p.step.Change = core.SetLock{Lock: l.Ref(), Was: l.RawState, To: to}
}
