package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The OpenStack controller lets a node go with which a set loses its quorum: somebody has to be told before, and no later than LCM takes it
// down.
func TestAQuorumThatGoesWithANode(t *testing.T) {
	member := func(sc scene.Scene, set string, i int, ready bool) { sc.DaemonPods["openstack/"+set][i].Ready = ready }
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		told  bool
	}{
		"all members are ready": {func(scene.Scene) {}, false},
		"one elsewhere is down": {func(sc scene.Scene) { member(sc, "mariadb-server", 1, false) }, true},
		"its own is down":       {func(sc scene.Scene) { member(sc, "mariadb-server", 0, false) }, false},
		"two are down: the controller holds it": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			member(sc, "mariadb-server", 2, false)
		}, false},
		"two are down, and it is released": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			member(sc, "mariadb-server", 2, false)
			scene.OwnLockOf(sc, "ctl-01").RawState = core.LockInactive
		}, true},
		"one elsewhere is down, and it is released": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			scene.OwnLockOf(sc, "ctl-01").RawState = core.LockInactive
		}, true},
		"its member was drained from it": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			member(sc, "mariadb-server", 0, false)
			sc.DaemonPods["openstack/mariadb-server"][0].Node = ""
			scene.OwnLockOf(sc, "ctl-01").RawState = core.LockInactive
		}, true},
		"it returns": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			sc.NodeRequests["ctl-01"][0].Deleting = scene.Ago(time.Minute)
		}, false},
		"nobody asks for it": {func(sc scene.Scene) { member(sc, "mariadb-server", 1, false); delete(sc.NodeRequests, "ctl-01") }, false},
		"its removal is asked for": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			delete(sc.NodeRequests, "ctl-01")
			sc.Deletions["ctl-01"] = &core.NodeNotice{Meta: core.Meta{Name: "ctl-01", UID: "d", Created: scene.Ago(time.Minute)},
				Kind: core.KindNodeDeletionRequest, Node: "ctl-01"}
		}, true},
		"Lockstep plays the controller, and does not begin it": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			sc.Settings = scene.PlaysOpenStack()
		}, false},
		"the set is not known": {func(sc scene.Scene) {
			member(sc, "mariadb-server", 1, false)
			sc.Source(core.SourceDaemonPods, core.SourceForbidden)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := goingQuorum()
			tt.given(sc)
			s := sc.Again().Snapshot
			a, told := ByID(s, "quorum-goes/ctl-01/mariadb-server")
			if told != tt.told {
				t.Fatalf("told: %v, want %v: %+v", told, tt.told, a)
			}
			if !told {
				return
			}
			released := scene.OwnLockOf(sc, "ctl-01").State() == core.LockInactive
			if a.Severity != core.SeverityUrgent || !strings.HasPrefix(a.Reason, "with it mariadb-server loses its quorum: mariadb-server: ") ||
				len(a.Commands) < 2 || strings.Contains(a.Commands[0].Line, `"controllerName":"operator"`) == released ||
				strings.Contains(a.Detail, "LCM takes it down") != released {
				t.Errorf("%+v", a)
			}
		})
	}
}

// It is told ahead, once the nodes' turn has come, of the next node of the set; not while a member is down for its own node's maintenance.
func TestAQuorumThatWillGo(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		of    string // the node; empty: it is not told
	}{
		"a member is down": {func(scene.Scene) {}, "ctl-01"},
		"its own node's turn comes first: it takes nothing with it": {func(sc scene.Scene) {
			sc.DaemonPods["openstack/mariadb-server"][0].Ready, sc.DaemonPods["openstack/mariadb-server"][1].Ready = false, true
		}, "ctl-02"},
		"all are ready":           {func(sc scene.Scene) { sc.DaemonPods["openstack/mariadb-server"][1].Ready = true }, ""},
		"two are down":            {func(sc scene.Scene) { sc.DaemonPods["openstack/mariadb-server"][2].Ready = false }, ""},
		"it is in maintenance":    {func(sc scene.Scene) { sc.Request("ctl-02", time.Minute) }, ""},
		"no update runs":          {func(sc scene.Scene) { sc.ClusterRequests = nil }, ""},
		"Lockstep plays Rockoon":  {func(sc scene.Scene) { sc.Settings = scene.PlaysOpenStack() }, ""},
		"the next is asked for":   {func(sc scene.Scene) { sc.Request("ctl-03", time.Minute) }, ""},
		"the first is through it": {func(sc scene.Scene) { throughIt(sc, "ctl-01") }, "ctl-03"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := goingQuorum()
			delete(sc.NodeRequests, "ctl-01")
			sc.DaemonPods["openstack/mariadb-server"][1].Ready = false
			tt.given(sc)
			a, told := ByID(sc.Again().Snapshot, "quorum-goes/ahead/mariadb-server")
			if told != (tt.of != "") || told && (a.Node != tt.of || a.Severity != core.SeverityWarning || len(a.Commands) < 3 ||
				!strings.HasPrefix(a.Reason, "once LCM asks for it, mariadb-server loses its quorum: ")) {
				t.Errorf("told %v: %+v, want %q", told, a, tt.of)
			}
		})
	}
}

func throughIt(sc scene.Scene, node string) {
	sc.History.Rounds["uid-"+node] = core.Round{Request: "was-" + node, Update: "cmr", Started: scene.Ago(time.Hour),
		Ended: scene.Ago(time.Minute)}
}

// goingQuorum is a cluster of three controllers, of which LCM asks for the first, with the OpenStack controller at work.
func goingQuorum() scene.Scene {
	sc := scene.Quorate("ctl-01", "ctl-02", "ctl-03")
	sc.Settings = core.Settings{StaleAfter: sc.Settings.StaleAfter, MaxParallelNodes: sc.Settings.MaxParallelNodes}
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}, Replicas: 1, Existing: 1, Ready: 1}
	return sc
}

// A compute takes no member with it, wherever the members are.
func TestAComputeTakesNoQuorumWithIt(t *testing.T) {
	sc := goingQuorum()
	pods := sc.DaemonPods["openstack/mariadb-server"]
	pods[0].Ready, pods[0].Node, pods[1].Ready = false, "", false
	scene.OwnLockOf(sc, "cmp-01").RawState = core.LockInactive // LCM asks for it, too
	for _, a := range Of(sc.Again().Snapshot) {
		if a.Rule == core.RuleQuorumGoes && a.Node == "cmp-01" {
			t.Errorf("%+v", a)
		}
	}
}
