package step_test

import (
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/scene/live"
)

// The plan of one step with a batch: all instances of a node in maintenance are migrated.
func BenchmarkDerivePlan(b *testing.B) {
	live.Derive(b, 10, func(b *testing.B, s *core.Snapshot) {
		st := step.Plan(s, core.Intent{Kind: core.IntentLiveMigrateAll, Node: scene.Maintained})
		if st.Title == "" || st.Change == nil {
			b.Fatalf("there is no plan: %+v", st)
		}
	})
}
