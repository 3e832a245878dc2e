package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// The step removes the finalizer, and the lock is gone.
func TestALockInDeletionIsLetGo(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := atRest()
		c.cluster = nil
		c.roles = map[string][]core.Role{"cmp-1": {core.RoleStorage}}
		l := c.locks["cmp-1"]
		l.Deleting, l.Finalizers = worldTime.Add(-time.Hour), []string{core.UsualFinalizer}
		b := newBench(t, t.TempDir(), c)
		t.Cleanup(b.end)
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentFreeLock, Object: l.Ref()})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		if c.locks["cmp-1"] != nil || !slices.Contains(c.written(), "remove-finalizer openstack-cmp-1") {
			t.Errorf("the lock is %+v after %q", c.locks["cmp-1"], c.written())
		}
	})
}

// Before a lock is let go, the server is asked whether LCM could take the node then: the last lists may be older. Where an update runs, a
// lock of the operator's own has to hold the node still; where none does, nobody may have asked for the node meanwhile.
func TestALockInDeletionIsNotLetGoOnceLCMMayTakeTheNode(t *testing.T) {
	for name, tt := range map[string]struct {
		held    bool // by a lock of the operator's own, in an update
		happens func(c *testCloud)
		want    string
	}{
		"the other lock goes": {true, func(c *testCloud) { delete(c.locks, "ops") }, "the lock that holds the node otherwise is gone"},
		"an update begins": {false, func(c *testCloud) {
			c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "cluster", UID: "uid-cmr", Created: worldTime},
				Kind: core.KindClusterMaintenanceRequest}
		}, "an update runs now"},
		"LCM asks for the node": {false, func(c *testCloud) {
			c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "uid-nmr", Created: worldTime},
				Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1"}
		}, "LCM asks for the node now"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := atRest()
				c.roles = map[string][]core.Role{"cmp-1": {core.RoleStorage}}
				l := c.locks["cmp-1"]
				if tt.held {
					own := *l
					own.Name, own.UID, own.Controller, own.RawState = "ops-cmp-1", "uid-ops", "ops", core.LockActive
					c.locks["ops"] = &own
				} else {
					c.cluster = nil
				}
				l.Deleting, l.Finalizers = worldTime.Add(-time.Hour), []string{core.UsualFinalizer}
				why := confirmedBefore(t, c, core.Intent{Kind: core.IntentFreeLock, Object: l.Ref()}, tt.happens)
				if !strings.Contains(why, tt.want) || slices.Contains(c.written(), "remove-finalizer openstack-cmp-1") {
					t.Errorf("%q; written: %q", why, c.written())
				}
			})
		})
	}
}
