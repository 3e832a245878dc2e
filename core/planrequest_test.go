package core

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// byHandCluster asks for the cluster by hand; its locks are released.
func (sc scene) byHandCluster() *MaintenanceRequest {
	r := sc.update(time.Hour)
	r.MadeBy = MadeByLockstep
	sc.lock("", ControllerOpenStack, LockInactive)
	return r
}

// Maintenance without an update, by the order of docs/mosk.md#maintenance-mode: the cluster first, its nodes
// then; back the other way round.
func TestMaintenanceByHand(t *testing.T) {
	askNode := func(scope Scope) Intent { return Intent{Kind: IntentAskNode, Node: "cmp-1", Scope: scope} }
	cases := []struct {
		name  string
		scene func(sc scene) Intent
		fails string
		risk  Risk
		says  []string
	}{
		{"the cluster, and nobody asks for it", func(scene) Intent { return Intent{Kind: IntentAskCluster} }, "", RiskHigh,
			[]string{"LCM does nothing by itself", `"kind":"ClusterMaintenanceRequest"`, "kubectl create -f -"}},
		{"the cluster, and LCM's update runs", func(sc scene) Intent { sc.update(time.Hour); return Intent{Kind: IntentAskCluster} }, "LCM asks for it", RiskHigh, nil},
		{"the cluster, with the release of another", func(sc scene) Intent {
			sc.lock("", ControllerOpenStack, LockActive)
			return Intent{Kind: IntentAskCluster, Release: "21.0.0+25.2"}
		}, "21.0.0+25.2, and its lock is at 17.4.0+25.1", RiskHigh, nil},
		{"the cluster, with the scope that older releases read there", func(sc scene) Intent { return Intent{Kind: IntentAskCluster, Scope: ScopeDrain} }, "", RiskHigh, []string{`"scope":"drain"`}},
		{"the cluster, in a scope that nobody knows", func(sc scene) Intent { return Intent{Kind: IntentAskCluster, Scope: "all"} }, "the scope is one that the API knows: all", RiskHigh, nil},
		{"the cluster, and it is being asked for already", func(sc scene) Intent {
			sc.Operations = []Operation{{ID: "o", Step: "ask-cluster/mos", Intent: Intent{Kind: IntentAskCluster}, Title: "ask for the maintenance of the cluster", State: OperationRunning, Started: ago(0)}}
			return Intent{Kind: IntentAskCluster}
		}, "ask for the maintenance of the cluster", RiskHigh, nil},
		{"a node before the cluster", func(scene) Intent { return askNode(ScopeOS) }, "nobody asks for it", RiskHigh, nil},
		{"a node in LCM's update", func(sc scene) Intent { sc.update(time.Hour); return askNode(ScopeOS) }, "LCM's update runs", RiskHigh, nil},
		{"a node while the cluster is held", func(sc scene) Intent {
			sc.byHandCluster()
			sc.lock("", ControllerCeph, LockActive)
			return askNode(ScopeOS)
		}, "still held by ceph", RiskHigh, nil},
		{"a node in scope os", func(sc scene) Intent { sc.byHandCluster(); return askNode(ScopeOS) }, "", RiskHigh,
			[]string{`"nodeName":"cmp-1"`, `"scope":"os"`, "gets the instances off the node", "kubectl delete nodemaintenancerequest cmp-1"}},
		{"a node in scope drain", func(sc scene) Intent { sc.byHandCluster(); return askNode(ScopeDrain) }, "", RiskHigh, []string{"no instance is moved"}},
		{"a node without a scope", func(sc scene) Intent { sc.byHandCluster(); return askNode("") }, "the scope is one that the API knows", RiskHigh, nil},
		{"a node twice", func(sc scene) Intent {
			sc.byHandCluster()
			sc.request("cmp-1", time.Minute).MadeBy = MadeByLockstep
			return askNode(ScopeDrain)
		}, "by hand since", RiskHigh, nil},
		{"a controller node beside another", func(sc scene) Intent {
			sc.byHandCluster()
			sc.node("ctl-1", RoleController)
			sc.request("ctl-1", time.Minute)
			return askNode(ScopeOS)
		}, "controller: ctl-1", RiskHigh, nil},
		{"a node that is to be removed", func(sc scene) Intent {
			sc.byHandCluster()
			sc.Deletions["cmp-1"] = &NodeNotice{Meta: Meta{Name: "x", UID: "ndr"}, Kind: KindNodeDeletionRequest, Node: "cmp-1"}
			return askNode(ScopeOS)
		}, "NodeDeletionRequest", RiskHigh, nil},
		{"the end, and the node is back", func(sc scene) Intent {
			sc.byHandCluster()
			r := sc.request("cmp-1", time.Hour)
			r.MadeBy = MadeByLockstep
			return Intent{Kind: IntentWithdraw, Object: r.Ref()}
		}, "", RiskHigh, []string{"kubectl delete nodemaintenancerequest cmp-1 --wait=false"}},
		{"the end, and the node is cordoned", func(sc scene) Intent {
			sc.byHandCluster()
			sc.Nodes["cmp-1"].Cordoned = true
			r := sc.request("cmp-1", time.Hour)
			r.MadeBy = MadeByLockstep
			return Intent{Kind: IntentWithdraw, Object: r.Ref()}
		}, "it is cordoned", RiskHigh, nil},
		{"the end of LCM's own request", func(sc scene) Intent {
			sc.update(time.Hour)
			return Intent{Kind: IntentWithdraw, Object: sc.request("cmp-1", time.Hour).Ref()}
		}, "", RiskHighest, []string{"LCM made this request"}},
		{"the cluster's end while a node is in maintenance", func(sc scene) Intent {
			r := sc.byHandCluster()
			sc.request("cmp-1", time.Hour)
			return Intent{Kind: IntentWithdraw, Object: r.Ref()}
		}, "no node is in maintenance: cmp-1", RiskHigh, nil},
		{"the cluster's end", func(sc scene) Intent { return Intent{Kind: IntentWithdraw, Object: sc.byHandCluster().Ref()} }, "", RiskHigh,
			[]string{"take their cluster locks back"}},
		{"the requests are not known", func(sc scene) Intent {
			sc.source(SourceClusterRequests, SourceForbidden)
			return Intent{Kind: IntentAskCluster}
		}, "what is known is fresh", RiskHigh, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := newScene()
			sc.node("cmp-1", RoleCompute)
			i := tc.scene(sc)
			st := Plan(sc.again().Snapshot, i)
			if got := st.Blocker(); tc.fails == "" && got != "" || !strings.Contains(got, tc.fails) {
				t.Errorf("it is blocked by %q, want %q", got, tc.fails)
			}
			if st.Risk != tc.risk || st.Type == "" {
				t.Errorf("risk %s, to be typed %q; want %s", st.Risk, st.Type, tc.risk)
			}
			all := st.Why + "\n" + st.Then + "\n" + st.Undo + "\n" + strings.Join(st.Commands, "\n")
			for _, text := range tc.says {
				if !strings.Contains(all, text) {
					t.Errorf("it does not say %q:\n%s", text, all)
				}
			}
		})
	}
}

// The whole way by hand: at every point the procedure offers the one step that comes next, and every write reaches the
// cluster once.
func TestAMaintenanceByHandFromEndToEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.cluster, cloud.clusterLock.RawState = nil, LockActive
		clear(cloud.requests)
		next := func(b *bench, key ProcedureKey, kind IntentKind) string {
			t.Helper()
			b.sync()
			p, ok := b.engine.Snapshot().Procedure(key)
			if !ok {
				t.Fatalf("no procedure %v", key)
			}
			for _, st := range p.Steps {
				if st.Intent.Kind == kind {
					if st.State != StepReady {
						t.Fatalf("%s is %s: %s", st.Title, st.State, st.Blocker())
					}
					id, err := b.confirm(st.Intent)
					if err != nil {
						t.Fatal(err)
					}
					if op := b.awaitEnd(id); op.State != OperationDone {
						t.Fatalf("%s ended as %s: %s", st.Title, op.State, op.Text)
					}
					b.sync()
					return st.Title
				}
			}
			t.Fatalf("%v offers no %s: %v", key, kind, p.Steps)
			return ""
		}
		cluster, node := ProcedureKey{Kind: ProcedureCluster}, ProcedureKey{Kind: ProcedureNode, Subject: "cmp-2"}
		steps := []struct {
			key  ProcedureKey
			kind IntentKind
			then func() // what the controllers do
		}{
			{cluster, IntentAskCluster, func() { cloud.clusterLock.RawState = LockInactive }},
			{node, IntentAskNode, func() { cloud.locks["cmp-2"].RawState = LockInactive }},
			{node, IntentWithdraw, func() { cloud.locks["cmp-2"].RawState = LockActive }},
			{cluster, IntentWithdraw, func() { cloud.clusterLock.RawState = LockActive }},
		}
		for _, st := range steps {
			b := newBench(t, dir, cloud) // started anew before every step
			b.arm()
			next(b, st.key, st.kind)
			b.end()
			cloud.mu.Lock()
			st.then()
			cloud.mu.Unlock()
		}
		want := "create-request mos, create-request cmp-2, delete cmp-2, delete mos"
		if got := strings.Join(cloud.written(), ", "); got != want {
			t.Errorf("the cluster received %s, want %s", got, want)
		}
	})
}

// A node that is to be removed is held by every instance on it, whatever its state and the node's mode (text S): each has a
// step that takes it off, and stopping it is none.
func TestRemovalOfANode(t *testing.T) {
	sc := newScene()
	sc.node("cmp-1", RoleCompute)
	sc.mode("cmp-1", ModeSkip)
	sc.Deletions["cmp-1"] = &NodeNotice{Meta: Meta{Name: "cmp-1", UID: "ndr", Created: ago(time.Hour)}, Kind: KindNodeDeletionRequest, Node: "cmp-1"}
	for status, vm := range map[string]string{"ACTIVE": "active", "SHUTOFF": "stopped", "PAUSED": "paused", "VERIFY_RESIZE": "resized", "RESCUE": "rescued"} {
		in := sc.instance("cmp-1", strings.ToLower(status))
		in.Status, in.VMState = status, vm
	}
	p, ok := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-1"})
	if !ok || !strings.Contains(p.Goal, "removed") {
		t.Fatalf("the procedure is %q: %s", p.Title, p.Goal)
	}
	want := map[string]IntentKind{"active": IntentLiveMigrate, "shutoff": IntentColdMigrate, "paused": IntentLiveMigrate, "verify_resize": IntentConfirmResize, "rescue": ""}
	for _, st := range p.Steps {
		kind, is := want[st.Label]
		if is && st.Target.Kind == KindInstance {
			if st.Intent.Kind != kind {
				t.Errorf("%s: offered is %q, want %q", st.Label, st.Intent.Kind, kind)
			}
			delete(want, st.Label)
		}
		for _, other := range append(st.Alternatives, st) {
			switch other.Intent.Kind {
			case IntentStop, IntentSetMode, IntentDeclareSafe:
				t.Errorf("%s is offered, and is no help", other.Title)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
}
