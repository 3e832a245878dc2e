package step

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// ChangedFacts describes the differences between the facts that a step was shown with and those of now; empty when there are none.
func ChangedFacts(shown, now []core.Fact) []string { return changedFacts(shown, now, nil) }

// ChangedFactsIn is ChangedFacts, which also says what became of facts on which the step no longer rests.
func ChangedFactsIn(s *core.Snapshot, shown, now []core.Fact) []string {
	return changedFacts(shown, now, func(f core.Fact) string { return FactNow(s, f) })
}

// FactNow is what became of a fact on which a step no longer rests: where an instance is that was on the host. Empty when nothing is
// known.
func FactNow(s *core.Snapshot, f core.Fact) string {
	if f.Instance == "" || !s.Known(core.SourceInstances) {
		return ""
	}
	in := s.Instances.At(f.Instance)
	switch {
	case in == nil:
		return "does not exist any more"
	case in.Host == "":
		return "on no host now"
	}
	return "on " + progress.HostLabel(s, in.Host) + " now"
}

func changedFacts(shown, now []core.Fact, became func(core.Fact) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range now {
		seen[n.Name] = true
		i := slices.IndexFunc(shown, func(f core.Fact) bool { return f.Name == n.Name })
		switch {
		case i < 0:
			out = append(out, n.Name+" is now "+quoteFact(n.Value))
		case shown[i].Value != n.Value:
			out = append(out, n.Name+": "+quoteFact(shown[i].Value)+" → "+quoteFact(n.Value))
		}
	}
	for _, f := range shown {
		switch {
		case seen[f.Name]:
		case became != nil && became(f) != "":
			out = append(out, f.Name+": "+quoteFact(f.Value)+" → "+became(f))
		default:
			out = append(out, f.Name+" was "+quoteFact(f.Value)+", and is not known now")
		}
	}
	return out
}

func quoteFact(v string) string {
	if v == "" {
		return "none"
	}
	return wording.Clip(v, 200)
}

// EqualText tells whether two optional texts are equal; nil equals only nil.
func EqualText(a, b *string) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return *a == *b
}
