package core

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const stillPresent = "Some servers are still present on the host. Servers with unset maintenance action: ['" + idA + "']"

// One row per step of a node's life in docs/mosk.md#life-of-a-node, and per way in which the evidence can be incomplete.
func TestStages(t *testing.T) {
	tests := []struct {
		name   string
		given  func(sc scene) // on top of a cluster in which cmp-01 has one instance, web-1
		want   Stage
		what   string // is in What
		reason string // is in Reason
	}{
		{"at rest", func(sc scene) {}, StageIdle, "", "nothing is asked"},
		{"an update runs elsewhere", func(sc scene) { sc.update(time.Hour) }, StageIdle, "", "nothing is asked"},
		{"cordoned by hand", func(sc scene) { sc.Nodes["cmp-01"].Cordoned = true }, StageIdle, "cordoned", ""},
		{"(a) request, active, inner inactive", func(sc scene) {
			sc.maintained("cmp-01", "").InnerState = InnerInactive
		}, StageQueued, "", "has not begun"},
		{"(a) as F says", func(sc scene) {
			sc.maintained("cmp-01", "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01").InnerState = InnerInactive
		}, StageQueued, "others come first", "as many nodes"},
		{"(b) deferred by G", func(sc scene) {
			sc.maintained("cmp-01", "Some services blocks nmr handling {'database': False}. Deferring processing for node cmp-01")
		}, StagePreparing, "deferred: database", ""},
		{"(b) live", func(sc scene) { sc.maintained("cmp-01", "") }, StageEvacuating, "1 left", ""},
		{"(b) H", func(sc scene) { sc.maintained("cmp-01", "Starting migration for "+idA) }, StageEvacuating, "", "Starting migration"},
		{"(b) a migration runs", func(sc scene) {
			sc.maintained("cmp-01", "")
			sc.migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, StageEvacuating, "", "1 migration under way"},
		{"(b) API outage during evacuation", func(sc scene) {
			sc.maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
		}, StageEvacuating, "API away", ""},
		{"(b) empty", func(sc scene) { sc.maintained("cmp-01", ""); sc.ByHost["cmp-01"] = nil }, StagePreparing, "nothing in the way", "within 60 s"},
		{"(b) scope drain moves nothing", func(sc scene) {
			sc.maintained("cmp-01", "")
			sc.NodeRequests["cmp-01"][0].Scope = ScopeDrain
		}, StagePreparing, "", ""},
		{"manual, before the controller says so", func(sc scene) { sc.mode("cmp-01", ModeManual); sc.maintained("cmp-01", "") }, StageWaiting, "1 instance", "manual mode"},
		{"manual, J", func(sc scene) { sc.mode("cmp-01", ModeManual); sc.maintained("cmp-01", stillPresent) }, StageWaiting, "1 instance", "manual mode"},
		{"manual, tagged ones among them", func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.instance("cmp-01", "batch-17", "notify")
			sc.maintained("cmp-01", stillPresent)
		}, StageWaiting, "1 manual, 1 notify", ""},
		{"manual, the operator's migration runs", func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.maintained("cmp-01", stillPresent)
			sc.migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, StageWaiting, "1 moving", ""},
		{"manual, emptied, J is old", func(sc scene) {
			sc.mode("cmp-01", ModeManual)
			sc.maintained("cmp-01", stillPresent)
			sc.ByHost["cmp-01"] = nil
		}, StagePreparing, "nothing in the way", ""},
		{"manual, declared safe, J is old", func(sc scene) { sc.mode("cmp-01", ModeSkip); sc.maintained("cmp-01", stillPresent) }, StagePreparing, "nothing in the way", ""},
		{"live, attempts used up", func(sc scene) { sc.maintained("cmp-01", stillPresent) }, StageWaiting, "1 live", ""},
		{"live, J, and the next try runs", func(sc scene) {
			sc.maintained("cmp-01", stillPresent)
			sc.migration(sc.ByHost["cmp-01"][0], "running", "cmp-02", time.Minute)
		}, StageEvacuating, "", ""},
		{"J, and Nova is not known", func(sc scene) {
			sc.maintained("cmp-01", stillPresent)
			sc.source(SourceInstances, SourceOff)
		}, StageWaiting, "1 instance left", ""},
		{"live, and one that nothing moves", func(sc scene) {
			sc.maintained("cmp-01", stillPresent)
			sc.instance("cmp-01", "broken").Status = "ERROR"
		}, StageWaiting, "1 live, 1 ERROR", ""},
		{"only an owner's decision is left", func(sc scene) {
			sc.maintained("cmp-01", "")
			sc.ByHost["cmp-01"][0].Tags = []string{TagMaintenanceAction + "notify"}
		}, StageWaiting, "1 notify", "nothing but the operator"},
		{"a mode that the controller does not know", func(sc scene) { sc.mode("cmp-01", "cold"); sc.maintained("cmp-01", "") }, StageWaiting, "unknown mode", `"cold"`},
		{"other controllers wait", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.lock("cmp-01", ControllerCeph, LockActive)
		}, StagePreparing, "waits for ceph", ""},
		{"a lock says failed", func(sc scene) {
			sc.maintained("cmp-01", "")
			sc.lock("cmp-01", ControllerTungstenFabric, LockFailed)
		}, StageFailed, "tungstenfabric", ""},
		{"(c) released", func(sc scene) { sc.maintained("cmp-01", "").RawState = LockInactive }, StageReleased, "LCM", "all its locks are inactive"},
		{"(c) draining", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.Nodes["cmp-01"].Cordoned = true
			sc.Pods["cmp-01"] = &NodePods{Node: "cmp-01", Total: 40, Evictable: 7}
		}, StageDraining, "7 pods left", ""},
		{"(c) updating", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.Nodes["cmp-01"].Cordoned = true
			sc.Pods["cmp-01"] = &NodePods{Node: "cmp-01", Total: 33}
		}, StageUpdating, "drained", ""},
		{"(c) cordoned, pods forbidden", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.Nodes["cmp-01"].Cordoned = true
			sc.source(SourceNodePods, SourceForbidden)
		}, StageUpdating, "", "not known (forbidden)"},
		{"(c) rebooting", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			n := sc.Nodes["cmp-01"]
			n.Cordoned, n.Ready, n.ReadySince, n.ReadyReason = true, "Unknown", ago(3*time.Minute), "NodeStatusUnknown"
		}, StageRebooting, "NodeStatusUnknown", "11:57"},
		{"(c) not Ready in scope drain is no reboot", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequests["cmp-01"][0].Scope = ScopeDrain
			sc.Nodes["cmp-01"].Ready = "False"
		}, StageUpdating, "kubelet", ""},
		{"(c) Ready again, LCM not done", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			n := sc.Nodes["cmp-01"]
			n.Cordoned, n.ReadySince = true, ago(time.Minute)
		}, StageUpdating, "Ready again", ""},
		{"(d) request being removed", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = ago(2 * time.Minute)
			sc.Pods["cmp-01"] = &NodePods{Node: "cmp-01", NotReady: []PodName{{"openstack", "ovs-1"}}}
		}, StageReturning, "pods not ready: ovs-1", ""},
		{"(d) an agent is down", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = ago(2 * time.Minute)
			sc.Agents["cmp-01"] = []*NetworkAgent{{Binary: "neutron-openvswitch-agent", AdminUp: true}}
		}, StageReturning, "agent down: openvswitch-agent", ""},
		{"(b) a request without a scope", func(sc scene) {
			sc.maintained("cmp-01", "").InnerState = InnerActive
			sc.NodeRequest("cmp-01").Scope = ""
		}, StageWaiting, "request without a scope", "fails on it without a word"},
		{"(b) a request without a scope, with one on the cluster's", func(sc scene) {
			sc.maintained("cmp-01", "").InnerState = InnerActive
			sc.NodeRequest("cmp-01").Scope = ""
			sc.ClusterRequest().Scope = ScopeDrain
		}, StageWaiting, "request without a scope", "fails on it without a word"},
		{"(a) a request without a scope, not begun", func(sc scene) {
			sc.maintained("cmp-01", "").InnerState = InnerInactive
			sc.NodeRequest("cmp-01").Scope = ""
		}, StageQueued, "", ""},
		{"(b) text L, and Nova answers nobody", func(sc scene) {
			sc.maintained("cmp-01", "Can not disable compute service on a host to be deleted")
			sc.source(SourceComputeServices, SourceStale)
		}, StagePreparing, "OpenStack API away", "Nova did not answer"},
		{"(b) text L, and Nova answers", func(sc scene) {
			sc.maintained("cmp-01", "Can not disable compute service on a host to be deleted")
		}, StageWaiting, "nova-compute could not be disabled", "the OpenStack controller says: Can not disable"},
		{"(d) an agent is down, and set so", func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = ago(2 * time.Minute)
			sc.Agents["cmp-01"] = []*NetworkAgent{{Binary: "neutron-openvswitch-agent"}}
		}, StageReturning, "agent down: openvswitch-agent", ""},
		{"(d) request gone, ceph not back", func(sc scene) { sc.update(time.Hour); sc.lock("cmp-01", ControllerCeph, LockInactive) }, StageReturning, "waits for ceph", ""},
		{"(e) seen to go through", func(sc scene) {
			sc.update(time.Hour)
			sc.History.Rounds["uid-cmp-01"] = Round{Request: "old", Update: "cmr", Started: ago(50 * time.Minute), Ended: ago(30 * time.Minute)}
		}, StageDone, "11:30", "seen"},
		{"(e) seen to go through in another update", func(sc scene) {
			sc.update(time.Hour)
			sc.History.Rounds["uid-cmp-01"] = Round{Request: "old", Update: "last", Ended: ago(300 * time.Hour)}
		}, StageIdle, "", ""},
		{"(e) newer kubelet", func(sc scene) { sc.update(time.Hour); sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9" }, StageDone, "", "kubelet"},
		{"(e) came back since the update began", func(sc scene) { sc.update(time.Hour); sc.Nodes["cmp-01"].ReadySince = ago(20 * time.Minute) }, StageDone, "11:40", "after the update began"},
		{"came back, but has the old kubelet", func(sc scene) {
			sc.update(time.Hour)
			sc.Nodes["cmp-01"].ReadySince = ago(20 * time.Minute)
			sc.Nodes["cmp-02"].KubeletVersion = "v1.31.9"
		}, StageIdle, "", ""},
		{"came back, no update", func(sc scene) { sc.Nodes["cmp-01"].ReadySince = ago(20 * time.Minute) }, StageIdle, "", ""},
		{"requests are forbidden, at rest", func(sc scene) { sc.source(SourceNodeRequests, SourceForbidden) }, StageIdle, "", "not known: forbidden"},
		{"requests are forbidden, the lock tells", func(sc scene) {
			sc.maintained("cmp-01", "Starting migration for "+idA)
			delete(sc.NodeRequests, "cmp-01")
			sc.source(SourceNodeRequests, SourceForbidden)
		}, StageEvacuating, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := newScene()
			sc.node("cmp-01", RoleCompute)
			sc.node("cmp-02", RoleCompute)
			sc.instance("cmp-01", "web-1")
			tt.given(sc)
			v, ok := sc.NodeView("cmp-01")
			if !ok || v.Stage != tt.want || !strings.Contains(v.What, tt.what) || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("%s: %q because %q, want %s: %q because %q", v.Stage, v.What, v.Reason, tt.want, tt.what, tt.reason)
			}
		})
	}
}

// Masters without collocated roles get no request (docs/mosk.md#lcm): the node itself is the evidence.
func TestMastersThatNoApplicationHolds(t *testing.T) {
	sc := newScene()
	n := sc.node("ctl-01", RoleMaster)
	sc.update(time.Hour)
	if v, _ := sc.NodeView("ctl-01"); v.Stage != StageIdle {
		t.Errorf("at rest: %s", v.Stage)
	}
	n.Cordoned = true
	sc.Pods["ctl-01"] = &NodePods{Evictable: 3}
	sc = sc.again()
	if v, _ := sc.NodeView("ctl-01"); v.Stage != StageDraining {
		t.Errorf("cordoned: %s", v.Stage)
	}
	n.Ready = "False"
	sc = sc.again()
	if v, _ := sc.NodeView("ctl-01"); v.Stage != StageRebooting {
		t.Errorf("not Ready: %s", v.Stage)
	}
}

func TestWhatMovesIsOnTop(t *testing.T) {
	sc := newScene()
	for _, name := range []string{"a-done", "b-idle", "c-queued", "d-moves", "e-waits"} {
		sc.node(name, RoleCompute)
	}
	sc.update(time.Hour)
	sc.Nodes["a-done"].KubeletVersion = "v1.31.9"
	sc.maintained("c-queued", "").InnerState = ""
	sc.maintained("d-moves", "Waiting servers migration is completed: ['x']")
	sc.instance("d-moves", "web-1")
	sc.mode("e-waits", ModeManual)
	sc.instance("e-waits", "web-2")
	sc.maintained("e-waits", stillPresent)
	var names []string
	for _, v := range sc.NodeViews() {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != "e-waits d-moves c-queued b-idle a-done" {
		t.Error(got)
	}
}

func TestNodesThatOnlyLocksName(t *testing.T) {
	sc := newScene()
	sc.lock("ghost", ControllerOpenStack, LockActive)
	v, ok := sc.NodeView("ghost")
	if !ok || v.Node != nil || v.Stage != StageIdle || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "no such node") {
		t.Errorf("%+v", v)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name  string
		given func(sc scene)
		want  string
	}{
		{"no lock", func(sc scene) { sc.update(time.Hour); delete(sc.NodeLocks, "cmp-01") }, "no NodeWorkloadLock"},
		{"mode", func(sc scene) { sc.mode("cmp-01", "live+cold") }, `"live+cold"`},
		{"attempts", func(sc scene) { sc.Nodes["cmp-01"].Annotations[AnnotationMigrationAttempts] = "many" }, `"many"`},
		{"state", func(sc scene) { sc.NodeLocks["cmp-01"][0].RawState = "sleeping" }, `"sleeping"`},
		{"stale inner state", func(sc scene) { sc.NodeLocks["cmp-01"][0].InnerState = InnerActive }, "counts against"},
		{"two requests", func(sc scene) { sc.request("cmp-01", time.Hour); sc.request("cmp-01", time.Hour) }, "2 NodeMaintenanceRequests"},
	}
	for _, tt := range tests {
		sc := newScene()
		sc.node("cmp-01", RoleCompute)
		tt.given(sc)
		v, _ := sc.NodeView("cmp-01")
		if len(v.Problems) != 1 || !strings.Contains(v.Problems[0], tt.want) {
			t.Errorf("%s: %q", tt.name, v.Problems)
		}
	}
}

func TestSinceWhen(t *testing.T) {
	begin := func() scene {
		sc := newScene()
		sc.node("cmp-01", RoleCompute)
		sc.instance("cmp-01", "web-1")
		sc.maintained("cmp-01", "") // the request is 20 minutes old
		return sc
	}
	seen := func(sc scene, stage Stage, d time.Duration) {
		sc.History.Stages["uid-cmp-01"] = StageRecord{Stage: stage, Since: Since{At: ago(d), Exact: true}}
	}
	sc := begin()
	if v, _ := sc.NodeView("cmp-01"); v.Since != (Since{At: ago(20 * time.Minute)}) {
		t.Errorf("never seen before: %+v, want the request's age as a bound", v.Since)
	}
	sc = begin()
	seen(sc, StageEvacuating, 7*time.Minute)
	if v, _ := sc.NodeView("cmp-01"); v.Since != (Since{At: ago(7 * time.Minute), Exact: true}) {
		t.Errorf("seen in this stage: %+v", v.Since)
	}
	sc = begin()
	seen(sc, StagePreparing, 7*time.Minute)
	if v, _ := sc.NodeView("cmp-01"); v.Since != (Since{At: noon, Exact: true}) {
		t.Errorf("seen to change: %+v", v.Since)
	}
	sc = begin()
	seen(sc, StageIdle, 50*time.Hour)
	sc.NodeLocks["cmp-01"][0].InnerState = ""
	if v, _ := sc.NodeView("cmp-01"); v.Stage != StageQueued || v.Since != (Since{At: ago(20 * time.Minute), Exact: true}) {
		t.Errorf("changed while nobody looked: %s %+v", v.Stage, v.Since)
	}
}

func TestInstancesAreNotCountedWhereNovaIsNotKnown(t *testing.T) {
	sc := newScene()
	sc.node("cmp-01", RoleCompute)
	sc.instance("cmp-01", "web-1")
	sc.source(SourceInstances, SourceConnecting)
	if v, _ := sc.NodeView("cmp-01"); v.Instances != -1 || v.Blocking != -1 {
		t.Errorf("%d instances, %d blocking", v.Instances, v.Blocking)
	}
}

func TestWhereToLook(t *testing.T) {
	sc := healthy()
	if hosts, moving := HostsToWatch(sc.Snapshot); len(hosts) != 0 || moving {
		t.Errorf("at rest: %v %v", hosts, moving)
	}
	sc.maintained("cmp-02", "Starting migration for "+idA)
	sc.maintained("gtw-01", "")
	sc = sc.again()
	if hosts, moving := HostsToWatch(sc.Snapshot); strings.Join(hosts, " ") != "cmp-02" || !moving {
		t.Errorf("evacuating: %v %v", hosts, moving)
	}
	if names := NodesWithPodsToWatch(sc.Snapshot); strings.Join(names, " ") != "cmp-02 gtw-01" {
		t.Errorf("pods: %v", names)
	}
}

// drawScene is a cluster in any state, consistent or not.
func drawScene(t *rapid.T) scene {
	sc := newScene()
	states := []LockState{LockActive, LockInactive, LockFailed, "", "sleeping"}
	texts := []string{"", stillPresent, "Starting migration for " + idA, "Timeout waiting for compute services up on the host.", "else",
		"Retrying migrate instances from host. Cannot execute openstack commands, error: 503",
		"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node x"}
	if rapid.Bool().Draw(t, "update") {
		r := sc.update(time.Duration(rapid.IntRange(0, 600).Draw(t, "begun")) * time.Minute)
		if rapid.Bool().Draw(t, "ends") {
			r.Deleting = ago(time.Minute)
		}
		sc.lock("", ControllerOpenStack, rapid.SampledFrom(states).Draw(t, "cluster lock"))
	}
	for _, name := range []string{"cmp-01", "cmp-02", "gtw-01"} {
		role := RoleCompute
		if name == "gtw-01" {
			role = RoleGateway
		}
		n := sc.node(name, role)
		n.Ready = rapid.SampledFrom([]string{"True", "False", "Unknown", ""}).Draw(t, "ready")
		n.ReadySince = ago(time.Duration(rapid.IntRange(0, 900).Draw(t, "ready since")) * time.Minute)
		n.Cordoned = rapid.Bool().Draw(t, "cordoned")
		if m := drawMode(t); m != "" {
			sc.mode(name, m)
		}
		if rapid.Bool().Draw(t, "requested") {
			r := sc.request(name, time.Duration(rapid.IntRange(0, 600).Draw(t, "requested ago"))*time.Minute)
			r.Scope = rapid.SampledFrom([]Scope{ScopeOS, ScopeDrain, "", "else"}).Draw(t, "scope")
			if rapid.Bool().Draw(t, "deleting") {
				r.Deleting = ago(time.Minute)
			}
		}
		l := sc.NodeLocks[name][0]
		l.RawState = rapid.SampledFrom(states).Draw(t, "lock")
		l.InnerState = rapid.SampledFrom([]string{InnerActive, InnerInactive, "", "else"}).Draw(t, "inner")
		l.Message = rapid.SampledFrom(texts).Draw(t, "text")
		if rapid.Bool().Draw(t, "no node") && name == "gtw-01" {
			delete(sc.Nodes, name)
		}
		for range rapid.IntRange(0, 3).Draw(t, "instances") {
			in := drawInstance(t, name)
			if sc.Instances[in.ID] != nil {
				continue
			}
			sc.Instances[in.ID] = in
			sc.ByHost[name] = append(sc.ByHost[name], in)
			if rapid.Bool().Draw(t, "migration") {
				sc.migration(in, rapid.SampledFrom([]string{"running", "error", "completed"}).Draw(t, "status"), "cmp-02", time.Minute)
			}
		}
	}
	if rapid.Bool().Draw(t, "a source is away") {
		id := rapid.SampledFrom([]SourceID{SourceNodes, SourceNodeLocks, SourceNodeRequests, SourceInstances, SourceClusterRequests,
			SourceClusterLocks, SourceNodePods, SourceMigrations, SourceComputeServices}).Draw(t, "source")
		sc.source(id, rapid.SampledFrom([]SourceState{SourceStale, SourceForbidden, SourceAbsent, SourceOff, SourceFailed, SourceConnecting}).Draw(t, "state"))
	}
	return sc
}

func TestStagesAreTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		views := sc.NodeViews()
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
