package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// guardSeenSince holds where what is known of the node's services is no older than its return: until then the step has not come to its
// time, and is not offered.
func (p *planner) guardSeenSince(id core.SourceID) {
	back, seen := progress.SeenSinceReturn(p.s, id, p.i.Node)
	if seen {
		return
	}
	p.guard(core.Guard{ID: core.GuardSeenSince, Text: "what is known is no older than the node's return",
		Answer: "the node is back since " + wording.ClockText(back) + "; OpenStack is being asked",
		Remedy: "wait for the answer"})
	p.step.State, p.step.Status = core.StepWaiting, "OpenStack is being asked: what is known is older than the node's return"
}
