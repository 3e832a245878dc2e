package timeline

import (
	"testing"
	"time"

	"lockstep/core"
)

// Nodes of which the last ones end together: the phase ends as uncertainly as the least certain of them, in whatever order they come.
func TestAPhaseEndsAsUncertainlyAsItsNodes(t *testing.T) {
	start := time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC)
	end := start.Add(time.Hour)
	r := &Row{Kind: Phase, Phase: core.PhaseWorkers, Spans: []Span{{Start: start}}}
	for range 20 {
		tl := Timeline{ahead: map[string]Span{}}
		for i, spread := range []time.Duration{3, 9, 6, 1} {
			tl.ahead[string(rune('a'+i))] = Span{End: end, Spread: spread * time.Minute}
		}
		if got, _ := tl.aheadOf(r); !got.End.Equal(end) || got.Spread != 9*time.Minute {
			t.Fatalf("it ends at %s ± %s", got.End, got.Spread)
		}
		last := end.Add(5 * time.Minute) // and the slow end of another one is later
		tl.ahead["e"] = Span{End: last, Spread: time.Minute}
		if got, _ := tl.aheadOf(r); !got.End.Equal(last) || got.Spread != 4*time.Minute {
			t.Fatalf("with a later one it ends at %s ± %s", got.End, got.Spread)
		}
	}
}
