package core

import (
	"lockstep/core/wording"
	"time"
)

// Override is what Lockstep made a lock say over the head of its controller. It is watched for as long as the request lasts
// for which it was done; where nobody asked, until a maintenance went over it, a day at most.
type Override struct {
	Lock    Ref
	Was, To LockState
	Text    string // that it was to bear; empty when none
	Request string // the request's UID; empty when there was none
	Unsure  bool   // whether it was set is not known: the answer was lost
	At      time.Time
	By      string
}

// Remembered is what is kept of an override that ended so; nil when nothing came of it, or there was none.
func (o *Override) Remembered(state OperationState) *Override {
	if o == nil || !state.MayHaveBeenDone() {
		return nil
	}
	kept := *o
	kept.Unsure = state == OperationUnknown
	return &kept
}

// Undone says what of an override the lock does not say any more; empty when it says all of it. A text counts only where one
// was set: what its controller writes into a lock without one is its own.
func (o Override) Undone(l *WorkloadLock) string {
	switch {
	case l.State() != o.To:
		return "the lock says " + wording.OneLine(string(l.State()), 40) + " again"
	case o.Text != "" && l.Message == "":
		return "its text is gone"
	case o.Text != "" && l.Message != o.Text:
		return "its text is another: " + wording.OneLine(l.Message, 200)
	}
	return ""
}
