package core

import (
	"cmp"
	"slices"
)

// tagsLeft are the instances that Lockstep tagged for a maintenance that is over.
func (f *attentionFacts) tagsLeft() {
	if len(f.s.History.Tags) == 0 || !f.s.known(SourceInstances) || !f.s.known(SourceNodeRequests) {
		return
	}
	var found []Attention
	for id, c := range f.s.History.Tags {
		in := f.s.Instances[id]
		if in == nil || !sameActions(recognisedTags(in.Tags), c.New) {
			continue // gone, or somebody else has decided since
		}
		n := f.s.NodeOfHost(in.Host)
		if n == nil || f.s.NodeRequest(n.Name) != nil {
			continue
		}
		v, _ := f.s.NodeView(n.Name)
		if v.Stage != StageDone && !f.s.History.Rounds[n.UID].Ended.After(c.At) {
			continue // set before its turn, for its turn
		}
		found = append(found, Attention{Rule: RuleTagsLeft, Key: id, Severity: SeverityNotice, Subject: in.Ref(), Node: n.Name, Instance: id, Label: n.Label(),
			Since: Since{At: c.At, Exact: true}, Resolve: &ProcedureKey{Kind: ProcedureInstance, Subject: id},
			Reason: instanceLabel(in) + " was " + actionWords(c.New) + " by Lockstep; before, it was " + actionWords(c.Old)})
	}
	slices.SortFunc(found, func(a, b Attention) int { return cmp.Compare(a.Key, b.Key) })
	for _, a := range found {
		f.add(a)
	}
}
