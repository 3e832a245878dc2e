package core

import "time"

// Since is when something began. With Exact it is At. Otherwise nobody saw the beginning, and At is the nearest time that is known: it
// began then or before, or, with Later, then or later.
type Since struct {
	At    time.Time
	Exact bool
	Later bool      `json:",omitzero"` // Exact is false: what is known is only what came first
	Seen  time.Time `json:",omitzero"` // with Later: when it was seen to be so; zero where nobody noted that
}

// NotBefore is the beginning of something of which only is known what came first, and when; of a zero time it is not known.
func NotBefore(at time.Time) Since { return Since{At: at, Later: !at.IsZero()} }

// Certain is the time from which on it was so for certain: of what began later, when it was seen.
func (s Since) Certain() Since {
	if !s.Later {
		return s
	}
	return Since{At: s.Seen}
}

// Side is on which side of the time since At the real one is: ">" longer, as it began then or before, "<" shorter; empty where At is exact.
func (s Since) Side() string {
	switch {
	case s.Exact:
		return ""
	case s.Later:
		return "<"
	}
	return ">"
}

// LengthSide is on which side of the time from began to ended the real one is, in the words of Side; "~" where it can be on both. What is
// known of the end is that it came then or before, or, with Later, then or later.
func LengthSide(began, ended Since) string {
	b, e := began.Side(), Since{Exact: ended.Exact, Later: !ended.Later}.Side() // what ended before was shorter
	switch {
	case b == "" || b == e:
		return e
	case e == "":
		return b
	}
	return "~"
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
