package attention

import (
	"testing"

	"lockstep/scene"
)

func BenchmarkAttention(b *testing.B) {
	sc := scene.Large()
	b.ReportAllocs()
	for b.Loop() {
		Of(sc.Again().Snapshot)
	}
}
