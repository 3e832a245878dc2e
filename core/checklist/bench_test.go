package checklist_test

import (
	"testing"

	"lockstep/core/checklist"
	"lockstep/scene"
)

// The page makes the checklist anew every two seconds at most, in the screen's loop: on 2,000 nodes with 100,000 instances.
func BenchmarkChecklistOf2000Nodes(b *testing.B) {
	s := scene.Large().Snapshot
	checklist.Of(s, checklist.Room{}) // what is derived from a Snapshot is derived once
	b.ReportAllocs()
	for b.Loop() {
		checklist.Of(s, checklist.Room{})
	}
}
