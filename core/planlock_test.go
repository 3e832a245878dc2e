package core

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// The steps on locks, each with what it needs, from docs/mosk.md#locks, #by-hand, #left-over-locks.
func TestWhatCanBeDoneWithALock(t *testing.T) {
	override := func(l *WorkloadLock, to LockState) Intent {
		return Intent{Kind: IntentOverrideLock, Object: l.Ref(), State: to}
	}
	cases := []struct {
		name  string
		scene func(sc scene) Intent
		risk  Risk
		fails string // the blocker; empty: it can be confirmed
		typed string
		says  []string // in why, then, commands
	}{
		{"the lock of a node in scope os is set inactive: what runs there goes down", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			sc.maintained("cmp-1", "")
			sc.instance("cmp-1", "web-1")
			return override(sc.NodeLock("cmp-1", ControllerOpenStack), LockInactive)
		}, RiskHighest, "", "openstack-cmp-1", []string{"1 instance goes down with it: web-1", "within 60 s", "--subresource=status", `{"status":{"state":"inactive","errorMessage":null}}`}},
		{"others hold the node as well", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			sc.maintained("cmp-1", "")
			sc.lock("cmp-1", ControllerCeph, LockActive)
			return override(sc.NodeLock("cmp-1", ControllerOpenStack), LockInactive)
		}, RiskHighest, "", "openstack-cmp-1", []string{"still waits for the lock of ceph"}},
		{"an instance is on its way", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			sc.maintained("cmp-1", "")
			sc.migration(sc.instance("cmp-1", "web-1"), "running", "cmp-2", time.Minute)
			return override(sc.NodeLock("cmp-1", ControllerOpenStack), LockInactive)
		}, RiskHighest, "no migration from or to the host is running: web-1", "openstack-cmp-1", nil},
		{"it says so already", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			return override(sc.NodeLock("cmp-1", ControllerOpenStack), LockActive)
		}, RiskHighest, "the lock does not say it yet", "openstack-cmp-1", nil},
		{"a state that the API does not know", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			return override(sc.NodeLock("cmp-1", ControllerOpenStack), "asleep")
		}, RiskHighest, "a state that the API knows: asleep", "openstack-cmp-1", nil},
		{"the text has two lines", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			i := override(sc.NodeLock("cmp-1", ControllerOpenStack), LockFailed)
			i.Reason = "one\ntwo"
			return i
		}, RiskHighest, "the text is one line", "openstack-cmp-1", nil},
		{"a cluster lock, and no other holds the cluster", func(sc scene) Intent {
			sc.update(time.Hour)
			return override(sc.lock("", ControllerCeph, LockActive), LockInactive)
		}, RiskHighest, "", "ceph-", []string{"goes on to the nodes at once", "does not know when ceph looks"}},
		{"TF handles one node at a time", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			sc.maintained("cmp-1", "")
			return override(sc.lock("cmp-1", ControllerTungstenFabric, LockActive), LockInactive)
		}, RiskHighest, "", "tungstenfabric-cmp-1", []string{"no other node until this lock is active again"}},
		{"an inner_state that was left", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			l := sc.NodeLock("cmp-1", ControllerOpenStack)
			l.InnerState = InnerActive
			return Intent{Kind: IntentClearInner, Object: l.Ref()}
		}, RiskHigh, "", "cmp-1", []string{"kubectl annotate nodeworkloadlock openstack-cmp-1 inner_state=inactive --overwrite"}},
		{"an inner_state of a node in maintenance", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			sc.maintained("cmp-1", "")
			return Intent{Kind: IntentClearInner, Object: sc.NodeLock("cmp-1", ControllerOpenStack).Ref()}
		}, RiskHigh, "nobody asks for the node", "cmp-1", nil},
		{"an inner_state, and the requests are not known", func(sc scene) Intent {
			sc.node("cmp-1", RoleCompute)
			l := sc.NodeLock("cmp-1", ControllerOpenStack)
			l.InnerState = InnerActive
			sc.source(SourceNodeRequests, SourceForbidden)
			return Intent{Kind: IntentClearInner, Object: l.Ref()}
		}, RiskHigh, "what is known is fresh", "cmp-1", nil},
		{"a lock that is gone", func(scene) Intent {
			return Intent{Kind: IntentOverrideLock, Object: Ref{Kind: KindNodeWorkloadLock, Name: "x", UID: "gone"}, State: LockInactive}
		}, RiskHighest, "the lock exists", "", nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := newScene()
			st := Plan(sc.Snapshot, tc.scene(sc))
			st = Plan(sc.again().Snapshot, st.Intent)
			if got := st.Blocker(); tc.fails == "" && got != "" || !strings.Contains(got, tc.fails) {
				t.Errorf("it is blocked by %q, want %q", got, tc.fails)
			}
			if st.Risk != tc.risk || st.Type != tc.typed {
				t.Errorf("risk %s, type %q; want %s, %q", st.Risk, st.Type, tc.risk, tc.typed)
			}
			all := st.Why + "\n" + st.Then + "\n" + strings.Join(st.Commands, "\n")
			for _, text := range tc.says {
				if !strings.Contains(all, text) {
					t.Errorf("it does not say %q:\n%s", text, all)
				}
			}
		})
	}
}

// An override is done on the lock as it was confirmed, remembered over a restart, and watched: a controller that sets the
// lock back is told of for as long as the request lasts.
func TestAnOverrideIsWatched(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		l := b.engine.Snapshot().NodeLock("cmp-1", ControllerOpenStack)
		id, err := b.confirm(Intent{Kind: IntentOverrideLock, Object: l.Ref(), State: LockInactive})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationDone {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.locks["cmp-1"].RawState; got != LockInactive {
			t.Fatalf("the lock says %q", got)
		}
		b.end()

		b = newBench(t, dir, cloud)
		defer b.end()
		undone := func() bool {
			b.sync()
			for _, a := range b.engine.Snapshot().Attention() {
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
		cloud.locks["cmp-1"].RawState = LockActive
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

// What changed since the confirmation stops the write: another state, another lock under the name, another request.
func TestAnOverrideOfAChangedLockIsRefused(t *testing.T) {
	for name, change := range map[string]func(c *testCloud){
		"the state":   func(c *testCloud) { c.locks["cmp-1"].RawState = LockFailed },
		"the lock":    func(c *testCloud) { c.locks["cmp-1"].UID = "another" },
		"the request": func(c *testCloud) { c.requests["cmp-1"].UID = "another" },
		"an instance": func(c *testCloud) { c.add("web-9", "cmp-1") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				b.arm()
				g := b.grant(Intent{Kind: IntentOverrideLock, Object: b.engine.Snapshot().NodeLock("cmp-1", ControllerOpenStack).Ref(), State: LockInactive})
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
