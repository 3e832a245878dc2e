package attention_test

import (
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/scene/live"
)

func BenchmarkDeriveAttention(b *testing.B) {
	live.Derive(b, 10, func(b *testing.B, s *core.Snapshot) {
		if len(attention.Of(s)) == 0 {
			b.Fatal("nobody is needed")
		}
	})
}
