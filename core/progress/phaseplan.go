package progress

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/wording"
)

// mostPlanLines is how many plan steps a phase's evidence lists: an update can have many groups.
const mostPlanLines = 6

// byPlan adds what the update plan says of a phase's steps, and its consequences: a running phase with a Stuck step is stuck; a
// phase with a step that an alert has paused waits for the operator (docs/mosk.md#update-plans, #automatic-pause).
func (f *phaseFacts) byPlan(p *core.Phase) {
	plan := f.s.Management.Plan()
	if plan == nil || f.over {
		return
	}
	if p.ID == core.PhaseTrigger {
		text := "update plan " + wording.OneLine(plan.Name, 60) + ": " + wording.OneLine(wording.TextOf(plan.Status, "no status"), 40)
		if !plan.Started.IsZero() {
			text += " since " + wording.ClockText(plan.Started)
		}
		p.Evidence = append(p.Evidence, text)
		return
	}
	shown, all := 0, 0
	for _, st := range plan.Steps {
		if st.Phase() != p.ID {
			continue
		}
		if all++; all <= mostPlanLines {
			shown++
			p.Evidence = append(p.Evidence, f.planLine(st))
		}
		switch {
		case p.State != core.PhaseRunning:
		case st.Status == core.PlanStuck:
			p.State = core.PhaseStuck
		case st.Status == core.PlanAutoPaused:
			p.State = core.PhaseWaiting
		}
	}
	if all > shown {
		p.Evidence = append(p.Evidence, fmt.Sprintf("and %d steps of the plan more", all-shown))
	}
}

// planLine returns a text like "plan, group rack-a (index 2, 2 at a time): InProgress, 26 m of 8 h, 1 of 3 machines updated".
func (f *phaseFacts) planLine(st core.PlanStep) string {
	name := StepShort(st)
	if g := f.s.Management.GroupOf(st.Group()); g != nil {
		name += " (" + GroupText(g) + ")"
	}
	return "plan, " + name + ": " + wording.OneLine(PlanStepText(f.s, st), wording.MostRead) // the plan's own step shows the full text
}
