package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/sim/bubble"
)

// A whole maintenance by hand: at every point the procedure offers the one step that comes next, and every write reaches the
// cluster once.
func TestAMaintenanceByHandFromEndToEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.cluster, cloud.clusterLock.RawState = nil, core.LockActive
		clear(cloud.requests)
		next := func(b *bench, key core.ProcedureKey, kind core.IntentKind) string {
			t.Helper()
			b.sync()
			p, ok := procedure.Of(b.engine.Snapshot(), key)
			if !ok {
				t.Fatalf("no procedure %v", key)
			}
			for _, st := range p.Steps {
				if st.Intent.Kind == kind {
					if st.State != core.StepReady {
						t.Fatalf("%s is %s: %s", st.Title, st.State, st.Blocker())
					}
					id, err := b.confirm(st.Intent)
					if err != nil {
						t.Fatal(err)
					}
					if op := b.awaitEnd(id); op.State != core.OperationDone {
						t.Fatalf("%s ended as %s: %s", st.Title, op.State, op.Text)
					}
					b.sync()
					return st.Title
				}
			}
			t.Fatalf("%v offers no %s: %v", key, kind, p.Steps)
			return ""
		}
		cluster, node := core.ProcedureKey{Kind: core.ProcedureCluster}, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-2"}
		steps := []struct {
			key  core.ProcedureKey
			kind core.IntentKind
			then func() // what the controllers do
		}{
			{cluster, core.IntentAskCluster, func() { cloud.clusterLock.RawState = core.LockInactive }},
			{node, core.IntentAskNode, func() { cloud.locks["cmp-2"].RawState = core.LockInactive }},
			{node, core.IntentWithdraw, func() { cloud.locks["cmp-2"].RawState = core.LockActive }},
			{cluster, core.IntentWithdraw, func() { cloud.clusterLock.RawState = core.LockActive }},
		}
		for _, st := range steps {
			b := newBench(t, dir, cloud) // restarted before every step
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

// Right before a request is made, or that of the cluster is withdrawn, the server is asked for all requests: a colleague may have made or
// withdrawn one that no Snapshot shows yet.
func TestARequestByHandIsMadeOnlyBesideThoseThatWereSeen(t *testing.T) {
	byHand := func(c *testCloud) {
		clear(c.requests)
		c.cluster.MadeBy = core.MadeByLockstep
	}
	nobody := func(c *testCloud) {
		clear(c.requests)
		c.cluster = nil
	}
	other := func(c *testCloud) {
		c.requests["cmp-2"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-2", UID: "nmr-2", Created: worldTime},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-2", Scope: core.ScopeOS}
	}
	askNode := core.Intent{Kind: core.IntentAskNode, Node: "cmp-1", Scope: core.ScopeOS}
	askCluster := core.Intent{Kind: core.IntentAskCluster}
	withdraw := core.Intent{Kind: core.IntentWithdraw, Object: newTestCloud().cluster.Ref()}
	for name, tt := range map[string]struct {
		is      func(c *testCloud)
		intent  core.Intent
		happens func(c *testCloud)
		want    string // empty: it is written
	}{
		"a node": {byHand, askNode, func(*testCloud) {}, ""},
		"a node, and another is asked for": {func(c *testCloud) {
			byHand(c)
			c.roles = map[string][]core.Role{"cmp-1": {core.RoleController}, "cmp-2": {core.RoleController}}
		}, askNode, other, "no more nodes are in maintenance than the rule allows: controller: cmp-2"},
		"a node, and the cluster is withdrawn": {byHand, askNode, nobody,
			"the cluster is in maintenance by hand: nobody asks for it"},
		"a node, and the cluster's goes": {byHand, askNode,
			func(c *testCloud) { c.cluster.Deleting = worldTime }, "its request is being removed"},
		"a node, and the cluster's is another": {byHand, askNode,
			func(c *testCloud) { c.cluster.UID = "x" }, "cluster request: cmr → x"},
		"the cluster": {nobody, askCluster, func(*testCloud) {}, ""},
		"the cluster, and LCM asks for it": {nobody, askCluster,
			func(c *testCloud) { c.cluster = newTestCloud().cluster }, "LCM asks for it since"},
		"the cluster's withdrawal":                       {byHand, withdraw, func(*testCloud) {}, ""},
		"the cluster's withdrawal, and a node's is made": {byHand, withdraw, other, "no node is in maintenance: cmp-2"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newTestCloud()
				tt.is(c)
				if c.cluster == nil {
					c.clusterLock.RawState = core.LockActive
				}
				why := confirmedBefore(t, c, tt.intent, tt.happens)
				wrote := len(c.written()) > 0
				if tt.want == "" && !wrote || tt.want != "" && (wrote || !strings.Contains(why, tt.want)) {
					t.Errorf("%q; written: %q", why, c.written())
				}
			})
		})
	}
}
