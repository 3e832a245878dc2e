package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// endedPodsSummary is a line for each pod that has ended, so that a narrow screen cuts only the end of each.
func (b *nodeSteps) endedPodsSummary() []string {
	const most = 3
	var out []string
	pods := progress.EndedPodsOn(b.s, b.v.Name)
	for i := range pods {
		if i == most && len(pods) > most+1 {
			return append(out, wording.Count(len(pods)-most, "more pod")+" have ended")
		}
		out = append(out, "pod ended, and is waited for: "+wording.OneLine(pods[i].FullName(), 100)+", "+progress.EndedPodText(b.s, &pods[i]))
	}
	return out
}

// endedPodSteps adds the deletion of the ended pods that hold up the node's return.
func (b *nodeSteps) endedPodSteps() {
	switch pods := progress.EndedPodsOn(b.s, b.v.Name); len(pods) {
	case 0:
	case 1:
		b.add(step.Plan(b.s, core.Intent{Kind: core.IntentDeletePod, Node: b.v.Name, Object: pods[0].Ref()}))
	default:
		st := step.Plan(b.s, core.Intent{Kind: core.IntentDeletePods, Node: b.v.Name})
		for i := range pods {
			st.Alternatives = append(st.Alternatives, step.Plan(b.s, core.Intent{Kind: core.IntentDeletePod, Node: b.v.Name, Object: pods[i].Ref()}))
		}
		b.add(st)
	}
}
