package core

// Severity orders what needs a person.
type Severity int

// The severities, least first.
const (
	SeverityNotice  Severity = iota + 1 // worth knowing; nothing is held up
	SeverityWarning                     // will hold the update up, or already slows it
	SeverityUrgent                      // the update stands still until somebody acts
)

// String is the severity's word.
func (s Severity) String() string {
	switch s {
	case SeverityUrgent:
		return "urgent"
	case SeverityWarning:
		return "warning"
	}
	return "notice"
}

// Attention is one thing that needs a person, with its reason, its age and the step that resolves it.
type Attention struct {
	ID         string // the rule and the key: stable as long as the thing itself lasts
	Rule       AttentionRule
	Key        string // UID or name of what the rule found; empty where it can find one thing only
	Severity   Severity
	Impact     Impact  // what suffers
	Page       Page    // where the documents speak of it; PageNone where they do not
	Subject    Ref     // the object that it is about
	Node       string  // the node's name, where it is about a node
	Instance   string  // the instance's ID, where it is about an instance
	Controller string  // the application controller, where it is about one that is played
	Phase      PhaseID // where it is about one
	PlanStep   string  // the ID of the step of the update plan, where it is about one
	Operation  string  // the ID, where it is about an operation
	Fault      string  // why a source fails, in a word or two; empty when it does not

	Label   string // what to call the subject: "cmp-07", "openstack", "nova"
	Reason  string // one line
	Detail  string // more, where the reason needs explaining; may be empty
	Since   Since
	Resolve *ProcedureKey // the procedure that resolves it; nil when nothing in Lockstep does
	Hint    string        // what to do, in a few words, where that is neither a step nor a command: "wait: retried within 60 s"; may be empty

	// Diagnosis is the row of the table of causes that fits; nil where none does. Several entries can have the same one.
	Diagnosis *Diagnosis
	// Aside is the note by which it waits for somebody else; nil: it does not. It comes after the others and calls nobody, and it is as
	// severe as it was: what may not be done while it stands may still not be done.
	Aside    *Note
	Suspects []Suspect  // rows of the table that only a log can tell
	Cause    string     // the ID of the entry that this one only follows from; that entry has no cause itself; empty: none is known
	Evidence []Evidence // what it rests on
	Commands []Command  // what can be done about it and looked at by hand; never empty
}

// Evidence is one thing that was seen.
type Evidence struct {
	Of   string // what was looked at: "lock openstack", "rockoon"
	Says string // one line
}

// Command is a command that an operator can run in a shell.
type Command struct {
	For     string // what it is for: "scale it up", "its log"
	Line    string
	Changes bool  // it changes something; otherwise it only looks
	Look    *Look // what shows the same here; nil: nothing does
}

// Showing is the command with what shows the same here.
func (c Command) Showing(l Look) Command {
	c.Look = &l
	return c
}
