package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// Shows what Lockstep sees of the sets with which the OpenStack controller explains why it defers or keeps a node, in texts G and
// U.
func TestWhatHoldsANodeIsSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		with func(sc scene.Scene)
		want []string
	}{
		"G": {"Some services blocks nmr handling {'compute': True, 'database': False, 'redis': False}. Deferring processing for node ctl-01", nil,
			[]string{"mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not",
				"rfr-openstack-redis: 3 of 3 ready: it can do without the node now"}},
		"U":                       {"The node ctl-01 is hard locked by mariadb.", nil, []string{"mariadb-server-1 on ctl-02 is not"}},
		"U of a set that is gone": {"The node ctl-01 is hard locked by openvswitch-ovn.", nil, []string{"there is no openvswitch-ovn-db"}},
		"U of a set one may not see": {"The node ctl-01 is hard locked by redis.",
			func(sc scene.Scene) { sc.Source(core.SourceRedisSets, core.SourceForbidden) },
			[]string{"rfr-openstack-redis is not known: statefulsets of redis: forbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Quorate("ctl-01", "!ctl-02", "ctl-03")
			sc.Settings = core.DefaultSettings()
			l := sc.NodeLock("ctl-01", core.ControllerOpenStack)
			l.Message = "2026-10-14 11:59:00.000000 " + tt.text
			if tt.with != nil {
				tt.with(sc)
			}
			s := sc.Again().Snapshot
			for _, want := range tt.want {
				if got := Seen(s, l, progress.ReadLockMessage(l.Message)); !strings.Contains(got, want) {
					t.Errorf("it sees %q, want %q in it", got, want)
				}
			}
		})
	}
	// Redis is looked up in its own namespace.
	sc := scene.Quorate("ctl-01", "ctl-02", "ctl-03")
	l := sc.NodeLock("ctl-01", core.ControllerOpenStack)
	look := look(sc.Snapshot, l, progress.ReadLockMessage("2026-10-14 11:59:00.000000 The node ctl-01 is hard locked by redis."))
	if !slices.Contains(look, "kubectl -n openstack-redis get statefulset rfr-openstack-redis") {
		t.Errorf("it is looked at with %q", look)
	}
}

// Before a node's turn, its procedure says which set has to be mended, and who will wait for it.
func TestAShortQuorumIsToldBeforeTheNodesTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		node string
		pods []string
		with func(sc scene.Scene)
		why  string // empty: nothing is shown
	}{
		"one elsewhere is not ready": {"ctl-02", []string{"!ctl-01", "ctl-02", "ctl-03"}, nil, "versions of it only count the pods"},
		"two are not ready": {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, nil,
			"The OpenStack controller defers the node until then."},
		"a compute": {"cmp-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, nil,
			"The OpenStack controller defers the node until then."},
		"its own pod is not ready": {"ctl-02", []string{"ctl-01", "!ctl-02", "ctl-03"}, nil, ""},
		"Lockstep plays": {"ctl-02", []string{"!ctl-01", "ctl-02", "ctl-03"},
			func(sc scene.Scene) { sc.Settings = scene.PlaysOpenStack() }, "Lockstep, in the OpenStack controller's place"},
		"Lockstep plays on a compute": {"cmp-02", []string{"!ctl-01", "ctl-02", "ctl-03"},
			func(sc scene.Scene) { sc.Settings = scene.PlaysOpenStack() }, ""},
		"no update, a controller": {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene.Scene) { sc.ClusterRequests = nil },
			"defers the node"},
		"no update, a compute": {"cmp-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene.Scene) { sc.ClusterRequests = nil }, ""},
		"the pods may not be seen": {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"},
			func(sc scene.Scene) { sc.Source(core.SourceDaemonPods, core.SourceForbidden) }, ""},
		"it is to leave": {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"}, func(sc scene.Scene) {
			sc.Deletions["ctl-02"] = &core.NodeNotice{Meta: core.Meta{Name: "ctl-02", UID: "ndr", Created: scene.Ago(time.Minute)}, Node: "ctl-02"}
		}, "its lock does not say so"},
		"it was let go": {"ctl-02", []string{"!ctl-01", "ctl-02", "!ctl-03"},
			func(sc scene.Scene) { sc.NodeLock("ctl-02", core.ControllerOpenStack).RawState = core.LockInactive }, ""},
		"a node the controller has not": {"cmp-02", []string{"!ctl-01", "ctl-02", "!ctl-03"},
			func(sc scene.Scene) { sc.NodeLocks = sc.NodeLocks.Without("cmp-02") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Quorate(tt.pods...)
			sc.Settings = core.DefaultSettings()
			clear(sc.NodeRequests)
			if tt.with != nil {
				tt.with(sc)
			}
			p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: tt.node})
			i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return strings.HasPrefix(st.Title, "mend mariadb-server before the node") })
			switch {
			case i < 0 && tt.why != "":
				t.Errorf("nothing is told in\n%s", strings.Join(scene.Outline(p), "\n"))
			case i >= 0 && tt.why == "":
				t.Errorf("it is told: %s", p.Steps[i].Why)
			case i >= 0:
				st := p.Steps[i]
				if !strings.Contains(st.Why, tt.why) || !strings.Contains(st.Status, "mariadb-server-0 on ctl-01 is not") || len(st.Commands) != 2 ||
					st.State != core.StepWaiting {
					t.Errorf("%s, %s, %s, %q", st.State, st.Why, st.Status, st.Commands)
				}
			}
		})
	}
}
