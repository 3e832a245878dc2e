package core

import (
	"slices"
)

// Touches tells whether the migration is under way from or to the host, or is being reverted: that takes its instance back to
// where it came from, in or out of scheduling.
func (m *Migration) Touches(host string) bool {
	return (m.Running() || m.Status == "reverting") && (m.SourceHost == host || m.DestHost == host)
}

// Next is the step that comes next: the first that can be confirmed and that somebody waits for; false when there is none.
func (p Procedure) Next() (Step, bool) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.State == StepReady && !s.Optional })
	if i < 0 {
		return Step{}, false
	}
	return p.Steps[i], true
}

// MayGoPast tells whether the operator may have the step's batch go on past failures: where its items have nothing to do
// with one another. What is restarted one after the other rests on the last one being well again.
func (s Step) MayGoPast() bool {
	b, ok := s.Change.(Batch)
	if !ok || len(b.Items) < 2 {
		return false
	}
	switch s.Intent.Kind {
	case IntentLiveMigrateAll, IntentSetMode, IntentSetAttempts:
		return true
	}
	return false
}

// Risk is how much damage a step can do.
type Risk string

// The risks, and how each is confirmed.
const (
	RiskLow     Risk = "low"     // undone by one step: a key on the focused button
	RiskMedium  Risk = "medium"  // touches one instance: a key on the focused button, which is not the default
	RiskHigh    Risk = "high"    // touches many, or cannot be undone: the object's name is typed
	RiskHighest Risk = "highest" // overrides a controller: the object's full name is typed
)

// IntentKind is what the operator asks for.
type IntentKind string

// The intents.
const (
	IntentSetMode        IntentKind = "set-mode"         // Nodes, Mode ("" removes the annotation)
	IntentSetAttempts    IntentKind = "set-attempts"     // Nodes, Attempts (0 removes the annotation)
	IntentDeclareSafe    IntentKind = "declare-safe"     // Node: mode skip, once nothing is in the way
	IntentRestoreMode    IntentKind = "restore-mode"     // Node: the annotation back to what it was before
	IntentLiveMigrate    IntentKind = "live-migrate"     // Instance
	IntentLiveMigrateAll IntentKind = "live-migrate-all" // Node: every instance in the way, AtOnce at a time
	IntentColdMigrate    IntentKind = "cold-migrate"     // Instance
	IntentConfirmResize  IntentKind = "confirm-resize"   // Instance
	IntentRevertResize   IntentKind = "revert-resize"    // Instance
	IntentStop           IntentKind = "stop"             // Instance
	IntentStart          IntentKind = "start"            // Instance
	IntentResume         IntentKind = "resume"           // Instance: from SUSPENDED
	IntentEvacuate       IntentKind = "evacuate"         // Instance: off a host that is dead
	IntentAbortMigration IntentKind = "abort-migration"  // Instance
	IntentForceComplete  IntentKind = "force-complete"   // Instance
	IntentResetState     IntentKind = "reset-state"      // Instance: from ERROR to ACTIVE, in Nova's record only
	IntentShelve         IntentKind = "shelve"           // Instance
	IntentUnshelve       IntentKind = "unshelve"         // Instance
	IntentTagPowerOff    IntentKind = "tag-poweroff"     // Instance: the maintenance action poweroff in place of others
	IntentRestoreTags    IntentKind = "restore-tags"     // Instance: the maintenance actions that it had before
	IntentDisableCompute IntentKind = "disable-compute"  // Node, Reason
	IntentEnableCompute  IntentKind = "enable-compute"   // Node
	IntentDisableVolume  IntentKind = "disable-volume"   // Node, Object (one of its volume services), Reason
	IntentEnableVolume   IntentKind = "enable-volume"    // Node, Object

	IntentOverrideLock IntentKind = "override-lock" // Object, State, Reason (the text it is to bear; may be empty)
	IntentClearInner   IntentKind = "clear-inner"   // Object: inner_state inactive, where it was left active
	// Object: a node's lock of the OpenStack controller to active, where it was left inactive
	IntentRearmLock          IntentKind = "rearm-lock"
	IntentFreeLock           IntentKind = "free-lock"          // Object: a lock of the OpenStack controller in deletion on a live node, let go
	IntentAskCluster         IntentKind = "ask-cluster"        // Scope, Release (each may be empty): make a ClusterMaintenanceRequest by hand
	IntentAskNode            IntentKind = "ask-node"           // Node, Scope, Release: make a NodeMaintenanceRequest by hand
	IntentActCreateLock      IntentKind = "act-create-lock"    // Controller, Node (empty: the cluster); and so the next
	IntentActBegin           IntentKind = "act-begin"          // Controller, Node: inner_state active
	IntentActOutOfScheduling IntentKind = "act-disable"        // Controller, Node: nova-compute, with the maintenance's reason
	IntentActVolumeOut       IntentKind = "act-disable-volume" // Controller, Node, Object: a cinder-volume, with the maintenance's reason
	IntentActVolumeIn        IntentKind = "act-enable-volume"  // Controller, Node, Object
	IntentActSay             IntentKind = "act-say"            // Controller, Node: the lock's text says which instances are waited for
	IntentActRelease         IntentKind = "act-release"        // Controller, Node (empty: the cluster): the lock to inactive
	IntentActIntoScheduling  IntentKind = "act-enable"         // Controller, Node
	IntentActRearm           IntentKind = "act-rearm"          // Controller, Node (empty: the cluster): the lock to active
	IntentActFinish          IntentKind = "act-finish"         // Controller, Node: inner_state inactive
	IntentActDropLock        IntentKind = "act-drop-lock"      // Controller, Node: delete the lock of a node that has left the cluster
	// Controller, Node, Object: a volume claim that is bound to a node that has left the cluster
	IntentActDeleteClaim IntentKind = "act-delete-claim"
	IntentActHold        IntentKind = "act-hold"   // Controller, Object: put Rockoon's finalizer on a request that Lockstep begins to work on
	IntentActLetGo       IntentKind = "act-let-go" // Controller, Object: take Rockoon's finalizer off a request or lock that is being removed
	IntentWithdraw       IntentKind = "withdraw"   // Object: delete a maintenance request

	IntentRestartPod  IntentKind = "restart-pod"  // Workload, Node: the old pod of an OnDelete DaemonSet there
	IntentRestartPods IntentKind = "restart-pods" // Workload: all old pods of an OnDelete DaemonSet, one at a time
	// Workload, Node: the pod of an agent of Neutron's, or of nova-compute, that does not report
	IntentRestartAgent  IntentKind = "restart-agent"
	IntentRestartAgents IntentKind = "restart-agents" // Node: the pods of all agents there that do not report
	IntentDeletePod     IntentKind = "delete-pod"     // Node, Object: a pod there that has ended
	IntentDeletePods    IntentKind = "delete-pods"    // Node: all pods there that have ended
	IntentAddTempest    IntentKind = "add-tempest"    // the cluster's OpenStackDeployment asks for Tempest
	IntentRemoveTempest IntentKind = "remove-tempest" // it asks for it no more

	// On the management cluster.
	IntentEnterCluster IntentKind = "enter-cluster-maintenance"
	IntentLeaveCluster IntentKind = "leave-cluster-maintenance"
	IntentEnterMachine IntentKind = "enter-machine-maintenance" // Node
	IntentLeaveMachine IntentKind = "leave-machine-maintenance" // Node
	IntentReboot       IntentKind = "graceful-reboot"           // Nodes
)

// Intent is what the operator asks for: a kind and what it is about. It is plain data: the same intent is planned again
// from the newest Snapshot before anything is done.
type Intent struct {
	Kind     IntentKind    `json:"kind"`
	Node     string        `json:"node,omitempty"`
	Nodes    []string      `json:"nodes,omitempty"`
	Instance string        `json:"instance,omitempty"` // ID
	Mode     MigrationMode `json:"mode,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	AtOnce   int           `json:"atOnce,omitempty"` // 0 means Settings.MigrateAtOnce

	PastFailures bool `json:"pastFailures,omitempty"` // of a batch: it goes on when an item fails, where Step.MayGoPast says that it can

	Object     Ref       `json:"object,omitzero"` // the lock, request, volume service or volume claim that it is about
	State      LockState `json:"state,omitempty"`
	Scope      Scope     `json:"scope,omitempty"`
	Release    string    `json:"release,omitempty"`
	Controller string    `json:"controller,omitempty"` // the application controller that is played
	Workload   string    `json:"workload,omitempty"`   // a DaemonSet, "namespace/name"
}

// StepState is how a step stands in its procedure.
type StepState string

// The states of a step.
const (
	StepDone    StepState = "done"    // the cluster says so
	StepReady   StepState = "ready"   // it can be confirmed now
	StepBlocked StepState = "blocked" // a guard does not hold
	StepWaiting StepState = "waiting" // somebody else's turn: a controller, LCM, Nova
	StepRunning StepState = "running" // Lockstep does it now
	StepFailed  StepState = "failed"  // the last try failed; it can be tried again
	StepLater   StepState = "later"   // an earlier step comes first
)

// Guard is one condition that must hold before a step, evaluated.
type Guard struct {
	ID     GuardID
	Text   string // the condition, as a sentence that is true when it holds
	Holds  bool
	Answer string // what was found: "1 runs: batch-17 (notify)"
	Remedy string // what to do when it does not hold; may be empty
}

// Fact is one thing on which a step rests. When it changes, the grant that was given on it goes stale.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`

	Instance string `json:"-"` // the ID of the instance that it is about, where it is one of a host's
}

// Step is one confirmed change, or one thing that somebody else has to do: all that a person needs to decide.
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

	// Optional: nobody waits for it, or it takes back what was done. It can be confirmed, and is never what comes next.
	Optional bool

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

// BlockedBy is the first guard that does not hold; false when all do. That writing is not armed is told only when it is the
// one reason left: it says nothing of the step.
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

// SaysUnarmed tells whether the guard is the one that every step has: that writing is armed.
func (g Guard) SaysUnarmed() bool { return g.ID == GuardArmed }

// ProcedureKind names a procedure.
type ProcedureKind string

// The procedures.
const (
	ProcedureNode     ProcedureKind = "node"     // take a node through its maintenance
	ProcedureInstance ProcedureKind = "instance" // everything that can be done with one instance
	ProcedureSource   ProcedureKind = "source"   // mend a source
	ProcedureCluster  ProcedureKind = "cluster"  // what the update as a whole waits for
	ProcedureAfter    ProcedureKind = "after"    // what is left to do once the update is over

	ProcedureMaintenance ProcedureKind = "maintenance" // maintenance mode of the cluster and of its machines
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
}
