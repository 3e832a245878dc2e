package core

import "time"

// While facts change all the time, everything that brings them to the screen happens at one beat: what the servers have sent since the
// last one is read, and a moment later a Snapshot is made of it and drawn. To wake up for each change by itself costs more than to read it.
// Between two changes that are further apart nothing waits for a beat.
const (
	// Beat is the time between two beats: with the time that reading, making and drawing take, each change is on the screen within 300 ms.
	Beat = 200 * time.Millisecond
	// AfterBeat is how long after a beat the Snapshot is made of what was read at it, at the earliest.
	AfterBeat = 12 * time.Millisecond
)

// UntilBeat is how long it is until the first beat after this time. All who ask in one process mean the same beats.
func UntilBeat(now time.Time) time.Duration {
	return Beat - time.Duration(now.UnixNano()%int64(Beat))
}
