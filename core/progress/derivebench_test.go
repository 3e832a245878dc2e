package progress_test

import (
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene/live"
)

// perNode is how many instances each node has.
const perNode = 10

func BenchmarkDeriveNodeViews(b *testing.B) {
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
		if len(progress.NodeViews(s)) < len(s.Nodes) {
			b.Fatal("nodes are missing")
		}
	})
}

func BenchmarkDerivePhases(b *testing.B) {
	live.Derive(b, perNode, func(b *testing.B, s *core.Snapshot) {
		if len(progress.Phases(s)) == 0 {
			b.Fatal("there are no phases")
		}
	})
}
