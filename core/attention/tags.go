package attention

import (
	"cmp"
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// tagsLeft finds the instances that Lockstep tagged for a maintenance that is over.
func (f *facts) tagsLeft() {
	if len(f.s.History.Tags) == 0 || !f.s.Known(core.SourceInstances) || !f.s.Known(core.SourceNodeRequests) {
		return
	}
	var found []core.Attention
	for id, c := range f.s.History.Tags {
		in := f.s.Instances.At(id)
		if in == nil || !step.SameActions(core.RecognisedTags(in.Tags), c.New) {
			continue // it is gone, or somebody has changed the tags since
		}
		n := f.s.NodeOfHost(in.Host)
		if n == nil || f.s.NodeRequest(n.Name) != nil {
			continue
		}
		v, _ := progress.NodeView(f.s, n.Name)
		if v.Stage != core.StageDone && !f.s.History.Rounds[n.UID].Ended.After(c.At) {
			continue // set before the maintenance, for the maintenance
		}
		found = append(found, core.Attention{Rule: core.RuleTagsLeft, Key: id, Severity: core.SeverityNotice, Subject: in.Ref(), Node: n.Name,
			Instance: id, Label: n.Label(),
			Since: core.Since{At: c.At, Exact: true}, Resolve: &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: id},
			Reason: progress.InstanceLabel(in) + " was " + step.ActionWords(c.New) + " by Lockstep; before, it was " + step.ActionWords(c.Old)})
	}
	slices.SortFunc(found, func(a, b core.Attention) int { return cmp.Compare(a.Key, b.Key) })
	for _, a := range found {
		f.add(a)
	}
}
