package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// endedPods finds pods that hold the node's return for ever: the OpenStack controller waits for them, and does not say so.
func (f *facts) endedPods(n nodeFacts) {
	if !progress.ComesBack(f.s, n.NodeView) || n.Node == nil || n.own == nil || n.own.InnerState != core.InnerActive {
		return
	}
	held := progress.HeldByEndedPods(f.s, n.Name)
	if len(held) == 0 {
		return
	}
	a := n.entry(core.RuleEndedPods)
	a.Severity = core.SeverityUrgent
	a.Reason = "its return waits for " + wording.Count(len(held), "pod") + " that " + wording.Verb(len(held), "has", "have") + " ended: " +
		progress.EndedPodsText(f.s, held, 3)
	a.Detail = "A pod that has ended is never ready again, and the OpenStack controller waits until all of the node's are, without a word. " +
		"Delete " + wording.Verb(len(held), "it", "them") + "."
	f.add(a)
}
