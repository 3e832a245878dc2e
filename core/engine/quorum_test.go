package engine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/evacuation"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// A pod that fails after it was last seen stops the step right before the write: the server itself is asked. A server that does
// not answer stops the step too.
func TestTheQuorumIsAskedOfTheServerRightBeforeTheWrite(t *testing.T) {
	for name, tt := range map[string]struct {
		kind core.IntentKind
		fall func(c *testCloud)
		says string // empty: it is written
	}{
		"begin":             {core.IntentActBegin, nil, ""},
		"begin: a pod fell": {core.IntentActBegin, func(c *testCloud) { c.daemons.pods[1].Ready = false }, "mariadb-server-1 on cmp-2 is not"},
		"release":           {core.IntentActRelease, nil, ""},
		"release: a pod fell": {core.IntentActRelease, func(c *testCloud) { c.daemons.pods[1].Ready = false },
			"mariadb-server-1 on cmp-2 is not"},
		"release: another node was let go": {core.IntentActRelease, func(c *testCloud) { c.locks["cmp-2"].RawState = core.LockInactive },
			"mariadb-server: 3 of 3 ready; cmp-2 is released and goes down"},
		"begin: another node was let go": {core.IntentActBegin, func(c *testCloud) { c.locks["cmp-2"].RawState = core.LockInactive },
			"cmp-2 is released and goes down"},
		"release: the server does not say": {core.IntentActRelease, func(c *testCloud) {
			c.noQuorum = &core.APIError{Kind: core.ErrForbidden, Call: "list StatefulSet mariadb-server", Message: "not yours"}
		}, "forbidden: not yours"},
		"begin: the server does not say": {core.IntentActBegin, func(c *testCloud) {
			c.noQuorum = &core.APIError{Kind: core.ErrForbidden, Call: "list StatefulSet mariadb-server", Message: "not yours"}
		}, "forbidden: not yours"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				cloud.roles = map[string][]core.Role{"cmp-1": {core.RoleController}}
				cloud.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime,
					Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
				if tt.kind == core.IntentActRelease {
					cloud.locks["cmp-1"].InnerState = core.InnerActive
				}
				cloud.deletions = []*core.NodeNotice{{Meta: core.Meta{Name: "ndr", UID: "ndr", Created: worldTime},
					Kind: core.KindNodeDeletionRequest, Node: "cmp-2"}}
				set := &core.StatefulSet{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "mariadb-server", UID: "sts"}, Replicas: 3,
					Selector: "app=mariadb"}
				cloud.stateful = []*core.StatefulSet{set}
				cloud.daemons.pods = scene.Members(set, "cmp-1", "cmp-2", "cmp-3")
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				b.arm()
				st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				g, err := b.engine.Grant(st, st.Type)
				if err != nil {
					t.Fatalf("%v: blocked by %q", err, st.Blocker())
				}
				if tt.fall != nil {
					cloud.mu.Lock()
					tt.fall(cloud)
					cloud.mu.Unlock()
				}
				id, err := b.engine.Execute(context.Background(), g)
				if err != nil {
					t.Fatal(err)
				}
				op := b.awaitEnd(id)
				if tt.says == "" && (op.State != core.OperationDone || len(cloud.written()) != 1) {
					t.Errorf("it ended as %s: %s; the cluster received %q", op.State, op.Text, cloud.written())
				}
				if tt.says != "" && (op.State != core.OperationFailed || !strings.Contains(op.Text, tt.says) || len(cloud.written()) > 0) {
					t.Errorf("it ended as %s: %s; the cluster received %q", op.State, op.Text, cloud.written())
				}
			})
		})
	}
}

// A node that is no controller can have a pod of such a set all the same. While the sets are not known, the server is asked of it, too.
func TestANodeOfWhichTheQuorumIsNotKnownIsAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		on   []string // the nodes of the set's pods
		says string
	}{
		"it has a pod of the set": {[]string{"cmp-1", "!cmp-2", "cmp-3"}, "mariadb-server-1 on cmp-2 is not"},
		"it has none":             {[]string{"ctl-1", "!cmp-2", "cmp-3"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				cloud.roles = map[string][]core.Role{"cmp-1": {}}
				cloud.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime,
					Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
				set := &core.StatefulSet{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "mariadb-server", UID: "sts"}, Replicas: 3,
					Selector: "app=mariadb"}
				cloud.stateful, cloud.unlisted = []*core.StatefulSet{set}, []core.SourceID{core.SourceStatefulSets}
				cloud.daemons.pods = scene.Members(set, tt.on...)
				b := newBenchWith(t, t.TempDir(), cloud, scene.PlaysOpenStack())
				defer b.end()
				err := b.engine.quorumCheck(t.Context(), core.ControllerOpenStack, "cmp-1")
				if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("it says %v", err)
				}
			})
		})
	}
}

// A plan for the node, and what needs a person where Lockstep plays, say it too. Neither says it for a compute, which has no part
// in the quorum.
func TestAShortQuorumIsInThePlanAndInWhatNeedsYou(t *testing.T) {
	const says = "It cannot go down now: mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not."
	s := scene.Quorate("ctl-01", "!ctl-02", "ctl-03").Again().Snapshot
	for node, want := range map[string]bool{"ctl-01": true, "cmp-01": false} {
		plan, err := evacuation.NewForecast(s, core.EvacuationFacts{}, evacuation.Request{Nodes: []string{node}})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(plan.Nodes[0].Notes, says) != want {
			t.Errorf("the plan for %s notes %q", node, plan.Nodes[0].Notes)
		}
		i := slices.IndexFunc(attention.Of(s), func(a core.Attention) bool { return a.Node == node && strings.HasPrefix(a.ID, "act/") })
		if i < 0 || (attention.Of(s)[i].Detail == says) != want {
			t.Errorf("%s needs somebody: %+v", node, attention.Of(s))
		}
	}
	// In assist mode, a deferral that lasts says what is seen.
	sc := scene.Quorate("ctl-01", "!ctl-02", "ctl-03")
	sc.Settings = core.DefaultSettings()
	delete(sc.NodeRequests, "ctl-01")
	sc.Maintained("ctl-01", "Some services blocks nmr handling {'database': False}. Deferring processing for node ctl-01")
	sc.NodeRequests["ctl-01"][0].Created = scene.Ago(5 * time.Hour)
	found := attention.Of(sc.Again().Snapshot)
	if !slices.ContainsFunc(found, func(a core.Attention) bool {
		return a.Node == "ctl-01" && strings.Contains(a.Reason,
			"deferred: mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not; these")
	}) {
		t.Errorf("it does not tell what is seen: %+v", found)
	}
}
