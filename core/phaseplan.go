package core

import "fmt"

// mostPlanLines is how many steps of the plan a phase's evidence lists: an update can have many groups.
const mostPlanLines = 6

// byPlan adds to a phase what the update plan says of its steps, and what follows from that: a phase that runs and whose
// step is Stuck is stuck; one whose step was paused by an alert waits for the operator (docs/mosk.md#update-plans, #automatic-pause).
func (f *phaseFacts) byPlan(p *Phase) {
	plan := f.s.Management.Plan()
	if plan == nil || f.over {
		return
	}
	if p.ID == PhaseTrigger {
		text := "update plan " + oneLine(plan.Name, 60) + ": " + oneLine(textOf(plan.Status, "no status"), 40)
		if !plan.Started.IsZero() {
			text += " since " + clockText(plan.Started)
		}
		p.Evidence = append(p.Evidence, text)
		return
	}
	shown, all := 0, 0
	for _, st := range plan.Steps {
		if st.phase() != p.ID {
			continue
		}
		if all++; all <= mostPlanLines {
			shown++
			p.Evidence = append(p.Evidence, f.planLine(st))
		}
		switch {
		case p.State != PhaseRunning:
		case st.Status == PlanStuck:
			p.State = PhaseStuck
		case st.Status == PlanAutoPaused:
			p.State = PhaseWaiting
		}
	}
	if all > shown {
		p.Evidence = append(p.Evidence, fmt.Sprintf("and %d steps of the plan more", all-shown))
	}
}

// planLine is "plan, group rack-a (index 2, 2 at a time): InProgress, 26 m of 8 h, 1 of 3 machines updated".
func (f *phaseFacts) planLine(st PlanStep) string {
	name := stepShort(st)
	if g := f.s.Management.groupOf(st.group()); g != nil {
		name += " (" + groupText(g) + ")"
	}
	return "plan, " + name + ": " + oneLine(PlanStepText(st, f.s.Now), mostRead) // all of it is in the plan's own step
}
