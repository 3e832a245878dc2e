package record

import (
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/wording"
)

// Format is the version of an Account as JSON.
const Format = 1

// Account is what a journal tells of one update, or of the maintenance outside one. Times are the cluster's, in UTC; durations are seconds.
// What the journal does not tell is empty or zero.
type Account struct {
	Format    int    `json:"format"`
	Cluster   string `json:"cluster"`
	Simulated bool   `json:"simulated,omitempty"` // it is of a rehearsal of that cluster
	Outside   bool   `json:"outside,omitempty"`   // it is of no update: graceful reboots, maintenance mode
	From      string `json:"from,omitempty"`      // releases
	To        string `json:"to,omitempty"`
	Began     Time   `json:"began"`             // null: it is not known, or has not come
	Ended     Time   `json:"ended"`             // null while it runs, as far as the journal tells
	EndSeen   bool   `json:"endSeen,omitempty"` // somebody watched when it ended

	// Nobody watched when it ended; the time is that at which its plan was complete, by the plan itself.
	EndReconstructed bool `json:"endReconstructed,omitempty"`

	Took    float64  `json:"tookSeconds"`        // up to its end, or up to the last line
	Last    Time     `json:"last"`               // of its lines
	Lines   int      `json:"lines"`              // of which the account is made
	Skipped int      `json:"linesNotUnderstood"` // lines of the files that are no records
	Files   []string `json:"files"`

	// Of each journal, its last line when it was read: lockstep journal verify --seal finds what was cut off since.
	Seals []Seal `json:"seals"`

	Plan        *Plan        `json:"plan,omitempty"` // absent where the journal tells of none
	Runs        []Run        `json:"runs"`
	Phases      []Phase      `json:"phases"`
	Nodes       []Node       `json:"nodes"`
	Standstills []Standstill `json:"standstills"`
	Projects    []Project    `json:"projects"`
	Actions     []Action     `json:"actions"`
	Refused     []Refusal    `json:"refused"` // what the gate did not let through
	Entries     []Entry      `json:"entries"` // of "Needs you"
	Notes       []Note       `json:"notes"`
	Deviations  []Deviation  `json:"deviations"` // from what the documents, or the check, say
	Left        []Leftover   `json:"leftToSetBack"`

	// Nodes that went through maintenance before the update or after it: nothing else here counts them.
	NodesOutside int `json:"nodesOutside,omitempty"`

	done     core.History
	disabled []DisabledService
}

// Seal is a line of a journal, by its number and its sum.
type Seal = engine.JournalSeal

// Time is a moment that is null in JSON where it is not known.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().MarshalJSON()
}

// Place is a line of a journal.
type Place struct {
	File int   `json:"file"` // index in Account.Files
	Line int   `json:"line"` // in the file, from 1
	Seq  int64 `json:"seq,omitempty"`

	several bool // journals: its number alone does not tell it from the lines of the others
}

// Run is a run of Lockstep.
type Run struct {
	ID      string  `json:"id"`
	By      string  `json:"by"`
	As      string  `json:"as,omitempty"` // as whom the servers knew them
	Began   Time    `json:"began"`        // null: it is not known, or has not come
	Ended   Time    `json:"ended"`        // null: it was killed, or still runs
	Version string  `json:"version,omitempty"`
	Lines   []Place `json:"lines"`
}

// Phase is a phase of the update.
type Phase struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Began  Time   `json:"began"` // null: it is not known, or has not come
	Ended  Time   `json:"ended"` // null: it is not known, or has not come
	Exact  bool   `json:"exact"` // both were seen, or read from the API's own times

	Reconstructed bool    `json:"reconstructed,omitempty"` // nobody looked; the times are the plan's own
	Took          float64 `json:"tookSeconds,omitempty"`
	Lines         []Place `json:"lines"`
}

// Node is what became of a node.
type Node struct {
	Name   string  `json:"name"`  // in Kubernetes
	Label  string  `json:"label"` // what people call it
	Stages []Stage `json:"stages"`

	Maintenance []Maintenance `json:"maintenance"`
	Took        float64       `json:"tookSeconds,omitempty"` // of all its maintenance that is over
	Outlier     string        `json:"outlier,omitempty"`     // why it stands out
}

// Stage is a stage that a node went through.
type Stage struct {
	Stage string  `json:"stage"`
	Began Time    `json:"began"` // null: it is not known, or has not come
	Ended Time    `json:"ended"` // null: it is not known, or has not come
	Exact bool    `json:"exact"` // Lockstep watched when it began
	Took  float64 `json:"tookSeconds,omitempty"`
	Why   string  `json:"why,omitempty"`
	Line  Place   `json:"line"`

	Reconstructed string `json:"reconstructed,omitempty"` // the field of the API that has the time when it began: nobody looked then
}

// Maintenance is the time from a request for a node to its end.
type Maintenance struct {
	Began         Time    `json:"began"`               // null: it is not known, or has not come
	Ended         Time    `json:"ended"`               // null: it is not known, or has not come
	Instances     *int    `json:"instances,omitempty"` // on the host when it began; absent where that is not known
	EndSeen       bool    `json:"endSeen"`
	Reconstructed bool    `json:"reconstructed,omitempty"` // nobody watched when it ended; the time is LCM's own
	Took          float64 `json:"tookSeconds,omitempty"`
	Lines         []Place `json:"lines"`
}

// Standstill is a time in which the update did not go on.
type Standstill struct {
	Phase   int     `json:"phase"`
	Cause   string  `json:"cause"`
	Subject string  `json:"subject,omitempty"`
	Label   string  `json:"label,omitempty"` // what people call the subject, where it is a node
	Why     string  `json:"why,omitempty"`
	Began   Time    `json:"began"`   // null: it is not known, or has not come
	Ended   Time    `json:"ended"`   // null: it is not known, or has not come
	EndSeen bool    `json:"endSeen"` // somebody watched when the update went on; else that was then or before
	Took    float64 `json:"tookSeconds,omitempty"`
	Lines   []Place `json:"lines"`
}

// EndText says how its end is known, behind the time.
func (s Standstill) EndText() string {
	if s.Ended.IsZero() || s.EndSeen {
		return ""
	}
	return " or before"
}

// Project is what became of the instances of a project.
type Project struct {
	Name      string     `json:"name"` // empty: it is not known
	Instances []Instance `json:"instances"`
}

// Instance is what became of an instance.
type Instance struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	Moves []Move `json:"moves,omitempty"`

	// Slow is how long live migrations took that moved it, or tried to: meanwhile it may be slow. Down is how long it did not run: by
	// migrations that shut it down, and while an operator had stopped it, where a journal tells of both ends. Seconds.
	Slow    float64 `json:"slowSeconds,omitempty"`
	Down    float64 `json:"downSeconds,omitempty"`
	Stopped []Stop  `json:"stopped,omitempty"`
	Failed  int     `json:"failedMoves,omitempty"`
}

// Move is a migration of an instance, by Nova's record of it.
type Move struct {
	Type   string  `json:"type"`
	Status string  `json:"status"`
	From   string  `json:"from,omitempty"`
	To     string  `json:"to,omitempty"`
	Began  Time    `json:"began"` // null: it is not known, or has not come
	Ended  Time    `json:"ended"` // null: it is not known, or has not come
	Took   float64 `json:"tookSeconds,omitempty"`
	Text   string  `json:"text,omitempty"`
	Line   Place   `json:"line"`
}

// Live tells whether the instance ran on meanwhile.
func (m Move) Live() bool { return m.Type == core.MigrationLive }

// Says is what it was, in a line.
func (m Move) Says() string {
	return m.Type + wording.Prefixed(" ", m.From) + wording.Prefixed(" → ", m.To) + ": " + m.Status + wording.InBrackets(m.Text)
}

// Moved says how it was moved, a line each; what went the same way several times stands once.
func (in Instance) Moved() []string {
	var out []string
	for i := 0; i < len(in.Moves); {
		says, n := in.Moves[i].Says(), 1
		for i+n < len(in.Moves) && in.Moves[i+n].Says() == says {
			n++
		}
		if i += n; n > 1 {
			says += fmt.Sprintf(", %d times", n)
		}
		out = append(out, says)
	}
	return out
}

// Failed tells whether it did not move the instance.
func (m Move) Failed() bool {
	return m.Status == "error" || m.Status == "failed" || m.Status == "cancelled"
}

// moved tells whether the record is of the moment in which the instance was on its new host: a cold migration, a resize and an evacuation
// have later ones, too.
func (m Move) moved() bool { return m.Status == "finished" || m.Status == "done" }

// Reverted tells whether the instance was moved and is on its old host again.
func (m Move) Reverted() bool { return m.Status == "reverted" }

// Stop is a time in which an instance was stopped or shelved by an operator.
type Stop struct {
	Stopped Time    `json:"stopped"`
	Started Time    `json:"started"` // null: no journal tells of it; others may have started it
	By      string  `json:"by"`
	Lines   []Place `json:"lines"`
}

// StartUntold says of a Stop that no journal tells when the instance was started.
const StartUntold = "; no journal tells when it was started again"

// Begun is the state of an Action of which no line tells the end.
const Begun = "begun"

// Action is a step that an operator confirmed, with all that became of it.
type Action struct {
	ID        string      `json:"id"` // of the operation
	Kind      string      `json:"kind"`
	Title     string      `json:"title"`
	By        string      `json:"by"`
	As        string      `json:"as,omitempty"`
	Confirmed Time        `json:"confirmed"`
	Ended     Time        `json:"ended"` // null: it is not known, or has not come
	Took      float64     `json:"tookSeconds,omitempty"`
	State     string      `json:"state"`          // done, failed, stopped, unknown, …; "begun"; "confirmed": it was not begun
	Verified  bool        `json:"verified"`       // the cluster showed the result
	Text      string      `json:"text,omitempty"` // how it ended, or why it failed
	Node      string      `json:"node,omitempty"`
	Object    string      `json:"object,omitempty"`
	UID       string      `json:"uid,omitempty"`
	Before    string      `json:"before,omitempty"`
	After     string      `json:"after,omitempty"`
	Typed     string      `json:"typed,omitempty"` // what the operator typed to confirm it
	Commands  []string    `json:"commands,omitempty"`
	Basis     []core.Fact `json:"basis,omitempty"`
	Items     []Item      `json:"items,omitempty"` // of a batch
	Lines     []Place     `json:"lines"`
}

// Item is an item of a batch.
type Item struct {
	Label string  `json:"label"`
	State string  `json:"state"`
	Text  string  `json:"text,omitempty"`
	Took  float64 `json:"tookSeconds,omitempty"`
}

// Refusal is a write that was not let through.
type Refusal struct {
	At    Time   `json:"at"`
	By    string `json:"by"`
	Title string `json:"title"`
	Why   string `json:"why"`
	Line  Place  `json:"line"`
}

// Entry is something that needed a person.
type Entry struct {
	ID       string   `json:"id"`
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"` // the highest that it had
	Impact   string   `json:"impact,omitempty"`
	Label    string   `json:"label,omitempty"`
	Reason   string   `json:"reason"`
	Came     Time     `json:"came"`
	Settled  Time     `json:"settled"`            // null: it is open
	EndSeen  bool     `json:"endSeen,omitempty"`  // somebody watched when it was settled
	Lasted   float64  `json:"lastedSeconds"`      // up to its end, or up to the last line
	Cause    string   `json:"cause,omitempty"`    // the ID of the entry that it followed from
	SeenTo   []SeenTo `json:"seenTo,omitempty"`   // what operators did about it
	Node     string   `json:"node,omitempty"`     //
	Instance string   `json:"instance,omitempty"` // ID
	Since    Time     `json:"since"`              // since when it was so, where that is known
	Lines    []Place  `json:"lines"`
}

// SeenTo is something that an operator did about an entry.
type SeenTo struct {
	Operation string `json:"operation"` // empty: it was a note
	By        string `json:"by"`
	Title     string `json:"title,omitempty"`
}

// Saw says who saw to it and how, in a few words.
func (e Entry) Saw() string {
	var by []string
	for _, s := range e.SeenTo {
		by = append(by, s.Title+" ("+s.By+")")
	}
	switch {
	case len(by) > 0:
		return wording.Some(by, 5)
	case e.Settled.IsZero():
		return "nobody yet"
	}
	return "nobody by Lockstep"
}

// Note is a note of an operator.
type Note struct {
	core.Note
	Lines []Place `json:"lines"`
}

// Deviation is something that was done against what the documents, or the check, say.
type Deviation struct {
	At    Time   `json:"at"`
	By    string `json:"by"`
	What  string `json:"what"`
	Line  Place  `json:"line"`
	Typed string `json:"typed,omitempty"`
}

// Leftover is something that Lockstep changed, and that was not set back as far as the journal tells.
type Leftover struct {
	Of    string  `json:"of"`
	What  string  `json:"what"`
	By    string  `json:"by"`
	At    Time    `json:"at"`
	Lines []Place `json:"lines"`
}

// Running tells whether the update has not ended, as far as the journal tells.
func (a *Account) Running() bool { return a.Ended.IsZero() }

// lineOf is the place of a line in the account's files.
func (b *builder) lineOf(l engine.JournalLine) Place {
	for i, f := range b.Files {
		if f == l.File {
			return Place{i, l.Line, l.Seq, b.several}
		}
	}
	b.Files = append(b.Files, l.File)
	return Place{len(b.Files) - 1, l.Line, l.Seq, b.several}
}
