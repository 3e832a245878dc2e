package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
)

// optional marks steps that nobody waits for.
func optional(steps ...core.Step) []core.Step {
	out := slices.Clone(steps)
	for i := range out {
		out[i].Optional = true
	}
	return out
}

// optionalIf marks a step as optional when nobodyWaits is true.
func optionalIf(nobodyWaits bool, st core.Step) core.Step {
	st.Optional = st.Optional || nobodyWaits
	return st
}

// anyThrough tells whether the work is done on at least one node and under way on none. Before that, ending the cluster's maintenance
// would only withdraw the request.
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

// preparedFor tells whether an annotation was changed for a maintenance that is still to come: to set it back would undo the
// preparation.
func (b *nodeSteps) preparedFor(c core.AnnotationChange) bool {
	if b.v.Stage == core.StageDone {
		return false
	}
	update := b.s.History.Update
	return b.s.ClusterRequest() != nil || update.Ended.IsZero() || update.Ended.Before(c.At)
}
