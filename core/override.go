package core

import (
	"lockstep/core/wording"
	"time"
)

// Override is a lock that Lockstep set instead of its controller. It is watched as long as the request lasts for which it was made;
// without a request, until the next maintenance ends, and for a day at most.
type Override struct {
	Lock    Ref
	Was, To LockState
	Text    string // the text that was set; empty when none
	Request string // the request's UID; empty when there was none
	Unsure  bool   // it is not known whether it was set: the answer was lost
	At      time.Time
	By      string
}

// Remembered is what is kept of an override whose operation ended in the state; nil when it was not made, or there was none.
func (o *Override) Remembered(state OperationState) *Override {
	if o == nil || !state.MayHaveBeenDone() {
		return nil
	}
	kept := *o
	kept.Unsure = state == OperationUnknown
	return &kept
}

// Undone says which part of an override the lock does not show any more; empty when it shows all of it. The text counts only if the
// override set one.
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
