package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// row is what a test expects of one entry: its severity, the rule (the ID up to the slash), and a part of its reason.
type row struct {
	severity Severity
	rule     string
	reason   string
}

// deferredByF is Rockoon's text F.
const deferredByF = "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01"

// emptied takes all instances off a node.
func (sc scene) emptied(node string) {
	for _, in := range sc.ByHost[node] {
		delete(sc.Instances, in.ID)
	}
	delete(sc.ByHost, node)
}

// returning makes a node one on its way back: released before, its request being removed.
func (sc scene) returning(node string, since time.Duration, message string) *WorkloadLock {
	l := sc.maintained(node, message)
	l.RawState = LockInactive
	sc.NodeRequests[node][0].Deleting = ago(since)
	return l
}

// attentionScene is what a healthy cluster is made to show, and what is to be told of it.
type attentionScene struct {
	name  string
	given func(sc scene)
	want  []row
}

func attentionScenes() []attentionScene {
	return []attentionScene{
		{"nothing", func(sc scene) {}, nil},
		{"an update in good order", func(sc scene) { sc.update(time.Hour); sc.maintained("cmp-01", "Starting migration for "+idA) }, nil},
		{"no update: an instance in ERROR is none of ours", func(sc scene) { sc.ByHost["cmp-01"][0].Status = "ERROR" }, nil},

		{"manual node", func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.instance("cmp-01", "batch-17", "notify")
			sc.instance("cmp-01", "old", "poweroff")
			sc.maintained("cmp-01", stillPresent)
		}, []row{{SeverityUrgent, "node-waits", "manual mode: 2 instances must leave first: batch-17 (notify), web-1"}}},
		{"live node, one of an owner who is to be told, and others that move", func(sc scene) {
			sc.instance("cmp-01", "batch-17", "notify")
			sc.maintained("cmp-01", "Starting migration for "+idA)
		}, []row{{SeverityWarning, "instance-notify", "batch-17 holds the node: its owner asked to be told first (project shop)"}}},
		{"live node, only what nothing moves is left", func(sc scene) {
			sc.emptied("cmp-01")
			sc.instance("cmp-01", "batch-17", "notify")
			sc.instance("cmp-01", "broken").Status = "ERROR"
			sc.maintained("cmp-01", stillPresent)
		}, []row{{SeverityUrgent, "node-waits", "2 instances must leave or stop first: batch-17 (notify), broken (ERROR)"}}},
		{"live node, only a decision is left", func(sc scene) {
			sc.emptied("cmp-01")
			sc.instance("cmp-01", "app-1").Status = "VERIFY_RESIZE"
			sc.maintained("cmp-01", stillPresent)
		}, []row{{SeverityUrgent, "node-waits", "confirm or revert the migration of app-1 (VERIFY_RESIZE)"}}},
		{"manual node, Lockstep moves them", func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.maintained("cmp-01", stillPresent)
			sc.Operations = []Operation{{ID: "o", Step: "live-migrate-all/x", Intent: Intent{Kind: IntentLiveMigrateAll}, Node: "cmp-01", State: OperationRunning, Items: []OperationItem{{State: OperationRunning}}}}
		}, []row{{SeverityNotice, "node-waits", "0 of 1 done"}}},
		{"live node, attempts used up", func(sc scene) {
			sc.maintained("cmp-01", stillPresent)
			in := sc.ByHost["cmp-01"][0]
			for i := range 3 {
				sc.migration(in, "error", "cmp-02", time.Duration(15-i)*time.Minute).Failure = "No valid host was found."
			}
		}, []row{{SeverityUrgent, "migration-failed", "web-1 failed to migrate 3 times: No valid host was found"}}},
		{"live node, J while the named instance still moves", func(sc scene) {
			sc.maintained("cmp-01", stillPresent)
			sc.ByHost["cmp-01"][0].Status = "MIGRATING"
		}, nil},
		{"failed twice, and tried again", func(sc scene) {
			sc.maintained("cmp-01", "Starting migration for "+idA)
			in := sc.ByHost["cmp-01"][0]
			sc.migration(in, "error", "cmp-02", 9*time.Minute)
			sc.migration(in, "error", "cmp-02", 5*time.Minute)
			sc.migration(in, "running", "cmp-02", time.Minute)
		}, []row{{SeverityWarning, "migration-failed", "web-1 failed to migrate twice; the next try is under way"}}},
		{"a migration without end", func(sc scene) {
			sc.maintained("cmp-01", "Waiting servers migration is completed: ['x']")
			sc.NodeRequests["cmp-01"][0].Created = ago(50 * time.Minute)
			sc.migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", 45*time.Minute)
		}, []row{{SeverityWarning, "migration-long", "web-1 does not come to an end"}}},
		{"live node, one that nothing moves", func(sc scene) {
			sc.instance("cmp-01", "broken").Status = "VERIFY_RESIZE"
			sc.maintained("cmp-01", "Starting migration for "+idA)
		}, []row{{SeverityWarning, "instance-stranded", "broken holds the node: waits for a decision: confirm or revert its migration (VERIFY_RESIZE)"}}},
		{"two tags on a node in maintenance", func(sc scene) {
			sc.instance("cmp-01", "both", "notify", "live_migrate")
			sc.maintained("cmp-01", "Starting migration for "+idA)
		}, []row{{SeverityNotice, "instance-tags", "cancel each other"}}},
		{"before a node's turn", func(sc scene) {
			sc.update(time.Hour)
			sc.instance("cmp-01", "broken").Status = "ERROR"
			sc.instance("cmp-01", "batch-17", "notify")
			sc.instance("cmp-01", "both", "notify", "live_migrate")
		}, []row{{SeverityNotice, "will-hold", "3 instances will hold it when its turn comes: batch-17 (notify), both (two tags), broken (ERROR)"}}},
		{"before a manual node's turn, all that must leave count", func(sc scene) {
			sc.update(time.Hour)
			sc.mode("cmp-01", ModeManual)
			sc.instance("cmp-01", "batch-17", "notify")
			sc.instance("cmp-01", "moves", "live_migrate")
			sc.instance("cmp-01", "off").VMState = "stopped"
		}, []row{{SeverityNotice, "will-hold", "manual mode: 2 instances will hold it when its turn comes: batch-17 (notify), web-1"}}},
		{"a node that is through holds nobody up", func(sc scene) {
			sc.update(time.Hour)
			sc.instance("cmp-01", "broken").Status = "ERROR"
			sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9"
		}, nil},

		{"lock failed", func(sc scene) { sc.maintained("cmp-01", "").RawState = LockFailed }, []row{{SeverityUrgent, "lock-failed", "the lock of openstack says failed"}}},
		{"lock in a state that nobody knows", func(sc scene) { sc.lock("cmp-01", ControllerCeph, "sleeping") }, []row{{SeverityWarning, "lock-state", `"sleeping"`}}},
		{"outage, one entry for all", func(sc scene) {
			sc.maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
			sc.maintained("cmp-02", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
		}, []row{{SeverityWarning, "outage", "no answer from OpenStack: cmp-01, cmp-02"}}},
		{"nova-compute is not disabled, and Nova answers nobody", func(sc scene) {
			sc.maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			sc.source(SourceComputeServices, SourceStale)
		}, []row{{SeverityWarning, "source", ""}, {SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}}},
		{"nova-compute is not disabled, and Nova has just come back", func(sc scene) {
			sc.maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			src := sc.Sources[SourceComputeServices]
			src.Since = ago(10 * time.Second)
			sc.Sources[SourceComputeServices] = src
		}, []row{{SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}}},
		{"nova-compute is not disabled, and Lockstep does not ask Nova", func(sc scene) {
			sc.maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			sc.source(SourceComputeServices, SourceOff)
		}, []row{{SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}, {SeverityNotice, "source", ""}}},
		{"nova-compute is not disabled, and Nova answers", func(sc scene) {
			sc.maintained("cmp-01", "Can not disable compute service on a host to be deleted")
		}, []row{{SeverityUrgent, "node-waits", "nova-compute could not be disabled"}}},
		{"a removal meets an outage", func(sc scene) {
			sc.removes("cmp-01")
			sc.NodeLock("cmp-01", ControllerOpenStack).Message = ago(time.Minute).Format("2006-01-02 15:04:05.000000") + " Can not disable compute service on a host to be deleted"
			sc.source(SourceComputeServices, SourceStale)
			sc.emptied("cmp-01")
		}, []row{{SeverityWarning, "source", ""}, {SeverityWarning, "outage", "no answer from OpenStack: cmp-01"}}},
		{"a request without a scope", func(sc scene) {
			sc.maintained("cmp-01", "")
			sc.NodeRequest("cmp-01").Scope = ""
			sc.ClusterRequest().Scope = ScopeDrain
		}, []row{{SeverityUrgent, "node-waits", "its request has no scope: the OpenStack controller fails on it without a word"}}},
		{"outage on the way back", func(sc scene) {
			sc.returning("cmp-01", 2*time.Minute, "Can not bring node back to scheduling. Cannot execute openstack commands, error: 503")
		}, []row{{SeverityWarning, "outage", "cmp-01"}}},
		{"M", func(sc scene) {
			sc.returning("cmp-01", 7*time.Minute, "Timeout waiting for compute services up on the host.")
		},
			[]row{{SeverityUrgent, "node-returns", "nova-compute did not come up"}}},
		{"P, with the agents", func(sc scene) {
			sc.Agents["cmp-01"] = []*NetworkAgent{{Binary: "neutron-l3-agent", AdminUp: true}, {Binary: "neutron-dhcp-agent"}}
			sc.returning("cmp-01", 7*time.Minute, "Timeout waiting for network agents on the host cmp-01.")
		}, []row{{SeverityUrgent, "node-returns", "network agents down: l3-agent, dhcp-agent"}}},
		{"back soon", func(sc scene) { sc.returning("cmp-01", 4*time.Minute, "") }, nil},
		{"silent wait for pods", func(sc scene) {
			sc.Pods["cmp-01"] = &NodePods{NotReady: []PodName{{"openstack", "libvirt-1"}}}
			sc.returning("cmp-01", 14*time.Minute, "")
		}, []row{{SeverityWarning, "node-slow", "pods not ready: libvirt-1"}}},
		{"silent wait for the node", func(sc scene) { sc.Nodes["cmp-01"].Ready = "Unknown"; sc.returning("cmp-01", 14*time.Minute, "") },
			[]row{{SeverityUrgent, "node-slow", "node not Ready"}}},
		{"does not come up after its reboot", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", ago(40*time.Minute)
		}, []row{{SeverityUrgent, "node-slow", "not Ready since 11:20"}}},
		{"F is no trouble", func(sc scene) { sc.maintained("cmp-01", deferredByF).InnerState = "" }, nil},
		{"F, and an inner state that was left behind", func(sc scene) {
			sc.maintained("cmp-01", deferredByF).InnerState = ""
			sc.NodeLocks["gtw-01"][0].InnerState = InnerActive
		}, []row{{SeverityUrgent, "stale-inner", "holds up cmp-01"}}},
		{"an inner state that was left behind", func(sc scene) { sc.NodeLocks["gtw-01"][0].InnerState = InnerActive }, []row{{SeverityNotice, "stale-inner", "inner_state=active"}}},
		{"G for a while", func(sc scene) {
			sc.maintained("cmp-01", "Some services blocks nmr handling {'database': False}. Deferring processing for node cmp-01")
		}, []row{{SeverityWarning, "node-deferred", "these cannot do without the node now: database"}}},
		{"A on a node for an hour", func(sc scene) {
			sc.maintained("cmp-01", "Current maintenancerequest 21.0.0 release does not match ours 17.4.0. Skipping handling.").InnerState = ""
			sc.NodeRequests["cmp-01"][0].Created = ago(time.Hour)
		}, []row{{SeverityWarning, "node-deferred", "the OpenStack controller is at 17.4.0"}}},
		{"a mode that nobody knows", func(sc scene) { sc.mode("cmp-01", "cold") }, []row{{SeverityWarning, "mode", `"cold"`}}},
		{"a mode that nobody knows, in maintenance", func(sc scene) { sc.mode("cmp-01", "cold"); sc.maintained("cmp-01", "") }, []row{{SeverityUrgent, "node-waits", `"cold"`}}},
		{"attempts that are no number", func(sc scene) { sc.Nodes["cmp-01"].Annotations[AnnotationMigrationAttempts] = "-1" }, []row{{SeverityWarning, "attempts", `"-1"`}}},
		{"no lock in an update", func(sc scene) { sc.update(time.Hour); delete(sc.NodeLocks, "gtw-01") }, []row{{SeverityWarning, "no-lock", "would not wait"}}},
		{"a request and no lock", func(sc scene) {
			sc.emptied("cmp-01")
			sc.maintained("cmp-01", "")
			delete(sc.NodeLocks, "cmp-01")
		}, []row{{SeverityUrgent, "no-lock", "LCM does not wait"}}},
		{"a lock without a node", func(sc scene) { sc.lock("ghost", ControllerCeph, LockActive) }, []row{{SeverityNotice, "no-node", "locks (ceph) name it"}}},
		{"two requests", func(sc scene) {
			sc.returning("cmp-01", time.Minute, "")
			sc.request("cmp-01", time.Hour).Deleting = ago(time.Minute)
		}, []row{{SeverityNotice, "requests", "2 maintenance requests"}}},
		{"a text that no document lists", func(sc scene) { sc.emptied("cmp-01"); sc.maintained("cmp-01", "Something new") }, []row{{SeverityWarning, "node-says", "Something new"}}},
		{"skip is still set after the maintenance", func(sc scene) {
			sc.mode("cmp-01", ModeSkip)
			sc.update(time.Hour)
			sc.History.Changes["uid-cmp-01"] = AnnotationChange{Node: "cmp-01", Key: AnnotationMigrationMode, Old: new("manual"), New: new("skip"), At: ago(40 * time.Minute)}
			sc.History.Rounds["uid-cmp-01"] = Round{Update: "cmr", Started: ago(50 * time.Minute), Ended: ago(10 * time.Minute)}
		}, []row{{SeverityWarning, "annotation-left", "instance_migration_mode=skip was set by Lockstep; before, it was manual"}}},
		{"skip is still set after the update", func(sc scene) {
			sc.mode("cmp-01", ModeSkip)
			sc.History.Changes["uid-cmp-01"] = AnnotationChange{Node: "cmp-01", Key: AnnotationMigrationMode, New: new("skip"), At: ago(40 * time.Minute)}
			sc.History.Rounds["uid-cmp-01"] = Round{Update: "cmr", Started: ago(50 * time.Minute), Ended: ago(10 * time.Minute)}
		}, []row{{SeverityWarning, "annotation-left", "it was not set"}}},
		{"set for a turn that has not come", func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.History.Changes["uid-cmp-01"] = AnnotationChange{Node: "cmp-01", Key: AnnotationMigrationMode, New: new("manual"), At: ago(40 * time.Minute)}
		}, nil},
		{"somebody else has set it since", func(sc scene) {
			sc.mode("cmp-01", ModeLive)
			sc.History.Changes["uid-cmp-01"] = AnnotationChange{Node: "cmp-01", Key: AnnotationMigrationMode, New: new("skip"), At: ago(40 * time.Minute)}
			sc.History.Rounds["uid-cmp-01"] = Round{Ended: ago(10 * time.Minute)}
		}, nil},
		{"nova-compute left disabled by the controller", func(sc scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, DisabledReasonMaintenance
		}, []row{{SeverityWarning, "compute-left", "left disabled by the OpenStack controller"}}},
		{"nova-compute of a node that is to be removed", func(sc scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, DisabledReasonMaintenance
			sc.Deletions["cmp-01"] = &NodeNotice{Meta: Meta{Created: ago(30 * time.Minute)}, Kind: KindNodeDeletionRequest, Node: "cmp-01"}
		}, nil},
		{"nova-compute, a moment after the maintenance", func(sc scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, DisabledReasonMaintenance
			sc.History.Rounds["uid-cmp-01"] = Round{Request: "r", Ended: ago(20 * time.Second)}
		}, nil},
		{"nova-compute disabled by somebody, at rest", func(sc scene) {
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, "broken fan"
		}, nil},
		{"nova-compute disabled by somebody, after the maintenance", func(sc scene) {
			sc.update(time.Hour)
			sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9"
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, "broken fan"
		}, []row{{SeverityNotice, "compute-left", "broken fan"}}},

		{"cluster lock needs a person", func(sc scene) {
			sc.update(10 * time.Minute)
			sc.ClusterLocks[0].Message = "Can not enable block-storage service on the host x."
		}, []row{{SeverityUrgent, "cluster-lock", "cinder-volume"}}},
		{"cluster lock waits, as it should", func(sc scene) {
			sc.update(10 * time.Minute)
			sc.ClusterLocks[0].Message = "Waiting osdpl status APPLIED, current state is APPLYING"
			sc.History.Locks[sc.ClusterLocks[0].UID] = LockRecord{State: LockActive, Since: Since{At: sc.ClusterLocks[0].Created}}
		}, nil},
		{"cluster lock waits for health too long", func(sc scene) {
			sc.update(40 * time.Minute)
			sc.ClusterLocks[0].Message = "Waiting for all OpenStack services are healthy."
		}, []row{{SeverityWarning, "cluster-lock-waits", "all OpenStack services have to be healthy"}}},
		{"phase overdue", func(sc scene) { sc.update(24 * time.Hour) }, []row{{SeverityWarning, "phase", "overdue"}}},
		{"controller away", func(sc scene) {
			sc.Controller = &Deployment{Meta: Meta{Name: "rockoon"}, Replicas: 1}
			sc.update(time.Hour)
		},
			[]row{{SeverityUrgent, "controller-away", "no ready replica"}}},
		{"OpenStack without a cluster lock", func(sc scene) {
			sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Name: "osh-dev", UID: "o", Created: ago(time.Hour)}, State: "APPLIED"}}
			sc.ClusterLocks = sc.ClusterLocks[1:]
		}, []row{{SeverityWarning, "cluster-lock-missing", "OpenStack has no ClusterWorkloadLock, and there is OpenStackDeployment osh-dev: LCM does not wait for it"}}},
		{"OpenStack without a cluster lock, in an update", func(sc scene) {
			sc.update(time.Hour)
			sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Name: "osh-dev", UID: "o", Created: ago(20 * time.Hour)}, State: "APPLIED"}}
			sc.ClusterLocks = nil
		}, []row{{SeverityUrgent, "cluster-lock-missing", "LCM does not wait for it"}}},
		{"OpenStack whose cluster lock is being made", func(sc scene) {
			sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Name: "osh-dev", UID: "o", Created: ago(time.Minute)}, State: "APPLYING"}}
			sc.ClusterLocks = nil
		}, nil},
		{"OpenStack whose cluster lock is played", func(sc scene) {
			sc.Settings = playsOpenStack()
			sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Name: "osh-dev", UID: "o", Created: ago(time.Hour)}, State: "APPLIED"}}
			sc.ClusterLocks = sc.ClusterLocks[1:]
		}, []row{{SeverityNotice, "act", "it has no cluster lock, so LCM does not wait for it"}}},
		{"cluster locks that may not be read", func(sc scene) {
			sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Name: "osh-dev", UID: "o", Created: ago(time.Hour)}, State: "APPLIED"}}
			sc.ClusterLocks = nil
			sc.source(SourceClusterLocks, SourceForbidden)
		}, []row{{SeverityWarning, "source", "forbidden"}}},
		{"two OpenStackDeployments", func(sc scene) { sc.Deployments = twoDeployments() },
			[]row{{SeverityWarning, "openstackdeployments", "2 OpenStackDeployments (osh-dev, osh-new): the OpenStack controller takes that for none, and lets go of every node at once"}}},
		{"two OpenStackDeployments in an update", func(sc scene) {
			sc.Deployments = twoDeployments()
			sc.update(time.Hour)
		}, []row{{SeverityUrgent, "openstackdeployments", "lets go of every node at once"}}},
		{"two OpenStackDeployments by their statuses", func(sc scene) {
			sc.Deployments = nil
			sc.source(SourceOpenStackDeployment, SourceOff)
			for _, name := range []string{"osh-dev", "osh-new"} {
				sc.OpenStack = append(sc.OpenStack, &OpenStackStatus{Meta: Meta{Name: name, UID: name, Created: ago(time.Hour)}, State: "APPLIED"})
			}
		}, []row{{SeverityWarning, "openstackdeployments", "2 OpenStackDeployments (osh-dev, osh-new)"}, {SeverityNotice, "source", "not configured"}}},
		{"no OpenStackDeployment where instances run", func(sc scene) { sc.Deployments = nil },
			[]row{{SeverityWarning, "openstackdeployments", "there is no OpenStackDeployment: the OpenStack controller has nothing to guard, and lets go of every node at once"}}},
		{"no OpenStackDeployment before OpenStack is there", func(sc scene) { sc.Deployments, sc.Instances = nil, nil }, nil},
		{"OpenStackDeployments that nobody may see", func(sc scene) {
			sc.Deployments = nil
			sc.source(SourceOpenStackDeployment, SourceOff)
		}, []row{{SeverityNotice, "source", "not configured"}}},
		{"osdplst FAILED", func(sc scene) {
			sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Name: "osh", UID: "o"}, State: "FAILED"}}
		}, []row{{SeverityUrgent, "osdplst", "FAILED"}}},

		{"operation failed", func(sc scene) {
			sc.Operations = []Operation{{ID: "7", Title: "live-migrate web-1", Instance: "i", State: OperationFailed, Text: "No valid host", Started: ago(time.Minute), Ended: ago(time.Minute)},
				{ID: "8", State: OperationFailed, Acknowledged: true}, {ID: "9", State: OperationDone}}
		}, []row{{SeverityWarning, "operation", "live-migrate web-1 failed: No valid host"}}},
		{"operation paused by itself", func(sc scene) {
			sc.Operations = []Operation{{ID: "7", Title: "move all", Node: "cmp-01", State: OperationPaused, Started: ago(time.Minute)}}
		},
			[]row{{SeverityUrgent, "operation", "move all paused"}}},
		{"lease lost", func(sc scene) { sc.Write = WriteMode{Lost: "ben holds it now"} }, []row{{SeverityWarning, "disarmed", "ben holds it now"}}},
		{"a source is forbidden", func(sc scene) { sc.source(SourceNodeLocks, SourceForbidden) }, []row{{SeverityWarning, "source", "forbidden: nodeworkloadlocks: no"}}},
		{"the API is away for some seconds", func(sc scene) {
			sc.source(SourceNodes, SourceStale)
			away(sc, SourceNodes, 4*time.Second)
		}, nil},
		{"the API is away for longer", func(sc scene) {
			sc.source(SourceNodes, SourceStale)
			away(sc, SourceNodes, 8*time.Second)
		}, []row{{SeverityWarning, "source", "not confirmed for"}}},
		{"a kind that older releases do not have", func(sc scene) { sc.source(SourceDeletionRequests, SourceAbsent) }, nil},
		{"a kind that must be there", func(sc scene) { sc.source(SourceNodeLocks, SourceAbsent) }, []row{{SeverityNotice, "source", "the API does not have them"}}},
		{"Nova away", func(sc scene) {
			for _, id := range []SourceID{SourceInstances, SourceMigrations, SourceComputeServices, SourceNetworkAgents} {
				sc.source(id, SourceFailed)
			}
		}, []row{{SeverityWarning, "sources", "forbidden: compute services, instances, migrations and 1 more: no"}}},
		{"live, and confirmed by nobody", func(sc scene) {
			src := sc.Sources[SourceNodes]
			src.AsOf = ago(10 * time.Minute)
			sc.Sources[SourceNodes] = src
		}, []row{{SeverityWarning, "source", "not confirmed for 10 m"}}},
	}
}

func TestAttention(t *testing.T) {
	for _, tt := range attentionScenes() {
		t.Run(tt.name, func(t *testing.T) {
			sc := healthy()
			tt.given(sc)
			got := sc.Attention()
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
	sc := healthy()
	for i, name := range []string{"cmp-01", "cmp-02"} {
		sc.mode(name, ModeManual)
		sc.maintained(name, stillPresent)
		sc.NodeRequests[name][0].Created = ago(time.Duration(i+1) * 10 * time.Minute)
	}
	sc.mode("cmp-03", "cold")
	var labels []string
	for _, a := range sc.Attention() {
		labels = append(labels, a.Label)
	}
	if !slices.Equal(labels, []string{"cmp-02", "cmp-01", "cmp-03"}) {
		t.Errorf("%v", labels)
	}
}

func TestAttentionIsWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		seen := map[string]bool{}
		last := SeverityUrgent
		for _, a := range sc.Attention() {
			switch {
			case a.ID == "" || seen[a.ID]:
				t.Fatalf("ID %q is empty or comes twice", a.ID)
			case a.Reason == "" || a.Label == "" || len(a.Commands) == 0:
				t.Fatalf("%+v", a)
			case a.Severity > last || a.Severity < SeverityNotice:
				t.Fatalf("%s after %s", a.Severity, last)
			case strings.ContainsAny(a.Reason+a.Label, "\n\x1b"):
				t.Fatalf("%q", a.Reason)
			}
			seen[a.ID], last = true, a.Severity
			if a.Resolve != nil {
				if _, ok := sc.Procedure(*a.Resolve); !ok {
					t.Fatalf("%s: its procedure %+v is not known", a.ID, *a.Resolve)
				}
			}
		}
		first := sc.Attention()
		again := sc.again().Attention()
		for i := range first {
			if first[i].ID != again[i].ID || first[i].Reason != again[i].Reason {
				t.Fatalf("not the same twice: %q %q", first[i].Reason, again[i].Reason)
			}
		}
	})
}

// away makes a stale source one whose server has not answered for some time.
func away(sc scene, id SourceID, d time.Duration) {
	src := sc.Sources[id]
	src.AsOf, src.Since = sc.Wall.Add(-d), sc.Wall.Add(-d)
	src.Err = &APIError{Kind: ErrUnreachable, Server: ServerKubernetes, Call: "list nodes", Message: "connection refused"}
	sc.Sources[id] = src
}

func twoDeployments() []*OpenStackDeployment {
	var two []*OpenStackDeployment
	for _, name := range []string{"osh-dev", "osh-new"} {
		two = append(two, &OpenStackDeployment{Meta: Meta{Name: name, Namespace: namespaceOpenStack, UID: name}})
	}
	return two
}
