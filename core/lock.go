package core

import (
	"slices"

	"lockstep/core/wording"
)

// LockState is status.state of a workload lock. The API's enum is open here: an unknown value is shown as written.
type LockState string

// The states of the API (docs/mosk.md#locks). A lock without a status counts as active, the API's documented default.
const (
	LockActive   LockState = "active"   // LCM must not touch the cluster or node
	LockInactive LockState = "inactive" // the application controller is done; LCM may go on
	LockFailed   LockState = "failed"   // the controller could not shut its workload down gracefully
)

// Inner states that Rockoon keeps in the annotation "inner_state" of its locks.
const (
	InnerActive   = "active"   // being worked on: counts against Rockoon's concurrency
	InnerInactive = "inactive" // finished
)

// The controller names seen on real clusters. The set is open: LCM waits for every lock, whoever made it.
const (
	ControllerOpenStack      = "openstack"
	ControllerCeph           = "ceph"
	ControllerTungstenFabric = "tungstenfabric"
	ControllerStackLight     = "stacklight"
)

// WorkloadLock is a ClusterWorkloadLock or a NodeWorkloadLock.
type WorkloadLock struct {
	Meta
	Kind                         Kind   // KindClusterWorkloadLock or KindNodeWorkloadLock
	Controller                   string // spec.controllerName
	Node                         string // spec.nodeName: the Kubernetes node's name; empty for a ClusterWorkloadLock
	NodeDeletionRequestSupported bool
	RawState                     LockState // status.state as it stands; empty when the object has none
	Message                      string    // status.errorMessage: errors and, from Rockoon, progress
	Release                      string    // status.release
	InnerState                   string    // annotation inner_state, as it stands; empty when absent
	Progress                     *InactivationProgress
	Kept                         Bookkeeping
	// Original are the node's labels, without Kubernetes' own, when Rockoon saw the lock last (docs/mosk.md#original-node). Only set for
	// a lock in deletion.
	Original map[string]string
}

// InactivationProgress is status.inactivationProgress, which the TF/OpenSDN operator writes.
type InactivationProgress struct {
	Description string
	Percentage  int // 0 to 100
}

// State is the lock's state, active when the object says nothing.
func (l *WorkloadLock) State() LockState {
	if l.RawState == "" {
		return LockActive
	}
	return l.RawState
}

// Ref names the lock.
func (l *WorkloadLock) Ref() Ref { return Ref{Kind: l.Kind, Name: l.Name, UID: l.UID} }

// mosksOwn are the application controllers that come with MOSK (docs/mosk.md#locks).
var mosksOwn = []string{ControllerOpenStack, ControllerCeph, ControllerTungstenFabric, ControllerStackLight}

// Foreign tells whether the lock belongs to a controller that does not come with MOSK.
func (l *WorkloadLock) Foreign() bool { return !slices.Contains(mosksOwn, l.Controller) }

// LockStatus is what is written into a lock for LCM.
type LockStatus struct {
	State   LockState
	Message string // status.errorMessage; empty removes it
	Release string // status.release; empty leaves it as it is
}

// String is the status in a few words, for the journal.
func (s LockStatus) String() string {
	text := "state " + wording.TextOf(wording.OneLine(string(s.State), 40), "(not set)")
	if s.Release != "" {
		text += ", release " + wording.OneLine(s.Release, 60)
	}
	if s.Message != "" {
		text += ", text " + wording.OneLine(s.Message, 300)
	}
	return text
}

// NewLock is a workload lock to be created, in state active. A node's lock also says that node deletion requests are supported.
type NewLock struct {
	Kind       Kind // KindClusterWorkloadLock or KindNodeWorkloadLock
	Name       string
	Controller string
	Node       string // of a NodeWorkloadLock
	Release    string // the release at which it is armed; may be empty
}

// Ref names the lock to be, which has no UID yet.
func (l NewLock) Ref() Ref { return Ref{Kind: l.Kind, Name: l.Name} }
