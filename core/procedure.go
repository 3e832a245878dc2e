package core

import "slices"

// ProcedureKind names a procedure.
type ProcedureKind string

// The procedures.
const (
	ProcedureNode     ProcedureKind = "node"     // take a node through its maintenance
	ProcedureInstance ProcedureKind = "instance" // everything that can be done with one instance
	ProcedureSource   ProcedureKind = "source"   // mend a source
	ProcedureCluster  ProcedureKind = "cluster"  // what the update as a whole waits for
	ProcedureAfter    ProcedureKind = "after"    // what is left to do once the update is over

	ProcedureUpdate ProcedureKind = "update" // drive the update: the plan's steps, or the release to be at

	ProcedureMaintenance ProcedureKind = "maintenance" // maintenance mode of the cluster and of its machines

	ProcedureAlerts ProcedureKind = "alerts" // what fires, and the silences
)

// ProcedureKey finds a procedure in any Snapshot.
type ProcedureKey struct {
	Kind    ProcedureKind
	Subject string // node name, instance ID, source ID
}

// Procedure is the steps that take a node or the cluster from one state to the next, computed from a Snapshot: what is
// done is done because the cluster says so.
type Procedure struct {
	Key     ProcedureKey
	Title   string   // "Take cmp-07 through its maintenance"
	Goal    string   // one sentence
	Summary []string // what is known that matters here, one fact a line
	Steps   []Step
	Nothing string // what a procedure without steps says instead; empty: that there is nothing to do
}

// Next is the next step: the first that is ready and not optional; false when there is none.
func (p Procedure) Next() (Step, bool) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.State == StepReady && !s.Optional })
	if i < 0 {
		return Step{}, false
	}
	return p.Steps[i], true
}
