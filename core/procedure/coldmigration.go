package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// coldSteps are the steps that confirm or revert what Lockstep cold-migrated, one for each instance.
func coldSteps(s *core.Snapshot) []core.Step {
	var out []core.Step
	for _, in := range progress.OwnCold(s, progress.ColdUndecided) {
		out = append(out, decideStep(s, in, s.History.Cold[in.ID].From))
	}
	return out
}

// decideStep confirms the cold migration of an instance off a host; the alternative reverts it.
func decideStep(s *core.Snapshot, in *core.Instance, from string) core.Step {
	st := step.Plan(s, core.Intent{Kind: core.IntentConfirmResize, Instance: in.ID})
	st.Why = wording.Join("It is on "+progress.HostLabel(s, in.Host)+" now, and "+progress.HostLabel(s, from)+
		" keeps its files until somebody decides.", st.Why)
	if st.State != core.StepRunning && st.State != core.StepFailed {
		st.Status = "is on " + progress.HostLabel(s, in.Host) + " now; " + progress.HostLabel(s, from) + " keeps its place"
	}
	st.Alternatives = []core.Step{step.Plan(s, core.Intent{Kind: core.IntentRevertResize, Instance: in.ID})}
	return st
}
