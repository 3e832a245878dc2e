package forecast

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Told is a forecast that could have been made from what was seen until then, and what came.
type Told struct {
	When     time.Time // when it could have been made: a node had just ended
	After    int       // how many nodes had ended
	Forecast Moment
	Came     time.Time
}

// Off is by how much it came later than forecast; negative when it came earlier.
func (t Told) Off() time.Duration { return t.Came.Sub(t.Forecast.At) }

// Within tells whether it came within the spread.
func (t Told) Within() bool { return t.Off().Abs() <= t.Forecast.Spread }

// Record is how good the forecasts were.
type Record struct {
	Basis Basis  // of which update
	Of    int    // how many nodes have ended
	Each  int    // a forecast was tested after each so many of them: 1 unless there are many
	Next  []Told // after each node the end of the next one
	Last  []Told // after each node the end of the last one that has ended by now
}

// mostTested is how many forecasts a record tests at most: each looks at all maintenances before it and after it.
const mostTested = 100

// RecordOf tests the forecast on maintenances of one kind of nodes: after each that ended, it makes the forecast from those that had ended
// until then, and compares it with what came. Two make no pace, so it begins after the second. Of many it does that after every so many.
func RecordOf(rounds []core.Round) Record {
	rounds = slices.DeleteFunc(slices.Clone(rounds), func(r core.Round) bool { return !r.Ended.After(r.Started) })
	slices.SortStableFunc(rounds, func(a, b core.Round) int { return a.Ended.Compare(b.Ended) })
	n := len(rounds)
	rec := Record{Of: n, Each: max(1, (n-2+mostTested-1)/mostTested)}
	for i := 2; i < n; i += rec.Each {
		now := rounds[i-1].Ended
		p, ok := progress.PaceOf(rounds[:i])
		if !ok {
			continue
		}
		l := Length{Usual: p.Middle, Spread: p.Spread, Basis: BasisThis, Seen: p.Rounds}
		told := Told{When: now, After: i}
		told.Forecast, told.Came = Moment{At: now.Add(p.Gap)}.Plus(l), rounds[i].Ended
		if !rounds[i].Started.After(now) {
			told.Forecast = rest(rounds[i].Started, now, l)
		}
		rec.Next = append(rec.Next, told)
		told.Forecast, told.Came = lastOf(rounds[i:], now, p, l), rounds[n-1].Ended
		rec.Last = append(rec.Last, told)
	}
	return rec
}

// lastOf is when the last of the maintenances would end, by what is known now: which of them have begun, and the pace.
func lastOf(left []core.Round, now time.Time, p progress.Pace, l Length) Moment {
	var begun []time.Time
	for _, r := range left {
		if !r.Started.After(now) {
			begun = append(begun, r.Started)
		}
	}
	f := flow{max(p.AtOnce, float64(len(begun))), p.Gap}
	lane := make(lanes, int(f.atOnce))
	for i := range lane {
		lane[i] = Moment{At: now.Add(p.Gap)}
	}
	end := Moment{At: now}
	for _, began := range begun {
		end = later(end, rest(began, now, l))
		lane.occupy(rest(began, now, f.busy(l)))
	}
	for range len(left) - len(begun) {
		end = later(end, lane[0].Plus(l))
		lane.occupy(lane[0].Plus(f.busy(l)))
	}
	return end
}

var kept core.Derivation[keptRecord]

type keptRecord struct {
	changed uint64 // of the maintenances that are over
	record  Record
}

// Kept is the record of the forecasts of this cluster: of the workers of the running update, of its masters as long as there are too few,
// else of the earlier update that ended last. It is tested anew when another maintenance has ended.
func Kept(s *core.Snapshot) Record {
	return kept.After(s, func(s *core.Snapshot, before keptRecord) keptRecord {
		if changed := ends.After(s, endsOf).changed; changed == 0 || changed != before.changed {
			return keptRecord{changed, deriveKept(s)}
		}
		return before
	}).record
}

func deriveKept(s *core.Snapshot) Record {
	p := paceOf(s)
	for _, try := range []struct {
		rounds []core.Round
		basis  Basis
	}{
		{p.this.workers(), BasisThis}, {p.this[kindMaster], BasisThis},
		{lastUpdate(p.earlier.workers()), BasisEarlier}, {lastUpdate(p.earlier[kindMaster]), BasisEarlier},
	} {
		if rec := RecordOf(try.rounds); len(rec.Next) > 0 {
			rec.Basis = try.basis
			return rec
		}
	}
	return Record{}
}

// lastUpdate are the rounds of the update to which the one belongs that ended last.
func lastUpdate(rounds []core.Round) []core.Round {
	var last core.Round
	for _, r := range rounds {
		if r.Ended.After(last.Ended) {
			last = r
		}
	}
	var out []core.Round
	for _, r := range rounds {
		if r.Update == last.Update {
			out = append(out, r)
		}
	}
	return out
}

// Texts say how good the forecasts were, each in a sentence.
func (r Record) Texts(s *core.Snapshot) []string {
	if len(r.Next) == 0 {
		return []string{"No forecast of a node can be compared with what came yet: that takes three nodes that went through their maintenance."}
	}
	within := 0
	var off []time.Duration
	for _, t := range r.Next {
		if t.Within() {
			within++
		}
		off = append(off, t.Off().Abs())
	}
	slices.Sort(off)
	after := "each node"
	if r.Each > 1 {
		after = fmt.Sprintf("each %d nodes", r.Each)
	}
	out := []string{fmt.Sprintf("After %s of %s the end of the next one: %d of %d came within the spread, the middle one was %s off.",
		after, r.Basis, within, len(r.Next), wording.SpanText(off[len(off)/2]))}
	// Of the last one, what was forecast when a quarter, half and three quarters of the nodes were through.
	n, told := r.Of, map[int]bool{}
	for _, part := range []int{1, 2, 3} {
		at := (max(part*n/4, 2) - 2) / max(r.Each, 1)
		if at >= len(r.Last) || told[at] {
			continue
		}
		told[at] = true
		t := r.Last[at]
		way := "later"
		if t.Off() < 0 {
			way = "earlier"
		}
		out = append(out, fmt.Sprintf("After %d of %d nodes, at %s, the last one's end was forecast for %s: it came %s %s.", t.After, n,
			clockText(s, t.When), momentText(s, t.Forecast), wording.SpanText(t.Off().Abs()), way))
	}
	return out
}
