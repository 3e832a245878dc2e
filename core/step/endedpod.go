package step

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// deletePod plans the deletion of a pod that has ended, so that its node's return does not wait for it.
func (p *planner) deletePod() {
	s, node, ref := p.s, p.i.Node, p.i.Object
	p.step.Risk, p.step.Node, p.step.Label = core.RiskMedium, node, wording.OneLine(wording.TextOf(ref.Name, "a pod without a name"), 64)
	p.step.Title = "delete pod " + wording.OneLine(ref.Namespace+"/"+ref.Name, 100) + ", which has ended"
	p.identify(core.Ref{Kind: core.KindPod, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID})
	p.common([]core.SourceID{core.SourceNodePods}, busyOn(s, node))
	pods := progress.EndedPodsOn(s, node)
	i := slices.IndexFunc(pods, func(e core.EndedPod) bool { return e.UID == ref.UID && e.FullName() == ref.Namespace+"/"+ref.Name })
	if i < 0 || ref.UID == "" {
		p.unknown("the pod is there, and has ended",
			"none of this name and UID is among the pods on "+wording.TextOf(wording.OneLine(s.Label(node), 64), "the node")+" that have")
		if ref.UID != "" && s.Pods[node] != nil && s.Known(core.SourceNodePods) {
			p.done = "it is gone"
		}
		return
	}
	e := pods[i]
	p.guard(guardExists("the pod", e.Ref()))
	p.guard(core.Guard{ID: core.GuardPodEnded, Text: "the pod has ended", Holds: e.Over(), Answer: progress.EndedPodText(s, &e),
		Remedy: "leave it alone"})
	p.guard(core.Guard{ID: core.GuardStays, Text: "nobody has deleted it yet", Holds: e.Deleting.IsZero(),
		Answer: wording.TextIf(e.Deleting.IsZero(), "it stays", "its deletion was asked for"), Remedy: "wait until it is gone"})
	p.fact("pod", e.UID)
	p.fact("phase", e.Phase)
	p.step.Status = progress.EndedPodText(s, &e)
	p.step.Why = "It has ended and is never ready again. The OpenStack controller takes the node back when every pod of OpenStack on it is " +
		"ready, those of Jobs left out: it waits for this one for ever, without a word."
	if _, played := progress.ActAs(s, core.ControllerOpenStack); played {
		p.step.Why = "It has ended and is never ready again. The node is taken back when every pod of OpenStack on it is ready, those of Jobs " +
			"left out."
	}
	p.step.Then = "The pod's object is gone, and its logs with it: read them first if you need them."
	if e.Owner == "" {
		p.step.Then = wording.Join(p.step.Then, "It is not made again: it has no owner.")
	} else {
		p.step.Then = wording.Join(p.step.Then, "Its owner, a "+wording.OneLine(e.Owner, 40)+", makes another one where it lacks one.")
	}
	p.step.Commands = []string{wording.ShellCommand("kubectl", "-n", e.Namespace, "delete", "pod", e.Name)}
	p.step.Change = core.DeletePod{Pod: e.Ref(), Node: node}
}

// deletePods plans the same for all pods that have ended on a node.
func (p *planner) deletePods() {
	s, name := p.s, p.i.Node
	p.step.Title, p.step.Risk = "delete the pods that have ended on "+wording.OneLine(s.Label(name), 64), core.RiskHigh
	n := s.Nodes[name]
	if !p.node(name, n, []core.SourceID{core.SourceNodes, core.SourceNodePods}) {
		return
	}
	p.step.Type = typable(n.Label(), n.UID)
	var items []core.BatchItem
	var steps []core.Step
	for _, e := range progress.EndedPodsOn(s, name) {
		i := core.Intent{Kind: core.IntentDeletePod, Node: name, Object: e.Ref()}
		one := Plan(s, i)
		if one.Change == nil || !e.Deleting.IsZero() {
			continue
		}
		steps = append(steps, one)
		items = append(items, core.BatchItem{Intent: i, Label: one.Label, Change: one.Change, Basis: one.Basis})
		p.fact("pod "+e.FullName(), e.UID)
		p.step.Commands = append(p.step.Commands, one.Commands...)
		p.step.Why = one.Why
	}
	p.step.Why = strings.NewReplacer("It has ended and is", "They have ended and are", "for this one", "for them").Replace(p.step.Why)
	p.step.Then = "The pods' objects are gone, and their logs with them: read them first if you need them. One after the other: it pauses " +
		"by itself when one fails."
	p.guard(core.Guard{ID: core.GuardSomethingToDo, Text: "a pod there has ended", Holds: len(items) > 0,
		Answer: wording.TextOf(progress.EndedPodsText(s, progress.EndedPodsOn(s, name), 4), "none of those that are seen")})
	p.guardEach(steps)
	if len(items) == 0 {
		if s.Pods[name] != nil && s.Known(core.SourceNodePods) && len(progress.EndedPodsOn(s, name)) == 0 {
			p.done = "none is left"
		}
		return
	}
	p.step.Change = core.Batch{Items: items, AtOnce: 1}
	p.step.Status = wording.Count(len(items), "pod")
}
