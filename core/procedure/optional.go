package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
)

// optional are steps that nobody waits for.
func optional(steps ...core.Step) []core.Step {
	out := slices.Clone(steps)
	for i := range out {
		out[i].Optional = true
	}
	return out
}

// optionalIf is the step, which nobody waits for under that condition.
func optionalIf(nobodyWaits bool, st core.Step) core.Step {
	st.Optional = st.Optional || nobodyWaits
	return st
}

// anyThrough tells whether the work for which the cluster was asked is done on some node, and is under way on none. What ends
// the cluster's maintenance would only take the asking back before.
func anyThrough(s *core.Snapshot) bool {
	through := false
	for _, v := range progress.NodeViews(s) {
		if v.Request != nil {
			return false
		}
		through = through || v.Stage == core.StageDone
	}
	return through
}

// preparedFor tells whether a change of an annotation is there for a maintenance that is still to come: to take it back would undo the
// preparation.
func (b *nodeSteps) preparedFor(c core.AnnotationChange) bool {
	if b.v.Stage == core.StageDone {
		return false
	}
	update := b.s.History.Update
	return b.s.ClusterRequest() != nil || update.Ended.IsZero() || update.Ended.Before(c.At)
}
