package step

import (
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// restartAgent plans the deletion of the pod of a Neutron agent or of nova-compute that does not report, whether the pod is old or not
// (docs/mosk.md#trouble, texts M, P and Q).
func (p *planner) restartAgent() {
	s, node := p.s, p.i.Node
	v, pod := p.podOnNode()
	if pod == nil {
		return
	}
	drop, _ := progress.RestartEffect(v.Set)
	who := v.Set.HeardBy()
	p.step.Why = wording.Join(who+" does not hear from it; a new pod starts it anew.", drop)
	p.guard(core.Guard{ID: core.GuardIsAgent, Text: "it is an agent of Neutron's, or nova-compute", Holds: progress.IsNetworkAgent(v.Set) ||
		v.Set.IsNovaCompute(), Answer: "it is " + wording.OneLine(wording.TextOf(v.Set.Component, v.Set.Name), 64)})
	p.guard(core.Guard{ID: core.GuardAgentSilent, Text: who + " does not hear from it", Holds: AgentSilent(s, v.Set, node),
		Answer: agentText(s, v.Set, node), Remedy: "leave it alone"})
	p.guardNodeReady(node)
	p.guard(core.Guard{ID: core.GuardStays, Text: "the pod is not being deleted", Holds: pod.Deleting.IsZero(), Answer: stayText(pod),
		Remedy: "wait for the new one"})
	p.podFacts(v, pod)
	p.step.Change = core.RestartPod{Pod: pod.Ref(), Node: node, Set: v.Set.Ref(), Selector: v.Set.Selector, Revision: v.Revision}
	p.step.Commands = []string{deletePodCommand(pod)}
}

// restartAgents plans restartAgent for all Neutron agents on a node that do not report.
func (p *planner) restartAgents() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "restart the network agents of "+wording.OneLine(s.Label(name), 64), core.RiskHigh
	if !p.node(name, n, []core.SourceID{core.SourceNodes, core.SourceDaemonSets, core.SourceDaemonPods, core.SourceNetworkAgents}) {
		return
	}
	p.step.Type = typable(n.Label(), n.UID)
	p.step.Then = "Each is done when its new pod is ready and Neutron hears from the agent; the OpenStack controller looks again " +
		progress.NextLookOf(s, name) + "."
	if progress.PlaysOn(s, core.ControllerOpenStack, name) {
		p.step.Then = "Each is done when its new pod is ready and Neutron hears from the agent; the node can be taken back when all are heard " +
			"from."
	}
	p.guardNodeReady(name)
	var names, drops []string
	var items []core.BatchItem
	var steps []core.Step
	for _, v := range progress.DaemonViews(s) {
		if !progress.IsNetworkAgent(v.Set) || v.On(name) == nil || !AgentSilent(s, v.Set, name) {
			continue
		}
		i := core.Intent{Kind: core.IntentRestartAgent, Workload: v.Set.Namespace + "/" + v.Set.Name, Node: name}
		one := Plan(s, i)
		if one.Change == nil {
			continue
		}
		drop, _ := progress.RestartEffect(v.Set)
		names, drops = append(names, v.Short()), wording.AddNew(drops, drop)
		steps = append(steps, one)
		items = append(items, core.BatchItem{Intent: i, Label: v.Short(), Change: one.Change, Basis: one.Basis})
		p.fact("pod of "+v.Set.Name, v.On(name).UID)
		p.step.Commands = append(p.step.Commands, one.Commands...)
	}
	p.step.Why = wording.Join("Neutron does not hear from them; new pods restart them: "+wording.TextOf(wording.Some(names, 8), "none")+".",
		strings.Join(drops, " "))
	p.guard(core.Guard{ID: core.GuardSomethingToDo, Text: "an agent there does not report", Holds: len(items) > 0,
		Answer: wording.TextOf(wording.Some(names, 4), "Neutron hears from all whose pods are known"),
		Remedy: "look at the agents: openstack network agent list --host " + wording.ShellQuote(s.HostOf(name))})
	p.guardEach(steps)
	if len(items) > 0 {
		p.step.Change = core.Batch{Items: items, AtOnce: 1}
		p.step.Status = wording.Count(len(items), "pod")
	}
}

// agentsToo is what else must be seen before the step is done.
func agentsToo(s *core.Snapshot, v core.DaemonView, node string) string {
	if v.Set.IsNovaCompute() {
		return " and Nova shows nova-compute up"
	}
	if len(progress.AgentsTouched(s, v.Set, node)) == 0 || !s.Known(core.SourceNetworkAgents) {
		return ""
	}
	return " and Neutron hears from the agents again"
}

// AgentSilent tells whether an agent in the DaemonSet's pod on the node does not report: Neutron says so, or lists none while the
// OpenStack controller waits for the node's agents. For nova-compute: Nova says so, or lists none on a compute node. A service that
// somebody forced down does not count as silent.
func AgentSilent(s *core.Snapshot, d *core.DaemonSet, node string) bool {
	if d.IsNovaCompute() {
		svc := s.Services[s.HostOf(node)]
		return progress.Serviceless(s, node) || svc != nil && !svc.Up && !svc.ForcedDown
	}
	agents := progress.AgentsIn(s, d, node)
	if len(agents) == 0 {
		l := s.NodeLock(node, core.ControllerOpenStack)
		return l != nil && progress.ReadLockMessage(l.Message).ID.AwaitsAgents()
	}
	return slices.ContainsFunc(agents, func(a *core.NetworkAgent) bool { return !a.Alive })
}

func agentText(s *core.Snapshot, d *core.DaemonSet, node string) string {
	if d.IsNovaCompute() {
		svc := s.Services[s.HostOf(node)]
		if svc == nil {
			return "Nova knows no nova-compute on " + wording.OneLine(s.HostOf(node), 64)
		}
		return "nova-compute is " + UpText(svc) + wording.InBrackets(seenText(s.LastHeard(svc)))
	}
	agents := progress.AgentsIn(s, d, node)
	if len(agents) == 0 {
		return "Neutron shows no agent of it"
	}
	var words []string
	for _, a := range agents {
		state := "alive"
		if !a.Alive {
			state = "silent"
			if !a.Heartbeat.IsZero() {
				state += " since " + wording.ClockText(a.Heartbeat)
			}
		}
		words = append(words, wording.OneLine(a.Type, 40)+" "+state)
	}
	return wording.Some(words, 4)
}

// seenText says when a service was heard from last.
func seenText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "heard from last at " + wording.ClockText(at)
}
