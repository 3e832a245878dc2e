package step

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// podOnNode begins a step on the DaemonSet's pod on the intent's node; the pod is nil when there is none.
func (p *planner) podOnNode() (core.DaemonView, *core.DaemonPod) {
	s, node := p.s, p.i.Node
	v, ok := daemonNamed(s, p.i.Workload)
	p.step.Title, p.step.Risk, p.step.Node = "restart "+p.daemonLabel(v)+" on "+wording.OneLine(s.Label(node), 64), core.RiskMedium, node
	if !p.daemon(v, ok, node) {
		return v, nil
	}
	pod := v.On(node)
	if pod == nil {
		p.identifyPod(v, core.Ref{Kind: core.KindPod, Namespace: v.Set.Namespace, Name: v.Set.Name})
		p.unknown("the DaemonSet has a pod on the node", "there is none on "+wording.OneLine(s.Label(node), 64))
		return v, nil
	}
	p.identifyPod(v, pod.Ref())
	p.guard(guardExists("the pod", pod.Ref()))
	p.step.Then = "The DaemonSet makes a new pod on the node at once. The step is done when that one is ready" + agentsToo(s, v, node) + "."
	return v, pod
}

// restartPod plans the deletion of the old pod of an OnDelete DaemonSet on one node, so that the DaemonSet makes a new one
// (docs/mosk.md#restarts). One at a time: while another pod of the DaemonSet is not ready, none is deleted.
func (p *planner) restartPod() {
	s, node := p.s, p.i.Node
	v, pod := p.podOnNode()
	if pod == nil {
		return
	}
	old, known := v.IsOld(pod)
	drop, wide := progress.RestartEffect(v.Set)
	if wide {
		p.step.Risk, p.step.Type = core.RiskHigh, typable(s.Label(node), uidOf(s, node))
	}
	p.step.Why = wording.Join("The pod was made from an older revision; under OnDelete it stays until somebody deletes it.", drop,
		instancesThere(s, node, wide), restartsItself(s, v))
	if progress.ReturnsOurs(s, node) && progress.IsRestartedOnReturn(v.Set) {
		p.step.Why = wording.Join(p.step.Why,
			"The OpenStack controller does it before the node goes back into scheduling, unless its automated_openvswitch_restart is off.")
	}
	p.guardOnDelete(v)
	answer := wording.TextOf(v.Unknown, "its revision is not known")
	if known {
		answer = "it runs " + RevisionText(pod.Hash, pod.Template) + "; the DaemonSet is at " + RevisionText(v.Revision, v.Set.Template)
	}
	p.guard(core.Guard{ID: core.GuardPodOld, Text: "the pod is of an older revision", Holds: old, Answer: answer,
		Remedy: "look again when that is known"})
	returns := progress.ReturnsOurs(s, node) && progress.IsRestartedOnReturn(v.Set)
	if returns {
		// Nothing is scheduled to the node yet, and other nodes may be away in their own maintenance: neither holds Rockoon up.
		p.guard(core.Guard{ID: core.GuardStays, Text: "the pod is not being deleted", Holds: pod.Deleting.IsZero(), Answer: stayText(pod),
			Remedy: "wait for the new one"})
		p.guardNodeReady(node)
		p.guard(progress.GuardNobodyElse(s, core.ControllerOpenStack))
		p.requestFact(s.NodeRequest(node))
	} else {
		p.guardOthersReady(v, pod)
		p.guardAtRest(node)
	}
	p.podFacts(v, pod)
	if known && !old && pod.Deleting.IsZero() {
		p.done = "runs " + RevisionText(pod.Hash, pod.Template)
		if !pod.Ready {
			p.done = ""
			p.step.Change, p.step.State, p.step.Status = nil, core.StepWaiting,
				"the new pod is not ready"+wording.Because(wording.OneLine(pod.Waits, 60))
		}
		return
	}
	p.step.Change = core.RestartPod{Pod: pod.Ref(), Node: node, Set: v.Set.Ref(), Selector: v.Set.Selector, Revision: v.Revision,
		OneAtATime: !returns}
	p.step.Commands = []string{deletePodCommand(pod)}
	p.step.Status = "runs " + RevisionText(pod.Hash, pod.Template)
}

// restartPods plans restartPod for all old pods of an OnDelete DaemonSet, one node after the other.
func (p *planner) restartPods() {
	s := p.s
	v, ok := daemonNamed(s, p.i.Workload)
	p.step.Title, p.step.Risk = "restart the old pods of "+p.daemonLabel(v), core.RiskHigh
	if !p.daemon(v, ok, "") {
		return
	}
	p.step.Label, p.step.Type = v.Short(), typable(v.Set.Name, v.Set.UID)
	p.guardOnDelete(v)
	p.guard(core.Guard{ID: core.GuardValueKnown, Text: "it is known which pods are old", Holds: v.Unknown == "",
		Answer: wording.TextOf(v.Unknown, wording.Count(len(v.Old), "pod")+" of "+wording.Itoa(len(v.Pods))), Remedy: "wait until that is seen"})
	drop, _ := progress.RestartEffect(v.Set)
	var names []string
	var items []core.BatchItem
	var steps []core.Step
	p.fact("daemonset", v.Set.UID)
	p.fact("revision", RevisionText(v.Revision, v.Set.Template))
	for _, pod := range v.Old {
		i := core.Intent{Kind: core.IntentRestartPod, Workload: p.i.Workload, Node: pod.Node}
		one := Plan(s, i)
		if one.Change == nil {
			continue
		}
		names = append(names, one.Label)
		p.fact("pod on "+pod.Node, pod.UID)
		steps = append(steps, one)
		items = append(items, core.BatchItem{Intent: i, Label: one.Label, Change: one.Change, Basis: one.Basis})
		p.step.Commands = append(p.step.Commands, one.Commands...)
	}
	p.step.Title = "restart " + wording.Count(len(items), "old pod") + " of " + v.Short()
	p.step.Why = wording.Join("They were made from an older revision; under OnDelete they stay until somebody deletes them: "+
		wording.Some(names, 8)+".", drop, restartsItself(s, v))
	p.step.Then = "One node at a time: the next begins when the new pod is ready and every other one is too. It pauses by itself when one " +
		"fails."
	p.guard(core.Guard{ID: core.GuardSomethingToDo, Text: "a pod is old", Holds: len(items) > 0, Answer: wording.Count(len(items), "pod")})
	p.guardEach(steps)
	switch {
	case v.Unknown != "":
	case len(v.Old) == 0:
		p.step.Commands = nil
		p.done = fmt.Sprintf("%s, all of revision %s", wording.Count(len(v.Pods), "pod"), RevisionText(v.Revision, v.Set.Template))
	case len(items) > 0:
		p.step.Change = core.Batch{Items: items, AtOnce: 1}
		p.step.Status = fmt.Sprintf("%d of %d are old", len(v.Old), len(v.Pods))
	}
}

// daemonNamed is the view of the DaemonSet "namespace/name"; false when there is none.
func daemonNamed(s *core.Snapshot, workload string) (core.DaemonView, bool) {
	for _, v := range progress.DaemonViews(s) {
		if v.Set.Namespace+"/"+v.Set.Name == workload {
			return v, true
		}
	}
	return core.DaemonView{}, false
}

// daemonLabel is the label of the intent's DaemonSet, also when it does not exist.
func (p *planner) daemonLabel(v core.DaemonView) string {
	if v.Set != nil {
		return v.Short()
	}
	return wording.TextOf(wording.OneLine(p.i.Workload, 100), "a DaemonSet without a name")
}

// daemon gives the step its DaemonSet, and the guards that all steps on one have; false when there is no such DaemonSet.
func (p *planner) daemon(v core.DaemonView, ok bool, node string) bool {
	namespace, name, _ := strings.Cut(p.i.Workload, "/")
	sets, revisions, pods := progress.DaemonSources(namespace)
	sources := []core.SourceID{core.SourceNodes, core.SourceNodeRequests}
	if p.i.Kind != core.IntentRestartAgent {
		sources = append(sources, core.SourceClusterRequests)
	}
	if sets != "" {
		sources = append(sources, sets, revisions, pods)
	}
	if ok && progress.ReturnsOurs(p.s, node) && progress.IsRestartedOnReturn(v.Set) {
		sources = append(sources, core.SourceNodeLocks, core.SourceOpenStackController) // whose turn it is, and who else is there
	}
	switch {
	case p.i.Kind != core.IntentRestartAgent:
	case ok && v.Set.IsNovaCompute():
		sources = append(sources, core.SourceComputeServices)
	default:
		sources = append(sources, core.SourceNetworkAgents)
	}
	if !ok {
		p.identify(core.Ref{Kind: core.KindDaemonSet, Namespace: namespace, Name: name})
		p.step.Label = p.daemonLabel(v)
		p.common(sources, busyOn(p.s, node))
		p.unknown("the DaemonSet exists", "there is no DaemonSet "+p.daemonLabel(v)+" in the namespaces that Lockstep looks at")
		return false
	}
	p.identify(v.Set.Ref())
	p.step.Label = wording.OneLine(p.s.Label(node), 64)
	onNode := busyOn(p.s, node)
	p.common(sources, func(op core.Operation) bool {
		restarts := op.Is(core.IntentRestartPod) || op.Is(core.IntentRestartPods) || op.Is(core.IntentRestartAgent)
		return restarts && op.Intent.Workload == p.i.Workload || node != "" && onNode(op)
	})
	return true
}

// identifyPod makes a pod the step's target. The step's ID is made of the DaemonSet and the node, so the step of the pod's successor is
// the same one, done.
func (p *planner) identifyPod(v core.DaemonView, target core.Ref) {
	p.step.Target = target
	p.step.ID = string(p.i.Kind) + "/" + v.Set.UID + "/" + p.i.Node
}

func (p *planner) podFacts(v core.DaemonView, pod *core.DaemonPod) {
	p.fact("pod", pod.UID)
	p.fact("daemonset", v.Set.UID)
	p.fact("revision", RevisionText(v.Revision, v.Set.Template))
}

func (p *planner) guardOnDelete(v core.DaemonView) {
	g := core.Guard{ID: core.GuardOnDelete, Text: "nobody else replaces its pods", Holds: v.Set.OnDelete, Answer: "update strategy OnDelete"}
	if !g.Holds {
		g.Answer = "its update strategy is not OnDelete: the DaemonSet replaces them itself"
	}
	p.guard(g)
}

// guardOthersReady holds when every other pod of the DaemonSet is ready, on every node.
func (p *planner) guardOthersReady(v core.DaemonView, pod *core.DaemonPod) {
	g := core.Guard{ID: core.GuardOneAtATime, Text: "every other pod of the DaemonSet is ready, on every node", Holds: true,
		Remedy: "wait until they are, or mend them first"}
	bad := v.NotReady(pod.UID)
	var names []string
	for _, other := range bad {
		names = append(names, wording.OneLine(p.s.Label(other.Node), 64)+" ("+ReadyText(other)+")")
	}
	others := len(v.Pods) - 1
	g.Answer = wording.Count(others, "other pod") + wording.Verb(others, " is", " are")
	switch {
	case len(names) > 0:
		g.Holds, g.Answer = false, "not ready: "+wording.Some(names, 4)
	case others+1 < v.Set.Desired:
		g.Holds, g.Answer = false, fmt.Sprintf("%d of %d pods are there", others+1, v.Set.Desired)
	case !pod.Deleting.IsZero():
		g.Holds, g.Answer = false, "this one is being deleted already"
	}
	p.guard(g)
}

// ReadyText is "ready", "ending", or what the pod waits for.
func ReadyText(p *core.DaemonPod) string {
	switch {
	case !p.Deleting.IsZero():
		return "ending"
	case p.Ready:
		return "ready"
	}
	return wording.TextOf(wording.OneLine(p.Waits, 60), "not ready")
}

func stayText(p *core.DaemonPod) string {
	if p.Deleting.IsZero() {
		return "it stays"
	}
	return "it ends since " + wording.ClockText(p.Deleting)
}

// guardAtRest holds when nobody asks for the node and it is Ready: during maintenance its controllers restart its pods.
func (p *planner) guardAtRest(node string) {
	g := core.Guard{ID: core.GuardNoRequest, Text: "the node is not in maintenance", Holds: true, Answer: "it has no maintenance request",
		Remedy: "wait until its maintenance is over"}
	switch r := p.s.NodeRequest(node); {
	case !p.s.Known(core.SourceNodeRequests):
		g.Holds, g.Answer, g.Remedy = false, "not known: "+p.s.WhyUnknown(core.SourceNodeRequests), "mend the source"
	case r != nil:
		g.Holds, g.Answer = false, "it has a maintenance request since "+wording.ClockText(r.Created)
	}
	p.guard(g)
	over := core.Guard{ID: core.GuardNoUpdate, Text: "no update runs", Holds: true, Answer: "none",
		Remedy: "wait for its end: the controllers restart what they restart when its node returns"}
	switch r := progress.UpdateRequest(p.s); {
	case !p.s.Known(core.SourceClusterRequests):
		over.Holds, over.Answer, over.Remedy = false, "not known: "+p.s.WhyUnknown(core.SourceClusterRequests), "mend the source"
	case r != nil:
		over.Holds, over.Answer = false, "since "+wording.ClockText(r.Created)
	}
	p.guard(over)
	p.guardNodeReady(node)
}

// instancesThere says how many instances a wide restart touches; empty for any other.
func instancesThere(s *core.Snapshot, node string, wide bool) string {
	switch {
	case !wide || s.Nodes[node] == nil || !s.Nodes[node].Is(core.RoleCompute):
		return ""
	case !s.Known(core.SourceInstances):
		return "How many instances are there is not known: " + s.WhyUnknown(core.SourceInstances) + "."
	}
	n := len(s.InstancesOn(node))
	return wording.Sentence(wording.Count(n, "instance") + wording.Verb(n, " is", " are") + " on it")
}

// restartsItself warns that the OpenStack controller itself replaces the pods of its DaemonSets: during an update at the end of each
// node's maintenance, else one after the other (docs/mosk.md#restarts). It does not while Lockstep plays it.
func restartsItself(s *core.Snapshot, v core.DaemonView) string {
	_, played := progress.ActAs(s, core.ControllerOpenStack)
	switch {
	case v.Set.Namespace != core.NamespaceOpenStack || played:
		return ""
	case s.ClusterRequest() != nil:
		return "An update runs: the OpenStack controller restarts it itself at the end of the node's maintenance, unless its " +
			"automated_openvswitch_restart is off."
	}
	return "The OpenStack controller restarts it itself, unless its automated_openvswitch_restart is off."
}

// RevisionText names a revision by its hash, or by the generation of the template.
func RevisionText(hash string, template int) string {
	switch {
	case hash != "":
		return wording.OneLine(hash, 20)
	case template != 0:
		return "generation " + wording.Itoa(template)
	}
	return "an unknown revision"
}

func deletePodCommand(p *core.DaemonPod) string {
	return wording.ShellCommand("kubectl", "-n", p.Namespace, "delete", "pod", p.Name)
}
