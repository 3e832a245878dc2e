package core

import (
	"time"
)

// PhaseState is the state of a phase of the cluster update.
type PhaseState string

// The states of a phase.
const (
	PhasePending PhaseState = "pending"
	PhaseRunning PhaseState = "running"
	PhaseWaiting PhaseState = "waiting for you"
	PhaseStuck   PhaseState = "stuck"
	PhaseDone    PhaseState = "done"
)

// PhaseID numbers the five phases of the documents' cluster update flow.
type PhaseID int

// The phases.
const (
	PhaseTrigger  PhaseID = 1 // the operator triggers the update; LCM creates the ClusterMaintenanceRequest
	PhaseServices PhaseID = 2 // OpenStack, Ceph and other application controllers update; ClusterWorkloadLocks
	PhaseMasters  PhaseID = 3 // Kubernetes master nodes
	PhaseWorkers  PhaseID = 4 // Kubernetes worker nodes
	PhaseFinish   PhaseID = 5 // the rest is updated; the ClusterMaintenanceRequest is removed
)

// Phase is one phase of the cluster update, derived from evidence.
type Phase struct {
	ID       PhaseID
	Title    string // "operator trigger", "OpenStack and Ceph", "master nodes", "worker nodes", "finish"
	State    PhaseState
	Started  Since  // zero At when it has not begun, or its beginning is not known
	Ended    Since  // zero At while it is not done or its end is not known
	Late     Since  // since when it is past the documents' estimate, if that is why it is stuck; else zero
	Done     int    // nodes or locks that are done; of Total
	Total    int    // 0 where counting makes no sense
	Overdue  string // how late it is, as its evidence has it: "overdue: runs for 3 h, …"; empty while it is in time as a whole
	Lines    []PhaseLine
	Evidence []string // what the state rests on, one fact a line
}

// Timed tells whether Elapsed is known: the phase's beginning is known, and its end if it is done.
func (p Phase) Timed() bool {
	return !p.Started.At.IsZero() && (p.State != PhaseDone || !p.Ended.At.IsZero())
}

// Elapsed is how long the phase took, or has taken so far; 0 when it has not begun, or when that is not known.
func (p Phase) Elapsed(now time.Time) time.Duration {
	if !p.Timed() {
		return 0
	}
	if !p.Ended.At.IsZero() {
		return max(p.Ended.At.Sub(p.Started.At), 0)
	}
	return max(now.Sub(p.Started.At), 0)
}

// ElapsedSide is on which side of Elapsed the real time is: ">" at least so long, "<" at most, "~" either, where nobody saw the beginning
// or the end; empty where Elapsed is exact, or not known.
func (p Phase) ElapsedSide() string {
	switch {
	case !p.Timed():
		return ""
	case p.Ended.At.IsZero():
		return p.Started.Side()
	}
	return LengthSide(p.Started, p.Ended)
}

// PhaseLine is a part of a phase worth a line of its own: one controller's lock, one group of nodes.
type PhaseLine struct {
	Label string // "openstack", "ceph", "workers"
	State PhaseState
	Text  string // "inactive", "waiting for services to be healthy", "2/10, next: cmp-08"
	Since Since
	Limit time.Duration // how long the documents allow for it; 0 when they say nothing
}
