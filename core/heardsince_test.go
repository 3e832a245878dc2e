package core_test

import (
	"testing"
	"time"

	"lockstep/core"
)

// Whether a source was heard since a moment turns when it is heard, which is no fact, and at no time that is known before. What is derived
// from it is derived from each Snapshot until then, and then kept.
func TestWhatWaitsForASourceToBeHeardIsDerivedAgain(t *testing.T) {
	for name, ask := range map[string]func(*core.Snapshot, time.Time) bool{
		"in the cluster's time": func(s *core.Snapshot, at time.Time) bool { return s.HeardSince(core.SourceComputeServices, at) },
		"by the wall clock": func(s *core.Snapshot, at time.Time) bool {
			return s.HeardAfterByWall(core.SourceComputeServices, at)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var derivation core.Derivation[bool]
			noon, derived := time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC), 0
			var before *core.Snapshot
			look := func(second int, asOf int) bool {
				now := noon.Add(time.Duration(second) * time.Second)
				s := &core.Snapshot{Facts: core.Facts{Revision: uint64(second), Now: now, Wall: now, Stamps: core.Stamps{Any: 1, All: 1},
					Sources: map[core.SourceID]core.Source{core.SourceComputeServices: {ID: core.SourceComputeServices,
						State: core.SourceLive, AsOf: noon.Add(time.Duration(asOf) * time.Second)}}}}
				if before != nil {
					s.Follow(before)
				}
				before = s
				return derivation.Of(s, func(s *core.Snapshot) bool {
					derived++
					return ask(s, noon)
				})
			}
			for _, tt := range []struct {
				second, asOf int
				want         bool
				derived      int
			}{{1, -10, false, 1}, {2, -10, false, 2}, {3, 3, true, 3}, {4, 3, true, 3}, {5, 5, true, 3}} {
				if got := look(tt.second, tt.asOf); got != tt.want || derived != tt.derived {
					t.Errorf("after %d s: %v after %d derivations, want %v after %d", tt.second, got, derived, tt.want, tt.derived)
				}
			}
		})
	}
}
