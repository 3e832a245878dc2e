package fleet

import (
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// ID names a managed cluster: the namespace of its Cluster, which is its project, and its name.
type ID struct{ Project, Name string }

// String is "project/name".
func (id ID) String() string { return id.Project + "/" + id.Name }

// Called is the cluster's name as a person reads it.
func (id ID) Called() string { return wording.OneLine(id.Name, 64) }

// State is what a cluster's update does, as the management cluster tells it.
type State string

// The states of a cluster.
const (
	StateUnknown     State = "not known"   // neither its Cluster nor its update plans could be read
	StateRests       State = "no update"   // none runs, and none is offered
	StateOffered     State = "offered"     // one could begin
	StateScheduled   State = "scheduled"   // its first step is commenced, and has not begun
	StateUpdates     State = "updates"     // it goes on by itself
	StateWaits       State = "waits"       // it goes on when somebody commences the next step
	StatePaused      State = "paused"      // by an alert
	StateStuck       State = "stuck"       // by LCM's own word
	StateMaintenance State = "maintenance" // in maintenance mode, outside an update
)

// UnderWay tells whether an update has begun and not ended.
func (s State) UnderWay() bool {
	return s == StateUpdates || s == StateWaits || s == StatePaused || s == StateStuck
}

// Row is one cluster as the management cluster shows it.
type Row struct {
	ID
	Release string   // the version that it has: "17.4.0"; a name in another form as it stands; empty: not known
	Target  string   // where the update leads that is under way or scheduled; empty without one
	Offered []string // versions that it could be updated to, as the Cluster and its plans name them; the lowest first

	State   State
	Phase   core.PhaseID // of the documents' flow, by the plan's step under way; 0: none, or not known
	Reboots bool         // a graceful reboot is requested
	Step    string       // the plan's step under way, or the one that is waited for; empty: none
	Started time.Time    // of the update; zero: not known

	Nodes      int  // LCMMachines of the cluster
	Done       int  // of them, those that are Ready at the target
	NodesKnown bool // both were read; they are only while an update is under way
	Steps      int  // of the plan
	StepsDone  int

	Finish  time.Time // when the plan is through by its own estimates; zero: that would mean nothing
	NoEnd   string    // why there is no Finish while an update is under way
	Needs   []Need    // what needs a person, by LCM's own words; the most urgent first
	Missing []Missing // what could not be read about it
}

// Need is one thing that needs a person.
type Need struct {
	Severity core.Severity
	Label    string // what it is about: a machine, "update plan", "LCM"
	Reason   string // one line
	Since    core.Since
}

// Missing is one kind of object that could not be read, and why.
type Missing struct {
	What core.SourceID
	Why  string // "forbidden", "not there"
	Err  *core.APIError
}

// Moves tells whether LCM may be at work on the cluster's machines: an update, maintenance mode or a graceful reboot is under way.
func (r *Row) Moves() bool {
	return r.State.UnderWay() || r.State == StateMaintenance || r.Reboots
}

// Worst is the severity of the most urgent need; 0 when nothing needs a person.
func (r *Row) Worst() core.Severity {
	if len(r.Needs) == 0 {
		return 0
	}
	return r.Needs[0].Severity
}

// Progress is how far the update is, from 0 to 1, by nodes where they are known, else by the plan's steps; ok is false without either.
func (r *Row) Progress() (share float64, ok bool) {
	switch {
	case !r.State.UnderWay():
		return 0, false
	case r.NodesKnown && r.Nodes > 0:
		return float64(r.Done) / float64(r.Nodes), true
	case r.Steps > 0:
		return float64(r.StepsDone) / float64(r.Steps), true
	}
	return 0, false
}

// ProgressText is Progress in words: "31/44 nodes", "2/6 steps"; empty without any.
func (r *Row) ProgressText() string {
	switch {
	case !r.State.UnderWay():
		return ""
	case r.NodesKnown && r.Nodes > 0:
		return wording.Itoa(r.Done) + "/" + wording.Itoa(r.Nodes) + " nodes"
	case r.Steps > 0:
		return wording.Itoa(r.StepsDone) + "/" + wording.Itoa(r.Steps) + " steps"
	}
	return ""
}

// PhaseText is the phase in words: "4 worker nodes". Where an update is under way without a plan it is "update"; without an update it
// is empty.
func (r *Row) PhaseText() string {
	switch {
	case r.Phase != 0:
		return wording.Itoa(int(r.Phase)) + " " + phaseTitles[r.Phase]
	case r.State.UnderWay() && r.Step != "":
		return r.Step
	case r.State.UnderWay():
		return "update"
	case r.State == StateScheduled:
		return "scheduled"
	case r.State == StateMaintenance:
		return "maintenance mode"
	}
	return ""
}

// phaseTitles are the titles of core.Phase.
var phaseTitles = map[core.PhaseID]string{core.PhaseTrigger: "operator trigger", core.PhaseServices: "OpenStack and Ceph",
	core.PhaseMasters: "master nodes", core.PhaseWorkers: "worker nodes", core.PhaseFinish: "finish"}
