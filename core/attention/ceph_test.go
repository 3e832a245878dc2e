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
