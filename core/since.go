package core

import "time"

// Since is when something began. If nobody saw the beginning, Exact is false, and At is the nearest time that is known: mostly it began
// then or before; where a rule knows only what came first, it began then or later.
type Since struct {
	At    time.Time
	Exact bool
}

// Plus is the time moved by d, for example the moment from which something is late. A zero time stays zero.
func (s Since) Plus(d time.Duration) Since {
	if !s.At.IsZero() {
		s.At = s.At.Add(d)
	}
	return s
}

// Later is the later of two times; a zero time counts as not set.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Earlier is the earlier of two times; a zero time counts as not set.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
