package attention

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A node that Ceph holds has an entry when Ceph is not well, and has not been for a while; flags that a maintenance sets are no trouble.
func TestCephThatIsNotWellHoldsANode(t *testing.T) {
	down, flags := core.CephHealth{Name: "OSD_DOWN", Message: "1 osds down"}, core.CephHealth{Name: "OSDMAP_FLAGS", Message: "noout"}
	for name, tt := range map[string]struct {
		asked  time.Duration
		state  core.LockState
		checks []core.CephHealth
		want   core.DiagnosisID // empty: no entry
	}{
		"an OSD is down":     {20 * time.Minute, core.LockActive, []core.CephHealth{flags, down}, "ceph-degraded"},
		"OSDs are slow":      {20 * time.Minute, core.LockActive, []core.CephHealth{{Name: "BLUESTORE_SLOW_OP_ALERT"}}, "ceph-slow-osds"},
		"only flags":         {20 * time.Minute, core.LockActive, []core.CephHealth{flags}, ""},
		"asked just now":     {time.Minute, core.LockActive, []core.CephHealth{down}, ""},
		"Ceph has let it go": {20 * time.Minute, core.LockInactive, []core.CephHealth{down}, ""},
	} {
		sc := scene.Healthy()
		sc.Maintained("cmp-01", "")
		sc.NodeRequest("cmp-01").Created = scene.Ago(tt.asked)
		sc.Lock("cmp-01", core.ControllerCeph, tt.state)
		sc.Ceph = []*core.CephCluster{{Meta: core.Meta{Name: "ceph"}, Health: core.CephWarn, Checks: tt.checks}}
		all := Of(sc.Again().Snapshot)
		i := slices.IndexFunc(all, func(a core.Attention) bool { return a.Rule == core.RuleCephHolds })
		switch {
		case (i >= 0) != (tt.want != ""):
			t.Errorf("%s: %+v", name, all)
		case i >= 0 && (all[i].Diagnosis == nil || all[i].Diagnosis.ID != tt.want):
			t.Errorf("%s: its cause is %+v, want %s", name, all[i].Diagnosis, tt.want)
		}
	}
}

// Ceph handles one storage node at a time, and is not well while that is down or its data is copied: the next node has no trouble then.
func TestANodeThatWaitsWhileCephHasLetAnotherGo(t *testing.T) {
	for name, tt := range map[string]struct {
		health string
		other  func(scene.Scene)
		told   bool
	}{
		"the other is away":                   {core.CephWarn, func(scene.Scene) {}, false},
		"the other is away, and data is lost": {core.CephError, func(scene.Scene) {}, true},
		"the other waits, too": {core.CephWarn, func(sc scene.Scene) {
			sc.NodeLock("cmp-02", core.ControllerCeph).RawState = core.LockActive
		}, true},
		"the other came back a moment ago":    {core.CephWarn, func(sc scene.Scene) { cameBack(sc, "cmp-02", time.Minute) }, false},
		"the other has been back for an hour": {core.CephWarn, func(sc scene.Scene) { cameBack(sc, "cmp-02", time.Hour) }, true},
	} {
		sc := scene.Healthy()
		for _, node := range []string{"cmp-01", "cmp-02"} {
			sc.Maintained(node, "")
			sc.NodeRequest(node).Created = scene.Ago(20 * time.Minute)
		}
		sc.Lock("cmp-01", core.ControllerCeph, core.LockActive)
		sc.Lock("cmp-02", core.ControllerCeph, core.LockInactive)
		for _, node := range []string{"cmp-01", "cmp-02"} {
			sc.History.Rounds["uid-"+node] = core.Round{Request: sc.NodeRequest(node).UID, Started: scene.Ago(20 * time.Minute)}
		}
		sc.Ceph = []*core.CephCluster{{Meta: core.Meta{Name: "ceph"}, Health: tt.health, Checks: []core.CephHealth{{Name: "OSD_DOWN"}}}}
		tt.other(sc)
		_, told := entryAbout(sc.Again().Snapshot, "ceph-holds", "cmp-01")
		if told != tt.told {
			t.Errorf("%s: told %t", name, told)
		}
	}
}

// cameBack ends the maintenance of a node, so long ago.
func cameBack(sc scene.Scene, node string, ago time.Duration) {
	delete(sc.NodeRequests, node)
	sc.NodeLock(node, core.ControllerCeph).RawState = core.LockActive
	sc.History.Rounds["uid-"+node] = core.Round{Request: "r", Started: scene.Ago(2 * time.Hour), Ended: scene.Ago(ago)}
}
