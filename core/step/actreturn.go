package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func (p *planner) actIntoScheduling(turn progress.ActTurn) {
	p.step.Risk = core.RiskMedium
	p.turnGuard(turn, progress.TurnReturn)
	svc := p.actService()
	if svc == nil {
		return
	}
	p.guardReturned()
	p.guardVolumesBack()
	p.guard(core.Guard{ID: core.GuardServiceUp, Text: "nova-compute is up", Holds: svc.Up && !svc.ForcedDown, Answer: UpText(svc),
		Remedy: "look at its pod on the node"})
	p.step.Why = "The node is back. Only a service that was disabled with the maintenance's reason is enabled; what somebody else disabled " +
		"stays as it is."
	p.step.Then = "New and migrated instances can come to the host from now on."
	switch {
	case svc.Enabled:
		p.done = "nova-compute is enabled"
		return
	case svc.DisabledReason != core.DisabledReasonMaintenance:
		p.done = "nova-compute is " + core.ServiceText(svc) + ": not ours to enable"
		return
	}
	p.step.Commands = []string{wording.ShellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")}
	p.step.Undo = "disable it again"
	p.step.Change = core.SetComputeService{Service: svc.Ref(), Enabled: true, WasEnabled: false, WasReason: svc.DisabledReason}
}

// UpText is "up", "down" or "forced down".
func UpText(svc *core.ComputeService) string {
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
	a, _ := progress.ActAs(s, p.i.Controller)
	g := core.Guard{ID: core.GuardPodsReady, Text: "its pods on the node are ready", Holds: true, Answer: "none are looked at"}
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
	case pods == nil || !s.Known(core.SourceNodePods):
		g.Holds, g.Answer, g.Remedy = false, "not known: "+s.WhyUnknown(core.SourceNodePods), "wait until they are listed"
	case !podsSinceReady(s, pods):
		g.Holds, g.Answer, g.Remedy = false, "not known: they were listed before the node was back", "they are listed again by itself"
	case len(progress.HeldByEndedPods(s, p.i.Node)) > 0:
		g.Holds, g.Answer = false, "ended, and never ready again: "+progress.EndedPodsText(s, progress.HeldByEndedPods(s, p.i.Node), 2)
		g.Remedy = "delete them"
	case len(bad) > 0:
		g.Holds, g.Answer = false, "not ready: "+wording.OneLine(wording.Some(bad, 4), 200)
		g.Remedy = wording.ShellCommand("kubectl", "-n", a.Namespace, "get", "pods", "--field-selector", "spec.nodeName="+p.i.Node)
	default:
		g.Answer = "all in " + a.Namespace
	}
	p.guard(g)
}

// podsSinceReady tells whether the pods were listed after the node last became Ready, or not.
func podsSinceReady(s *core.Snapshot, pods *core.NodePods) bool {
	n := s.Nodes[pods.Node]
	return n == nil || pods.NodeReadySince.Equal(n.ReadySince)
}

func (p *planner) guardAgents() {
	s := p.s
	if p.i.Controller != core.ControllerOpenStack {
		return
	}
	g := core.Guard{ID: core.GuardAgentsAlive, Text: "its network agents are alive", Holds: true, Answer: "all that Neutron lists",
		Remedy: "look at the agents' pods on the node"}
	down := progress.AgentsDown(s, s.HostOf(p.i.Node))
	switch {
	case !s.Known(core.SourceNetworkAgents):
		g.Holds, g.Answer = false, "not known: "+s.WhyUnknown(core.SourceNetworkAgents)
	case !progress.SeenSinceReady(s, core.SourceNetworkAgents, p.i.Node):
		g.Holds, g.Answer, g.Remedy = false, "not known: they were listed before the node was back", "they are listed again by itself"
	case len(down) > 0:
		g.Holds, g.Answer = false, "down: "+wording.OneLine(wording.Some(down, 4), 100)
	}
	p.guard(g)
}

// actRearm plans that the lock is active again.
func (p *planner) actRearm(a core.ActAs, l *core.WorkloadLock, turn progress.ActTurn, who string) {
	s, node := p.s, p.i.Node
	p.step.Risk = core.RiskMedium
	if behind := node == "" && progress.LockBehind(s, a, l); behind && turn != progress.TurnReturn {
		p.turnGuard(turn, progress.TurnPrepare, progress.TurnNone)
		p.guardApplied(nil)
		p.step.Title = "take the lock on the cluster back at release " + wording.OneLine(progress.OpenStackRelease(s), 40)
		p.step.Why = "OpenStack is at " + wording.OneLine(progress.OpenStackRelease(s), 40) + ", and the lock says " +
			wording.TextOf(wording.OneLine(l.Release, 40), "no release") + ": " + who + " notes its own there before it looks at a request."
		p.step.Then = "The lock holds, at the release that OpenStack is at."
		p.lockChange(a, l, false, core.LockStatus{State: core.LockActive})
		return
	}
	p.turnGuard(turn, progress.TurnReturn)
	p.step.Why = "Nobody asks for it any more: " + who + " takes it back, so that LCM has to ask before it touches it again."
	p.step.Then = "LCM waits for the lock in the next maintenance."
	if node != "" && a.Controller == core.ControllerOpenStack {
		p.guardVolumes(false)
	}
	if node != "" {
		p.guardReturned()
		// the controller fails on it (docs/mosk.md#no-compute-service)
		if a.Controller == core.ControllerOpenStack && progress.Serviceless(s, node) {
			p.guard(core.Guard{ID: core.GuardInScheduling, Text: "Nova has a nova-compute of it",
				Answer: "it shows none of " + wording.OneLine(s.HostOf(node), 64),
				Remedy: "restart its pod, so that it announces itself: " + progress.ComputePodCommand(s, node)})
		} else if svc := s.Services[s.HostOf(node)]; a.Controller == core.ControllerOpenStack && svc != nil && progress.HasGuests(s, a, node) {
			p.fact("service state", core.ServiceText(svc))
			p.guard(core.Guard{ID: core.GuardInScheduling, Text: "nova-compute is up, and not disabled for the maintenance",
				Holds:  svc.Up && (svc.Enabled || svc.DisabledReason != core.DisabledReasonMaintenance),
				Answer: UpText(svc) + ", " + core.ServiceText(svc), Remedy: "put it back into scheduling first"})
		}
	}
	p.lockChange(a, l, l.State() == core.LockActive, core.LockStatus{State: core.LockActive})
}

// actFinish plans that the node no longer counts as worked on.
func (p *planner) actFinish(l *core.WorkloadLock, turn progress.ActTurn) {
	p.step.Risk = core.RiskLow
	p.turnGuard(turn, progress.TurnReturn, progress.TurnNone)
	p.guard(core.Guard{ID: core.GuardLockTakenBack, Text: "the lock is taken back", Holds: l.State() == core.LockActive,
		Answer: "it is " + wording.OneLine(string(l.State()), 40), Remedy: "take it back first"})
	if svc := p.s.Services[p.s.HostOf(p.i.Node)]; svc != nil && p.i.Controller == core.ControllerOpenStack {
		p.guard(core.Guard{ID: core.GuardInScheduling, Text: "nova-compute is not disabled for the maintenance", Holds: svc.Enabled ||
			svc.DisabledReason != core.DisabledReasonMaintenance, Answer: core.ServiceText(svc),
			Remedy: "put it back into scheduling first"})
	}
	// a request that is withdrawn before the release leaves the lock active: then no other step has looked whether the node is back
	if p.i.Node != "" && turn == progress.TurnReturn {
		p.guardReturned()
		if p.i.Controller == core.ControllerOpenStack {
			p.guardVolumes(false)
		}
	}
	p.step.Why = "The node does not count against the concurrency any more."
	p.step.Then = "The next node can be prepared."
	p.setInner(l, core.InnerInactive)
}
