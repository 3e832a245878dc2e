package engine

import (
	"slices"
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
