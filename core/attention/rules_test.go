package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// row is the expected form of one entry: its severity, its rule (the ID up to the slash), and a part of its reason.
type row struct {
	severity core.Severity
	rule     string
	reason   string
}

// deferredByF is Rockoon's text F.
const deferredByF = "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01"

// attentionScene changes a healthy cluster, and says which entries are expected.
type attentionScene struct {
	name  string
	given func(sc scene.Scene)
	want  []row
}

func attentionScenes() []attentionScene {
	return []attentionScene{
		{"nothing", func(sc scene.Scene) {}, nil},
		{"an update in good order", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
		}, nil},
		{"no update: an instance in ERROR is none of ours", func(sc scene.Scene) { sc.ByHost["cmp-01"][0].Status = "ERROR" }, nil},

		{"manual node", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Instance("cmp-01", "old", "poweroff")
			sc.Maintained("cmp-01", scene.StillPresent)
		}, []row{{core.SeverityUrgent, "node-waits", "manual mode: 2 instances must leave first: batch-17 (notify), web-1"}}},
		{"live node, one of an owner who is to be told, and others that move", func(sc scene.Scene) {
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
		}, []row{{core.SeverityWarning, "instance-notify", "batch-17 holds the node: its owner asked to be told first (project shop)"}}},
		{"live node, only what nothing moves is left", func(sc scene.Scene) {
			sc.Emptied("cmp-01")
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Instance("cmp-01", "broken").Status = "ERROR"
			sc.Maintained("cmp-01", scene.StillPresent)
		}, []row{{core.SeverityUrgent, "node-waits", "2 instances must leave or stop first: batch-17 (notify), broken (ERROR)"}}},
		{"live node, only a decision is left", func(sc scene.Scene) {
			sc.Emptied("cmp-01")
			sc.Instance("cmp-01", "app-1").Status = "VERIFY_RESIZE"
			sc.Maintained("cmp-01", scene.StillPresent)
		}, []row{{core.SeverityUrgent, "node-waits", "confirm or revert the migration of app-1 (VERIFY_RESIZE)"}}},
		{"manual node, Lockstep moves them", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			batchOn(sc, core.OperationRunning)
		}, []row{{core.SeverityNotice, "node-waits", "0 of 1 done"}}},
		{"manual node, Lockstep moves one of two", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Instance("cmp-01", "batch-17", "notify")
			batchOn(sc, core.OperationRunning)
		}, []row{{core.SeverityUrgent, "node-waits",
			"manual mode: 1 instance must leave first: batch-17 (notify); Lockstep moves 1 more (0 of 1 done)"}}},
		{"manual node, Lockstep has left it out", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			batchOn(sc, core.OperationSkipped)
		}, []row{{core.SeverityUrgent, "node-waits", "manual mode: 1 instance must leave first: web-1"}}},
		{"manual node, Lockstep moves one by a batch and one by a step", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			in := sc.Instance("cmp-01", "web-9")
			batchOn(sc, core.OperationRunning)
			sc.Operations = append(sc.Operations, core.Operation{ID: "p", Intent: core.Intent{Kind: core.IntentLiveMigrate, Instance: in.ID},
				Node: "cmp-01", Instance: in.ID, State: core.OperationVerifying})
		}, []row{{core.SeverityNotice, "node-waits", "manual mode: 2 instances must leave first"}}},
		{"manual node, a batch has not begun with it, and writing is off", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			batchOn(sc, core.OperationQueued)
			sc.Write.Armed = false
		}, []row{{core.SeverityUrgent, "node-waits", "manual mode: 1 instance must leave first: web-1"}}},
		{"live node, attempts used up", func(sc scene.Scene) {
			sc.Maintained("cmp-01", scene.StillPresent)
			in := sc.ByHost["cmp-01"][0]
			for i := range 3 {
				sc.Migration(in, "error", "cmp-02", time.Duration(15-i)*time.Minute).Failure = "No valid host was found."
			}
		}, []row{{core.SeverityUrgent, "migration-failed", "web-1 failed to migrate 3 times: No valid host was found"}}},
		{"live node, J while the named instance still moves", func(sc scene.Scene) {
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.ByHost["cmp-01"][0].Status = "MIGRATING"
		}, nil},
		{"failed twice, and tried again", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			in := sc.ByHost["cmp-01"][0]
			sc.Migration(in, "error", "cmp-02", 9*time.Minute)
			sc.Migration(in, "error", "cmp-02", 5*time.Minute)
			sc.Migration(in, "running", "cmp-02", time.Minute)
		}, []row{{core.SeverityWarning, "migration-failed", "web-1 failed to migrate twice; the next try is under way"}}},
		{"a migration without end", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Waiting servers migration is completed: ['x']")
			sc.NodeRequests["cmp-01"][0].Created = scene.Ago(50 * time.Minute)
			sc.Migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", 45*time.Minute)
		}, []row{{core.SeverityWarning, "migration-long", "web-1 does not end"}}},
		{"live node, one that nothing moves", func(sc scene.Scene) {
			sc.Instance("cmp-01", "broken").Status = "VERIFY_RESIZE"
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
		}, []row{{core.SeverityWarning, "instance-stranded",
			"broken holds the node: waits for a decision: confirm or revert its migration (VERIFY_RESIZE)"}}},
		{"two tags on a node in maintenance", func(sc scene.Scene) {
			sc.Instance("cmp-01", "both", "notify", "live_migrate")
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
		}, []row{{core.SeverityNotice, "instance-tags", "cancel each other"}}},
		{"before a node's turn", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Instance("cmp-01", "broken").Status = "ERROR"
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Instance("cmp-01", "both", "notify", "live_migrate")
		}, []row{{core.SeverityNotice, "will-hold",
			"3 instances will hold it when its turn comes: batch-17 (notify), both (two tags), broken (ERROR)"}}},
		{"before a manual node's turn, all that must leave count", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Mode("cmp-01", core.ModeManual)
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Instance("cmp-01", "moves", "live_migrate")
			sc.Instance("cmp-01", "off").VMState = "stopped"
		}, []row{{core.SeverityNotice, "will-hold", "manual mode: 2 instances will hold it when its turn comes: batch-17 (notify), web-1"}}},
		{"a node that is through holds nobody up", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Instance("cmp-01", "broken").Status = "ERROR"
			sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9"
		}, nil},

		{"lock failed", func(sc scene.Scene) { sc.Maintained("cmp-01", "").RawState = core.LockFailed },
			[]row{{core.SeverityUrgent, "lock-failed", "the lock of openstack says failed"}}},
		{"lock in a state that nobody knows", func(sc scene.Scene) { sc.Lock("cmp-01", core.ControllerCeph, "sleeping") },
			[]row{{core.SeverityWarning, "lock-state", `"sleeping"`}}},
		{"outage, one entry for all", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
			sc.Maintained("cmp-02", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
		}, []row{{core.SeverityWarning, "outage", "no answer from OpenStack: cmp-01, cmp-02"}}},
		{"nova-compute is not disabled, and Nova answers nobody", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			sc.Source(core.SourceComputeServices, core.SourceStale)
		}, []row{{core.SeverityWarning, "source", ""}, {core.SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}}},
		{"nova-compute is not disabled, and Nova has just come back", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			src := sc.Sources[core.SourceComputeServices]
			src.Since = scene.Ago(10 * time.Second)
			sc.Sources[core.SourceComputeServices] = src
		}, []row{{core.SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}}},
		{"nova-compute is not disabled, and Lockstep does not ask Nova", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			sc.Source(core.SourceComputeServices, core.SourceOff)
		}, []row{{core.SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}, {core.SeverityNotice, "source", ""}}},
		{"nova-compute is not disabled, and Nova answers", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Can not disable compute service on a host to be deleted")
		}, []row{{core.SeverityUrgent, "node-waits", "nova-compute could not be disabled"}}},
		{"a removal meets an outage", func(sc scene.Scene) {
			sc.Removes("cmp-01")
			sc.NodeLock("cmp-01", core.ControllerOpenStack).Message = scene.Ago(time.Minute).Format("2006-01-02 15:04:05.000000") +
				" Can not disable compute service on a host to be deleted"
			sc.Source(core.SourceComputeServices, core.SourceStale)
			sc.Emptied("cmp-01")
		}, []row{{core.SeverityWarning, "source", ""}, {core.SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}}},
		{"a request without a scope", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.NodeRequest("cmp-01").Scope = ""
			sc.ClusterRequest().Scope = core.ScopeDrain
		}, []row{{core.SeverityUrgent, "node-waits", "its request has no scope: the OpenStack controller fails on it without a word"}}},
		{"outage on the way back", func(sc scene.Scene) {
			sc.Returning("cmp-01", 2*time.Minute, "Can not bring node back to scheduling. Cannot execute openstack commands, error: 503")
		}, []row{{core.SeverityWarning, "outage", "cmp-01"}}},
		{"M", func(sc scene.Scene) {
			sc.Returning("cmp-01", 7*time.Minute, "Timeout waiting for compute services up on the host.")
		},
			[]row{{core.SeverityUrgent, "node-returns", "nova-compute did not come up"}}},
		{"P, with the agents", func(sc scene.Scene) {
			sc.Agents["cmp-01"] = []*core.NetworkAgent{{Binary: "neutron-l3-agent", AdminUp: true}, {Binary: "neutron-dhcp-agent"}}
			sc.Returning("cmp-01", 7*time.Minute, "Timeout waiting for network agents on the host cmp-01.")
		}, []row{{core.SeverityUrgent, "node-returns", "network agents down: l3-agent, dhcp-agent"}}},
		{"back soon", func(sc scene.Scene) { sc.Returning("cmp-01", 4*time.Minute, "") }, nil},
		{"silent wait for pods", func(sc scene.Scene) {
			sc.Pods["cmp-01"] = &core.NodePods{NotReady: []core.PodName{{Namespace: "openstack", Name: "libvirt-1"}}}
			sc.Returning("cmp-01", 14*time.Minute, "")
		}, []row{{core.SeverityWarning, "node-slow", "pods not ready: libvirt-1"}}},
		{"silent wait for the node", func(sc scene.Scene) { sc.Nodes["cmp-01"].Ready = "Unknown"; sc.Returning("cmp-01", 14*time.Minute, "") },
			[]row{{core.SeverityUrgent, "node-slow", "node not Ready"}}},
		{"does not come up after its reboot", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Emptied("cmp-01")
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", scene.Ago(40*time.Minute)
			sc.NodeRequest("cmp-01").Created = scene.Ago(50 * time.Minute)
		}, []row{{core.SeverityUrgent, "node-slow", "not Ready since 11:20"}}},
		{"does not come up after its reboot, with an instance that its owner lets go down with it", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Mode("cmp-01", core.ModeSkip)
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", scene.Ago(40*time.Minute)
			sc.NodeRequest("cmp-01").Created = scene.Ago(50 * time.Minute)
		}, []row{{core.SeverityUrgent, "node-slow", "not Ready since 11:20; 1 instance went down with it: web-1"}}},
		{"released with an instance that had to leave", func(sc scene.Scene) {
			released(sc, time.Minute)
		}, []row{{core.SeverityUrgent, "released-full", "its lock is inactive, and 1 instance that would have to leave is on it: web-1"}}},
		{"inactive before its request was made", func(sc scene.Scene) {
			released(sc, 5*time.Hour)
		}, []row{{core.SeverityUrgent, "released-full", "its lock is inactive, and 1 instance that would have to leave is on it: web-1"}}},
		{"inactive before its request was made, and Nova tells nothing", func(sc scene.Scene) {
			released(sc, 5*time.Hour)
			sc.Source(core.SourceInstances, core.SourceForbidden)
		}, []row{{core.SeverityUrgent, "released-full", "its instances are not known"},
			{core.SeverityWarning, "source", "instances: no"}}},
		{"released, and Nova not heard since", func(sc scene.Scene) {
			released(sc, time.Minute)
			sc.Aged(core.SourceInstances, 2*time.Minute)
		}, nil},
		{"released with instances by somebody", func(sc scene.Scene) {
			l := released(sc, time.Minute)
			sc.History.Overrides = map[string]core.Override{l.UID: {Lock: l.Ref(), Was: core.LockActive, To: core.LockInactive,
				At: scene.Ago(time.Minute), By: "anna", Request: sc.NodeRequest("cmp-01").UID}}
		}, nil},
		{"released in mode skip", func(sc scene.Scene) {
			released(sc, time.Minute)
			sc.Mode("cmp-01", core.ModeSkip)
		}, nil},
		{"released for a drain without a reboot", func(sc scene.Scene) {
			released(sc, time.Minute)
			sc.NodeRequest("cmp-01").Scope = core.ScopeDrain
		}, nil},
		{"down with an instance that had to leave", func(sc scene.Scene) {
			released(sc, 10*time.Minute)
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", scene.Ago(5*time.Minute)
		}, []row{{core.SeverityUrgent, "released-full", "it went down; its lock is inactive, and 1 instance"}}},
		{"rebooted with an instance that had to leave", func(sc scene.Scene) {
			released(sc, 10*time.Minute)
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(time.Minute)
		}, nil},
		{"a cluster lock that was left inactive", func(sc scene.Scene) {
			sc.ClusterLocks[0].RawState = core.LockInactive
		}, []row{{core.SeverityWarning, "cluster-lock-left", "the cluster lock was left inactive"}}},
		{"a cluster lock that was inactive before the update", func(sc scene.Scene) {
			sc.Update(time.Hour)
			l := sc.ClusterLocks[0]
			l.RawState = core.LockInactive
			sc.History.Locks = map[string]*core.LockRecord{l.UID: {State: core.LockInactive, Since: core.Since{At: scene.Ago(5 * time.Hour)}}}
		}, []row{{core.SeverityUrgent, "cluster-lock-left", "the cluster lock was inactive before the update began"}}},
		{"a cluster lock that was released in the update", func(sc scene.Scene) {
			sc.Update(time.Hour)
			l := sc.ClusterLocks[0]
			l.RawState = core.LockInactive
			sc.History.Locks = map[string]*core.LockRecord{l.UID: {State: core.LockInactive, Since: core.Since{At: scene.Ago(time.Minute)}}}
		}, nil},
		{"F is no trouble", func(sc scene.Scene) { sc.Maintained("cmp-01", deferredByF).InnerState = "" }, nil},
		{"F, and an inner state that was left behind", func(sc scene.Scene) {
			sc.Maintained("cmp-01", deferredByF).InnerState = ""
			sc.NodeLocks.At("gtw-01")[0].InnerState = core.InnerActive
		}, []row{{core.SeverityUrgent, "stale-inner", "holds up cmp-01"}}},
		{"an inner state that was left behind", func(sc scene.Scene) { sc.NodeLocks.At("gtw-01")[0].InnerState = core.InnerActive },
			[]row{{core.SeverityNotice, "stale-inner", "inner_state=active"}}},
		{"G for a while", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Some services blocks nmr handling {'database': False}. Deferring processing for node cmp-01")
		}, []row{{core.SeverityWarning, "node-deferred", "these cannot do without the node now: database"}}},
		{"A on a node for an hour", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Current maintenancerequest 21.0.0 release does not match ours 17.4.0. Skipping handling.").InnerState = ""
			sc.NodeRequests["cmp-01"][0].Created = scene.Ago(time.Hour)
		}, []row{{core.SeverityWarning, "node-deferred", "the OpenStack controller is at 17.4.0"}}},
		{"a mode that nobody knows", func(sc scene.Scene) { sc.Mode("cmp-01", "cold") }, []row{{core.SeverityWarning, "mode", `"cold"`}}},
		{"a mode that nobody knows, in maintenance", func(sc scene.Scene) { sc.Mode("cmp-01", "cold"); sc.Maintained("cmp-01", "") },
			[]row{{core.SeverityUrgent, "node-waits", `"cold"`}}},
		{"attempts that are no number", func(sc scene.Scene) { sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationAttempts] = "-1" },
			[]row{{core.SeverityWarning, "attempts", `"-1"`}}},
		{"no lock in an update", func(sc scene.Scene) { sc.Update(time.Hour); sc.NodeLocks = sc.NodeLocks.Without("gtw-01") },
			[]row{{core.SeverityWarning, "no-lock", "would not wait"}}},
		{"a request and no lock", func(sc scene.Scene) {
			sc.Emptied("cmp-01")
			sc.Maintained("cmp-01", "")
			sc.NodeLocks = sc.NodeLocks.Without("cmp-01")
		}, []row{{core.SeverityUrgent, "no-lock", "LCM does not wait"}}},
		{"a lock without a node", func(sc scene.Scene) { sc.Lock("ghost", core.ControllerCeph, core.LockActive) },
			[]row{{core.SeverityNotice, "no-node", "locks (ceph) name it"}}},
		{"two requests", func(sc scene.Scene) {
			sc.Returning("cmp-01", time.Minute, "")
			sc.Request("cmp-01", time.Hour).Deleting = scene.Ago(time.Minute)
		}, []row{{core.SeverityNotice, "requests", "2 maintenance requests"}}},
		{"a text that no document lists", func(sc scene.Scene) { sc.Emptied("cmp-01"); sc.Maintained("cmp-01", "Something new") },
			[]row{{core.SeverityWarning, "node-says", "Something new"}}},
		{"skip is still set after the maintenance", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeSkip)
			sc.Update(time.Hour)
			sc.History.Changes["uid-cmp-01"] = core.AnnotationChange{Node: "cmp-01", Key: core.AnnotationMigrationMode, Old: new("manual"),
				New: new("skip"), At: scene.Ago(40 * time.Minute)}
			sc.History.Rounds["uid-cmp-01"] = core.Round{Update: "cmr", Started: scene.Ago(50 * time.Minute), Ended: scene.Ago(10 * time.Minute)}
		}, []row{{core.SeverityWarning, "annotation-left", "instance_migration_mode=skip was set by Lockstep; before, it was manual"}}},
		{"skip is still set after the update", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeSkip)
			sc.History.Changes["uid-cmp-01"] = core.AnnotationChange{Node: "cmp-01", Key: core.AnnotationMigrationMode, New: new("skip"),
				At: scene.Ago(40 * time.Minute)}
			sc.History.Rounds["uid-cmp-01"] = core.Round{Update: "cmr", Started: scene.Ago(50 * time.Minute), Ended: scene.Ago(10 * time.Minute)}
		}, []row{{core.SeverityWarning, "annotation-left", "it was not set"}}},
		{"set for a turn that has not come", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.History.Changes["uid-cmp-01"] = core.AnnotationChange{Node: "cmp-01", Key: core.AnnotationMigrationMode, New: new("manual"),
				At: scene.Ago(40 * time.Minute)}
		}, nil},
		{"somebody else has set it since", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeLive)
			sc.History.Changes["uid-cmp-01"] = core.AnnotationChange{Node: "cmp-01", Key: core.AnnotationMigrationMode, New: new("skip"),
				At: scene.Ago(40 * time.Minute)}
			sc.History.Rounds["uid-cmp-01"] = core.Round{Ended: scene.Ago(10 * time.Minute)}
		}, nil},
		{"nova-compute left disabled by the controller", func(sc scene.Scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, core.DisabledReasonMaintenance
		}, []row{{core.SeverityWarning, "compute-left", "left disabled by the OpenStack controller"}}},
		{"nova-compute of a node that is to be removed", func(sc scene.Scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, core.DisabledReasonMaintenance
			sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Created: scene.Ago(30 * time.Minute)}, Kind: core.KindNodeDeletionRequest,
				Node: "cmp-01"}
			sc.Emptied("cmp-01")
		}, nil},
		{"nova-compute, a moment after the maintenance", func(sc scene.Scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, core.DisabledReasonMaintenance
			sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "r", Ended: scene.Ago(20 * time.Second)}
		}, nil},
		{"nova-compute disabled by somebody, at rest", func(sc scene.Scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, "broken fan"
		}, nil},
		{"nova-compute disabled by somebody, after the maintenance", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9"
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, "broken fan"
		}, []row{{core.SeverityNotice, "compute-left", "broken fan"}}},
		{"taken back while nova-compute and agents are silent", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{Request: "r", Ended: scene.Ago(3 * time.Minute)})
		}, []row{{core.SeverityUrgent, "returned-down", "taken back with nova-compute and network agents down: l3-agent"}}},
		{"taken back while an agent is silent, and nobody saw the maintenance", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{})
			sc.Services["cmp-01"].Up = true
		}, []row{{core.SeverityUrgent, "returned-down", "taken back with network agents down: l3-agent"}}},
		{"taken back, and Nova was not heard since", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{Request: "r", Ended: scene.Ago(3 * time.Minute)})
			sc.Aged(core.SourceComputeServices, 20*time.Minute)
		}, []row{{core.SeverityUrgent, "returned-down", "taken back with network agents down: l3-agent"},
			{core.SeverityWarning, "source", "compute services not confirmed for 20 m"}}},
		{"taken back, and not Ready any more", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{Request: "r", Ended: scene.Ago(20 * time.Minute)})
			round := sc.History.Rounds["uid-cmp-01"]
			round.Update = sc.ClusterRequest().UID
			sc.History.Rounds["uid-cmp-01"] = round
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", scene.Ago(15*time.Minute)
		}, []row{{core.SeverityUrgent, "node-down", "it is not Ready, though its maintenance is over: 1 instance is on it"}}},
		{"a host that dies before its turn", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", scene.Ago(15*time.Minute)
		}, []row{{core.SeverityUrgent, "node-down", "it is not Ready, and nobody maintains it: 1 instance is on it"}}},
		{"a node whose kubelet is away for a moment", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", scene.Ago(2*time.Minute)
		}, nil},
		{"a gateway that is not Ready", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Nodes["gtw-01"].Ready, sc.Nodes["gtw-01"].ReadySince = "False", scene.Ago(15*time.Minute)
		}, []row{{core.SeverityWarning, "node-down", "it is not Ready, and nobody maintains it"}}},
		{"a node that is not Ready while no update runs", func(sc scene.Scene) {
			sc.Nodes["gtw-01"].Ready, sc.Nodes["gtw-01"].ReadySince = "False", scene.Ago(15*time.Minute)
		}, nil},
		{"taken back a moment ago", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{Request: "r", Ended: scene.Ago(time.Minute)})
		}, nil},
		{"taken back and forced down by somebody", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{Request: "r", Ended: scene.Ago(3 * time.Minute)})
			sc.Services["cmp-01"].ForcedDown, sc.Agents["cmp-01"][0].Alive = true, true
		}, nil},
		{"silent before its turn", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{})
			sc.Nodes["cmp-01"].KubeletVersion = sc.Nodes["cmp-02"].KubeletVersion
		}, nil},
		{"silent when the update is over", func(sc scene.Scene) {
			returnedSilent(sc, core.Round{Request: "r", Ended: scene.Ago(3 * time.Minute)})
			sc.ClusterRequests = nil
		}, nil},

		{"cluster lock needs a person", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.ClusterLocks[0].Message = "Can not enable block-storage service on the host x."
		}, []row{{core.SeverityUrgent, "cluster-lock", "cinder-volume"}}},
		{"cluster lock waits, as it should", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.ClusterLocks[0].Message = "Waiting osdpl status APPLIED, current state is APPLYING"
			sc.History.Locks[sc.ClusterLocks[0].UID] = &core.LockRecord{State: core.LockActive, Since: core.Since{At: sc.ClusterLocks[0].Created}}
		}, nil},
		{"OpenStack's services get no further", func(sc scene.Scene) {
			servicesSince(sc, 3*time.Hour, 70*time.Minute)
		}, []row{{core.SeverityWarning, "cluster-lock-waits", ": dns APPLYING, cloudprober WAITING"}}},
		{"OpenStack's services get on, slowly", func(sc scene.Scene) { servicesSince(sc, 70*time.Minute, 20*time.Minute) }, nil},
		{"cluster lock waits for health too long", func(sc scene.Scene) {
			sc.Update(40 * time.Minute)
			sc.ClusterLocks[0].Message = "Waiting for all OpenStack services are healthy."
		}, []row{{core.SeverityWarning, "cluster-lock-waits", "all OpenStack services have to be healthy"}}},
		{"phase overdue", func(sc scene.Scene) { sc.Update(24 * time.Hour) }, []row{{core.SeverityWarning, "phase", "overdue"}}},
		{"controller away", func(sc scene.Scene) {
			sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: 1}
			sc.Update(time.Hour)
		},
			[]row{{core.SeverityUrgent, "controller-away", "no ready replica"}}},
		{"OpenStack without a cluster lock", func(sc scene.Scene) {
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "o", Created: scene.Ago(time.Hour)}, State: "APPLIED"}}
			sc.ClusterLocks = sc.ClusterLocks[1:]
		}, []row{{core.SeverityWarning, "cluster-lock-missing",
			"OpenStack has no ClusterWorkloadLock, and there is OpenStackDeployment osh-dev: LCM does not wait for it"}}},
		{"OpenStack without a cluster lock, in an update", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "o", Created: scene.Ago(20 * time.Hour)},
				State: "APPLIED"}}
			sc.ClusterLocks = nil
		}, []row{{core.SeverityUrgent, "cluster-lock-missing", "LCM does not wait for it"}}},
		{"OpenStack whose cluster lock is being made", func(sc scene.Scene) {
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "o", Created: scene.Ago(time.Minute)}, State: "APPLYING"}}
			sc.ClusterLocks = nil
		}, nil},
		{"OpenStack whose cluster lock is played", func(sc scene.Scene) {
			sc.Settings = scene.PlaysOpenStack()
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "o", Created: scene.Ago(time.Hour)}, State: "APPLIED"}}
			sc.ClusterLocks = sc.ClusterLocks[1:]
		}, []row{{core.SeverityNotice, "act", "it has no cluster lock, so LCM does not wait for it"}}},
		{"cluster locks that may not be read", func(sc scene.Scene) {
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "o", Created: scene.Ago(time.Hour)}, State: "APPLIED"}}
			sc.ClusterLocks = nil
			sc.Source(core.SourceClusterLocks, core.SourceForbidden)
		}, []row{{core.SeverityWarning, "source", "forbidden"}}},
		{"two OpenStackDeployments", func(sc scene.Scene) { sc.Deployments = twoDeployments() },
			[]row{{core.SeverityWarning, "openstackdeployments",
				"2 OpenStackDeployments (osh-dev, osh-new): the OpenStack controller treats that as none, and releases every node at once"}}},
		{"two OpenStackDeployments in an update", func(sc scene.Scene) {
			sc.Deployments = twoDeployments()
			sc.Update(time.Hour)
		}, []row{{core.SeverityUrgent, "openstackdeployments", "releases every node at once"}}},
		{"two OpenStackDeployments by their statuses", func(sc scene.Scene) {
			sc.Deployments = nil
			sc.Source(core.SourceOpenStackDeployment, core.SourceOff)
			for _, name := range []string{"osh-dev", "osh-new"} {
				sc.OpenStack = append(sc.OpenStack, &core.OpenStackStatus{Meta: core.Meta{Name: name, UID: name, Created: scene.Ago(time.Hour)},
					State: "APPLIED"})
			}
		}, []row{{core.SeverityWarning, "openstackdeployments", "2 OpenStackDeployments (osh-dev, osh-new)"},
			{core.SeverityNotice, "source", "not configured"}}},
		{"no OpenStackDeployment where instances run", func(sc scene.Scene) { sc.Deployments = nil },
			[]row{{core.SeverityWarning, "openstackdeployments",
				"there is no OpenStackDeployment: the OpenStack controller has nothing to guard, and releases every node at once"}}},
		{"no OpenStackDeployment before OpenStack is there", func(sc scene.Scene) { sc.Deployments, sc.Instances = nil, core.Instances{} }, nil},
		{"OpenStackDeployments that nobody may see", func(sc scene.Scene) {
			sc.Deployments = nil
			sc.Source(core.SourceOpenStackDeployment, core.SourceOff)
		}, []row{{core.SeverityNotice, "source", "not configured"}}},
		{"osdplst FAILED", func(sc scene.Scene) {
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh", UID: "o"}, State: "FAILED"}}
		}, []row{{core.SeverityUrgent, "osdplst", "FAILED"}}},

		{"operation failed", func(sc scene.Scene) {
			sc.Operations = []core.Operation{{ID: "7", Title: "live-migrate web-1", Instance: "i", State: core.OperationFailed,
				Text: "No valid host", Started: scene.Ago(time.Minute), Ended: scene.Ago(time.Minute)},
				{ID: "8", State: core.OperationFailed, Acknowledged: true}, {ID: "9", State: core.OperationDone}}
		}, []row{{core.SeverityWarning, "operation", "live-migrate web-1 failed: No valid host"}}},
		{"operation paused by itself", func(sc scene.Scene) {
			sc.Operations = []core.Operation{{ID: "7", Title: "move all", Node: "cmp-01", State: core.OperationPaused,
				Started: scene.Ago(time.Minute)}}
		},
			[]row{{core.SeverityUrgent, "operation", "move all paused"}}},
		{"lease lost", func(sc scene.Scene) { sc.Write = core.WriteMode{Lost: "ben holds it now"} },
			[]row{{core.SeverityWarning, "disarmed", "ben holds it now"}}},
		{"a source is forbidden", func(sc scene.Scene) { sc.Source(core.SourceNodeLocks, core.SourceForbidden) },
			[]row{{core.SeverityWarning, "source", "forbidden: nodeworkloadlocks: no"}}},
		{"the API is away for some seconds", func(sc scene.Scene) {
			sc.Source(core.SourceNodes, core.SourceStale)
			away(sc, core.SourceNodes, 4*time.Second)
		}, nil},
		{"the API is away for longer", func(sc scene.Scene) {
			sc.Source(core.SourceNodes, core.SourceStale)
			away(sc, core.SourceNodes, 8*time.Second)
		}, []row{{core.SeverityWarning, "source", "not confirmed for"}}},
		{"a kind that older releases do not have", func(sc scene.Scene) { sc.Source(core.SourceDeletionRequests, core.SourceAbsent) }, nil},
		{"a kind that must be there", func(sc scene.Scene) { sc.Source(core.SourceNodeLocks, core.SourceAbsent) },
			[]row{{core.SeverityNotice, "source", "the API does not have them"}}},
		{"Nova away", func(sc scene.Scene) {
			for _, id := range []core.SourceID{core.SourceInstances, core.SourceMigrations, core.SourceComputeServices, core.SourceNetworkAgents} {
				sc.Source(id, core.SourceFailed)
			}
		}, []row{{core.SeverityWarning, "sources", "forbidden: compute services, instances, migrations and 1 more: no"}}},
		{"live, and confirmed by nobody", func(sc scene.Scene) {
			src := sc.Sources[core.SourceNodes]
			src.AsOf = scene.Ago(10 * time.Minute)
			sc.Sources[core.SourceNodes] = src
		}, []row{{core.SeverityWarning, "source", "not confirmed for 10 m"}}},
	}
}

func TestAttention(t *testing.T) {
	for _, tt := range attentionScenes() {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			got := Of(sc.Snapshot)
			ok := len(got) == len(tt.want)
			for i := range min(len(got), len(tt.want)) {
				rule, _, _ := strings.Cut(got[i].ID, "/")
				w := tt.want[i]
				ok = ok && got[i].Severity == w.severity && rule == w.rule && strings.Contains(got[i].Reason, w.reason)
			}
			if !ok {
				for _, a := range got {
					t.Errorf("got  %s %s: %s", a.Severity, a.ID, a.Reason)
				}
				t.Errorf("want %v", tt.want)
			}
		})
	}
}

func TestMostUrgentFirstThenOldest(t *testing.T) {
	sc := scene.Healthy()
	for i, name := range []string{"cmp-01", "cmp-02"} {
		sc.Mode(name, core.ModeManual)
		sc.Maintained(name, scene.StillPresent)
		sc.NodeRequests[name][0].Created = scene.Ago(time.Duration(i+1) * 10 * time.Minute)
	}
	sc.Mode("cmp-03", "cold")
	var labels []string
	for _, a := range Of(sc.Snapshot) {
		labels = append(labels, a.Label)
	}
	if !slices.Equal(labels, []string{"cmp-02", "cmp-01", "cmp-03"}) {
		t.Errorf("%v", labels)
	}
}

func TestAttentionIsWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.DrawScene(t)
		seen := map[string]bool{}
		last := core.SeverityUrgent
		for _, a := range Of(sc.Snapshot) {
			switch {
			case a.ID == "" || seen[a.ID]:
				t.Fatalf("ID %q is empty or comes twice", a.ID)
			case a.Reason == "" || a.Label == "" || len(a.Commands) == 0:
				t.Fatalf("%+v", a)
			case a.Severity > last || a.Severity < core.SeverityNotice:
				t.Fatalf("%s after %s", a.Severity, last)
			case strings.ContainsAny(a.Reason+a.Label, "\n\x1b"):
				t.Fatalf("%q", a.Reason)
			}
			seen[a.ID], last = true, a.Severity
			if a.Resolve != nil {
				if _, ok := procedure.Of(sc.Snapshot, *a.Resolve); !ok {
					t.Fatalf("%s: its procedure %+v is not known", a.ID, *a.Resolve)
				}
			}
		}
		first := Of(sc.Snapshot)
		again := Of(sc.Again().Snapshot)
		for i := range first {
			if first[i].ID != again[i].ID || first[i].Reason != again[i].Reason {
				t.Fatalf("not the same twice: %q %q", first[i].Reason, again[i].Reason)
			}
		}
	})
}

// away makes a source stale, as if its server had not answered for some time.
func away(sc scene.Scene, id core.SourceID, d time.Duration) {
	src := sc.Sources[id]
	src.AsOf, src.Since = sc.Wall.Add(-d), sc.Wall.Add(-d)
	src.Err = &core.APIError{Kind: core.ErrUnreachable, Server: core.ServerKubernetes, Call: "list nodes", Message: "connection refused"}
	sc.Sources[id] = src
}

func twoDeployments() []*core.OpenStackDeployment {
	var two []*core.OpenStackDeployment
	for _, name := range []string{"osh-dev", "osh-new"} {
		two = append(two, &core.OpenStackDeployment{Meta: core.Meta{Name: name, Namespace: core.NamespaceOpenStack, UID: name}})
	}
	return two
}

// servicesSince lets OpenStack's services be applied since the update began; the last one got further some time ago.
func servicesSince(sc scene.Scene, began, last time.Duration) {
	sc.Update(began)
	sc.ClusterLocks[0].Message = "Waiting osdpl status APPLIED, current state is APPLYING"
	sc.OpenStack = append(sc.OpenStack[:0], &core.OpenStackStatus{Meta: core.Meta{Name: "osh-dev", Namespace: "openstack", UID: "osdplst"},
		State: "APPLYING", LCMProgress: "1/2", Timestamp: scene.Ago(began), Services: []core.OpenStackService{
			{Name: "cloudprober", State: "WAITING", Since: scene.Ago(began)},
			{Name: "compute", State: "APPLIED", Since: scene.Ago(last + time.Minute)}, {Name: "dns", State: "APPLYING", Since: scene.Ago(last)}}})
}

// returnedSilent makes cmp-01 a node that is through its maintenance and that neither Nova nor Neutron hears from, in an update that runs.
func returnedSilent(sc scene.Scene, round core.Round) {
	sc.Update(time.Hour)
	sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9"
	sc.Services["cmp-01"].Up = false
	sc.Agents["cmp-01"] = []*core.NetworkAgent{{Binary: "neutron-l3-agent", AdminUp: true}}
	sc.History.Rounds["uid-cmp-01"] = round
}

// released lets cmp-01 go with what runs on it; its lock is inactive for so long.
func released(sc scene.Scene, since time.Duration) *core.WorkloadLock {
	l := sc.Maintained("cmp-01", "")
	l.RawState = core.LockInactive
	sc.NodeRequest("cmp-01").Created = scene.Ago(20 * time.Minute)
	sc.History.Locks = map[string]*core.LockRecord{l.UID: {State: core.LockInactive, Since: core.Since{At: scene.Ago(since)}}}
	return l
}

// batchOn is a batch that moves web-1 off cmp-01.
func batchOn(sc scene.Scene, item core.OperationState) {
	sc.Write.Armed = true
	sc.Operations = []core.Operation{{ID: "o", Step: "live-migrate-all/x", Intent: core.Intent{Kind: core.IntentLiveMigrateAll},
		Node: "cmp-01", State: core.OperationRunning, Items: []core.OperationItem{{Instance: scene.Web1, State: item}}}}
}
