package recorded

import (
	"testing"
	"time"

	"lockstep/core/recording"
	"lockstep/scene/live"
)

// BenchmarkSeek is a jump in a recording, to eight moments in turn: what somebody waits for who goes through it.
func BenchmarkSeek(b *testing.B) {
	path, _ := live.Recording(b)
	rec, err := recording.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	p, err := New(rec, Options{})
	if err != nil {
		b.Fatal(err)
	}
	whole := rec.To.Sub(rec.From)
	for i := 0; b.Loop(); i++ {
		if err := p.seek(rec.From.Add(whole * time.Duration(i*5%8+1) / 9)); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	p.cursor.Close()
}
