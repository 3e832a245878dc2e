package engine

import (
	"strconv"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// BenchmarkProject is the projection of the world alone: "full" of all facts, "one-lock" after the text of one lock has changed, with the
// rest shared with the Snapshot before.
func BenchmarkProject(b *testing.B) {
	for _, nodes := range scene.Sizes {
		sc := scene.Fleet(nodes, 10)
		w := newWorld(nil, scene.Noon)
		fill := func(id core.SourceID, objects ...core.Object) {
			w.apply(core.Delta{Source: id, At: scene.Noon, State: core.SourceLive, Upserts: objects})
		}
		for id, objects := range sc.Objects() {
			fill(id, objects...)
		}
		project := func(prev *core.Snapshot) *core.Snapshot {
			s := &core.Snapshot{Facts: core.Facts{Now: scene.Noon, Wall: scene.Noon}}
			w.project(s, prev)
			return s
		}
		b.Run(strconv.Itoa(nodes)+"/full", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				project(nil)
			}
		})
		b.Run(strconv.Itoa(nodes)+"/one-lock", func(b *testing.B) {
			prev, i := project(nil), 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				l := *sc.NodeLock(scene.Maintained, core.ControllerOpenStack)
				l.Message = "Starting migration for " + strconv.Itoa(i)
				fill(core.SourceNodeLocks, &l)
				prev = project(prev)
			}
		})
	}
}
