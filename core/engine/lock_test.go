package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/sim/bubble"
)

// An override is done on the lock as it was confirmed, remembered over a restart, and watched: a controller that sets the lock
// back is reported for as long as the request lasts.
func TestAnOverrideIsWatched(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		l := b.engine.Snapshot().NodeLock("cmp-1", core.ControllerOpenStack)
		id, err := b.confirm(core.Intent{Kind: core.IntentOverrideLock, Object: l.Ref(), State: core.LockInactive})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.locks["cmp-1"].RawState; got != core.LockInactive {
			t.Fatalf("the lock says %q", got)
		}
		b.end()

		b = newBench(t, dir, cloud)
		defer b.end()
		undone := func() bool {
			b.sync()
			for _, a := range attention.Of(b.engine.Snapshot()) {
				if strings.HasPrefix(a.ID, "override/") {
					return true
				}
			}
			return false
		}
		if undone() {
			t.Error("told of though the lock says what was set")
		}
		cloud.mu.Lock()
		cloud.locks["cmp-1"].RawState = core.LockActive
		cloud.mu.Unlock()
		if !undone() {
			t.Error("its controller set it back, and nobody is told")
		}
		cloud.mu.Lock()
		delete(cloud.requests, "cmp-1")
		cloud.mu.Unlock()
		if undone() {
			t.Error("told of though the maintenance is over")
		}
	})
}

// A change since the confirmation stops the write: another state, another lock with the same name, another request.
func TestAnOverrideOfAChangedLockIsRefused(t *testing.T) {
	for name, change := range map[string]func(c *testCloud){
		"the state":   func(c *testCloud) { c.locks["cmp-1"].RawState = core.LockFailed },
		"the lock":    func(c *testCloud) { c.locks["cmp-1"].UID = "another" },
		"the request": func(c *testCloud) { c.requests["cmp-1"].UID = "another" },
		"an instance": func(c *testCloud) { c.add("web-9", "cmp-1") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				b.arm()
				g := b.grant(core.Intent{Kind: core.IntentOverrideLock, Object: b.engine.Snapshot().NodeLock("cmp-1", core.ControllerOpenStack).Ref(),
					State: core.LockInactive})
				b.cloud.mu.Lock()
				change(b.cloud)
				b.cloud.mu.Unlock()
				b.sync()
				refused(t, b.execute(g), "")
				if got := b.cloud.written(); len(got) > 0 {
					t.Errorf("the cluster received %q", got)
				}
			})
		})
	}
}
