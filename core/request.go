package core

// Rockoon holds requests and locks by a finalizer until its deletion handler is done. It sets the finalizer on objects that it sees
// before their deletion. Only that handler takes a node back, so a request that comes and goes while Rockoon does not run leaves the
// node released (docs/mosk.md#finalizers). Lockstep follows the same protocol when it plays Rockoon.
const (
	FinalizersOfRockoon = "lcm.mirantis.com/rockoon."
	UsualFinalizer      = FinalizersOfRockoon + "nodemaintenancerequest-finalizer"
)

// Scope is spec.scope of a maintenance request.
type Scope string

// The scopes of the API. Rockoon migrates instances only in scope os.
const (
	ScopeDrain Scope = "drain" // the node is drained, services may restart, no reboot
	ScopeOS    Scope = "os"    // drain, and the host may reboot
)

// MaintenanceRequest is a ClusterMaintenanceRequest or a NodeMaintenanceRequest. LCM alone creates and removes them; one
// with Deleting set is on its way back into service.
type MaintenanceRequest struct {
	Meta
	Kind    Kind   // KindClusterMaintenanceRequest or KindNodeMaintenanceRequest
	Node    string // spec.nodeName; empty for a ClusterMaintenanceRequest
	Release string // spec.release; may be empty
	Scope   Scope  // may be empty
	MadeBy  string // the label app.kubernetes.io/managed-by; empty when it has none
	Kept    Bookkeeping
}

// Ref names the request.
func (r *MaintenanceRequest) Ref() Ref { return Ref{Kind: r.Kind, Name: r.Name, UID: r.UID} }

// ByHand tells whether the request was made with Lockstep and not by LCM.
func (r *MaintenanceRequest) ByHand() bool { return r.MadeBy == MadeByLockstep }

// MadeByLockstep is the value of the label app.kubernetes.io/managed-by of what Lockstep makes.
const MadeByLockstep = "lockstep"

// NewRequest is a maintenance request to be created.
type NewRequest struct {
	Kind    Kind // KindClusterMaintenanceRequest or KindNodeMaintenanceRequest
	Name    string
	Node    string // of a NodeMaintenanceRequest
	Release string // may be empty
	Scope   Scope  // of a NodeMaintenanceRequest; deprecated for a ClusterMaintenanceRequest
}

// Ref names the request to be, which has no UID yet.
func (r NewRequest) Ref() Ref { return Ref{Kind: r.Kind, Name: r.Name} }

// NodeNotice is a NodeDeletionRequest or a NodeDisableNotification: an object that says one thing about one node.
type NodeNotice struct {
	Meta
	Kind Kind   // KindNodeDeletionRequest or KindNodeDisableNotification
	Node string // spec.nodeName
	Kept Bookkeeping
}
