package progress

import (
	"slices"
	"time"

	"lockstep/core"
)

// Pace is how fast nodes go through their maintenance.
type Pace struct {
	Rounds int           // how many it was learned from
	Middle time.Duration // for one node
	Spread time.Duration // how much the nodes differ: ± of Middle
	AtOnce float64       // how many go at the same time, at least 1
	Gap    time.Duration // between the end of one and the beginning of the next, where none was under way
}

// PaceOf is the pace of the rounds that ended; false when there are fewer than two, which do not make a pace.
func PaceOf(rounds []core.Round) (Pace, bool) {
	if len(rounds) < 2 {
		return Pace{}, false
	}
	rounds = slices.Clone(rounds)
	slices.SortFunc(rounds, func(a, b core.Round) int { return a.Started.Compare(b.Started) })
	took := make([]time.Duration, len(rounds))
	var all, covered time.Duration
	var until time.Time
	var gaps []time.Duration
	for i, r := range rounds {
		took[i] = r.Ended.Sub(r.Started)
		all += took[i]
		if i > 0 {
			gaps = append(gaps, max(r.Started.Sub(until), 0))
		}
		if r.Ended.After(until) {
			covered += r.Ended.Sub(core.Later(r.Started, until))
			until = r.Ended
		}
	}
	slices.Sort(took)
	n := len(took)
	p := Pace{Rounds: n, Middle: took[n/2], AtOnce: max(float64(all)/float64(covered), 1)}
	// The quartiles say how much the rounds differ; with few rounds they span the whole range.
	p.Spread = max((took[n*3/4]-took[n/4])/2, p.Middle/10)
	// What is longer than a node takes is no gap: somebody was waited for, or it was a rest.
	for _, gap := range gaps {
		if gap < p.Middle {
			p.Gap += gap / time.Duration(len(gaps))
		}
	}
	return p, true
}
