package core

// Risk is how much damage a step can do.
type Risk string

// The risks, and how each is confirmed.
const (
	RiskLow     Risk = "low"     // undone by one step: a key on the focused button
	RiskMedium  Risk = "medium"  // touches one instance: a key on the focused button, which is not the default
	RiskHigh    Risk = "high"    // touches many, or cannot be undone: the object's name is typed
	RiskHighest Risk = "highest" // overrides a controller: the object's full name is typed
)

// StepState is how a step stands in its procedure.
type StepState string

// The states of a step.
const (
	StepDone    StepState = "done"    // the cluster says so
	StepReady   StepState = "ready"   // it can be confirmed now
	StepBlocked StepState = "blocked" // a guard does not hold
	StepWaiting StepState = "waiting" // another acts: a controller, LCM, Nova
	StepRunning StepState = "running" // Lockstep does it now
	StepFailed  StepState = "failed"  // the last try failed; it can be tried again
	StepLater   StepState = "later"   // an earlier step comes first
)

// Fact is one thing on which a step rests. When it changes, the grant that was given on it goes stale.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`

	Instance string `json:"-"` // the ID of the instance that it is about, where it is one of a host's
}

// Step is one change to confirm, or one thing that another has to do, with all that a person needs to decide.
type Step struct {
	ID       string // stable over snapshots: the intent's kind and its object
	Intent   Intent // zero when the step is not the operator's to do
	Title    string // "live-migrate web-1"
	Why      string
	Target   Ref    // the object that is changed; its UID is what the grant is for
	Label    string // what to call the target
	Node     string // the node that it belongs to; may be empty
	Risk     Risk
	State    StepState
	Status   string   // how it goes, short: "81 %, to cmp-09", "failed twice: No valid host was found."
	Guards   []Guard  // all of them, holding or not
	Commands []string // the equivalent kubectl and openstack commands, one a line
	Undo     string   // how it is undone; empty when it cannot be
	Then     string   // what will happen after it
	Type     string   // what has to be typed to confirm it; empty when a key is enough
	Basis    []Fact   // what the grant will rest on
	Change   Change   // what is done; nil when the step is not the operator's to do
	Tell     []string // names of the nodes whose instances' owners are to be told; empty for every other step

	// Optional steps are not needed, or take back what was done. They can be confirmed, and Next never returns one.
	Optional bool

	// Ahead is an optional step that will be the operator's turn once what runs has ended, and that can be confirmed before.
	Ahead bool

	Alternatives []Step // other ways to the same end (cold migration, stop); each complete in itself
}

// Doable tells whether the step can be confirmed now.
func (s Step) Doable() bool { return s.Change != nil && s.Blocker() == "" }

// Blocker is the first reason why the step cannot be confirmed now; empty when it can.
func (s Step) Blocker() string {
	g, blocked := s.BlockedBy()
	switch {
	case !blocked:
		return ""
	case g.Answer == "":
		return g.Text
	}
	return g.Text + ": " + g.Answer
}

// BlockedBy is the first guard that does not hold; false when all do. The guard of arming comes last: every
// step has it, and it says nothing about this one.
func (s Step) BlockedBy() (Guard, bool) {
	var unarmed Guard
	for _, g := range s.Guards {
		switch {
		case g.Holds:
		case !g.SaysUnarmed():
			return g, true
		default:
			unarmed = g
		}
	}
	return unarmed, unarmed.ID != ""
}

// Unmet is the guard of that ID; false when it holds, or when the step has none of the ID.
func (s Step) Unmet(id GuardID) (Guard, bool) {
	for _, g := range s.Guards {
		if g.ID == id && !g.Holds {
			return g, true
		}
	}
	return Guard{}, false
}

// MayGoPast tells whether the step's batch can go on past failures: only if its items do not depend on one another. A restart waits
// until the pod before it is ready.
func (s Step) MayGoPast() bool {
	b, ok := s.Change.(Batch)
	if !ok || len(b.Items) < 2 {
		return false
	}
	switch s.Intent.Kind {
	case IntentLiveMigrateAll, IntentSetMode, IntentSetAttempts, IntentMoveMachines:
		return true
	}
	return false
}
