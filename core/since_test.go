package core

import (
	"testing"
	"time"
)

// What is late counts from when something was so for certain. Of what began later than all that is known, that is when it was seen.
func TestSinceWhenItIsCertain(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct{ given, want Since }{
		"it was seen to begin": {Since{At: at, Exact: true}, Since{At: at, Exact: true}},
		"it began by then":     {Since{At: at}, Since{At: at}},
		"it began later":       {Since{At: at, Later: true, Seen: at.Add(time.Hour)}, Since{At: at.Add(time.Hour)}},
		"later, and unseen":    {NotBefore(at), Since{}},
		"nobody knows":         {NotBefore(time.Time{}), Since{}},
	} {
		if got := tt.given.Certain(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// How long something lasted is exact, at least, at most, or either, by what is known of its two ends.
func TestOnWhichSideALengthIs(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	exact, before, later := Since{At: at, Exact: true}, Since{At: at}, NotBefore(at)
	end := func(s Since) Since { return s.Plus(time.Hour) }
	for name, tt := range map[string]struct {
		state        PhaseState
		began, ended Since
		want         string
	}{
		"seen":                             {PhaseDone, exact, end(exact), ""},
		"it runs, seen to begin":           {PhaseRunning, exact, Since{}, ""},
		"it runs, found":                   {PhaseRunning, before, Since{}, ">"},
		"it runs, begun later":             {PhaseRunning, later, Since{}, "<"},
		"found, seen to end":               {PhaseDone, before, end(exact), ">"},
		"begun later, seen to end":         {PhaseDone, later, end(exact), "<"},
		"seen to begin, found over":        {PhaseDone, exact, end(before), "<"},
		"seen to begin, ended later":       {PhaseDone, exact, end(later), ">"},
		"begun before, ended before":       {PhaseDone, before, end(before), "~"},
		"begun before, ended later":        {PhaseDone, before, end(later), ">"},
		"begun later, ended before":        {PhaseDone, later, end(before), "<"},
		"begun later, ended later":         {PhaseDone, later, end(later), "~"},
		"nobody knows when it began":       {PhaseDone, Since{}, end(exact), ""},
		"nobody knows when it ended":       {PhaseDone, exact, Since{}, ""},
		"nobody knows when it began to be": {PhaseRunning, Since{}, Since{}, ""},
	} {
		if got := (Phase{State: tt.state, Started: tt.began, Ended: tt.ended}).ElapsedSide(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
