package attention_test

import (
	"testing"

	"lockstep/core/attention"
	"lockstep/core/derivedtest"
	"lockstep/sim/bubble/lane"
)

// Whatever needs a person, the check's point about it does not pass for somebody who may not read one of the sources.
func TestNoPointPassesOnAnEntryThatWasNotSeen(t *testing.T) {
	lane.Single(t)
	told := map[string]bool{}
	for name, sc := range attention.EveryRule() {
		passed := derivedtest.PassedUnseen(sc.Again().Snapshot)
		for id := range sc.Sources {
			for _, point := range passed(sc.Unseen(id).Snapshot) {
				if key := point + string(id); !told[key] {
					told[key] = true
					t.Errorf("%s: without %s, the point %s passes", name, id, point)
				}
			}
		}
	}
}
