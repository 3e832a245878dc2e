package step

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The steps on locks, each with its conditions, from docs/mosk.md#locks, #by-hand, #left-over-locks.
func TestWhatCanBeDoneWithALock(t *testing.T) {
	override := func(l *core.WorkloadLock, to core.LockState) core.Intent {
		return core.Intent{Kind: core.IntentOverrideLock, Object: l.Ref(), State: to}
	}
	cases := []struct {
		name  string
		scene func(sc scene.Scene) core.Intent
		risk  core.Risk
		fails string // the blocker; empty: it can be confirmed
		typed string
		says  []string // in why, then, commands
	}{
		{"the lock of a node in scope os is set inactive: what runs there goes down", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			sc.Instance("cmp-1", "web-1")
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockInactive)
		}, core.RiskHighest, "", "openstack-cmp-1",
			[]string{"1 instance goes down with it: web-1", "within 60 s", "--subresource=status",
				`{"status":{"state":"inactive","errorMessage":null}}`}},
		{"OpenStack has not told of late what runs there", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			sc.Instance("cmp-1", "web-1")
			sc.Aged(core.SourceInstances, 2*time.Hour)
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockInactive)
		}, core.RiskHighest, "", "openstack-cmp-1",
			[]string{"1 instance goes down with it: web-1, as of 10:00: OpenStack has not told since"}},
		{"and nothing ran there then", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			sc.Aged(core.SourceInstances, 2*time.Hour)
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockInactive)
		}, core.RiskHighest, "", "openstack-cmp-1",
			[]string{"nothing was known to run on it, as of 10:00: OpenStack has not told since"}},
		{"a node that was asked for by hand: LCM does nothing", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.ByHandCluster()
			sc.Maintained("cmp-1", "")
			sc.NodeRequest("cmp-1").MadeBy = core.MadeByLockstep
			sc.Instance("cmp-1", "web-1")
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockInactive)
		}, core.RiskHighest, "", "openstack-cmp-1",
			[]string{"it is yours to drain, and to reboot; 1 instance goes down with it: web-1. LCM does nothing by itself"}},
		{"the node's request is being removed: LCM takes nothing by it", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			sc.NodeRequest("cmp-1").Deleting = scene.Noon
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockInactive)
		}, core.RiskHighest, "", "openstack-cmp-1", []string{"Its request is being removed: LCM takes nothing by it any more."}},
		{"others hold the node as well", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			sc.Lock("cmp-1", core.ControllerCeph, core.LockActive)
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockInactive)
		}, core.RiskHighest, "", "openstack-cmp-1", []string{"still waits for the lock of ceph"}},
		{"an instance is on its way", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			sc.Migration(sc.Instance("cmp-1", "web-1"), "running", "cmp-2", time.Minute)
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockInactive)
		}, core.RiskHighest, "no migration from or to the host is under way: web-1", "openstack-cmp-1", nil},
		{"it says so already", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockActive)
		}, core.RiskHighest, "the lock does not say it yet", "openstack-cmp-1", nil},
		{"a state that the API does not know", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			return override(sc.NodeLock("cmp-1", core.ControllerOpenStack), "asleep")
		}, core.RiskHighest, "a state that the API knows: asleep", "openstack-cmp-1", nil},
		{"the text has two lines", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			i := override(sc.NodeLock("cmp-1", core.ControllerOpenStack), core.LockFailed)
			i.Reason = "one\ntwo"
			return i
		}, core.RiskHighest, "the text is one line", "openstack-cmp-1", nil},
		{"a cluster lock, and no other holds the cluster", func(sc scene.Scene) core.Intent {
			sc.Update(time.Hour)
			return override(sc.Lock("", core.ControllerCeph, core.LockActive), core.LockInactive)
		}, core.RiskHighest, "", "ceph-", []string{"goes on to the nodes at once", "does not know when ceph looks"}},
		{"TF handles one node at a time", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			return override(sc.Lock("cmp-1", core.ControllerTungstenFabric, core.LockActive), core.LockInactive)
		}, core.RiskHighest, "", "tungstenfabric-cmp-1", []string{"no other node until this lock is active again"}},
		{"an inner_state that was left", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			l := sc.NodeLock("cmp-1", core.ControllerOpenStack)
			l.InnerState = core.InnerActive
			return core.Intent{Kind: core.IntentClearInner, Object: l.Ref()}
		}, core.RiskHigh, "", "cmp-1", []string{"kubectl annotate nodeworkloadlock openstack-cmp-1 inner_state=inactive --overwrite"}},
		{"an inner_state of a node in maintenance", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			sc.Maintained("cmp-1", "")
			return core.Intent{Kind: core.IntentClearInner, Object: sc.NodeLock("cmp-1", core.ControllerOpenStack).Ref()}
		}, core.RiskHigh, "nobody asks for the node", "cmp-1", nil},
		{"an inner_state, and the requests are not known", func(sc scene.Scene) core.Intent {
			sc.Node("cmp-1", core.RoleCompute)
			l := sc.NodeLock("cmp-1", core.ControllerOpenStack)
			l.InnerState = core.InnerActive
			sc.Source(core.SourceNodeRequests, core.SourceForbidden)
			return core.Intent{Kind: core.IntentClearInner, Object: l.Ref()}
		}, core.RiskHigh, "what is known is fresh", "cmp-1", nil},
		{"a lock that is gone", func(scene.Scene) core.Intent {
			return core.Intent{Kind: core.IntentOverrideLock, Object: core.Ref{Kind: core.KindNodeWorkloadLock, Name: "x", UID: "gone"},
				State: core.LockInactive}
		}, core.RiskHighest, "the lock exists", "", nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := scene.NewScene()
			st := Plan(sc.Snapshot, tc.scene(sc))
			st = Plan(sc.Again().Snapshot, st.Intent)
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
