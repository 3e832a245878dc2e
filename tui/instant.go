package tui

import (
	"time"

	"lockstep/core"
)

// instant is the moment for which the dashboard is drawn. It makes the texts that depend on the time, and notes until when all of them
// stay as they are: while nothing else changes either, nothing is drawn again before (see Model.rests).
type instant struct {
	at    time.Time // the cluster's time
	until time.Time // when the first text is another one; zero: never
}

// turns notes that a text is another one from this moment on.
func (i *instant) turns(at time.Time) {
	if at.After(i.at) {
		i.until = core.Earlier(i.until, at)
	}
}

// elapsed is the time since t, whose age is the next text one step later.
func (i *instant) elapsed(t time.Time) time.Duration {
	d := i.at.Sub(t)
	if d < time.Minute {
		i.turns(t.Add(max(d, 0).Truncate(time.Second) + time.Second))
		return d
	}
	d, next := core.MinutesTo(i.at, t, time.Minute, ageStep(d))
	i.turns(next)
	return d
}

// ageStep is the step in which age and shortAge count at this age.
func ageStep(d time.Duration) time.Duration {
	switch {
	case d < time.Minute:
		return time.Second
	case d < 24*time.Hour:
		return time.Minute
	}
	return time.Hour
}

// longer tells whether the time since t is longer than limit.
func (i *instant) longer(t time.Time, limit time.Duration) bool {
	i.turns(t.Add(limit + 1))
	return i.at.Sub(t) > limit
}

func (i *instant) age(t time.Time) string      { return age(i.elapsed(t)) }
func (i *instant) shortAge(t time.Time) string { return shortAge(i.elapsed(t)) }

// ago is ago of a time that has passed or, for as long as it has not, "in 5 s".
func (i *instant) ago(t time.Time) string {
	d := i.elapsed(t)
	if d < 0 { // it counts down: the text holds until the rest is a step shorter, or over
		i.turns(i.at.Add(1 + (-d)%ageStep(-d)))
		i.turns(t)
	}
	return ago(d)
}

// since is sinceText.
func (i *instant) since(s core.Since) string {
	if s.At.IsZero() {
		return ""
	}
	return sinceText(s, s.At.Add(i.elapsed(s.At)))
}

// took is took: what has not ended goes on.
func (i *instant) took(state core.OperationState, started, ended time.Time) string {
	if !started.IsZero() && ended.IsZero() {
		return took(state, started, ended, started.Add(i.elapsed(started)))
	}
	return took(state, started, ended, i.at)
}

// clock is clock: it gets its day at midnight.
func (i *instant) clock(t time.Time) string {
	now := i.at.Local()
	i.turns(time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location()))
	return clock(t, i.at)
}
