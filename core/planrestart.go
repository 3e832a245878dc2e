package core

import (
	"fmt"
	"strings"
)

// podOnNode begins a step on the pod that a DaemonSet has on the intent's node; the pod is nil when there is none.
func (p *planner) podOnNode() (DaemonView, *DaemonPod) {
	s, node := p.s, p.i.Node
	v, ok := s.daemonNamed(p.i.Workload)
	p.step.Title, p.step.Risk, p.step.Node = "restart "+p.daemonLabel(v)+" on "+oneLine(s.Label(node), 64), RiskMedium, node
	if !p.daemon(v, ok, node) {
		return v, nil
	}
	pod := v.on(node)
	if pod == nil {
		p.identifyPod(v, Ref{Kind: KindPod, Namespace: v.Set.Namespace, Name: v.Set.Name})
		p.unknown("the DaemonSet has a pod on the node", "there is none on "+oneLine(s.Label(node), 64))
		return v, nil
	}
	p.identifyPod(v, pod.Ref())
	p.guard(guardExists("the pod", pod.Ref()))
	p.step.Then = "The DaemonSet makes a new pod on the node at once. The step is done when that one is ready" + s.agentsToo(v, node) + "."
	return v, pod
}

// restartPod plans that the old pod of an OnDelete DaemonSet on one node is deleted, so that its DaemonSet makes a new one
// (docs/mosk.md#restarts). One at a time: while another pod of the DaemonSet is not ready, nothing is deleted.
func (p *planner) restartPod() {
	s, node := p.s, p.i.Node
	v, pod := p.podOnNode()
	if pod == nil {
		return
	}
	old, known := v.isOld(pod)
	drop, wide := v.Set.drop()
	if wide {
		p.step.Risk, p.step.Type = RiskHigh, typable(s.Label(node), s.uidOf(node))
	}
	p.step.Why = join("The pod was made from an older revision; under OnDelete it stays until somebody deletes it.", drop, s.instancesThere(node, wide), s.restartsItself(v))
	if s.returnsOurs(node) && v.Set.isRestartedOnReturn() {
		p.step.Why = join(p.step.Why, "The OpenStack controller does it before the node goes back into scheduling, unless its automated_openvswitch_restart is off.")
	}
	p.guardOnDelete(v)
	answer := textOf(v.Unknown, "its revision is not known")
	if known {
		answer = "it runs " + revisionText(pod.Hash, pod.Template) + "; the DaemonSet is at " + revisionText(v.Revision, v.Set.Template)
	}
	p.guard(Guard{ID: GuardPodOld, Text: "the pod is of an older revision", Holds: old, Answer: answer,
		Remedy: "look again when that is known"})
	returns := s.returnsOurs(node) && v.Set.isRestartedOnReturn()
	if returns {
		// Nothing is scheduled to the node yet, and other nodes may be away in their own maintenance: neither holds Rockoon up.
		p.guard(Guard{ID: GuardStays, Text: "the pod is not being deleted", Holds: pod.Deleting.IsZero(), Answer: stayText(pod), Remedy: "wait for the new one"})
		p.guardNodeReady(node)
		p.guard(s.guardNobodyElse(ActAs{Controller: ControllerOpenStack}))
		p.requestFact(s.NodeRequest(node))
	} else {
		p.guardOthersReady(v, pod)
		p.guardAtRest(node)
	}
	p.podFacts(v, pod)
	if known && !old && pod.Deleting.IsZero() {
		p.done = "runs " + revisionText(pod.Hash, pod.Template)
		if !pod.Ready {
			p.done = ""
			p.step.Change, p.step.State, p.step.Status = nil, StepWaiting, "the new pod is not ready"+because(oneLine(pod.Waits, 60))
		}
		return
	}
	p.step.Change = RestartPod{Pod: pod.Ref(), Node: node, Set: v.Set.Ref(), Selector: v.Set.Selector, Revision: v.Revision, OneAtATime: !returns}
	p.step.Commands = []string{deletePodCommand(pod)}
	p.step.Status = "runs " + revisionText(pod.Hash, pod.Template)
}

// restartPods plans all old pods of an OnDelete DaemonSet, one node after the other.
func (p *planner) restartPods() {
	s := p.s
	v, ok := s.daemonNamed(p.i.Workload)
	p.step.Title, p.step.Risk = "restart the old pods of "+p.daemonLabel(v), RiskHigh
	if !p.daemon(v, ok, "") {
		return
	}
	p.step.Label, p.step.Type = v.Short(), typable(v.Set.Name, v.Set.UID)
	p.guardOnDelete(v)
	p.guard(Guard{ID: GuardValueKnown, Text: "it is known which pods are old", Holds: v.Unknown == "", Answer: textOf(v.Unknown, count(len(v.Old), "pod")+" of "+itoa(len(v.Pods))), Remedy: "wait until that is seen"})
	drop, _ := v.Set.drop()
	var names []string
	var items []BatchItem
	var steps []Step
	p.fact("daemonset", v.Set.UID)
	p.fact("revision", revisionText(v.Revision, v.Set.Template))
	for _, pod := range v.Old {
		i := Intent{Kind: IntentRestartPod, Workload: p.i.Workload, Node: pod.Node}
		one := Plan(s, i)
		if one.Change == nil {
			continue
		}
		names = append(names, one.Label)
		p.fact("pod on "+pod.Node, pod.UID)
		steps = append(steps, one)
		items = append(items, BatchItem{Intent: i, Label: one.Label, Change: one.Change, Basis: one.Basis})
		p.step.Commands = append(p.step.Commands, one.Commands...)
	}
	p.step.Title = "restart " + count(len(items), "old pod") + " of " + v.Short()
	p.step.Why = join("They were made from an older revision; under OnDelete they stay until somebody deletes them: "+some(names, 8)+".", drop, s.restartsItself(v))
	p.step.Then = "One node at a time: the next begins when the new pod is ready and every other one is too. It pauses by itself when one fails."
	p.guard(Guard{ID: GuardSomethingToDo, Text: "a pod is old", Holds: len(items) > 0, Answer: count(len(items), "pod")})
	p.guardEach(steps)
	switch {
	case v.Unknown != "":
	case len(v.Old) == 0:
		p.step.Commands = nil
		p.done = fmt.Sprintf("%s, all of revision %s", count(len(v.Pods), "pod"), revisionText(v.Revision, v.Set.Template))
	case len(items) > 0:
		p.step.Change = Batch{Items: items, AtOnce: 1}
		p.step.Status = fmt.Sprintf("%d of %d are old", len(v.Old), len(v.Pods))
	}
}

// daemonNamed is the view of the DaemonSet that is called "namespace/name".
func (s *Snapshot) daemonNamed(workload string) (DaemonView, bool) {
	for _, v := range s.DaemonViews() {
		if v.Set.Namespace+"/"+v.Set.Name == workload {
			return v, true
		}
	}
	return DaemonView{}, false
}

// daemonLabel is what to call the DaemonSet of the intent.
func (p *planner) daemonLabel(v DaemonView) string {
	if v.Set != nil {
		return v.Short()
	}
	return textOf(oneLine(p.i.Workload, 100), "a DaemonSet without a name")
}

// daemon gives the step its DaemonSet, with the guards that all steps on one have; false when there is no such DaemonSet.
func (p *planner) daemon(v DaemonView, ok bool, node string) bool {
	namespace, name, _ := strings.Cut(p.i.Workload, "/")
	sets, revisions, pods := daemonSources(namespace)
	sources := []SourceID{SourceNodes, SourceNodeRequests}
	if p.i.Kind != IntentRestartAgent {
		sources = append(sources, SourceClusterRequests)
	}
	if sets != "" {
		sources = append(sources, sets, revisions, pods)
	}
	if ok && p.s.returnsOurs(node) && v.Set.isRestartedOnReturn() {
		sources = append(sources, SourceNodeLocks, SourceOpenStackController) // whose turn it is, and who else is there
	}
	switch {
	case p.i.Kind != IntentRestartAgent:
	case ok && v.Set.isNovaCompute():
		sources = append(sources, SourceComputeServices)
	default:
		sources = append(sources, SourceNetworkAgents)
	}
	if !ok {
		p.identify(Ref{Kind: KindDaemonSet, Namespace: namespace, Name: name})
		p.step.Label = p.daemonLabel(v)
		p.common(sources, p.s.busyOn(node))
		p.unknown("the DaemonSet exists", "there is no DaemonSet "+p.daemonLabel(v)+" in the namespaces that Lockstep looks at")
		return false
	}
	p.identify(v.Set.Ref())
	p.step.Label = oneLine(p.s.Label(node), 64)
	onNode := p.s.busyOn(node)
	p.common(sources, func(op Operation) bool {
		restarts := op.is(IntentRestartPod) || op.is(IntentRestartPods) || op.is(IntentRestartAgent)
		return restarts && op.Intent.Workload == p.i.Workload || node != "" && onNode(op)
	})
	return true
}

// identifyPod makes a pod the step's target. The step's ID stays that of the DaemonSet and the node: the pod's successor
// is the same step, done.
func (p *planner) identifyPod(v DaemonView, target Ref) {
	p.step.Target = target
	p.step.ID = string(p.i.Kind) + "/" + v.Set.UID + "/" + p.i.Node
}

func (p *planner) podFacts(v DaemonView, pod *DaemonPod) {
	p.fact("pod", pod.UID)
	p.fact("daemonset", v.Set.UID)
	p.fact("revision", revisionText(v.Revision, v.Set.Template))
}

func (p *planner) guardOnDelete(v DaemonView) {
	g := Guard{ID: GuardOnDelete, Text: "nobody else replaces its pods", Holds: v.Set.OnDelete, Answer: "update strategy OnDelete"}
	if !g.Holds {
		g.Answer = "its update strategy is not OnDelete: the DaemonSet replaces them itself"
	}
	p.guard(g)
}

// guardOthersReady holds when every other pod of the DaemonSet is ready, on every node.
func (p *planner) guardOthersReady(v DaemonView, pod *DaemonPod) {
	g := Guard{ID: GuardOneAtATime, Text: "every other pod of the DaemonSet is ready, on every node", Holds: true, Remedy: "wait until they are, or mend them first"}
	bad := v.notReady(pod.UID)
	var names []string
	for _, other := range bad {
		names = append(names, oneLine(p.s.Label(other.Node), 64)+" ("+readyText(other)+")")
	}
	others := len(v.Pods) - 1
	g.Answer = count(others, "other pod") + verb(others, " is", " are")
	switch {
	case len(names) > 0:
		g.Holds, g.Answer = false, "not ready: "+some(names, 4)
	case others+1 < v.Set.Desired:
		g.Holds, g.Answer = false, fmt.Sprintf("%d of %d pods are there", others+1, v.Set.Desired)
	case !pod.Deleting.IsZero():
		g.Holds, g.Answer = false, "this one is being deleted already"
	}
	p.guard(g)
}

// notReady are the pods of the DaemonSet, but for one, that do not serve now.
func (v DaemonView) notReady(but string) []*DaemonPod {
	var out []*DaemonPod
	for _, other := range v.down {
		if other.UID != but {
			out = append(out, other)
		}
	}
	return out
}

func readyText(p *DaemonPod) string {
	switch {
	case !p.Deleting.IsZero():
		return "ending"
	case p.Ready:
		return "ready"
	}
	return textOf(oneLine(p.Waits, 60), "not ready")
}

func stayText(p *DaemonPod) string {
	if p.Deleting.IsZero() {
		return "it stays"
	}
	return "it ends since " + clockText(p.Deleting)
}

// guardAtRest holds when nothing is asked of the node and it is Ready: in a maintenance its pods are somebody else's.
func (p *planner) guardAtRest(node string) {
	g := Guard{ID: GuardNoRequest, Text: "the node is not in maintenance", Holds: true, Answer: "it has no maintenance request", Remedy: "wait until its maintenance is over"}
	switch r := p.s.NodeRequest(node); {
	case !p.s.known(SourceNodeRequests):
		g.Holds, g.Answer, g.Remedy = false, "not known: "+p.s.whyUnknown(SourceNodeRequests), "mend the source"
	case r != nil:
		g.Holds, g.Answer = false, "it has a maintenance request since "+clockText(r.Created)
	}
	p.guard(g)
	over := Guard{ID: GuardNoUpdate, Text: "no update runs", Holds: true, Answer: "none", Remedy: "wait for its end: the controllers restart what they restart when its node returns"}
	switch r := p.s.updateRequest(); {
	case !p.s.known(SourceClusterRequests):
		over.Holds, over.Answer, over.Remedy = false, "not known: "+p.s.whyUnknown(SourceClusterRequests), "mend the source"
	case r != nil:
		over.Holds, over.Answer = false, "since "+clockText(r.Created)
	}
	p.guard(over)
	p.guardNodeReady(node)
}

func (p *planner) guardNodeReady(node string) {
	g := Guard{ID: GuardNodeReady, Text: "the node is Ready", Remedy: "mend the node first"}
	switch n := p.s.Nodes[node]; {
	case n == nil:
		g.Answer = "the cluster has no such node"
	default:
		g.Holds, g.Answer = n.Ready == "True", "Ready is "+textOf(oneLine(n.Ready, 20), "not told")+dashed(oneLine(n.ReadyReason, 60))
	}
	p.guard(g)
}

func (s *Snapshot) uidOf(node string) string {
	if n := s.Nodes[node]; n != nil {
		return n.UID
	}
	return ""
}

// instancesThere says how many instances a restart touches.
func (s *Snapshot) instancesThere(node string, wide bool) string {
	switch {
	case !wide || s.Nodes[node] == nil || !s.Nodes[node].Is(RoleCompute):
		return ""
	case !s.known(SourceInstances):
		return "How many instances are there is not known: " + s.whyUnknown(SourceInstances) + "."
	}
	n := len(s.InstancesOn(node))
	return sentence(count(n, "instance") + verb(n, " is", " are") + " on it")
}

// restartsItself warns that the OpenStack controller replaces the pods of its own DaemonSets itself: while an update runs
// at the end of each node's maintenance, else one after the other (docs/mosk.md#restarts). One that is played does not.
func (s *Snapshot) restartsItself(v DaemonView) string {
	_, played := s.actAs(ControllerOpenStack)
	switch {
	case v.Set.Namespace != namespaceOpenStack || played:
		return ""
	case s.ClusterRequest() != nil:
		return "An update runs: the OpenStack controller restarts it itself at the end of the node's maintenance, unless its automated_openvswitch_restart is off."
	}
	return "The OpenStack controller restarts it itself, unless its automated_openvswitch_restart is off."
}

// revisionText is how to call a revision: its hash, or the generation of the template.
func revisionText(hash string, template int) string {
	switch {
	case hash != "":
		return oneLine(hash, 20)
	case template != 0:
		return "generation " + itoa(template)
	}
	return "an unknown revision"
}

func deletePodCommand(p *DaemonPod) string {
	return shellCommand("kubectl", "-n", p.Namespace, "delete", "pod", p.Name)
}
