package attention

import (
	"cmp"
	"slices"
	"time"

	"lockstep/core"
)

var nodeNeeds core.Derivation[map[string]core.Severity] // by node

// NodeNeeds is how urgently a node needs a person now: the severity of the most urgent entry about it that is not set aside; 0 when there
// is none.
func NodeNeeds(s *core.Snapshot, name string) core.Severity {
	return nodeNeeds.Of(s, func(s *core.Snapshot) map[string]core.Severity {
		needs := map[string]core.Severity{}
		for _, a := range List(s) {
			if a.Node != "" && a.Aside == nil {
				needs[a.Node] = max(needs[a.Node], a.Severity)
			}
		}
		return needs
	})[name]
}

// oneUrgent leaves each node one urgent entry about itself: a node is one place to go to, and its page has all that it needs. The first
// one stays urgent, as the rules are in the order of cause and consequence; the others become warnings. So do the entries about the
// node's instances, unless the node has no urgent entry itself.
func (f *facts) oneUrgent() {
	own := map[string]bool{} // by node: it has an urgent entry about itself
	// Entries of a turn come last: what holds the turn up goes before them.
	for _, turns := range []bool{false, true} {
		for i := range f.found {
			a := &f.found[i]
			switch {
			case a.Severity != core.SeverityUrgent || a.Node == "" || a.Instance != "" || (a.Rule == core.RuleAct) != turns:
			case own[a.Node]:
				f.lower(a)
			default:
				own[a.Node] = true
			}
		}
	}
	for i := range f.found {
		if a := &f.found[i]; a.Severity == core.SeverityUrgent && a.Instance != "" && own[a.Node] {
			f.lower(a)
		}
	}
}

func (f *facts) lower(a *core.Attention) {
	if f.lowered == nil {
		f.lowered = map[string]bool{}
	}
	a.Severity, f.lowered[a.ID] = core.SeverityWarning, true
}

// raise makes an entry about a node itself urgent again that was lowered for one that is set aside now: that one calls nobody. What is set
// aside speaks for the node's instances, too.
func (f *facts) raise() {
	own := map[string]bool{}
	for _, a := range f.found {
		if a.Severity == core.SeverityUrgent && a.Instance == "" && a.Aside == nil {
			own[a.Node] = true
		}
	}
	for i := range f.found {
		if a := &f.found[i]; f.lowered[a.ID] && a.Aside == nil && a.Instance == "" && !own[a.Node] {
			a.Severity, own[a.Node] = core.SeverityUrgent, true
		}
	}
}

// sort puts the most urgent first; among equally urgent ones those without a cause, then the oldest. What is set aside comes last.
func (f *facts) sort() {
	slices.SortStableFunc(f.found, func(a, b core.Attention) int {
		if (a.Aside == nil) != (b.Aside == nil) {
			if a.Aside == nil {
				return -1
			}
			return 1
		}
		if a.Severity != b.Severity {
			return int(b.Severity - a.Severity)
		}
		if (a.Cause == "") != (b.Cause == "") {
			if a.Cause == "" {
				return -1
			}
			return 1
		}
		if c := compareAge(f.rankAge(a), f.rankAge(b)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.ID, b.ID))
	})
}

// rankAge is since when an entry counts. If that is not known, it is as old as what follows from it.
func (f *facts) rankAge(a core.Attention) time.Time {
	if a.Since.At.IsZero() {
		return f.age[a.ID]
	}
	return a.Since.At
}

// compareAge puts the older one first, and zero times last.
func compareAge(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}
