package progress

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// overdueMark begins the evidence of what takes longer than the documents allow.
const overdueMark = "overdue: "

// Stand is why a phase does not go on without somebody.
type Stand struct {
	Cause    core.StandstillCause // empty when it goes on
	Subjects []string             // the nodes, alerts, plan steps or locks that it is about, the first one first; none when it is about none
	Why      string               // one clause
}

// stand is a Stand about these subjects, whose names may be of any length.
func stand(cause core.StandstillCause, why string, subjects ...string) Stand {
	st := Stand{Cause: cause, Why: why}
	for _, name := range subjects {
		st.Subjects = append(st.Subjects, wording.OneLine(name, core.MostWhy))
	}
	return st
}

// StandsSince is since when the update stands still for this cause, as far as Lockstep saw it; zero when it did not.
func StandsSince(s *core.Snapshot, cause core.StandstillCause) core.Since {
	var since core.Since
	for _, list := range s.History.Stands {
		next := core.Standstill{}
		for _, st := range slices.Backward(list) {
			if st.Cause != cause || !st.Until.Equal(next.Since.At) {
				break // it is over, or something else was between them
			}
			next = st
		}
		if next.Cause != "" && (since.At.IsZero() || next.Since.At.Before(since.At)) {
			since = next.Since
		}
	}
	return since
}

// StandsStill tells why a phase of the running update does not go on without somebody; no cause when it goes on, has not begun, or is
// done. A step of the plan that nobody has commenced holds up the phase that it belongs to.
func StandsStill(s *core.Snapshot, p core.Phase) Stand {
	if UpdateRequest(s) == nil || p.State == core.PhaseDone {
		return Stand{}
	}
	if plan := s.Management.Plan(); plan != nil {
		if st := planStands(s, plan, p.ID); st.Cause != "" {
			return st
		}
	}
	if p.ID == core.PhaseServices {
		if still, so := ServicesStill(s); so {
			return stand(core.StandsOverdue, still.Why())
		}
	}
	if p.State != core.PhaseWaiting && p.State != core.PhaseStuck {
		return Stand{}
	}
	if p.Overdue != "" {
		return stand(core.StandsOverdue, p.Overdue)
	}
	if p.ID == core.PhaseMasters || p.ID == core.PhaseWorkers {
		if st := nodesStand(s, p.ID, core.StageWaiting, core.StandsForPerson); st.Cause != "" {
			return st
		}
		if st := nodesStand(s, p.ID, core.StageFailed, core.StandsFailed); st.Cause != "" {
			return st
		}
	}
	for _, l := range p.Lines {
		if l.State == core.PhaseStuck {
			return stand(core.StandsFailed, l.Label+": "+l.Text, l.Label)
		}
	}
	for _, e := range p.Evidence {
		if strings.HasPrefix(e, overdueMark) { // a node, not the phase as a whole
			return stand(core.StandsOverdue, e)
		}
	}
	why := ""
	if len(p.Evidence) > 0 {
		why = p.Evidence[0]
	}
	return stand(core.StandsOtherwise, why)
}

// UpdateStands is the first phase of the running update that does not go on without somebody, and why; no cause while all of it goes on.
func UpdateStands(s *core.Snapshot) (core.Phase, Stand) {
	for _, p := range Phases(s) {
		if st := StandsStill(s, p); st.Cause != "" {
			return p, st
		}
	}
	return core.Phase{}, Stand{}
}

// planStands is the standstill that the update plan tells of. A step that is held stops nothing while its machines under way are finished:
// it counts from when the next one would have begun.
func planStands(s *core.Snapshot, plan *core.UpdatePlan, phase core.PhaseID) Stand {
	m := s.Management
	for _, st := range plan.Steps {
		switch {
		case st.Phase() != phase:
		case st.Status == core.PlanAutoPaused:
			if m.Pause != nil && len(m.Pause.Firing) > 0 {
				return stand(core.StandsByAlert, "auto-pause: "+wording.Some(m.Pause.Firing, 4), m.Pause.Firing...)
			}
			if !s.Known(core.SourceAutoPauses) {
				return stand(core.StandsByAlert, "auto-pause: whether the alert still fires is not known", st.ID)
			}
			return stand(core.StandsByAlert, "auto-pause: "+StepShort(st)+" waits to be commenced again", st.ID)
		case st.Status == core.PlanStuck:
			return stand(core.StandsByPlan, StepShort(st)+" is Stuck"+wording.Because(wording.OneLine(st.Message, wording.MostRead)), st.ID)
		}
	}
	if next, waits := plan.Next(); waits && next.Phase() == phase && !(next.Held() && workersUnderWay(s)) {
		return stand(core.StandsForStep, StepShort(next)+wording.TextIf(next.Held(), " is held", " is not commenced"), next.ID)
	}
	return Stand{}
}

// workersUnderWay tells whether a worker is in maintenance.
func workersUnderWay(s *core.Snapshot) bool {
	for name := range s.NodeRequests {
		if n := s.Nodes[name]; n != nil && !n.Is(core.RoleMaster) && s.NodeRequest(name) != nil {
			return true
		}
	}
	return false
}

// nodesStand is the standstill by nodes of the phase that are in the stage, with the reason of the first; no cause when there are none.
func nodesStand(s *core.Snapshot, phase core.PhaseID, stage core.Stage, cause core.StandstillCause) Stand {
	var labels, names []string
	reason, update := "", UpdateRequest(s)
	for _, v := range NodeViews(s) {
		if v.Stage != core.StageWaiting && v.Stage != core.StageFailed {
			break // these come first
		}
		if stageInUpdate(s, update, v) == stage && v.Node != nil && v.Node.Is(core.RoleMaster) == (phase == core.PhaseMasters) {
			if labels, names = append(labels, v.Label), append(names, v.Name); reason == "" {
				reason = v.Reason
			}
		}
	}
	if len(names) == 0 {
		return Stand{}
	}
	return stand(cause, wording.Some(labels, 3)+": "+reason, names...)
}
