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
