package core

// Guard is one condition that must hold before a step, evaluated.
type Guard struct {
	ID     GuardID
	Text   string // the condition, as a sentence that is true when it holds
	Holds  bool
	Answer string // what was found: "1 runs: batch-17 (notify)"
	Remedy string // what to do when it does not hold; may be empty
}

// SaysUnarmed tells whether the guard is the one that every step has: that writing is armed.
func (g Guard) SaysUnarmed() bool { return g.ID == GuardArmed }

// GuardID identifies a guard within its step: a step has each ID at most once, and the ID stays the same over Snapshots.
type GuardID string

// The guards, each with the condition that holds.
const (
	GuardIsAgent           GuardID = "agent"          // it is a Neutron agent, or nova-compute
	GuardAgentsAlive       GuardID = "agents"         // its network agents are alive
	GuardAlone             GuardID = "alone"          // no other operation runs there
	GuardOpenStackApplied  GuardID = "applied"        // OpenStack is applied, at the release
	GuardArmed             GuardID = "armed"          // writing is armed
	GuardNodeBack          GuardID = "back"           // the node is back
	GuardBegun             GuardID = "begun"          // the work on the node was begun
	GuardClaimBound        GuardID = "bound"          // its volume is bound to the node, and a pod of its StatefulSet claims it
	GuardChangedByLockstep GuardID = "changed"        // Lockstep changed it
	GuardNoClaims          GuardID = "claims"         // no volume claim is bound to its disks any more
	GuardClusterByHand     GuardID = "cluster"        // the cluster is in maintenance by hand
	GuardClusterFirst      GuardID = "cluster-first"  // the cluster is in maintenance mode
	GuardComputeDown       GuardID = "compute-down"   // nova-compute of its host is down
	GuardComputeOut        GuardID = "compute-out"    // nova-compute is out of scheduling before
	GuardComputeUp         GuardID = "compute-up"     // nova-compute of its host is up
	GuardConcurrency       GuardID = "concurrency"    // no more nodes are worked on than the rule allows
	GuardMigrationsDecided GuardID = "decided"        // no migration away from the host waits for a decision
	GuardDiffers           GuardID = "differs"        // what is asked for is not there yet
	GuardServiceDisabled   GuardID = "disabled"       // the service is disabled
	GuardEach              GuardID = "each"           // each of them can be done by itself
	GuardServiceEnabled    GuardID = "enabled"        // the service is enabled
	GuardExists            GuardID = "exists"         // the object exists
	GuardFirstService      GuardID = "first"          // it is the one that Rockoon finds
	GuardHostForgotten     GuardID = "forgotten"      // OpenStack knows nothing of the host any more
	GuardFresh             GuardID = "fresh"          // what is known is fresh
	GuardGroupCustom       GuardID = "group-custom"   // the update group is not one that LCM makes by itself
	GuardGroupEmpty        GuardID = "group-empty"    // no machine belongs to the update group
	GuardGroupRests        GuardID = "group-rests"    // the update group's plan step has not begun, and is not commenced
	GuardHardLock          GuardID = "hard-lock"      // no set that needs a quorum holds the node
	GuardOpenStackHealthy  GuardID = "healthy"        // OpenStack is applied and healthy
	GuardLockTakenBack     GuardID = "held"           // the lock is taken back
	GuardHeldBy            GuardID = "held-by"        // the OpenStack controller's finalizer keeps the object in its removal
	GuardHeldRequest       GuardID = "held-request"   // the request waits for its return
	GuardHoldsNode         GuardID = "holds"          // the played controller holds nodes like this one
	GuardHostDead          GuardID = "host-dead"      // the host's kubelet does not report either
	GuardHostEmpty         GuardID = "host-empty"     // no running instance is left on the host
	GuardHostKnown         GuardID = "host-known"     // Nova knows the host
	GuardInScheduling      GuardID = "in"             // nova-compute is not disabled for the maintenance
	GuardInDeletion        GuardID = "in-deletion"    // the lock is in deletion
	GuardLockInactive      GuardID = "inactive"       // the lock is inactive
	GuardValueKnown        GuardID = "known"          // the value, or what it depends on, is known
	GuardSomethingLeft     GuardID = "left"           // there is something left
	GuardAgentsListed      GuardID = "listed"         // what its L3 and DHCP agents serve is known
	GuardIndexLater        GuardID = "index-later"    // the index is behind those of the groups that are commenced
	GuardLockHeld          GuardID = "lock"           // the OpenStack controller holds the node
	GuardLockRelease       GuardID = "lock-release"   // the lock is of OpenStack's release
	GuardMachinesKnown     GuardID = "machines"       // the machines are known
	GuardMachineRests      GuardID = "machine-rests"  // nothing is being done with the machine
	GuardMachinesOut       GuardID = "machines-out"   // no machine is in maintenance mode
	GuardLiveMigration     GuardID = "migration"      // a live migration of it is under way
	GuardModeCounts        GuardID = "mode-counts"    // a controller uses the node's mode
	GuardNoMaintenance     GuardID = "no-maintenance" // the cluster is not in maintenance mode
	GuardFromHere          GuardID = "from-here"      // the update plan leads on from the Cluster's release
	GuardNoMigration       GuardID = "no-migration"   // no migration is under way
	GuardNoNodes           GuardID = "no-nodes"       // no node is in maintenance
	GuardNoPlan            GuardID = "no-plan"        // no update plan leads to the release
	GuardNoReboot          GuardID = "no-reboot"      // no graceful reboot is asked for
	GuardNoRequest         GuardID = "no-request"     // there is no maintenance request
	GuardNoStops           GuardID = "no-stops"       // nothing stops the update
	GuardNoTask            GuardID = "no-task"        // nothing is being done with it
	GuardNoUpdate          GuardID = "no-update"      // no update is under way
	GuardNoVolumes         GuardID = "no-volumes"     // no volume is left on the disks of the node
	GuardNobodyElse        GuardID = "nobody-else"    // the controller itself does not run
	GuardNodeReady         GuardID = "node-ready"     // the node is Ready
	GuardNodeStays         GuardID = "node-stays"     // the node exists and stays
	GuardNotAsked          GuardID = "not-asked"      // it is not asked for yet
	GuardReasonOwn         GuardID = "not-literal"    // the reason is not the OpenStack controller's own
	GuardNotOwned          GuardID = "not-owned"      // the OpenStack controller does not keep it disabled
	GuardNotPlayed         GuardID = "not-played"     // it is not Lockstep's turn as the OpenStack controller
	GuardNotTaken          GuardID = "not-taken"      // LCM does not take the node once the lock is gone
	GuardNothingOn         GuardID = "nothing-on"     // no instance is left on the host, in whatever state
	GuardOffered           GuardID = "offered"        // the release is offered for the cluster
	GuardPodOld            GuardID = "old"            // the pod is of an older revision
	GuardOnDelete          GuardID = "on-delete"      // nobody else replaces its pods
	GuardOnHost            GuardID = "on-host"        // it is on a host
	GuardOneAtATime        GuardID = "one-at-a-time"  // every other pod of the DaemonSet is ready, on every node
	GuardOneBegins         GuardID = "one-begins"     // nothing is being begun elsewhere
	GuardOpenStackLock     GuardID = "openstack"      // it is a node's lock of the OpenStack controller
	GuardOutOfScheduling   GuardID = "out"            // the scheduler puts nothing more on the host
	GuardPodEnded          GuardID = "over"           // the pod has ended
	GuardPlanOrder         GuardID = "plan-order"     // every plan step before it is complete or commenced
	GuardPlayed            GuardID = "played"         // Lockstep plays the controller
	GuardPodAway           GuardID = "pod-away"       // no pod on the node uses it any more
	GuardPodsReady         GuardID = "pods"           // the controller's pods are ready
	GuardQuorum            GuardID = "quorum"         // what needs a quorum can do without the node
	GuardMachinesReady     GuardID = "ready"          // the cluster and the machines are Ready
	GuardReasonGiven       GuardID = "reason"         // there is a reason, of one line
	GuardRequestRelease    GuardID = "release"        // the release is that of the OpenStack controller
	GuardNodeAskedFor      GuardID = "request"        // LCM asks for the node
	GuardRevocable         GuardID = "revocable"      // the plan step has not begun, or workers' can still be held
	GuardGuestRuns         GuardID = "runs"           // its guest runs
	GuardScope             GuardID = "scope"          // the scope is one that fits
	GuardSeenSince         GuardID = "seen-since"     // what is known is newer than the node's return
	GuardSettled           GuardID = "settled"        // it does not change by itself any more
	GuardAgentSilent       GuardID = "silent"         // the agent does not report
	GuardSilenceEnd        GuardID = "silence-end"    // the silence ends in the days to come
	GuardSomethingToDo     GuardID = "something"      // there is something to do
	GuardRequestStands     GuardID = "stands"         // the request stands
	GuardStatus            GuardID = "status"         // the instance has a status that the action takes
	GuardStays             GuardID = "stays"          // the object is not being removed
	GuardStaysUp           GuardID = "stays-up"       // the node is not about to go down
	GuardTagsKnown         GuardID = "tags-known"     // the cloud has tags on instances
	GuardTakenBack         GuardID = "taken-back"     // its lock is taken back
	GuardTakenOut          GuardID = "taken-out"      // the work on the node was begun, and its host is out of scheduling
	GuardTarget            GuardID = "target"         // another compute service is up and enabled
	GuardPlainText         GuardID = "text"           // the text is one line
	GuardTurn              GuardID = "turn"           // it is the time for it
	GuardAsLockstepLeftIt  GuardID = "unchanged"      // it still has what Lockstep set
	GuardServiceUp         GuardID = "up"             // the service is up
	GuardVolumesOut        GuardID = "volumes"        // the scheduler puts no more volumes on the host
	GuardVolumesBack       GuardID = "volumes-back"   // its volume services are back before
	GuardOperatorsWord     GuardID = "word"           // the operator has said that it may go
	GuardWorker            GuardID = "worker"         // the machine is not of the control plane
	GuardZone              GuardID = "zone"           // only computes of one availability zone are in work
)
