package core

import (
	"slices"
	"time"
)

// JournalLine is a record of the journal as it is shown: who did what, or what was seen, when, and on what. Its texts are not sanitised.
type JournalLine struct {
	Seq  int64     // the record's number in the journal; 0 in one of an older version
	Kind LineKind  // what it is about
	At   time.Time // of what it tells (the cluster's time)
	Wall time.Time // when it was written
	Who  string    // who did it; empty for what was seen
	Saw  string    // who runs the Lockstep that wrote it
	Run  string    // the run that wrote it

	Node     string // its name in Kubernetes
	Instance string // its ID
	Label    string // what to call what it is about

	Object string // "Node cmp-07", with its namespace, as its API calls it; empty where it is about none
	UID    string // its UID
	As     string // as whom the servers knew who confirmed it
	Typed  string // what they typed to confirm it
	Basis  []Fact // what the confirmation rested on

	What      string // in a few words: "idle → evacuating", "confirmed: live-migrate web-1"
	Why       string // one line; may be empty
	State     string // in which an operation ended; else empty
	Operation string // its ID, or its batch's
	Before    string // the value before, of what was changed
	After     string
	Commands  []string
	Took      time.Duration // 0: not known
	Inferred  bool          // nobody saw it when it happened: it follows from what was found later

	Reconstructed string // the field of the API that has its time, where nobody looked when it happened; else empty

	About, Value string // what another line can tell, too: see Telling
	Known        Known
}

// LineKind says what a JournalLine is about.
type LineKind string

// The kinds of lines.
const (
	LineStep   LineKind = "step"   // a step: confirmed, refused, ended, controlled
	LineStage  LineKind = "stage"  // a node came into a stage, or its maintenance began or ended
	LineLock   LineKind = "lock"   // a lock came into a state
	LineMove   LineKind = "move"   // a migration of an instance ended
	LineUpdate LineKind = "update" // the update or a phase began or ended, or stood still
	LineEntry  LineKind = "entry"  // an entry of "Needs you" came, changed or was settled
	LineNote   LineKind = "note"
	LineRun    LineKind = "run" // a run of Lockstep began, ended, or was armed
)

// LineKinds are all kinds.
func LineKinds() []LineKind {
	return []LineKind{LineStep, LineStage, LineMove, LineLock, LineUpdate, LineEntry, LineNote, LineRun}
}

// MostLines is how many lines of a journal are shown: the newest. They take some 50 MB.
const MostLines = 50000

// InTurn puts what is told of one moment into the order in which it must have happened: what came to a value stands before what went on
// from it. Times of servers are whole seconds, and what was reconstructed is not written in its order. An object is empty for what is left
// where it is; what has no order keeps that in which it is given.
func InTurn[T any](told []T, of func(T) (object, from, to string)) {
	places := map[string][]int{}
	for i, t := range told {
		if object, _, _ := of(t); object != "" {
			places[object] = append(places[object], i)
		}
	}
	for _, at := range places {
		left := make([]T, 0, len(at))
		for _, i := range at {
			left = append(left, told[i])
		}
		for _, i := range at {
			next := slices.IndexFunc(left, func(t T) bool {
				_, from, _ := of(t)
				return !slices.ContainsFunc(left, func(before T) bool {
					_, was, to := of(before)
					return to == from && to != was
				})
			})
			next = max(next, 0) // they go in a circle
			told[i] = left[next]
			left = slices.Delete(left, next, next+1)
		}
	}
}
