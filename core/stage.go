package core

import (
	"time"
)

// Stage is where one node stands in its maintenance.
type Stage string

// The stages, in the order in which a node goes through them.
const (
	StageIdle       Stage = "idle"            // nothing is asked of the node
	StageQueued     Stage = "queued"          // its request is there, its controllers have not begun
	StagePreparing  Stage = "preparing"       // controllers prepare it; no instance is being moved
	StageEvacuating Stage = "evacuating"      // instances are being moved off it
	StageWaiting    Stage = "waiting for you" // it goes no further without the operator
	StageReleased   Stage = "released"        // all its locks are inactive; LCM has not begun
	StageDraining   Stage = "draining"        // LCM moves its pods
	StageUpdating   Stage = "updating"
	StageRebooting  Stage = "rebooting"
	StageReturning  Stage = "returning" // its request is being removed; controllers bring it back
	StageDone       Stage = "done"      // it went through its maintenance in this update
	StageFailed     Stage = "failed"    // a lock says failed
)

// Since is when something began. A beginning that nobody saw is at least so long ago as the evidence says.
type Since struct {
	At    time.Time
	Exact bool
}

// Plus is a time later; nothing stays nothing. What lasts for longer than it may is late since then.
func (s Since) Plus(d time.Duration) Since {
	if !s.At.IsZero() {
		s.At = s.At.Add(d)
	}
	return s
}

// NodeView is a node with all that is derived for it.
type NodeView struct {
	Name   string // the node's name
	Label  string // the name people use
	Node   *Node  // nil when locks or requests name a node that the cluster does not have
	Stage  Stage
	Since  Since
	Reason string // why it is in this stage, in one line: the evidence
	What   string // what happens there now, short: "6 of 15 moved", "ovs agent down", "2 live, 1 notify"

	Mode        MigrationMode // as set, ModeLive when not set; may be a value that Rockoon does not know
	ModeSet     bool          // the annotation is there
	ModeCounts  bool          // somebody goes by it: the OpenStack controller on a compute, or Lockstep in its place
	Attempts    int           // DefaultMigrationAttempts when not set or not a number
	AttemptsRaw string        // the annotation as it stands; empty when not set
	Request     *MaintenanceRequest
	Locks       []*WorkloadLock
	Instances   int // on the host; -1 when not known
	Blocking    int // of them, those that hold the lock; -1 when not known
	Moving      int // migrations under way from it
	MovedFrom   int // how many were on it when its maintenance began; 0 when not known
	Service     *ComputeService
	BadAttempts string   // what is wrong with the number of its migration attempts; one of the problems, empty when nothing is
	Problems    []string // inconsistencies worth a word: no lock, a lock without a node, an unknown mode …
}

// Active tells whether something happens at the node now, or is held up there.
func (v NodeView) Active() bool {
	return v.Stage != StageIdle && v.Stage != StageDone
}
