package core

import "time"

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

// MostLines is how many lines of a journal are shown: the newest. They take some 40 MB.
const MostLines = 50000
