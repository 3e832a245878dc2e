package core

import (
	"slices"
	"strings"
	"time"
)

// restartAgent plans that the pod of one of Neutron's agents on a node, or of its nova-compute, is deleted, old or not: what
// mends one that does not report (docs/mosk.md#trouble, texts M, P and Q).
func (p *planner) restartAgent() {
	s, node := p.s, p.i.Node
	v, pod := p.podOnNode()
	if pod == nil {
		return
	}
	drop, _ := v.Set.drop()
	who := v.Set.heardBy()
	p.step.Why = join(who+" does not hear from it; a new pod starts it anew.", drop)
	p.guard(Guard{ID: GuardIsAgent, Text: "it is an agent of Neutron's, or nova-compute", Holds: v.Set.isNetworkAgent() || v.Set.isNovaCompute(), Answer: "it is " + oneLine(textOf(v.Set.Component, v.Set.Name), 64)})
	p.guard(Guard{ID: GuardAgentSilent, Text: who + " does not hear from it", Holds: s.agentSilent(v.Set, node), Answer: s.agentText(v.Set, node), Remedy: "leave it alone"})
	p.guardNodeReady(node)
	p.guard(Guard{ID: GuardStays, Text: "the pod is not being deleted", Holds: pod.Deleting.IsZero(), Answer: stayText(pod), Remedy: "wait for the new one"})
	p.podFacts(v, pod)
	p.step.Change = RestartPod{Pod: pod.Ref(), Node: node, Set: v.Set.Ref(), Selector: v.Set.Selector, Revision: v.Revision}
	p.step.Commands = []string{deletePodCommand(pod)}
}

// restartAgents plans the pods of all of Neutron's agents on a node that do not report.
func (p *planner) restartAgents() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "restart the network agents of "+oneLine(s.Label(name), 64), RiskHigh
	if !p.node(name, n, []SourceID{SourceNodes, SourceDaemonSets, SourceDaemonPods, SourceNetworkAgents}) {
		return
	}
	p.step.Type = typable(n.Label(), n.UID)
	p.step.Then = "Each is done when its new pod is ready and Neutron hears from the agent; the OpenStack controller looks again " + s.nextLookOf(name) + "."
	if s.playsOn(ControllerOpenStack, name) {
		p.step.Then = "Each is done when its new pod is ready and Neutron hears from the agent; the node can be taken back when all are heard from."
	}
	p.guardNodeReady(name)
	var names, drops []string
	var items []BatchItem
	var steps []Step
	for _, v := range s.DaemonViews() {
		if !v.Set.isNetworkAgent() || v.on(name) == nil || !s.agentSilent(v.Set, name) {
			continue
		}
		i := Intent{Kind: IntentRestartAgent, Workload: v.Set.Namespace + "/" + v.Set.Name, Node: name}
		one := Plan(s, i)
		if one.Change == nil {
			continue
		}
		drop, _ := v.Set.drop()
		names, drops = append(names, v.Short()), add(drops, drop)
		steps = append(steps, one)
		items = append(items, BatchItem{Intent: i, Label: v.Short(), Change: one.Change, Basis: one.Basis})
		p.fact("pod of "+v.Set.Name, v.on(name).UID)
		p.step.Commands = append(p.step.Commands, one.Commands...)
	}
	p.step.Why = join("Neutron does not hear from them; new pods start them anew: "+textOf(some(names, 8), "none")+".", strings.Join(drops, " "))
	p.guard(Guard{ID: GuardSomethingToDo, Text: "an agent there does not report", Holds: len(items) > 0, Answer: textOf(some(names, 4), "Neutron hears from all whose pods are known"),
		Remedy: "look at the agents: openstack network agent list --host " + shellQuote(s.HostOf(name))})
	p.guardEach(steps)
	if len(items) > 0 {
		p.step.Change = Batch{Items: items, AtOnce: 1}
		p.step.Status = count(len(items), "pod")
	}
}

// agentsToo is what else has to be seen, where Neutron shows it.
func (s *Snapshot) agentsToo(v DaemonView, node string) string {
	if v.Set.isNovaCompute() {
		return " and Nova shows nova-compute up"
	}
	if len(s.agentsTouched(v.Set, node)) == 0 || !s.known(SourceNetworkAgents) {
		return ""
	}
	return " and Neutron hears from the agents again"
}

// heardBy is who hears from what runs in the DaemonSet's pods.
func (d *DaemonSet) heardBy() string {
	if d.isNovaCompute() {
		return "Nova"
	}
	return "Neutron"
}

// agentSilent tells whether an agent in the DaemonSet's pod on the node does not report: Neutron says so, or shows none of
// it while the OpenStack controller waits for the node's agents; of nova-compute Nova says so, or shows none on a compute. What
// somebody has forced down counts as down whatever it reports.
func (s *Snapshot) agentSilent(d *DaemonSet, node string) bool {
	if d.isNovaCompute() {
		svc := s.Services[s.HostOf(node)]
		return s.serviceless(node) || svc != nil && !svc.Up && !svc.ForcedDown
	}
	agents := s.agentsIn(d, node)
	if len(agents) == 0 {
		l := s.NodeLock(node, ControllerOpenStack)
		return l != nil && ReadLockMessage(l.Message).ID.AwaitsAgents()
	}
	return slices.ContainsFunc(agents, func(a *NetworkAgent) bool { return !a.Alive })
}

func (s *Snapshot) agentText(d *DaemonSet, node string) string {
	if d.isNovaCompute() {
		svc := s.Services[s.HostOf(node)]
		if svc == nil {
			return "Nova knows no nova-compute on " + oneLine(s.HostOf(node), 64)
		}
		return "nova-compute is " + upText(svc) + inBrackets(seenText(svc.Updated))
	}
	agents := s.agentsIn(d, node)
	if len(agents) == 0 {
		return "Neutron shows no agent of it"
	}
	var words []string
	for _, a := range agents {
		state := "alive"
		if !a.Alive {
			state = "silent"
			if !a.Heartbeat.IsZero() {
				state += " since " + clockText(a.Heartbeat)
			}
		}
		words = append(words, oneLine(a.Type, 40)+" "+state)
	}
	return some(words, 4)
}

// seenText says when a service was heard from last.
func seenText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "heard from last at " + clockText(at)
}
