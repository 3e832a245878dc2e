package core

import "time"

// Delta is news from one source: objects that came, changed or went, or the source's new state.
type Delta struct {
	Source SourceID
	At     time.Time // wall time at which the server said it

	// State, when not empty, is the source's new state; Err says why it is not live, Next when it is tried again.
	State SourceState
	Err   *APIError
	Next  time.Time

	// Replace says that Upserts is the whole list: what is not in it is gone. With Host, it is the whole list of that
	// host's objects only (instances of a host).
	Replace bool
	Host    string
	Upserts []Object
	Deletes []string // keys

	// Touch says only that the server confirmed what is known (a bookmark, an empty delta list).
	Touch bool
}

// Hears tells whether the server said something about the objects, if only that they are as they were.
func (d Delta) Hears() bool { return d.Touch || d.Replace || len(d.Upserts)+len(d.Deletes) > 0 }
