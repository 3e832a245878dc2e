package progress

import (
	"testing"

	"lockstep/scene"
)

func BenchmarkNodeViews(b *testing.B) {
	sc := scene.Large()
	b.ReportAllocs()
	for b.Loop() {
		NodeViews(sc.Again().Snapshot)
	}
}

func BenchmarkUpdate(b *testing.B) {
	sc := scene.Large()
	b.ReportAllocs()
	for b.Loop() {
		Update(sc.Again().Snapshot)
	}
}

func BenchmarkPhases(b *testing.B) {
	sc := scene.Large()
	b.ReportAllocs()
	for b.Loop() {
		Phases(sc.Again().Snapshot)
	}
}
