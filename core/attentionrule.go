package core

// AttentionRule names a rule of attention. The IDs of its entries begin with it.
type AttentionRule string

// The rules.
const (
	// Nothing goes on.
	RuleControllerAway AttentionRule = "controller-away"
	RuleRoleLabels     AttentionRule = "role-labels"
	RuleOutage         AttentionRule = "outage"
	RuleSource         AttentionRule = "source"
	RuleSources        AttentionRule = "sources"

	// Locks.
	RuleClusterLock        AttentionRule = "cluster-lock"
	RuleClusterLockWaits   AttentionRule = "cluster-lock-waits"
	RuleClusterLockSays    AttentionRule = "cluster-lock-says"
	RuleClusterLockMissing AttentionRule = "cluster-lock-missing"
	RuleClusterLockLeft    AttentionRule = "cluster-lock-left"
	RuleLockFailed         AttentionRule = "lock-failed"
	RuleLockState          AttentionRule = "lock-state"
	RuleOverride           AttentionRule = "override"
	RuleDeployments        AttentionRule = "openstackdeployments"
	RuleOpenStackStatus    AttentionRule = "osdplst"

	// Nodes in maintenance.
	RuleNodeWaits        AttentionRule = "node-waits"
	RuleNodeReturns      AttentionRule = "node-returns"
	RuleNodeSlow         AttentionRule = "node-slow" // a node takes too long: one entry, also when it becomes worse
	RuleNodeSays         AttentionRule = "node-says"
	RuleNodeDeferred     AttentionRule = "node-deferred"
	RuleCephHolds        AttentionRule = "ceph-holds"
	RuleQuorumGoes       AttentionRule = "quorum-goes" // one entry for each set and node
	RuleControllerFails  AttentionRule = "controller-fails"
	RuleRequestUnseen    AttentionRule = "request-unseen" // a node's, or the cluster's
	RuleReleasedFull     AttentionRule = "released-full"
	RuleEndedPods        AttentionRule = "ended-pods"
	RuleNoComputeService AttentionRule = "no-compute-service"
	RuleMigrationLong    AttentionRule = "migration-long"
	RuleMigrationFailed  AttentionRule = "migration-failed"
	RuleOwnMigration     AttentionRule = "own-migration"
	RuleInstanceNotify   AttentionRule = "instance-notify"
	RuleInstanceStranded AttentionRule = "instance-stranded"
	RuleInstanceTags     AttentionRule = "instance-tags"

	// Nodes before and after their maintenance.
	RuleLockLeft         AttentionRule = "lock-left"
	RuleLockStuck        AttentionRule = "lock-stuck"
	RuleRoleless         AttentionRule = "roleless"
	RuleModeElsewhere    AttentionRule = "mode-elsewhere"
	RuleStaleInner       AttentionRule = "stale-inner"
	RuleMode             AttentionRule = "mode"
	RuleAttempts         AttentionRule = "attempts"
	RuleNoLock           AttentionRule = "no-lock"
	RuleNoNode           AttentionRule = "no-node"
	RuleNodeRemoval      AttentionRule = "node-removal"
	RuleRequests         AttentionRule = "requests"
	RuleAnnotationLeft   AttentionRule = "annotation-left"
	RuleReturnedDown     AttentionRule = "returned-down"
	RuleNodeDown         AttentionRule = "node-down"
	RuleComputeLeft      AttentionRule = "compute-left"
	RuleVolumesLeft      AttentionRule = "volumes-left"
	RuleVolumesElsewhere AttentionRule = "volumes-elsewhere" // instances on other hosts lose volumes with the node
	RuleTagsLeft         AttentionRule = "tags-left"
	RuleWillHold         AttentionRule = "will-hold"

	// LCM and the update.
	RuleDrainBlocked       AttentionRule = "drain-blocked"
	RuleDrainWaits         AttentionRule = "drain-waits"
	RuleStateItem          AttentionRule = "state-item"
	RuleDrainError         AttentionRule = "drain-error"
	RuleSwarmError         AttentionRule = "swarm-error"
	RuleAgentError         AttentionRule = "agent-error"
	RuleRebootError        AttentionRule = "reboot-error"
	RulePlanStuck          AttentionRule = "plan-stuck"
	RulePlanStatus         AttentionRule = "plan-status" // one that no document lists
	RulePlanWaits          AttentionRule = "plan-waits"
	RuleAutoPause          AttentionRule = "auto-pause"
	RuleAutoPauseError     AttentionRule = "auto-pause-error"
	RuleLCMStuck           AttentionRule = "lcm-stuck"
	RulePhase              AttentionRule = "phase"
	RuleBetweenReleases    AttentionRule = "between-releases"
	RuleRebootsLeft        AttentionRule = "reboots-left"
	RuleMaintenanceMode    AttentionRule = "maintenance-mode"
	RuleManagementOutdated AttentionRule = "management-outdated"
	RuleSilenceGone        AttentionRule = "silence-gone"
	RuleAfterUpdate        AttentionRule = "after-update"

	// Lockstep itself.
	RuleAct       AttentionRule = "act"
	RuleOperation AttentionRule = "operation"
	RuleDisarmed  AttentionRule = "disarmed"
	RulePromise   AttentionRule = "promise"
)
