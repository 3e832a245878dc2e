package core

import (
	"slices"
	"time"
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
	// Object: the OpenStack controller's lock on a node, left inactive, to active
	IntentRearmLock          IntentKind = "rearm-lock"
	IntentFreeLock           IntentKind = "free-lock"          // Object: a lock of the OpenStack controller in deletion on a live node, let go
	IntentAskCluster         IntentKind = "ask-cluster"        // Scope, Release (each may be empty): make a ClusterMaintenanceRequest by hand
	IntentAskNode            IntentKind = "ask-node"           // Node, Scope, Release: make a NodeMaintenanceRequest by hand
	IntentActCreateLock      IntentKind = "act-create-lock"    // Controller, Node (empty: the cluster)
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
	IntentActLetGo       IntentKind = "act-let-go" // Controller, Object: take Rockoon's finalizer off a request, lock or node in deletion
	IntentWithdraw       IntentKind = "withdraw"   // Object: delete a maintenance request

	IntentRestartPod  IntentKind = "restart-pod"  // Workload, Node: the old pod of an OnDelete DaemonSet there
	IntentRestartPods IntentKind = "restart-pods" // Workload: all old pods of an OnDelete DaemonSet, one at a time
	// Workload, Node: the pod of an agent of Neutron's, or of nova-compute, that does not report
	IntentRestartAgent  IntentKind = "restart-agent"
	IntentRestartAgents IntentKind = "restart-agents" // Node: the pods of all agents there that do not report
	IntentDeletePod     IntentKind = "delete-pod"     // Node, Object: a pod there that has ended
	IntentDeletePods    IntentKind = "delete-pods"    // Node: all pods there that have ended
	IntentAddTempest    IntentKind = "add-tempest"    // the cluster's OpenStackDeployment asks for Tempest
	IntentRemoveTempest IntentKind = "remove-tempest" // it does not ask for Tempest any more

	// On the management cluster.
	IntentEnterCluster IntentKind = "enter-cluster-maintenance"
	IntentLeaveCluster IntentKind = "leave-cluster-maintenance"
	IntentEnterMachine IntentKind = "enter-machine-maintenance" // Node
	IntentLeaveMachine IntentKind = "leave-machine-maintenance" // Node
	IntentReboot       IntentKind = "graceful-reboot"           // Nodes

	// The update itself, driven on the management cluster.
	IntentCommence IntentKind = "commence-plan-step" // PlanStep, PastStops
	// PlanStep: commence is taken away from a step that has not begun, or from workers' that has
	IntentUncommence   IntentKind = "uncommence-plan-step"
	IntentSetRelease   IntentKind = "set-release"    // Release (a ClusterRelease), PastStops
	IntentSetAutoPause IntentKind = "set-auto-pause" // Alerts: those that pause the update; none removes the UpdateAutoPause

	// In which order the machines are updated, and how many at a time.
	IntentMoveMachines        IntentKind = "move-to-update-group"  // Nodes, Group: the group that their machines are to belong to
	IntentSetGroupConcurrency IntentKind = "set-group-concurrency" // Group, GroupSettings.Concurrent
	IntentSetGroupIndex       IntentKind = "set-group-index"       // Group, GroupSettings.Index
	IntentSetGroupReboot      IntentKind = "set-group-reboot"      // Group, GroupSettings.Reboot
	IntentMakeGroup           IntentKind = "make-update-group"     // Group, GroupSettings
	IntentDeleteGroup         IntentKind = "delete-update-group"   // Group
	IntentSetUpgradeIndex     IntentKind = "set-upgrade-index"     // Node, UpgradeIndex (0 removes it)

	// In Alertmanager.
	IntentMakeSilence   IntentKind = "make-silence"   // Matchers, Until, Reason
	IntentExpireSilence IntentKind = "expire-silence" // Object: a silence, by its ID
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

	PlanStep  string   `json:"planStep,omitempty"`  // the ID of a step of the update plan; its name in releases that have no IDs
	Alerts    []string `json:"alerts,omitempty"`    // names of alerts
	PastStops bool     `json:"pastStops,omitempty"` // go on with the update in spite of what stops it

	Group         string        `json:"group,omitempty"` // the name of an UpdateGroup
	GroupSettings GroupSettings `json:"groupSettings,omitzero"`
	UpgradeIndex  int           `json:"upgradeIndex,omitempty"`

	Matchers []Matcher `json:"matchers,omitempty"` // of a silence
	Until    time.Time `json:"until,omitzero"`
}

// OneNode is the one node that the intent is about; empty when it is about none or several.
func (i Intent) OneNode() string {
	if names := i.NodesOf(); len(names) == 1 {
		return names[0]
	}
	return ""
}

// NodesOf are the names of the nodes that the intent is about, each once, sorted.
func (i Intent) NodesOf() []string {
	names := slices.Clone(i.Nodes)
	if i.Node != "" {
		names = append(names, i.Node)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
