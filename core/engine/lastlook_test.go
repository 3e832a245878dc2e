package engine

import (
	"context"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/sim/bubble"
)

// Right before these writes the server is asked for what the last Snapshot may not have shown yet, and what is found stops them.
func TestTheServerIsAskedOnceMoreRightBefore(t *testing.T) {
	asksFor := func(c *testCloud) {
		c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "uid-nmr", Created: worldTime},
			Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1"}
	}
	for name, tt := range map[string]struct {
		cloud   func() *testCloud
		intent  func(c *testCloud) core.Intent
		happens func(c *testCloud)
		want    string
	}{
		"an inner_state is cleared, and LCM asks for the node": {func() *testCloud {
			c := atRest()
			c.locks["cmp-1"].InnerState = core.InnerActive
			return c
		}, func(c *testCloud) core.Intent {
			return core.Intent{Kind: core.IntentClearInner, Object: c.locks["cmp-1"].Ref()}
		}, asksFor, "the node has a NodeMaintenanceRequest now"},
		"a lock is set active again, and LCM asks for the node": {func() *testCloud {
			c := atRest()
			c.locks["cmp-1"].RawState = core.LockInactive
			return c
		}, func(c *testCloud) core.Intent {
			return core.Intent{Kind: core.IntentRearmLock, Object: c.locks["cmp-1"].Ref()}
		}, asksFor, "the node has a NodeMaintenanceRequest now"},
		"a node is to go down with its instances, and one moves": {newTestCloud, func(*testCloud) core.Intent {
			return core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-1"}, Mode: core.ModeSkip}
		}, func(c *testCloud) {
			asksFor(c)
			c.migrations["id-web-1"] = []*core.Migration{{ID: 99, InstanceID: "id-web-1", Type: core.MigrationLive, Status: "running",
				SourceHost: "cmp-1", Created: worldTime, Updated: worldTime}}
		}, "Nova shows migrations from or to cmp-1"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := tt.cloud()
				why := confirmedBefore(t, c, tt.intent(c), tt.happens)
				if !strings.Contains(why, tt.want) || len(c.written()) > 0 {
					t.Errorf("%q; written: %q", why, c.written())
				}
			})
		})
	}
}

// confirmedBefore has a step confirmed, then something happens that no Snapshot shows yet, and the step is carried out. It returns why it
// was not, or how it ended.
func confirmedBefore(t *testing.T, c *testCloud, i core.Intent, happens func(c *testCloud)) string {
	t.Helper()
	b := newBench(t, t.TempDir(), c)
	t.Cleanup(b.end)
	b.arm()
	st := step.Plan(b.engine.Snapshot(), i)
	g, err := b.engine.Grant(st, st.Type)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	happens(c)
	c.mu.Unlock()
	id, err := b.engine.Execute(context.Background(), g)
	if err != nil {
		return err.Error()
	}
	return b.awaitEnd(id).Text
}
