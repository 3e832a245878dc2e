package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"

	"pgregory.net/rapid"
)

// failed makes migrations of an instance that failed that long ago.
func failed(sc scene.Scene, in *core.Instance, times int, ago time.Duration) {
	for range times {
		sc.Migration(in, "error", "", ago).Updated = scene.Ago(ago)
	}
}

// left makes an instance that left a host that long ago, after so many failures there.
func left(sc scene.Scene, host string, failures int, ago time.Duration) {
	in := sc.Instance("cmp-02", "gone-"+host)
	failed(sc, in, failures, 8*time.Minute)
	sc.Migration(in, "completed", "cmp-02", ago)
	for _, m := range sc.Migrations[in.ID] {
		m.SourceHost = host
	}
}

// One row per step of a node's life in docs/mosk.md#life-of-a-node, and per way in which the evidence can be incomplete.
func TestStages(t *testing.T) {
	tests := []struct {
		name   string
		given  func(sc scene.Scene) // changes a cluster in which cmp-01 has one instance, web-1
		want   core.Stage
		what   string // a part of What
		reason string // a part of Reason
	}{
		{"at rest", func(sc scene.Scene) {}, core.StageIdle, "", "nothing is asked"},
		{"an update runs elsewhere", func(sc scene.Scene) { sc.Update(time.Hour) }, core.StageIdle, "", "nothing is asked"},
		{"cordoned by hand", func(sc scene.Scene) { sc.Nodes["cmp-01"].Cordoned = true }, core.StageIdle, "cordoned", ""},
		{"(a) request, active, inner inactive", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").InnerState = core.InnerInactive
		}, core.StageQueued, "", "has not begun"},
		{"asked for, and locks may not be read", func(sc scene.Scene) {
			sc.Request("cmp-01", time.Minute)
			sc.NodeLocks = core.ByName[[]*core.WorkloadLock]{}
			sc.Source(core.SourceNodeLocks, core.SourceForbidden)
		}, core.StagePreparing, "locks not known", "its locks are not known: "},
		{"(a) as F says", func(sc scene.Scene) {
			sc.Maintained("cmp-01",
				"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01",
			).InnerState = core.InnerInactive
		}, core.StageQueued, "others come first", "as many nodes"},
		{"(b) deferred by G", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Some services blocks nmr handling {'database': False}. Deferring processing for node cmp-01")
		}, core.StagePreparing, "deferred: database", ""},
		{"(b) live", func(sc scene.Scene) { sc.Maintained("cmp-01", "") }, core.StageEvacuating, "1 left", ""},
		{"(b) H", func(sc scene.Scene) { sc.Maintained("cmp-01", "Starting migration for "+scene.IDA) }, core.StageEvacuating, "",
			"Starting migration"},
		{"(b) a migration runs", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.Migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, core.StageEvacuating, "", "1 migration under way"},
		{"(b) H, and not every attempt has failed", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts-1, 5*time.Minute)
		}, core.StageEvacuating, "", "Starting migration"},
		{"(b) H, begun anew after every attempt has failed", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
		}, core.StageWaiting, "1 live", "begins anew"},
		{"(b) a further try runs", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			sc.Migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, core.StageWaiting, "1 live, 1 moving", "begins anew"},
		{"(b) a further try runs, and the lock still says J", func(sc scene.Scene) {
			sc.Maintained("cmp-01", scene.StillPresent)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			sc.Migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, core.StageWaiting, "1 live, 1 moving", ""},
		{"(b) H, begun anew, and one of two has not failed", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			sc.Instance("cmp-01", "web-9")
		}, core.StageEvacuating, "", "Starting migration"},
		{"(b) H, begun anew, and the operator moves one that is not the controller's", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			sc.Migration(sc.Instance("cmp-01", "db-9", "notify"), "running", "cmp-02", time.Minute)
		}, core.StageEvacuating, "", "1 migration under way"},
		{"(b) H, begun anew, and one that had failed as often has left since", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			left(sc, "cmp-01", core.DefaultMigrationAttempts, 4*time.Minute)
		}, core.StageEvacuating, "", "Starting migration"},
		{"(b) H, begun anew, and one that never failed has left since", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			left(sc, "cmp-01", 0, 4*time.Minute)
		}, core.StageWaiting, "1 live", "begins anew"},
		{"(b) H, begun anew, and one that had failed as often had left before", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			left(sc, "cmp-01", core.DefaultMigrationAttempts, 6*time.Minute)
		}, core.StageWaiting, "1 live", "begins anew"},
		{"(b) H, begun anew, and one of two has failed since another left", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			failed(sc, sc.Instance("cmp-01", "web-9"), core.DefaultMigrationAttempts, 3*time.Minute)
			left(sc, "cmp-01", core.DefaultMigrationAttempts, 4*time.Minute)
		}, core.StageEvacuating, "", "Starting migration"},
		{"(b) H, begun anew, and one has left another host", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			left(sc, "cmp-03", core.DefaultMigrationAttempts, 4*time.Minute)
		}, core.StageWaiting, "1 live", "begins anew"},
		{"(b) H, begun anew, and the operator cold-migrates the instance", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 5*time.Minute)
			sc.Migration(sc.ByHost["cmp-01"][0], "migrating", "cmp-02", time.Minute).Type = core.MigrationCold
		}, core.StageEvacuating, "", "1 migration under way"},
		{"(b) H, and all attempts failed in another maintenance", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			failed(sc, sc.ByHost["cmp-01"][0], core.DefaultMigrationAttempts, 24*time.Hour)
		}, core.StageEvacuating, "", "Starting migration"},
		{"(b) API outage during evacuation", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
		}, core.StageEvacuating, "API away", ""},
		{"(b) empty", func(sc scene.Scene) { sc.Maintained("cmp-01", ""); sc.ByHost["cmp-01"] = nil }, core.StagePreparing, "nothing in the way",
			"within 60 s"},
		{"(b) scope drain moves nothing", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.NodeRequests["cmp-01"][0].Scope = core.ScopeDrain
		}, core.StagePreparing, "", ""},
		{"manual, before the controller says so", func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeManual); sc.Maintained("cmp-01", "") },
			core.StageWaiting, "1 instance", "manual mode"},
		{"manual, J", func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeManual); sc.Maintained("cmp-01", scene.StillPresent) }, core.StageWaiting,
			"1 instance", "manual mode"},
		{"manual, tagged ones among them", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Maintained("cmp-01", scene.StillPresent)
		}, core.StageWaiting, "1 manual, 1 notify", ""},
		{"manual, the operator's migration runs", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, core.StageWaiting, "1 moving", ""},
		{"manual, emptied, J is old", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.ByHost["cmp-01"] = nil
		}, core.StagePreparing, "nothing in the way", ""},
		{"manual, declared safe, J is old", func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeSkip)
			sc.Maintained("cmp-01",
				scene.StillPresent)
		}, core.StagePreparing, "nothing in the way", ""},
		{"live, attempts used up", func(sc scene.Scene) { sc.Maintained("cmp-01", scene.StillPresent) }, core.StageWaiting, "1 live", ""},
		{"live, J, and the next try runs", func(sc scene.Scene) {
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, core.StageEvacuating, "", ""},
		{"J, and Nova is not known", func(sc scene.Scene) {
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Source(core.SourceInstances, core.SourceOff)
		}, core.StageWaiting, "1 instance left", ""},
		{"live, and one that nothing moves", func(sc scene.Scene) {
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Instance("cmp-01", "broken").Status = "ERROR"
		}, core.StageWaiting, "1 live, 1 ERROR", ""},
		{"only an owner's decision is left", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.ByHost["cmp-01"][0].Tags = []string{core.TagMaintenanceAction + "notify"}
		}, core.StageWaiting, "1 notify", "only the operator moves"},
		{"a mode that the controller does not know", func(sc scene.Scene) { sc.Mode("cmp-01", "cold"); sc.Maintained("cmp-01", "") },
			core.StageWaiting, "unknown mode", `"cold"`},
		{"other controllers wait", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Lock("cmp-01", core.ControllerCeph, core.LockActive)
		}, core.StagePreparing, "waits for ceph", ""},
		{"a lock says failed", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.Lock("cmp-01", core.ControllerTungstenFabric, core.LockFailed)
		}, core.StageFailed, "tungstenfabric", ""},
		{"(c) released", func(sc scene.Scene) { sc.Maintained("cmp-01", "").RawState = core.LockInactive }, core.StageReleased, "LCM",
			"all its locks are inactive"},
		{"(c) draining", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Nodes["cmp-01"].Cordoned = true
			sc.Pods["cmp-01"] = &core.NodePods{Node: "cmp-01", Total: 40, Evictable: 7}
		}, core.StageDraining, "7 pods left", ""},
		{"(c) updating", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Nodes["cmp-01"].Cordoned = true
			sc.Pods["cmp-01"] = &core.NodePods{Node: "cmp-01", Total: 33}
		}, core.StageUpdating, "drained", ""},
		{"(c) cordoned, pods forbidden", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Nodes["cmp-01"].Cordoned = true
			sc.Source(core.SourceNodePods, core.SourceForbidden)
		}, core.StageUpdating, "", "not known (forbidden)"},
		{"(c) rebooting", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			n := sc.Nodes["cmp-01"]
			n.Cordoned, n.Ready, n.ReadySince, n.ReadyReason = true, "Unknown", scene.Ago(3*time.Minute), "NodeStatusUnknown"
		}, core.StageRebooting, "NodeStatusUnknown", "11:57"},
		{"(c) not Ready in scope drain is no reboot", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequests["cmp-01"][0].Scope = core.ScopeDrain
			sc.Nodes["cmp-01"].Ready = "False"
		}, core.StageUpdating, "kubelet", ""},
		{"(c) Ready again, LCM not done", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			n := sc.Nodes["cmp-01"]
			n.Cordoned, n.ReadySince = true, scene.Ago(time.Minute)
		}, core.StageUpdating, "Ready again", ""},
		{"(d) request being removed", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = scene.Ago(2 * time.Minute)
			sc.Pods["cmp-01"] = &core.NodePods{Node: "cmp-01", NotReady: []core.PodName{{Namespace: "openstack", Name: "ovs-1"}}}
		}, core.StageReturning, "pods not ready: ovs-1", ""},
		{"(d) an agent is down", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = scene.Ago(2 * time.Minute)
			sc.Agents["cmp-01"] = []*core.NetworkAgent{{Binary: "neutron-openvswitch-agent", AdminUp: true}}
		}, core.StageReturning, "agent down: openvswitch-agent", ""},
		{"(b) a request without a scope", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").InnerState = core.InnerActive
			sc.NodeRequest("cmp-01").Scope = ""
		}, core.StageWaiting, "request without a scope", "fails on it without a word"},
		{"(b) a request without a scope, with one on the cluster's", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").InnerState = core.InnerActive
			sc.NodeRequest("cmp-01").Scope = ""
			sc.ClusterRequest().Scope = core.ScopeDrain
		}, core.StageWaiting, "request without a scope", "fails on it without a word"},
		{"(a) a request without a scope, not begun", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").InnerState = core.InnerInactive
			sc.NodeRequest("cmp-01").Scope = ""
		}, core.StageQueued, "", ""},
		{"(b) text L, and Nova answers nobody", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			sc.Source(core.SourceComputeServices, core.SourceStale)
		}, core.StagePreparing, "OpenStack API away", "Nova did not answer"},
		{"(b) text L, and Nova answers", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Can not disable compute service on a host to be deleted")
		}, core.StageWaiting, "nova-compute could not be disabled", "the OpenStack controller says: Can not disable"},
		{"(d) an agent is down, and set so", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = scene.Ago(2 * time.Minute)
			sc.Agents["cmp-01"] = []*core.NetworkAgent{{Binary: "neutron-openvswitch-agent"}}
		}, core.StageReturning, "agent down: openvswitch-agent", ""},
		{"(d) request gone, ceph not back", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Lock("cmp-01", core.ControllerCeph,
				core.LockInactive)
		}, core.StageReturning, "waits for ceph", ""},
		{"(e) seen to go through", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "old", Update: "cmr", Started: scene.Ago(50 * time.Minute),
				Ended: scene.Ago(30 * time.Minute)}
		}, core.StageDone, "11:30", "seen"},
		{"(e) seen to go through in another update", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "old", Update: "last", Ended: scene.Ago(300 * time.Hour)}
		}, core.StageIdle, "", ""},
		{"(e) newer kubelet", func(sc scene.Scene) { sc.Update(time.Hour); sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9" }, core.StageDone, "",
			"kubelet"},
		{"(e) came back since the update began", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(20 * time.Minute)
		}, core.StageDone, "11:40", "after the update began"},
		{"came back while OpenStack is updated", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Lock("", core.ControllerOpenStack, core.LockActive)
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(20 * time.Minute)
		}, core.StageIdle, "", ""},
		{"came back before the nodes' turn", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.History.Locks[sc.Lock("", core.ControllerOpenStack, core.LockInactive).UID] = &core.LockRecord{State: core.LockInactive,
				Since: core.Since{At: scene.Ago(10 * time.Minute), Exact: true}}
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(20 * time.Minute)
		}, core.StageIdle, "", ""},
		{"came back, and it was not seen when the nodes' turn came", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.History.Locks[sc.Lock("", core.ControllerOpenStack, core.LockInactive).UID] = &core.LockRecord{State: core.LockInactive,
				Since: core.Since{At: scene.Ago(10 * time.Minute)}}
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(20 * time.Minute)
		}, core.StageDone, "11:40", "after the update began"},
		{"came back, but has the old kubelet", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(20 * time.Minute)
			sc.Nodes["cmp-02"].KubeletVersion = "v1.31.9"
		}, core.StageIdle, "", ""},
		{"came back, no update", func(sc scene.Scene) { sc.Nodes["cmp-01"].ReadySince = scene.Ago(20 * time.Minute) }, core.StageIdle, "", ""},
		{"requests are forbidden, at rest", func(sc scene.Scene) { sc.Source(core.SourceNodeRequests, core.SourceForbidden) }, core.StageIdle, "",
			"not known: forbidden"},
		{"requests are forbidden, the lock tells", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
			delete(sc.NodeRequests, "cmp-01")
			sc.Source(core.SourceNodeRequests, core.SourceForbidden)
		}, core.StageEvacuating, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.Node("cmp-01", core.RoleCompute)
			sc.Node("cmp-02", core.RoleCompute)
			sc.Instance("cmp-01", "web-1")
			tt.given(sc)
			v, ok := NodeView(sc.Snapshot, "cmp-01")
			if !ok || v.Stage != tt.want || !strings.Contains(v.What, tt.what) || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("%s: %q because %q, want %s: %q because %q", v.Stage, v.What, v.Reason, tt.want, tt.what, tt.reason)
			}
		})
	}
}

// Masters without collocated roles get no request (docs/mosk.md#lcm): the node itself is the evidence.
func TestMastersThatNoApplicationHolds(t *testing.T) {
	sc := scene.NewScene()
	n := sc.Node("ctl-01", core.RoleMaster)
	sc.Update(time.Hour)
	if v, _ := NodeView(sc.Snapshot, "ctl-01"); v.Stage != core.StageIdle {
		t.Errorf("at rest: %s", v.Stage)
	}
	n.Cordoned = true
	sc.Pods["ctl-01"] = &core.NodePods{Evictable: 3}
	sc = sc.Again()
	if v, _ := NodeView(sc.Snapshot, "ctl-01"); v.Stage != core.StageDraining {
		t.Errorf("cordoned: %s", v.Stage)
	}
	n.Ready = "False"
	sc = sc.Again()
	if v, _ := NodeView(sc.Snapshot, "ctl-01"); v.Stage != core.StageRebooting {
		t.Errorf("not Ready: %s", v.Stage)
	}
}

func TestWhatMovesIsOnTop(t *testing.T) {
	sc := scene.NewScene()
	for _, name := range []string{"a-done", "b-idle", "c-queued", "d-moves", "e-waits"} {
		sc.Node(name, core.RoleCompute)
	}
	sc.Update(time.Hour)
	sc.Nodes["a-done"].KubeletVersion = "v1.31.9"
	sc.Maintained("c-queued", "").InnerState = ""
	sc.Maintained("d-moves", "Waiting servers migration is completed: ['x']")
	sc.Instance("d-moves", "web-1")
	sc.Mode("e-waits", core.ModeManual)
	sc.Instance("e-waits", "web-2")
	sc.Maintained("e-waits", scene.StillPresent)
	var names []string
	for _, v := range NodeViews(sc.Snapshot) {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != "e-waits d-moves c-queued b-idle a-done" {
		t.Error(got)
	}
}

func TestNodesThatOnlyLocksName(t *testing.T) {
	sc := scene.NewScene()
	sc.Lock("ghost", core.ControllerOpenStack, core.LockActive)
	v, ok := NodeView(sc.Snapshot, "ghost")
	if !ok || v.Node != nil || v.Stage != core.StageIdle || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "no such node") {
		t.Errorf("%+v", v)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name  string
		given func(sc scene.Scene)
		want  string
	}{
		{"no lock", func(sc scene.Scene) { sc.Update(time.Hour); sc.NodeLocks = sc.NodeLocks.Without("cmp-01") }, "no NodeWorkloadLock"},
		{"mode", func(sc scene.Scene) { sc.Mode("cmp-01", "live+cold") }, `"live+cold"`},
		{"attempts", func(sc scene.Scene) { sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationAttempts] = "many" }, `"many"`},
		{"state", func(sc scene.Scene) { sc.NodeLocks.At("cmp-01")[0].RawState = "sleeping" }, `"sleeping"`},
		{"stale inner state", func(sc scene.Scene) { sc.NodeLocks.At("cmp-01")[0].InnerState = core.InnerActive }, "counts against"},
		{"two requests", func(sc scene.Scene) { sc.Request("cmp-01", time.Hour); sc.Request("cmp-01", time.Hour) }, "2 NodeMaintenanceRequests"},
	}
	for _, tt := range tests {
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		tt.given(sc)
		v, _ := NodeView(sc.Snapshot, "cmp-01")
		if len(v.Problems) != 1 || !strings.Contains(v.Problems[0], tt.want) {
			t.Errorf("%s: %q", tt.name, v.Problems)
		}
	}
}

func TestSinceWhen(t *testing.T) {
	begin := func() scene.Scene {
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		sc.Instance("cmp-01", "web-1")
		sc.Maintained("cmp-01", "") // the request is 20 minutes old
		return sc
	}
	seen := func(sc scene.Scene, stage core.Stage, d time.Duration) {
		sc.History.Stages["uid-cmp-01"] = core.StageRecord{Stage: stage, Since: core.Since{At: scene.Ago(d), Exact: true}}
	}
	sc := begin()
	if v, _ := NodeView(sc.Snapshot, "cmp-01"); v.Since != core.NotBefore(scene.Ago(20*time.Minute)) {
		t.Errorf("never seen before: %+v, want at most the request's age", v.Since)
	}
	sc = begin()
	seen(sc, core.StageEvacuating, 7*time.Minute)
	if v, _ := NodeView(sc.Snapshot, "cmp-01"); v.Since != (core.Since{At: scene.Ago(7 * time.Minute), Exact: true}) {
		t.Errorf("seen in this stage: %+v", v.Since)
	}
	sc = begin()
	seen(sc, core.StagePreparing, 7*time.Minute)
	if v, _ := NodeView(sc.Snapshot, "cmp-01"); v.Since != (core.Since{At: scene.Noon, Exact: true}) {
		t.Errorf("seen to change: %+v", v.Since)
	}
	sc = begin()
	seen(sc, core.StageIdle, 50*time.Hour)
	sc.NodeLocks.At("cmp-01")[0].InnerState = ""
	if v, _ := NodeView(sc.Snapshot, "cmp-01"); v.Stage != core.StageQueued ||
		v.Since != (core.Since{At: scene.Ago(20 * time.Minute), Exact: true}) {
		t.Errorf("changed while nobody looked: %s %+v", v.Stage, v.Since)
	}
}

// LCM has a node from when the last lock became inactive, at the earliest when it was asked for. What LCM does there begins then or later.
func TestSinceWhenLCMHasANode(t *testing.T) {
	asked, last := scene.Ago(20*time.Minute), scene.Ago(7*time.Minute)
	is := func(s core.Since) *core.LockRecord { return &core.LockRecord{State: core.LockInactive, Since: s} }
	seen := func(at time.Time) core.Since { return core.Since{At: at, Exact: true} }
	for name, tt := range map[string]struct {
		openstack, ceph *core.LockRecord
		want            core.Since
	}{
		"both were seen":           {is(seen(scene.Ago(9 * time.Minute))), is(seen(last)), seen(last)},
		"neither was":              {nil, nil, core.NotBefore(asked)},
		"one was":                  {nil, is(seen(last)), core.NotBefore(last)},
		"one was found so":         {is(core.Since{At: scene.Ago(time.Minute)}), is(seen(last)), core.NotBefore(last)},
		"both were so before":      {is(core.Since{At: scene.Ago(time.Hour)}), is(seen(scene.Ago(5 * time.Hour))), seen(asked)},
		"one was something before": {&core.LockRecord{State: core.LockActive, Since: seen(last)}, nil, core.NotBefore(asked)},
	} {
		sc := scene.NewScene()
		n := sc.Node("cmp-01", core.RoleCompute)
		openstack, ceph := sc.Maintained("cmp-01", ""), sc.Lock("cmp-01", core.ControllerCeph, core.LockInactive)
		openstack.RawState = core.LockInactive
		sc.History.Locks = map[string]*core.LockRecord{}
		for uid, r := range map[string]*core.LockRecord{openstack.UID: tt.openstack, ceph.UID: tt.ceph} {
			if r != nil {
				sc.History.Locks[uid] = r
			}
		}
		if v, _ := NodeView(sc.Snapshot, "cmp-01"); v.Stage != core.StageReleased || v.Since != tt.want {
			t.Errorf("%s: %s since %+v, want %+v", name, v.Stage, v.Since, tt.want)
		}
		n.Cordoned = true
		if v, _ := NodeView(sc.Again().Snapshot, "cmp-01"); v.Stage != core.StageUpdating || v.Since != core.NotBefore(tt.want.At) {
			t.Errorf("%s: %s since %+v, want at most %s", name, v.Stage, v.Since, tt.want.At)
		}
	}
}

func TestInstancesAreNotCountedWhereNovaIsNotKnown(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	sc.Instance("cmp-01", "web-1")
	sc.Source(core.SourceInstances, core.SourceConnecting)
	if v, _ := NodeView(sc.Snapshot, "cmp-01"); v.Instances != -1 || v.Blocking != -1 {
		t.Errorf("%d instances, %d blocking", v.Instances, v.Blocking)
	}
}

func TestWhereToLook(t *testing.T) {
	sc := scene.Healthy()
	if hosts, moving := HostsToWatch(sc.Snapshot); len(hosts) != 0 || moving {
		t.Errorf("at rest: %v %v", hosts, moving)
	}
	batch := sc.Again()
	batch.Doing(core.Operation{ID: "b", State: core.OperationRunning, Items: []core.OperationItem{{Node: "cmp-01", State: core.OperationDone},
		{Node: "cmp-03", State: core.OperationVerifying}, {Node: "gtw-01", State: core.OperationQueued}}})
	if hosts, moving := HostsToWatch(batch.Snapshot); strings.Join(hosts, " ") != "cmp-03" || !moving {
		t.Errorf("in a batch over several nodes: %v %v", hosts, moving)
	}
	sc.Maintained("cmp-02", "Starting migration for "+scene.IDA)
	sc.Maintained("gtw-01", "")
	sc = sc.Again()
	if hosts, moving := HostsToWatch(sc.Snapshot); strings.Join(hosts, " ") != "cmp-02" || !moving {
		t.Errorf("evacuating: %v %v", hosts, moving)
	}
	back := scene.Ago(time.Hour)
	sc.Nodes["gtw-01"].ReadySince = back
	want := []core.PodsOf{{Node: "cmp-02", NodeReadySince: sc.Nodes["cmp-02"].ReadySince}, {Node: "gtw-01", NodeReadySince: back}}
	if nodes := NodesWithPodsToWatch(sc.Again().Snapshot); !slices.Equal(nodes, want) {
		t.Errorf("pods: %v", nodes)
	}
}

func TestStagesAreTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.DrawScene(t)
		views := NodeViews(sc.Snapshot)
		if len(views) != 3 {
			t.Fatalf("%d views of 3 nodes", len(views))
		}
		for _, v := range views {
			if _, ok := stageRank[v.Stage]; !ok || v.Reason == "" {
				t.Fatalf("%s: stage %q because %q", v.Name, v.Stage, v.Reason)
			}
			if strings.ContainsAny(v.What+v.Reason, "\n\x1b") {
				t.Fatalf("%q %q", v.What, v.Reason)
			}
			if (v.Instances < 0) != (v.Blocking < 0) || v.Blocking > v.Instances {
				t.Fatalf("%d of %d instances block", v.Blocking, v.Instances)
			}
		}
	})
}

// A node that was down before LCM got it has rebooted only since then. A node moves instances from its request on, even where its first
// migration is older, and later where no migration is known.
func TestAStageIsNoOlderThanItsMaintenance(t *testing.T) {
	asked := scene.Ago(20 * time.Minute)
	down := func(since time.Duration) core.Since {
		sc := scene.NewScene()
		n := sc.Node("cmp-01", core.RoleCompute)
		sc.Maintained("cmp-01", "").RawState = core.LockInactive
		n.Ready, n.ReadySince = "False", scene.Ago(since)
		v, _ := NodeView(sc.Snapshot, "cmp-01")
		if v.Stage != core.StageRebooting {
			t.Errorf("down for %s, it is %s", since, v.Stage)
		}
		return v.Since
	}
	if got := down(24 * time.Hour); got != core.NotBefore(asked) {
		t.Errorf("down since yesterday, it reboots since %+v", got)
	}
	if got, want := down(7*time.Minute), (core.Since{At: scene.Ago(7 * time.Minute), Exact: true}); got != want {
		t.Errorf("it reboots since %+v, want %+v", got, want)
	}
	for name, tt := range map[string]struct {
		begun time.Duration // 0: no migration is known
		want  core.Since
	}{
		"it moves since":  {7 * time.Minute, core.Since{At: scene.Ago(7 * time.Minute)}},
		"it moved before": {time.Hour, core.Since{At: asked}},
		"nobody knows":    {0, core.NotBefore(asked)},
	} {
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		sc.Maintained("cmp-01", "")
		in := sc.Instance("cmp-01", "web-1")
		in.Status, in.TaskState = "MIGRATING", "migrating"
		if tt.begun > 0 {
			sc.Migration(in, "running", "cmp-02", tt.begun)
		}
		if v, _ := NodeView(sc.Again().Snapshot, "cmp-01"); v.Stage != core.StageEvacuating || v.Since != tt.want {
			t.Errorf("%s: %s since %+v, want %+v", name, v.Stage, v.Since, tt.want)
		}
	}
}

// A host is waited for while its node is not late for certain: a request that is old says nothing of that.
func TestAHostIsAwaitedWhileItsNodeIsNotLate(t *testing.T) {
	sc := scene.NewScene()
	n := sc.Node("cmp-01", core.RoleCompute)
	sc.Maintained("cmp-01", "").RawState = core.LockInactive
	sc.NodeRequest("cmp-01").Created = scene.Ago(5 * time.Hour)
	n.Cordoned = true
	sc = sc.Again()
	views := NodeViews(sc.Snapshot)
	for after, want := range map[time.Duration]bool{time.Minute: true, RebootLong + time.Minute: false} {
		if s := sc.Next(views, after).Snapshot; AwaitedBack(s, s.HostOf("cmp-01")) != want {
			t.Errorf("watched for %s: awaited %v", after, !want)
		}
	}
}
