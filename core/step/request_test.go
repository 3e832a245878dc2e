package step

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// Maintenance without an update follows the order of docs/mosk.md#maintenance-mode: the cluster first, then its nodes; back in
// reverse.
func TestMaintenanceByHand(t *testing.T) {
	askNode := func(scope core.Scope) core.Intent {
		return core.Intent{Kind: core.IntentAskNode, Node: "cmp-1", Scope: scope}
	}
	cases := []struct {
		name  string
		scene func(sc scene.Scene) core.Intent
		fails string
		risk  core.Risk
		says  []string
	}{
		{"the cluster, and nobody asks for it", func(scene.Scene) core.Intent { return core.Intent{Kind: core.IntentAskCluster} }, "",
			core.RiskHigh,
			[]string{"LCM does nothing by itself", `"kind":"ClusterMaintenanceRequest"`, "kubectl create -f -"}},
		{"the cluster, and LCM's update runs", func(sc scene.Scene) core.Intent {
			sc.Update(time.Hour)
			return core.Intent{Kind: core.IntentAskCluster}
		}, "LCM asks for it", core.RiskHigh, nil},
		{"the cluster, with the release of another", func(sc scene.Scene) core.Intent {
			sc.Lock("", core.ControllerOpenStack, core.LockActive)
			return core.Intent{Kind: core.IntentAskCluster, Release: "21.0.0+25.2"}
		}, "21.0.0+25.2, and its lock is at 17.4.0+25.1", core.RiskHigh, nil},
		{"the cluster, with the scope that older releases read there", func(sc scene.Scene) core.Intent {
			return core.Intent{Kind: core.IntentAskCluster, Scope: core.ScopeDrain}
		}, "", core.RiskHigh, []string{`"scope":"drain"`}},
		{"the cluster, in a scope that nobody knows",
			func(sc scene.Scene) core.Intent { return core.Intent{Kind: core.IntentAskCluster, Scope: "all"} },
			"the scope is one that the API knows: all", core.RiskHigh, nil},
		{"the cluster, and it is being asked for already", func(sc scene.Scene) core.Intent {
			sc.Operations = []core.Operation{{ID: "o", Step: "ask-cluster/mos", Intent: core.Intent{Kind: core.IntentAskCluster},
				Title: "ask for the maintenance of the cluster", State: core.OperationRunning, Started: scene.Ago(0)}}
			return core.Intent{Kind: core.IntentAskCluster}
		}, "ask for the maintenance of the cluster", core.RiskHigh, nil},
		{"a node, and another is being asked for", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Node("cmp-2", core.RoleCompute)
			sc.Operations = []core.Operation{{ID: "o", Step: "ask-node/cmp-2", Intent: core.Intent{Kind: core.IntentAskNode, Node: "cmp-2"},
				Node: "cmp-2", Title: "ask for the maintenance of cmp-2", State: core.OperationRunning, Started: scene.Ago(0)}}
			return askNode(core.ScopeOS)
		}, "ask for the maintenance of cmp-2", core.RiskHigh, nil},
		{"a node, and the cluster's request is being withdrawn", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Operations = []core.Operation{{ID: "o", Step: "withdraw/mos", Intent: core.Intent{Kind: core.IntentWithdraw},
				Title: "withdraw the maintenance request of the cluster", State: core.OperationVerifying, Started: scene.Ago(0)}}
			return askNode(core.ScopeOS)
		}, "withdraw the maintenance request of the cluster", core.RiskHigh, nil},
		{"the cluster's withdrawal, and a node is being asked for", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Operations = []core.Operation{{ID: "o", Step: "ask-node/cmp-1", Intent: core.Intent{Kind: core.IntentAskNode, Node: "cmp-1"},
				Node: "cmp-1", Title: "ask for the maintenance of cmp-1", State: core.OperationRunning, Started: scene.Ago(0)}}
			return core.Intent{Kind: core.IntentWithdraw, Object: sc.ClusterRequests[0].Ref()}
		}, "ask for the maintenance of cmp-1", core.RiskHigh, nil},
		{"a node before the cluster", func(scene.Scene) core.Intent { return askNode(core.ScopeOS) }, "nobody asks for it", core.RiskHigh, nil},
		{"a node in LCM's update", func(sc scene.Scene) core.Intent { sc.Update(time.Hour); return askNode(core.ScopeOS) }, "LCM's update runs",
			core.RiskHigh, nil},
		{"a node while the cluster is held", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Lock("", core.ControllerCeph, core.LockActive)
			return askNode(core.ScopeOS)
		}, "still held by ceph", core.RiskHigh, nil},
		{"a node in scope os", func(sc scene.Scene) core.Intent { sc.ByHandCluster(); return askNode(core.ScopeOS) }, "", core.RiskHigh,
			[]string{`"nodeName":"cmp-1"`, `"scope":"os"`, "gets the instances off the node", "kubectl delete nodemaintenancerequest cmp-1"}},
		{"a node in scope drain", func(sc scene.Scene) core.Intent { sc.ByHandCluster(); return askNode(core.ScopeDrain) }, "", core.RiskHigh,
			[]string{"no instance is moved"}},
		{"a node without a scope", func(sc scene.Scene) core.Intent { sc.ByHandCluster(); return askNode("") },
			"the scope is one that the API knows", core.RiskHigh, nil},
		{"a node twice", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Request("cmp-1", time.Minute).MadeBy = core.MadeByLockstep
			return askNode(core.ScopeDrain)
		}, "by hand since", core.RiskHigh, nil},
		{"a controller node beside another", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Node("ctl-1", core.RoleController)
			sc.Request("ctl-1", time.Minute)
			return askNode(core.ScopeOS)
		}, "controller: ctl-1", core.RiskHigh, nil},
		{"a node that is to be removed", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Deletions["cmp-1"] = &core.NodeNotice{Meta: core.Meta{Name: "x", UID: "ndr"}, Kind: core.KindNodeDeletionRequest, Node: "cmp-1"}
			return askNode(core.ScopeOS)
		}, "NodeDeletionRequest", core.RiskHigh, nil},
		{"the end, and the node is back", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			r := sc.Request("cmp-1", time.Hour)
			r.MadeBy = core.MadeByLockstep
			return core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()}
		}, "", core.RiskHigh, []string{"kubectl delete nodemaintenancerequest cmp-1 --wait=false"}},
		{"the end, and the node is cordoned", func(sc scene.Scene) core.Intent {
			sc.ByHandCluster()
			sc.Nodes["cmp-1"].Cordoned = true
			r := sc.Request("cmp-1", time.Hour)
			r.MadeBy = core.MadeByLockstep
			return core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()}
		}, "it is cordoned", core.RiskHigh, nil},
		{"the end of LCM's own request", func(sc scene.Scene) core.Intent {
			sc.Update(time.Hour)
			return core.Intent{Kind: core.IntentWithdraw, Object: sc.Request("cmp-1", time.Hour).Ref()}
		}, "", core.RiskHighest, []string{"LCM made this request"}},
		{"the cluster's end while a node is in maintenance", func(sc scene.Scene) core.Intent {
			r := sc.ByHandCluster()
			sc.Request("cmp-1", time.Hour)
			return core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()}
		}, "no node is in maintenance: cmp-1", core.RiskHigh, nil},
		{"the cluster's end", func(sc scene.Scene) core.Intent {
			return core.Intent{Kind: core.IntentWithdraw, Object: sc.ByHandCluster().Ref()}
		}, "", core.RiskHigh,
			[]string{"take their cluster locks back"}},
		{"the requests are not known", func(sc scene.Scene) core.Intent {
			sc.Source(core.SourceClusterRequests, core.SourceForbidden)
			return core.Intent{Kind: core.IntentAskCluster}
		}, "what is known is fresh", core.RiskHigh, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.Node("cmp-1", core.RoleCompute)
			i := tc.scene(sc)
			st := Plan(sc.Again().Snapshot, i)
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
