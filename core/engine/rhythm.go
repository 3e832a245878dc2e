package engine

import (
	"time"

	"lockstep/core"
)

// While facts change, there is a Snapshot after each beat. together is how long nothing new must have come before a Snapshot is made, so
// that none shows half of what comes at once; it waits for that no longer than atMost. apart is the shortest time between two Snapshots
// that new facts cause, from the beginning of one to that of the next: so short that one that was made of a fact between two beats does
// not put off what is read at the next beat. tickEvery is the longest time between two Snapshots, for rules that judge by the clock, and
// for ages on the screen; a beat longer while facts change.
const (
	together  = 2 * time.Millisecond
	atMost    = 13 * time.Millisecond
	apart     = 20 * time.Millisecond
	tickEvery = 2 * time.Second
)

// rhythm says when the next Snapshot is made. Only the Engine's own goroutine uses it.
type rhythm struct {
	last   time.Time        // when the last Snapshot was begun
	pause  time.Duration    // until the next one that new facts cause, at least
	came   time.Time        // when the last fact has come
	due    time.Time        // when the next Snapshot was to be made first
	soon   <-chan time.Time // then it is made; nil: none is to be
	byTick bool             // it is made because the tick came, and no fact has come for it yet
}

func newRhythm() rhythm { return rhythm{last: time.Now(), pause: apart} }

// made says that a Snapshot was made, which was begun at this time.
func (r *rhythm) made(begun time.Time) {
	r.last, r.soon, r.byTick = begun, nil, false
	r.pause = max(apart, 5*time.Since(begun)) // Snapshots of thousands of nodes must never take a whole core
}

// facts says that facts have come: they do not wait for what a tick would wait for.
func (r *rhythm) facts() {
	if r.byTick {
		r.soon, r.byTick = nil, false
	}
}

// tick tells whether a Snapshot is to be made at once, as the tick came. If not, one is made after the next beat.
func (r *rhythm) tick() bool {
	if r.soon != nil {
		return false
	}
	now := time.Since(r.last) >= core.Beat
	r.byTick = !now
	return now
}

// plan sets when the next Snapshot is made.
func (r *rhythm) plan() {
	wait := r.next()
	if r.byTick {
		wait += atMost // what is read at the beat comes first
	}
	r.due, r.soon = time.Now().Add(wait), time.After(wait)
}

// next is how long new facts wait for their Snapshot.
func (r *rhythm) next() time.Duration {
	now := time.Now()
	if now.Sub(r.last) >= max(core.Beat, r.pause) {
		return together
	}
	wait := max(r.pause-now.Sub(r.last), together)
	switch since := core.Beat - core.UntilBeat(now.Add(wait)); {
	case since < core.AfterBeat:
		return wait + core.AfterBeat - since
	case since < core.AfterBeat+atMost: // what is read after this beat still comes
		return wait
	default:
		return wait + core.Beat - since + core.AfterBeat
	}
}

// waits tells whether the Snapshot that is due waits for what still comes, and sets until when.
func (r *rhythm) waits() bool {
	now := time.Now()
	more := together - now.Sub(r.came)
	if more <= 0 || now.Sub(r.due) >= atMost {
		return false
	}
	r.soon = time.After(more)
	return true
}
