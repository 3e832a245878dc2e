package progress

import (
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// overdueMark begins the evidence of what takes longer than the documents allow.
const overdueMark = "overdue: "

// StandsStill tells why a phase of the running update does not go on without somebody, in one clause; no cause when it goes on, has
// not begun, or is done. A step of the plan that nobody has commenced holds up the phase that it belongs to.
func StandsStill(s *core.Snapshot, p core.Phase) (cause core.StandstillCause, why string) {
	if UpdateRequest(s) == nil || p.State == core.PhaseDone {
		return "", ""
	}
	if plan := s.Management.Plan(); plan != nil {
		if cause, why = planStands(s.Management, plan, p.ID); cause != "" {
			return cause, why
		}
	}
	if p.State != core.PhaseWaiting && p.State != core.PhaseStuck {
		return "", ""
	}
	if p.Overdue != "" {
		return core.StandsOverdue, p.Overdue
	}
	if p.ID == core.PhaseMasters || p.ID == core.PhaseWorkers {
		for _, stage := range []core.Stage{core.StageWaiting, core.StageFailed} {
			if why = nodesStand(s, p.ID, stage); why != "" && stage == core.StageWaiting {
				return core.StandsForPerson, why
			} else if why != "" {
				return core.StandsFailed, why
			}
		}
	}
	for _, l := range p.Lines {
		if l.State == core.PhaseStuck {
			return core.StandsFailed, l.Label + ": " + l.Text
		}
	}
	for _, e := range p.Evidence {
		if strings.HasPrefix(e, overdueMark) { // a node, not the phase as a whole
			return core.StandsOverdue, e
		}
	}
	if len(p.Evidence) > 0 {
		why = p.Evidence[0]
	}
	return core.StandsOtherwise, why
}

// planStands is the standstill that the update plan tells of.
func planStands(m *core.Management, plan *core.UpdatePlan, phase core.PhaseID) (core.StandstillCause, string) {
	for _, st := range plan.Steps {
		switch {
		case st.Phase() != phase:
		case st.Status == core.PlanAutoPaused:
			if m.Pause != nil && len(m.Pause.Firing) > 0 {
				return core.StandsByAlert, "auto-pause: " + wording.Some(m.Pause.Firing, 4)
			}
			return core.StandsByAlert, "auto-pause: " + StepShort(st) + " waits to be commenced again"
		case st.Status == core.PlanStuck:
			return core.StandsByPlan, StepShort(st) + " is Stuck" + wording.Because(wording.OneLine(st.Message, wording.MostRead))
		}
	}
	if next, waits := plan.Next(); waits && next.Phase() == phase {
		return core.StandsForStep, StepShort(next) + " is not commenced"
	}
	return "", ""
}

// nodesStand names the nodes of the phase that are in the stage, with the reason of the first; empty when there are none.
func nodesStand(s *core.Snapshot, phase core.PhaseID, stage core.Stage) string {
	var names []string
	reason := ""
	for _, v := range NodeViews(s) {
		if v.Stage != core.StageWaiting && v.Stage != core.StageFailed {
			break // these come first
		}
		if v.Stage == stage && v.Node != nil && v.Node.Is(core.RoleMaster) == (phase == core.PhaseMasters) {
			if names = append(names, v.Label); reason == "" {
				reason = v.Reason
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return wording.Some(names, 3) + ": " + reason
}
