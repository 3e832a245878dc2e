package core

import "time"

// Since is when something began. A beginning that nobody saw is at least so long ago as the evidence says.
type Since struct {
	At    time.Time
	Exact bool
}

// Plus is a time later; nothing stays nothing. What lasts for longer than it may is late since then.
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
