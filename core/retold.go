package core

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Telling is what a line of a journal tells, as far as another line can tell the same.
type Telling struct {
	About string // what was seen: "stage" of a node with its UID, say; empty for what was done, which no other line tells
	Value string // what it came to
	At    time.Time
	Run   string // that wrote the line
	Known Known
}

// Known says how what a line tells is known; of two lines that tell the same, the lower one counts.
type Known int

// How it is known.
const (
	KnownSeen  Known = iota // somebody watched
	KnownByAPI              // an API has its time: it was reconstructed
	KnownFound              // it was found later
)

// Retold finds the lines that tell what another line tells, too, and that count less: for each line of each journal, whether it is one. The
// lines of a journal come in the order of their times. Two lines tell the same when they are about the same thing, which came to the same
// value, at the same place of its history: their times may differ by as much as one of those who told it was behind, or did not look.
//
// What several journals saw is told by the one that is known best, and of these by the first. What was reconstructed is told only where
// nobody saw it, and what was found later only where nothing has its time.
func Retold(journals ...[]Telling) [][]bool {
	again := make([][]bool, len(journals))
	histories := map[string][]sighted{}
	var looked looks // of the journals so far
	for i, lines := range journals {
		again[i] = make([]bool, len(lines))
		// What a journal's runs saw is one history of a thing, what they reconstructed another one: it lies between what they saw.
		saw, made, runs := map[string][]sighted{}, map[string][]sighted{}, map[string]stretch{}
		for k, l := range lines {
			one := sighted{value: l.Value, by: []sighting{{i, k, l.At, l.Known}}}
			if l.Known == KnownByAPI {
				if l.About != "" {
					made[l.About] = append(made[l.About], one)
				}
				continue
			}
			if run, had := runs[l.Run]; !had {
				runs[l.Run] = stretch{l.At, l.At}
			} else if l.At.After(run.to) {
				runs[l.Run] = stretch{run.from, l.At}
			}
			if l.About != "" {
				saw[l.About] = append(saw[l.About], one)
			}
		}
		own := looks(slices.Collect(maps.Values(runs)))
		for about, all := range saw {
			histories[about] = align(histories[about], bounded(all), looked, own)
		}
		looked = append(looked, own...)
		for about, all := range made {
			histories[about] = align(histories[about], bounded(all), looked, nil)
		}
	}
	for _, all := range histories {
		for i, tells := range telling(all) {
			for _, s := range all[i].by {
				if s != tells {
					again[s.source][s.line] = true
				}
			}
		}
	}
	return again
}

// TellingsOf are what lines tell.
func TellingsOf(lines []JournalLine) []Telling {
	out := make([]Telling, len(lines))
	for i := range lines {
		out[i] = lines[i].Telling()
	}
	return out
}

// Telling is what the line tells.
func (l *JournalLine) Telling() Telling {
	return Telling{About: l.About, Value: l.Value, At: l.At, Run: l.Run, Known: l.Known}
}

// sighting is a line of one journal that tells a value of an object.
type sighting struct {
	source int // the journal's index
	line   int // the line's index among those of the journal
	at     time.Time
	known  Known
}

// sighted is a value that an object came to have, with all sightings of it.
type sighted struct {
	value string
	by    []sighting
	since time.Time // it began then at the latest: nothing that came after it was seen before
}

// looks tells whether a journal's runs, or those of several, were looking at a moment.
type looks []stretch

type stretch struct{ from, to time.Time }

func (l looks) at(t time.Time) bool {
	return slices.ContainsFunc(l, func(s stretch) bool { return !t.Before(s.from) && !t.After(s.to) })
}

// MostBehind is how much later one run can see what another one has seen already.
const MostBehind = 10 * time.Minute

// What a history of an object that two journals tell costs. The cheapest one is taken to be true.
const (
	// costUnseen is for a value that one of them did not see while it looked. It is also the most by which one of them can be behind.
	costUnseen = MostBehind
	// costValue is for each value: of histories that are as likely, the shorter one.
	costValue = time.Second
	// mostAligned bounds the work: how many pairs of values are compared at once. Longer histories are divided at their quietest moments.
	mostAligned = 4 << 20
)

// align joins two histories of one object. A value that both saw stands there once, even if one of them saw it only after the next one
// had come already: what costs least is how little the two are behind one another, and how little they missed.
func align(a, b []sighted, aLooks, bLooks looks) []sighted {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	case len(a)*len(b) > mostAligned:
		long := a
		if len(b) > len(a) {
			long = b
		}
		cut := long[quietest(long)].since
		i, j := before(a, cut), before(b, cut)
		if i+j > 0 && i+j < len(a)+len(b) {
			return slices.Concat(align(a[:i], b[:j], aLooks, bLooks), align(a[i:], b[j:], aLooks, bLooks))
		}
		i, j = len(a)/2, len(b)/2 // all at one moment
		return slices.Concat(align(a[:i], b[:j], aLooks, bLooks), align(a[i:], b[j:], aLooks, bLooks))
	}
	n, m := len(a), len(b)
	const (
		takeA = iota
		takeB
		takeBoth
	)
	takes := make([]byte, (n+1)*(m+1))
	below, row := make([]time.Duration, m+1), make([]time.Duration, m+1) // the costs from a[i+1] and from a[i] on
	alone := func(one sighted, others []sighted, othersLook looks) time.Duration {
		cost := costValue
		if othersLook.at(one.since) {
			cost += costUnseen
		}
		if len(others) > 0 && one.since.After(others[0].since) { // what comes later was seen earlier: who saw this one was behind
			cost += one.since.Sub(others[0].since)
		}
		return cost
	}
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			if i == n && j == m {
				row[j] = 0
				continue
			}
			best, take := time.Duration(-1), byte(0)
			try := func(cost time.Duration, by byte) {
				if best < 0 || cost < best {
					best, take = cost, by
				}
			}
			if i < n && j < m && a[i].value == b[j].value {
				apart := a[i].since.Sub(b[j].since).Abs()
				if holds(a, i, b[j].since) || holds(b, j, a[i].since) {
					apart = min(apart, costValue) // it was so still when the other began to look
				}
				if apart <= costUnseen {
					try(costValue+apart+below[j+1], takeBoth)
				}
			}
			if i < n {
				try(alone(a[i], b[j:], bLooks)+below[j], takeA)
			}
			if j < m {
				try(alone(b[j], a[i:], aLooks)+row[j+1], takeB)
			}
			row[j], takes[i*(m+1)+j] = best, take
		}
		below, row = row, below
	}
	out := make([]sighted, 0, max(n, m))
	for i, j := 0, 0; i < n || j < m; {
		switch takes[i*(m+1)+j] {
		case takeA:
			out, i = append(out, a[i]), i+1
		case takeB:
			out, j = append(out, b[j]), j+1
		default:
			out = append(out, sighted{value: a[i].value, by: slices.Concat(a[i].by, b[j].by), since: a[i].since})
			i, j = i+1, j+1
		}
	}
	return bounded(out)
}

// bounded sets since when each value was there at the latest.
func bounded(all []sighted) []sighted {
	for i := range slices.Backward(all) {
		since := slices.MinFunc(all[i].by, func(x, y sighting) int { return x.at.Compare(y.at) }).at
		if i+1 < len(all) && all[i+1].since.Before(since) {
			since = all[i+1].since
		}
		all[i].since = since
	}
	return all
}

// holds tells whether the object had its i-th value at a moment, as far as the history tells. The moment at which the next one began
// counts: a value is found to be over then, as the end of an update is when the next one begins.
func holds(all []sighted, i int, at time.Time) bool {
	return !at.Before(all[i].since) && (i+1 == len(all) || !at.After(all[i+1].since))
}

// before is how many of the values came before a moment.
func before(all []sighted, at time.Time) int {
	i, _ := slices.BinarySearchFunc(all, at, func(s sighted, t time.Time) int { return s.since.Compare(t) })
	return i
}

// quietest is the index of the value that came after the longest quiet time, about the middle.
func quietest(all []sighted) int {
	best := len(all) / 2
	for i := max(len(all)/4, 1); i < len(all)*3/4; i++ {
		if all[i].since.Sub(all[i-1].since) > all[best].since.Sub(all[best-1].since) {
			best = i
		}
	}
	return best
}

// telling are the sightings that tell the history, one of each value, in its order: the one that is known best, and of these the first.
func telling(all []sighted) []sighting {
	out := make([]sighting, 0, len(all))
	var last time.Time
	for _, s := range all {
		out = append(out, slices.MinFunc(s.by, func(x, y sighting) int {
			return cmp.Or(compareBool(x.at.Before(last), y.at.Before(last)), cmp.Compare(x.known, y.known), x.at.Compare(y.at),
				cmp.Compare(x.source, y.source))
		}))
		last = out[len(out)-1].at
	}
	return out
}

// compareBool puts false first.
func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}
