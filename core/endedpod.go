package core

import (
	"slices"
	"strings"
	"time"
)

// EndedPod is a pod in phase Failed or Succeeded that is left on its node, such as an eviction leaves behind. It is never ready again,
// and the way back of its node waits for it until somebody deletes it (docs/mosk.md#pods-on-return).
type EndedPod struct {
	Namespace string
	Name      string
	UID       string
	Phase     string    // Failed or Succeeded; of a pod that was read anew, any other
	Reason    string    // "Evicted"; may be empty
	Owner     string    // the kind of its controller; empty when it has none
	Since     Since     // when it ended; not exact where only its beginning is known
	Deleting  time.Time // its deletion was asked for then; zero when it was not
}

// Ref names the pod.
func (e *EndedPod) Ref() Ref {
	return Ref{Kind: KindPod, Namespace: e.Namespace, Name: e.Name, UID: e.UID}
}

// Over tells whether the pod is in a phase that it never leaves.
func (e *EndedPod) Over() bool { return e.Phase == "Failed" || e.Phase == "Succeeded" }

// FullName is the pod's name with its namespace.
func (e *EndedPod) FullName() string { return e.name().String() }

func (e *EndedPod) name() PodName { return PodName{e.Namespace, e.Name} }

// Text is how it stands: "Failed (Evicted), since 03:12".
func (e *EndedPod) Text(now time.Time) string {
	text := oneLine(textOf(e.Phase, "no phase"), 20) + inBrackets(oneLine(e.Reason, 40))
	switch {
	case e.Since.At.IsZero():
	case e.Since.Exact:
		text += ", since " + dayText(e.Since.At, now)
	default:
		text += ", begun at " + dayText(e.Since.At, now)
	}
	if !e.Deleting.IsZero() {
		text += ", being deleted since " + dayText(e.Deleting, now)
	}
	return text
}

// dayText is a moment with its day, where that is not today's or last night's.
func dayText(at, now time.Time) string {
	if d := now.Sub(at); d > -12*time.Hour && d < 12*time.Hour {
		return clockText(at)
	}
	return at.Local().Format("2006-01-02 15:04")
}

// EndedPodsOn are the pods that are over and that the way back of the node waits for, by name.
func (s *Snapshot) EndedPodsOn(node string) []EndedPod {
	pods := s.Pods[node]
	if pods == nil || !s.known(SourceNodePods) {
		return nil
	}
	return pods.Ended
}

// endedPodsText names pods that are over, with how each stands.
func (s *Snapshot) endedPodsText(pods []EndedPod, most int) string {
	names := make([]string, len(pods))
	for i := range pods {
		names[i] = oneLine(pods[i].FullName(), 100) + " (" + pods[i].Text(s.Now) + ")"
	}
	return some(names, most)
}

// heldByEndedPods are the pods that alone hold the node's way back: it is Ready, and every other pod of OpenStack on it is as well.
func (s *Snapshot) heldByEndedPods(node string) []EndedPod {
	n, pods := s.Nodes[node], s.Pods[node]
	ended := s.EndedPodsOn(node)
	if n == nil || n.Ready != "True" || len(ended) == 0 {
		return nil
	}
	for _, name := range pods.NotReady {
		if !slices.ContainsFunc(ended, func(e EndedPod) bool { return e.name() == name }) {
			return nil
		}
	}
	return slices.DeleteFunc(slices.Clone(ended), func(e EndedPod) bool { return !e.Deleting.IsZero() })
}

// endedNames are the pods' names.
func endedNames(pods []EndedPod) []PodName {
	names := make([]PodName, len(pods))
	for i := range pods {
		names[i] = pods[i].name()
	}
	return names
}

// comesBack tells whether the node is on its way back: the OpenStack controller takes it back, or Lockstep has to in its place.
func (s *Snapshot) comesBack(v NodeView) bool {
	return v.Stage == StageReturning || s.returnsOurs(v.Name)
}

// endedPods are pods that hold the node's way back for ever: the OpenStack controller waits for them, and says nothing.
func (f *attentionFacts) endedPods(n nodeAttention) {
	if !f.s.comesBack(n.NodeView) || n.Node == nil || n.own == nil || n.own.InnerState != InnerActive {
		return
	}
	held := f.s.heldByEndedPods(n.Name)
	if len(held) == 0 {
		return
	}
	a := n.entry(RuleEndedPods)
	a.Severity = SeverityUrgent
	a.Reason = "its return waits for " + count(len(held), "pod") + " that " + verb(len(held), "has", "have") + " ended: " + f.s.endedPodsText(held, 3)
	a.Detail = "A pod that has ended is never ready again, and " +
		"the OpenStack controller waits until all of the node's are, without a word. Delete " + verb(len(held), "it", "them") + "."
	f.add(a)
}

// endedPodsSummary is a line for each of the pods that have ended, on which a narrow screen cuts the end only.
func (b *nodeSteps) endedPodsSummary() []string {
	const most = 3
	var out []string
	pods := b.s.EndedPodsOn(b.v.Name)
	for i := range pods {
		if i == most && len(pods) > most+1 {
			return append(out, count(len(pods)-most, "more pod")+" have ended")
		}
		out = append(out, "pod ended, and is waited for: "+oneLine(pods[i].FullName(), 100)+", "+pods[i].Text(b.s.Now))
	}
	return out
}

// endedPodSteps delete the pods that hold the node's way back.
func (b *nodeSteps) endedPodSteps() {
	switch pods := b.s.EndedPodsOn(b.v.Name); len(pods) {
	case 0:
	case 1:
		b.add(Plan(b.s, Intent{Kind: IntentDeletePod, Node: b.v.Name, Object: pods[0].Ref()}))
	default:
		st := Plan(b.s, Intent{Kind: IntentDeletePods, Node: b.v.Name})
		for i := range pods {
			st.Alternatives = append(st.Alternatives, Plan(b.s, Intent{Kind: IntentDeletePod, Node: b.v.Name, Object: pods[i].Ref()}))
		}
		b.add(st)
	}
}

// deletePod plans that one pod that has ended is deleted, so that the way back of its node does not wait for it.
func (p *planner) deletePod() {
	s, node, ref := p.s, p.i.Node, p.i.Object
	p.step.Risk, p.step.Node, p.step.Label = RiskMedium, node, oneLine(textOf(ref.Name, "a pod without a name"), 64)
	p.step.Title = "delete pod " + oneLine(ref.Namespace+"/"+ref.Name, 100) + ", which has ended"
	p.identify(Ref{Kind: KindPod, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID})
	p.common([]SourceID{SourceNodePods}, s.busyOn(node))
	pods := s.EndedPodsOn(node)
	i := slices.IndexFunc(pods, func(e EndedPod) bool { return e.UID == ref.UID && e.FullName() == ref.Namespace+"/"+ref.Name })
	if i < 0 || ref.UID == "" {
		p.unknown("the pod is there, and has ended", "none of this name and UID is among the pods on "+textOf(oneLine(s.Label(node), 64), "the node")+" that have")
		if ref.UID != "" && s.Pods[node] != nil && s.known(SourceNodePods) {
			p.done = "it is gone"
		}
		return
	}
	e := pods[i]
	p.guard(guardExists("the pod", e.Ref()))
	p.guard(Guard{ID: GuardPodEnded, Text: "the pod has ended", Holds: e.Over(), Answer: e.Text(s.Now), Remedy: "leave it alone"})
	p.guard(Guard{ID: GuardStays, Text: "nobody has deleted it yet", Holds: e.Deleting.IsZero(),
		Answer: textIf(e.Deleting.IsZero(), "it stays", "its deletion was asked for"), Remedy: "wait until it is gone"})
	p.fact("pod", e.UID)
	p.fact("phase", e.Phase)
	p.step.Status = e.Text(s.Now)
	p.step.Why = "It has ended and is never ready again. " +
		"The OpenStack controller takes the node back when every pod of OpenStack on it is ready, those of Jobs left out: it waits for this one for ever, without a word."
	if _, played := s.actAs(ControllerOpenStack); played {
		p.step.Why = "It has ended and is never ready again. " +
			"The node is taken back when every pod of OpenStack on it is ready, those of Jobs left out."
	}
	p.step.Then = "The pod's object is gone, and its logs with it: read them first if you need them."
	if e.Owner == "" {
		p.step.Then = join(p.step.Then, "Nobody makes it anew: it has no owner.")
	} else {
		p.step.Then = join(p.step.Then, "Its owner, a "+oneLine(e.Owner, 40)+", makes another one where it lacks one.")
	}
	p.step.Commands = []string{shellCommand("kubectl", "-n", e.Namespace, "delete", "pod", e.Name)}
	p.step.Change = DeletePod{Pod: e.Ref(), Node: node}
}

// deletePods plans the same for all pods that have ended on a node.
func (p *planner) deletePods() {
	s, name := p.s, p.i.Node
	p.step.Title, p.step.Risk = "delete the pods that have ended on "+oneLine(s.Label(name), 64), RiskHigh
	n := s.Nodes[name]
	if !p.node(name, n, []SourceID{SourceNodes, SourceNodePods}) {
		return
	}
	p.step.Type = typable(n.Label(), n.UID)
	var items []BatchItem
	var steps []Step
	for _, e := range s.EndedPodsOn(name) {
		i := Intent{Kind: IntentDeletePod, Node: name, Object: e.Ref()}
		one := Plan(s, i)
		if one.Change == nil || !e.Deleting.IsZero() {
			continue
		}
		steps = append(steps, one)
		items = append(items, BatchItem{Intent: i, Label: one.Label, Change: one.Change, Basis: one.Basis})
		p.fact("pod "+e.FullName(), e.UID)
		p.step.Commands = append(p.step.Commands, one.Commands...)
		p.step.Why = one.Why
	}
	p.step.Why = strings.NewReplacer("It has ended and is", "They have ended and are", "for this one", "for them").Replace(p.step.Why)
	p.step.Then = "The pods' objects are gone, and their logs with them: read them first if you need them. One after the other: it pauses by itself when one fails."
	p.guard(Guard{ID: GuardSomethingToDo, Text: "a pod there has ended", Holds: len(items) > 0, Answer: textOf(s.endedPodsText(s.EndedPodsOn(name), 4), "none of those that are seen")})
	p.guardEach(steps)
	if len(items) == 0 {
		if s.Pods[name] != nil && s.known(SourceNodePods) && len(s.EndedPodsOn(name)) == 0 {
			p.done = "none is left"
		}
		return
	}
	p.step.Change = Batch{Items: items, AtOnce: 1}
	p.step.Status = count(len(items), "pod")
}
