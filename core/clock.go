package core

import "time"

// What is derived from a Snapshot often depends on the time: a node is late from some moment on, a text says "12 m". Whoever derives
// asks the Snapshot about times by the methods in this file. The Snapshot notes when an answer turns next, and what was derived is
// derived again then, and not before. Now and Wall themselves are for texts and records that are made each time anew.

// watch notes when something that is being derived next changes by time alone.
type watch struct {
	until     time.Time // the cluster's time; zero: never
	untilWall time.Time // the wall clock's time; zero: never
	offset    bool      // it depends on how far the cluster's time is from the wall clock's
	unheard   bool      // it waits for a source to be heard: nobody knows when that is
}

// holds tells whether a Snapshot is before the change.
func (w *watch) holds(s *Snapshot) bool {
	return !w.unheard && (w.until.IsZero() || s.Now.Before(w.until)) && (w.untilWall.IsZero() || s.Wall.Before(w.untilWall))
}

// rests notes that something also rests on what another watch was about.
func (w *watch) rests(on *watch) {
	w.until, w.untilWall = Earlier(w.until, on.until), Earlier(w.untilWall, on.untilWall)
	w.offset, w.unheard = w.offset || on.offset, w.unheard || on.unheard
}

// turns notes that an answer is another one from this moment on, in the cluster's time.
func (s *Snapshot) turns(at time.Time) {
	if s.derived.watch != nil && at.After(s.Now) {
		s.derived.watch.until = Earlier(s.derived.watch.until, at)
	}
}

// Reached tells whether it is this moment now, or later.
func (s *Snapshot) Reached(at time.Time) bool {
	s.turns(at)
	return !s.Now.Before(at)
}

// Longer tells whether something that began at since lasts longer than limit.
func (s *Snapshot) Longer(since time.Time, limit time.Duration) bool {
	end := since.Add(limit)
	s.turns(end.Add(1))
	return s.Now.After(end)
}

// Second is now in full seconds, for what changes all the time.
func (s *Snapshot) Second() time.Time { return s.Around(time.Second) }

// Around is now in full steps, for what changes all the time and is no better when it is made more often.
func (s *Snapshot) Around(step time.Duration) time.Time {
	now := s.Now.Truncate(step)
	s.turns(now.Add(step))
	return now
}

// Span is the time since a moment for a text in wording.SpanText's steps, which are a second below 90 seconds, and then a minute. Minutes
// are counted to the last full ten seconds (MinutesTo).
func (s *Snapshot) Span(since time.Time) time.Duration {
	d := s.Now.Sub(since)
	next := since.Add(max(d, 0).Truncate(time.Second) + time.Second)
	if d >= bySecond {
		d, next = MinutesTo(s.Now, since, bySecond, time.Minute)
	}
	s.turns(next)
	return d
}

// bySecond is how long a span is before it is told in minutes.
const bySecond = 90 * time.Second

// MinutesTo is the time since a moment, least at least, for a text that counts in this step: minutes or more. It is counted to the last
// full ten seconds, so that the texts about many nodes are the next ones at the same moments, and are made together. It also returns when
// this one is.
func MinutesTo(now, since time.Time, least, step time.Duration) (d time.Duration, next time.Time) {
	const grid = 10 * time.Second
	d = max(now.Truncate(grid).Sub(since), least)
	next = since.Add(d.Truncate(step) + step)
	if on := next.Truncate(grid); on.Before(next) {
		next = on.Add(grid)
	}
	return d, next
}

// nearDay is how far from now a moment may be for a text to name it without its day.
const nearDay = 12 * time.Hour

// NearNow tells whether a moment is within twelve hours of now, so that its text needs no day.
func (s *Snapshot) NearNow(at time.Time) bool {
	s.turns(at.Add(1 - nearDay))
	s.turns(at.Add(nearDay))
	d := s.Now.Sub(at)
	return d > -nearDay && d < nearDay
}

// Today tells whether a moment is on today's date in the operator's zone.
func (s *Snapshot) Today(at time.Time) bool {
	now, at := s.Now.Local(), at.Local()
	s.turns(time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location()))
	return at.Year() == now.Year() && at.YearDay() == now.YearDay()
}

// The wall clock's times, of Sources and of Lockstep itself.

// OfWall is a wall time as the cluster's time, in which ages are shown; zero stays zero.
func (s *Snapshot) OfWall(wall time.Time) time.Time {
	if wall.IsZero() {
		return wall
	}
	if s.derived.watch != nil {
		s.derived.watch.offset = true
	}
	return s.Now.Add(-s.Wall.Sub(wall))
}

// HeardSince tells whether a source was heard at this moment, in the cluster's time, or later. While it was not, what is derived is derived
// from each Snapshot.
func (s *Snapshot) HeardSince(id SourceID, at time.Time) bool {
	src := s.Sources[id]
	return s.heard(!src.AsOf.IsZero() && !s.OfWall(src.AsOf).Before(at))
}

// HeardAfterByWall tells whether a source was heard after a wall time; see HeardSince.
func (s *Snapshot) HeardAfterByWall(id SourceID, wall time.Time) bool {
	return s.heard(s.Sources[id].AsOf.After(wall))
}

func (s *Snapshot) heard(is bool) bool {
	if !is && s.derived.watch != nil {
		s.derived.watch.unheard = true
	}
	return is
}

// LongerByWall is Longer for a wall time.
func (s *Snapshot) LongerByWall(since time.Time, limit time.Duration) bool {
	end := since.Add(limit)
	s.turnsByWall(end.Add(1))
	return s.Wall.After(end)
}

// SpanByWall is Span for a wall time. Minutes, too, are counted to now.
func (s *Snapshot) SpanByWall(since time.Time) time.Duration {
	d, step := s.Wall.Sub(since), time.Second
	if d >= bySecond {
		step = time.Minute
	}
	s.turnsByWall(since.Add(max(d, 0).Truncate(step) + step))
	return d
}

func (s *Snapshot) turnsByWall(at time.Time) {
	if s.derived.watch != nil && at.After(s.Wall) {
		s.derived.watch.untilWall = Earlier(s.derived.watch.untilWall, at)
	}
}
