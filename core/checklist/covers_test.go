package checklist

import (
	"slices"

	"lockstep/core"
)

// Covers tells in how many rows a rule is, and which points after an update are in one.
func Covers() (rules map[core.AttentionRule]int, after map[string]bool) {
	rules, after = map[core.AttentionRule]int{}, map[string]bool{}
	for _, r := range rows {
		for _, rule := range slices.Concat(r.rules, r.same) {
			rules[rule]++
		}
		for _, a := range r.after {
			after[a.id] = true
		}
	}
	return rules, after
}

// RestsOn are the sources that each point rests on, by its ID.
func RestsOn() map[string][]core.SourceID {
	out := map[string][]core.SourceID{}
	for _, r := range rows {
		out[r.id] = slices.Concat(r.sources, r.rests)
	}
	return out
}
