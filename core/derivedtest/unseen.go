package derivedtest

import (
	"lockstep/core"
	"lockstep/core/checklist"
)

// PassedUnseen returns what tells the IDs of the points of the check that speak of something to somebody who sees all, and pass for
// somebody who does not.
func PassedUnseen(all *core.Snapshot) func(some *core.Snapshot) []string {
	found := map[string]bool{}
	for _, p := range checklist.Of(all, checklist.Room{}).Points {
		found[p.ID] = p.Verdict == checklist.Fail || p.Verdict == checklist.Warn
	}
	return func(some *core.Snapshot) (passed []string) {
		for _, p := range checklist.Of(some, checklist.Room{}).Points {
			if found[p.ID] && p.Verdict == checklist.Pass {
				passed = append(passed, p.ID)
			}
		}
		return passed
	}
}
