package core

// Stop is one thing for which the update should not be taken further now. A step that takes it further rests on each of them, and is only
// done in spite of them when the operator says so by name.
type Stop struct {
	Key    string // stable as long as the thing lasts: what a confirmation rests on
	Text   string // one line: "node cmp-07 is not back: drained"
	Remedy string // what to do about it; may be empty
}

// StopFinder finds what stops the update. Packages that core/step must not import (what needs a person, the check before an update) are
// connected by it: whoever wires the rooms together puts it into engine.Config.
type StopFinder struct {
	Find func(*Snapshot) []Stop // a pure function
}

// Of is what the finder finds; nothing for nil.
func (f *StopFinder) Of(s *Snapshot) []Stop {
	if f == nil || f.Find == nil {
		return nil
	}
	return f.Find(s)
}
