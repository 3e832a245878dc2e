package core

import ()

func (p *planner) actIntoScheduling(turn actTurn) {
	p.step.Risk = RiskMedium
	p.turnGuard(turn, turnReturn)
	svc := p.actService()
	if svc == nil {
		return
	}
	p.guardReturned()
	p.guardVolumesBack()
	p.guard(Guard{ID: GuardServiceUp, Text: "nova-compute is up", Holds: svc.Up && !svc.ForcedDown, Answer: upText(svc), Remedy: "look at its pod on the node"})
	p.step.Why = "The node is back. Only what was disabled with the reason of the maintenance is enabled: what somebody else disabled stays as it is."
	p.step.Then = "New and migrated instances can come to the host from now on."
	switch {
	case svc.Enabled:
		p.done = "nova-compute is enabled"
		return
	case svc.DisabledReason != DisabledReasonMaintenance:
		p.done = "nova-compute is " + serviceText(svc) + ": not ours to enable"
		return
	}
	p.step.Commands = []string{shellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")}
	p.step.Undo = "disable it again"
	p.step.Change = SetComputeService{Service: svc.Ref(), Enabled: true, WasEnabled: false, WasReason: svc.DisabledReason}
}

func upText(svc *ComputeService) string {
	switch {
	case svc.ForcedDown:
		return "forced down"
	case svc.Up:
		return "up"
	}
	return "down"
}

// guardReturned holds when the node is back with its pods and agents (docs/mosk.md#return-of-a-node).
func (p *planner) guardReturned() {
	p.guardNodeBack(p.i.Node)
	p.guardPodsReady()
	p.guardAgents()
}

// podsNamespace is the namespace whose pods NodePods tells of.
const podsNamespace = "openstack"

func (p *planner) guardPodsReady() {
	s := p.s
	a, _ := s.actAs(p.i.Controller)
	g := Guard{ID: GuardPodsReady, Text: "its pods on the node are ready", Holds: true, Answer: "none are looked at"}
	if a.Namespace == "" {
		p.guard(g)
		return
	}
	if a.Namespace != podsNamespace {
		g.Answer = "those in " + a.Namespace + " are asked for right before"
		p.guard(g)
		return
	}
	pods := s.Pods[p.i.Node]
	var bad []string
	if pods != nil {
		for _, pod := range pods.NotReady {
			if pod.Namespace == a.Namespace {
				bad = append(bad, pod.Name)
			}
		}
	}
	switch {
	case pods == nil || !s.known(SourceNodePods):
		g.Holds, g.Answer, g.Remedy = false, "not known: "+s.whyUnknown(SourceNodePods), "wait until they are listed"
	case len(s.heldByEndedPods(p.i.Node)) > 0:
		g.Holds, g.Answer = false, "ended, and never ready again: "+s.endedPodsText(s.heldByEndedPods(p.i.Node), 2)
		g.Remedy = "delete them"
	case len(bad) > 0:
		g.Holds, g.Answer = false, "not ready: "+oneLine(some(bad, 4), 200)
		g.Remedy = shellCommand("kubectl", "-n", a.Namespace, "get", "pods", "--field-selector", "spec.nodeName="+p.i.Node)
	default:
		g.Answer = "all in " + a.Namespace
	}
	p.guard(g)
}

func (p *planner) guardAgents() {
	s := p.s
	if p.i.Controller != ControllerOpenStack {
		return
	}
	g := Guard{ID: GuardAgentsAlive, Text: "its network agents are alive", Holds: true, Answer: "all that Neutron lists", Remedy: "look at the agents' pods on the node"}
	down := s.agentsDown(s.HostOf(p.i.Node))
	switch {
	case !s.known(SourceNetworkAgents):
		g.Holds, g.Answer = false, "not known: "+s.whyUnknown(SourceNetworkAgents)
	case len(down) > 0:
		g.Holds, g.Answer = false, "down: "+oneLine(some(down, 4), 100)
	}
	p.guard(g)
}

// actRearm plans that the lock holds again.
func (p *planner) actRearm(a ActAs, l *WorkloadLock, turn actTurn, who string) {
	s, node := p.s, p.i.Node
	p.step.Risk = RiskMedium
	if behind := node == "" && s.lockBehind(a, l); behind && turn != turnReturn {
		p.turnGuard(turn, turnPrepare, turnNone)
		p.guardApplied(nil)
		p.step.Title = "take the lock on the cluster back at release " + oneLine(s.openStackRelease(), 40)
		p.step.Why = "OpenStack is at " + oneLine(s.openStackRelease(), 40) + ", and the lock says " + textOf(oneLine(l.Release, 40), "no release") + ": " + who + " notes its own there before it looks at a request."
		p.step.Then = "The lock holds, at the release that OpenStack is at."
		p.lockChange(a, l, false, LockStatus{State: LockActive})
		return
	}
	p.turnGuard(turn, turnReturn)
	p.step.Why = "Nobody asks for it any more: " + who + " takes it back, so that LCM has to ask before it touches it again."
	p.step.Then = "LCM waits for the lock in the next maintenance."
	if node != "" && a.Controller == ControllerOpenStack {
		p.guardVolumes(false)
	}
	if node != "" {
		p.guardReturned()
		if a.Controller == ControllerOpenStack && s.serviceless(node) { // the controller fails on it (docs/mosk.md#no-compute-service)
			p.guard(Guard{ID: GuardInScheduling, Text: "Nova has a nova-compute of it",
				Answer: "it shows none of " + oneLine(s.HostOf(node), 64),
				Remedy: "restart its pod, so that it announces itself: " + s.computePodCommand(node)})
		} else if svc := s.Services[s.HostOf(node)]; a.Controller == ControllerOpenStack && svc != nil && s.hasGuests(a, node) {
			p.fact("service state", serviceText(svc))
			p.guard(Guard{ID: GuardInScheduling, Text: "nova-compute is up, and not disabled for the maintenance", Holds: svc.Up && (svc.Enabled || svc.DisabledReason != DisabledReasonMaintenance),
				Answer: upText(svc) + ", " + serviceText(svc), Remedy: "put it back into scheduling first"})
		}
	}
	p.lockChange(a, l, l.State() == LockActive, LockStatus{State: LockActive})
}

// actFinish plans that the node counts as worked on no more.
func (p *planner) actFinish(l *WorkloadLock, turn actTurn) {
	p.step.Risk = RiskLow
	p.turnGuard(turn, turnReturn, turnNone)
	p.guard(Guard{ID: GuardLockTakenBack, Text: "the lock is taken back", Holds: l.State() == LockActive, Answer: "it is " + oneLine(string(l.State()), 40), Remedy: "take it back first"})
	if svc := p.s.Services[p.s.HostOf(p.i.Node)]; svc != nil && p.i.Controller == ControllerOpenStack {
		p.guard(Guard{ID: GuardInScheduling, Text: "nova-compute is not disabled for the maintenance", Holds: svc.Enabled || svc.DisabledReason != DisabledReasonMaintenance, Answer: serviceText(svc),
			Remedy: "put it back into scheduling first"})
	}
	if p.i.Controller == ControllerOpenStack {
		p.guardVolumesBack()
	}
	p.step.Why = "The node does not count against the concurrency any more."
	p.step.Then = "The next node can be prepared."
	p.setInner(l, InnerInactive)
}
