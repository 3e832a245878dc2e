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
	ID       string // stable as long as the thing itself lasts
	Severity Severity
	Subject  Ref    // the object that it is about
	Node     string // the node's name, where it is about a node
	Instance string // the instance's ID, where it is about an instance
	Label    string // what to call the subject: "cmp-07", "openstack", "nova"
	Reason   string // one line
	Detail   string // more, where the reason needs explaining; may be empty
	Since    Since
	Resolve  *ProcedureKey // the procedure that resolves it; nil when nothing in Lockstep does
	Hint     string        // what to do, in a few words: "enter: steps", "wait: retried within 60 s"
}
