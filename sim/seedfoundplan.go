package sim

import (
	"slices"
	"time"

	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// foundPlan returns, of the found plans, the one that runs or comes next; false if there is none.
func foundPlan(s *scenario.Scenario) (scenario.FoundPlan, bool) {
	if s.Found == nil || s.Management == nil {
		return scenario.FoundPlan{}, false
	}
	for _, p := range s.Found.Plans {
		if p.Target == s.Management.Releases.To && len(p.Steps) > 0 {
			return p, true
		}
	}
	return scenario.FoundPlan{}, false
}

// foundPast returns the progress of the found plan's steps.
func foundPast(s *scenario.Scenario, plan scenario.FoundPlan, start time.Time) controller.Past {
	past := controller.Past{Machines: map[string]time.Time{}}
	for _, n := range s.Nodes {
		if n.Done > 0 {
			past.Machines[n.Machine] = start.Add(-n.Done.Of())
		}
	}
	known := s.Steps()
	for _, st := range plan.Steps {
		if !slices.Contains(known, st.ID) || !st.Commence && st.Started.IsZero() {
			continue
		}
		step := controller.PastStep{ID: st.ID}
		if !st.Started.IsZero() {
			step.Started = start.Add(-s.Ago(st.Started).Of())
		}
		if st.Status == "Completed" {
			took, err := time.ParseDuration(st.Took)
			if err != nil || took <= 0 {
				took = time.Second
			}
			step.Took = took
		}
		past.Steps = append(past.Steps, step)
	}
	return past
}
