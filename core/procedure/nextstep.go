package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
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

// OperationOf is the newest operation that does the step, or did it; false when none is known.
func OperationOf(s *core.Snapshot, st core.Step) (core.Operation, bool) {
	planned := step.ID(st.Intent.Kind, st.Target) // a step that stands for several ways keeps the ID of the first
	for _, op := range s.Operations {
		if op.Step == st.ID || st.Intent.Kind != "" && op.Step == planned {
			return op, true
		}
		if op.MayDo(st) && slices.ContainsFunc(op.Items, func(item core.OperationItem) bool { return item.Does(st) }) {
			return op, true
		}
	}
	return core.Operation{}, false
}
