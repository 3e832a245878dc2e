package core

import (
	"strings"
)

func (p *planner) actOutOfScheduling(l *WorkloadLock, turn actTurn) {
	p.step.Risk = RiskLow
	p.turnGuard(turn, turnPrepare, turnRemove)
	if turn != turnRemove { // a removal counts against no concurrency
		p.guard(Guard{ID: GuardBegun, Text: "the work on the node was begun", Holds: l.InnerState == InnerActive, Answer: innerText(l.InnerState)})
	}
	svc := p.actService()
	if svc == nil {
		return
	}
	p.step.Why = "The scheduler must put nothing more on a host that is about to go down. The reason is the one by which Rockoon and Lockstep know what they disabled."
	p.step.Then = "Instances on it stay; migrations to it are refused."
	if !svc.Enabled {
		p.done = "nova-compute is " + serviceText(svc)
		return
	}
	p.step.Commands = []string{shellCommand("openstack", "compute", "service", "set", "--disable", "--disable-reason", DisabledReasonMaintenance, svc.Host, "nova-compute")}
	p.step.Undo = "enable it: " + shellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")
	p.step.Change = SetComputeService{Service: svc.Ref(), Enabled: false, Reason: DisabledReasonMaintenance, WasEnabled: true, WasReason: svc.DisabledReason}
}

// actService is the nova-compute of the node, with its guard and facts; nil when there is none.
func (p *planner) actService() *ComputeService {
	svc := p.s.Services[p.s.HostOf(p.i.Node)]
	if svc == nil {
		p.unknown("the compute service exists", "Nova knows no nova-compute on "+oneLine(p.s.HostOf(p.i.Node), 64))
		return nil
	}
	p.fact("service", svc.ID)
	p.fact("service state", serviceText(svc))
	return svc
}

// actRelease plans the word to LCM that it may go on.
func (p *planner) actRelease(a ActAs, l *WorkloadLock, turn actTurn, who string) {
	s, node := p.s, p.i.Node
	p.step.Risk = RiskHigh
	p.step.Type = typable(p.step.Label, l.UID)
	p.turnGuard(turn, turnPrepare, turnRemove)
	if turn == turnRemove {
		p.actRemovalRelease(a, l, who)
		return
	}
	if node == "" {
		p.step.Type = typable(s.Cluster, l.UID)
		p.step.Why = "LCM asks for the cluster and waits for every cluster lock. With this one " + who + " says that it is ready, or updated."
		p.step.Then = s.lcmThen(l, LockInactive)
		if a.Controller == ControllerOpenStack {
			p.guardHeld(s.ClusterRequest())
			p.guardApplied(s.ClusterRequest())
			p.guard(Guard{ID: GuardLockRelease, Text: "the lock is of OpenStack's release", Holds: !s.lockBehind(a, l),
				Answer: "the lock is of " + textOf(oneLine(l.Release, 40), "none"), Remedy: "take it back at " + oneLine(s.openStackRelease(), 40) + " first"})
			p.guardOpenStackHealthy()
			p.guard(Guard{ID: GuardPodsReady, Text: "its pods are ready", Holds: true, Answer: "those in " + textOf(a.Namespace, "no namespace") + " are asked for right before"})
		}
		p.lockChange(a, l, turn == turnReleased, LockStatus{State: LockInactive})
		return
	}
	p.step.Why = "LCM asks for the node and waits for every lock on it. With this one " + who + " says that its workload is out of the way."
	p.step.Then = join(s.lcmThen(l, LockInactive), s.remoteLoss(p.i.Node))
	p.guard(Guard{ID: GuardBegun, Text: "the work on the node was begun", Holds: l.InnerState == InnerActive, Answer: innerText(l.InnerState), Remedy: "begin it first"})
	if r := s.NodeRequest(node); s.releaseMatters(a, r) {
		p.guardApplied(r) // one can be taken over that was begun for another request, or by another controller
	}
	if a.Controller == ControllerOpenStack && s.hasGuests(a, node) {
		p.guard(s.guardHostKnown(s.Nodes[node])) // whatever the scope is: the controller fails on it (docs/mosk.md#no-compute-service)
	}
	if a.Controller == ControllerOpenStack && s.maintenanceOf(node).compute && !s.Settings.AcrossZones {
		p.guardZoneFirst(a)
	}
	if svc := s.Services[s.HostOf(node)]; a.Controller == ControllerOpenStack && s.hasGuests(a, node) && svc != nil {
		p.fact("service state", serviceText(svc))
		p.guard(Guard{ID: GuardOutOfScheduling, Text: "the scheduler puts nothing more on the host", Holds: !svc.Enabled, Answer: "nova-compute is " + serviceText(svc), Remedy: "take it out of scheduling first"})
	}
	if a.Controller == ControllerOpenStack {
		p.guardScope(s.NodeRequest(node))
		p.guardWord(node)
		p.guardVolumes(true)
	}
	p.guardQuorum(a.Controller, node)
	if s.movesInstances(a, node) {
		p.guard(s.guardHostEmpty(node))
		p.guard(s.guardNoMigration(s.HostOf(node)))
		p.hostFacts(node)
		p.hostModeFact(s.Nodes[node])
	}
	p.lockChange(a, l, turn == turnReleased, LockStatus{State: LockInactive})
}

// lockChange makes the change of a lock's state, and of the release that the lock is at.
func (p *planner) lockChange(a ActAs, l *WorkloadLock, done bool, to LockStatus) {
	if done {
		p.done = "the lock says " + string(to.State)
		return
	}
	to.Release = p.s.releaseFor(a, p.i.Node)
	p.fact("release", to.Release)
	p.step.Commands = []string{lockCommand(l.Ref(), to)}
	p.step.Undo = "set it back: " + lockCommand(l.Ref(), LockStatus{State: l.State(), Message: l.Message, Release: l.Release}) + "; what LCM did in between stays done"
	p.step.Change = SetLock{Lock: l.Ref(), Was: l.RawState, To: to}
}

// guardOpenStackHealthy holds when the OpenStack deployment is applied and all its services are healthy (docs/mosk.md#cluster-request).
func (p *planner) guardOpenStackHealthy() {
	s := p.s
	g := Guard{ID: GuardOpenStackHealthy, Text: "OpenStack is applied and healthy", Remedy: "mend what is not, or wait for it"}
	switch {
	case !s.known(SourceOpenStackStatus):
		g.Answer = "not known: " + s.whyUnknown(SourceOpenStackStatus)
	case len(s.OpenStack) == 0:
		g.Answer = "there is no OpenStackDeploymentStatus"
	default:
		g.Holds = true
		var parts []string
		for _, o := range s.OpenStack {
			parts = append(parts, oneLine(o.Name, 40)+" is "+oneLine(o.State, 30)+", health "+textOf(oneLine(o.Health, 20), "not told"))
			if o.State != "APPLIED" || len(o.Unhealthy) > 0 {
				g.Holds = false
			}
			if len(o.Unhealthy) > 0 {
				parts = append(parts, "not ready: "+oneLine(some(o.Unhealthy, 4), 200))
			}
		}
		g.Answer = strings.Join(parts, "; ")
	}
	p.guard(g)
}
