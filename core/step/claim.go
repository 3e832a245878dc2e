package step

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// guardClaims holds when no claim is bound to the node any more: the controller cleans up once, when the lock is deleted
// (docs/mosk.md#after-a-node-is-gone).
func guardClaims(s *core.Snapshot, node string) core.Guard {
	g := core.Guard{ID: core.GuardNoClaims, Text: "no volume claim is bound to its disks any more", Holds: true, Answer: "none is"}
	bound, unknown := progress.ClaimsOn(s, node)
	switch {
	case len(bound) > 0:
		names := make([]string, len(bound))
		for i, c := range bound {
			names[i] = c.Name()
		}
		g.Holds, g.Answer, g.Remedy = false, "still there: "+wording.Some(names, 8), "delete them first, one after the other"
	case len(unknown) > 0:
		g.Holds, g.Answer = false, "not known: "+strings.Join(unknown, "; ")
		g.Remedy = "find out first: a member whose claim is left there never starts again"
	}
	return g
}

// claimsGone adds guardClaims and the claims' UIDs to a step that ends the clean-up.
func (p *planner) claimsGone(node string) {
	p.guard(guardClaims(p.s, node))
	bound, _ := progress.ClaimsOn(p.s, node)
	ids := make([]string, len(bound))
	for i, c := range bound {
		ids[i] = c.Claim.UID
	}
	slices.Sort(ids)
	p.fact("claims", strings.Join(ids, " "))
}

// claimSourcesKnown are the known sources of claims and StatefulSets, on which such a step rests. Unknown ones are the guard's to
// report.
func claimSourcesKnown(s *core.Snapshot) []core.SourceID {
	var out []core.SourceID
	for _, q := range progress.ReleaseOrder() {
		ids := q.Sources()
		if _, there := progress.Quorum(s, q); there && progress.ReleasesClaims(s, q) {
			ids = slices.Concat(ids, q.ClaimSources())
		}
		for _, id := range ids {
			if s.Known(id) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}
