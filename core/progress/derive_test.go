package progress_test

import (
	"testing"
	"testing/synctest"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
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

// A changed lock costs its node's view, however many nodes there are: the views of all others are the ones from before.
func TestOneChangeIsDerivedOfOneNode(t *testing.T) {
	for _, nodes := range []int{50, 500} {
		synctest.Test(t, func(t *testing.T) {
			c := live.Start(t, scene.Fleet(nodes, 1))
			was, now := c.Change(0), c.Change(1)
			for _, v := range progress.NodeViews(now) {
				anew := progress.ViewOf(was, v.Name) != v
				if changed := v.Name == scene.Maintained; anew != changed {
					t.Errorf("of %d nodes, %s in %s is derived anew: %v, want %v", nodes, v.Name, v.Stage, anew, changed)
				}
			}
		})
	}
}
