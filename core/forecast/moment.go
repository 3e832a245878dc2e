package forecast

import (
	"time"

	"lockstep/core"
)

// Moment is a time that is forecast.
type Moment struct {
	At     time.Time     // zero when nothing is known
	Spread time.Duration // ± of At, by how much the nodes and steps differed so far
	// Unlearned is how much of the time until At rests on the documents' or the plan's numbers: Spread says nothing about it.
	Unlearned time.Duration
}

// Plus is the moment after something with this length.
func (m Moment) Plus(l Length) Moment {
	m.At, m.Spread = m.At.Add(l.Usual), m.Spread+l.Spread
	if !l.Basis.Learned() {
		m.Unlearned += l.Usual
	}
	return m
}

// Until is the latest time that still agrees with the forecast.
func (m Moment) Until() time.Time { return m.At.Add(m.Spread) }

// Means tells whether the forecast is worth showing alone: it rests on what was seen, and is known to within half of the time that is
// left, or half an hour.
func (m Moment) Means(s *core.Snapshot) bool {
	const small = 30 * time.Minute
	return !m.At.IsZero() && m.Unlearned == 0 && m.Spread > 0 && m.Spread <= max(m.At.Sub(present(s))/2, small)
}

// later is the moment at which both have come: its spread reaches to the later of their slow ends.
func later(a, b Moment) Moment {
	until := core.Later(a.Until(), b.Until())
	if b.At.After(a.At) || b.At.Equal(a.At) && b.Spread > a.Spread {
		a = b
	}
	if slow := until.Sub(a.At); slow > a.Spread {
		a.Spread = slow
	}
	return a
}

// Basis is what a length of time is known by.
type Basis string

// The bases, the best first.
const (
	BasisThis      Basis = "this update"
	BasisEarlier   Basis = "earlier updates"
	BasisPlan      Basis = "the update plan"
	BasisDocuments Basis = "the documents"
	BasisNone      Basis = "" // not known
)

// Learned tells whether it was seen here.
func (b Basis) Learned() bool { return b == BasisThis || b == BasisEarlier }

// Length is how long something takes.
type Length struct {
	Usual  time.Duration
	Spread time.Duration // 0 where the basis tells none
	Basis  Basis
	Seen   int // how many it was learned from; 0 when it was not learned
}

// Slow is the slow end of the length.
func (l Length) Slow() time.Duration { return l.Usual + l.Spread }
