package core

import "slices"

// Next is the step that comes next: the first that can be confirmed and that somebody waits for; false when there is none.
func (p Procedure) Next() (Step, bool) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.State == StepReady && !s.Optional })
	if i < 0 {
		return Step{}, false
	}
	return p.Steps[i], true
}

// optional are steps that nobody waits for.
func optional(steps ...Step) []Step {
	out := slices.Clone(steps)
	for i := range out {
		out[i].Optional = true
	}
	return out
}

// optionalIf is the step, which nobody waits for under that condition.
func optionalIf(nobodyWaits bool, st Step) Step {
	st.Optional = st.Optional || nobodyWaits
	return st
}

// anyThrough tells whether the work for which the cluster was asked is done on some node, and is under way on none. What ends
// the cluster's maintenance would only take the asking back before.
func (s *Snapshot) anyThrough() bool {
	through := false
	for _, v := range s.NodeViews() {
		if v.Request != nil {
			return false
		}
		through = through || v.Stage == StageDone
	}
	return through
}

// preparedFor tells whether a change of an annotation is there for a maintenance that is still to come: to take it back would undo the
// preparation.
func (b *nodeSteps) preparedFor(c AnnotationChange) bool {
	if b.v.Stage == StageDone {
		return false
	}
	update := b.s.History.Update
	return b.s.ClusterRequest() != nil || update.Ended.IsZero() || update.Ended.Before(c.At)
}

// OperationOf is the newest operation that does the step, or did it; false when none is known.
func (s *Snapshot) OperationOf(step Step) (Operation, bool) {
	planned := stepID(step.Intent.Kind, step.Target) // a step that stands for several ways keeps the ID of the first
	for _, op := range s.Operations {
		if op.Step == step.ID || step.Intent.Kind != "" && op.Step == planned {
			return op, true
		}
		if op.mayDo(step) && slices.ContainsFunc(op.Items, func(item OperationItem) bool { return item.does(step) }) {
			return op, true
		}
	}
	return Operation{}, false
}
