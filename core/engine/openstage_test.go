package engine

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A node that is handed to LCM and cordoned drains, or is drained: its pods tell which. Until they have come there is no transition to
// tell, neither at the first look nor when its last lock is let go. Where nobody may read them it counts as drained.
func TestAStageIsToldWhenThePodsAreKnown(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before core.SourceState // of the pods, at the first look
		pods   *core.NodePods   // that come then; nil: they may not be read
		want   core.Stage
		open   bool
	}{
		{"the first look, and it drains", core.SourceConnecting, &core.NodePods{Node: "cmp-01", Total: 40, Evictable: 7},
			core.StageDraining, true},
		{"the first look, and it is drained", core.SourceConnecting, &core.NodePods{Node: "cmp-01", Total: 33}, core.StageUpdating, true},
		{"pods of others were read", core.SourceLive, &core.NodePods{Node: "cmp-01", Total: 40, Evictable: 7},
			core.StageDraining, true},
		{"they may not be read", core.SourceForbidden, nil, core.StageUpdating, false},
	} {
		sc := scene.Healthy()
		sc.Update(time.Hour)
		sc.Maintained("cmp-01", "").RawState = core.LockInactive
		sc.Nodes["cmp-01"].Cordoned = true
		now := scene.Noon
		e := New(Config{Cluster: sc.Cluster, Operator: sc.Operator, Wall: func() time.Time { return now }, Settings: sc.Settings,
			Barred: "a test of what is observed"})
		facts := sc.Objects()
		for id := range sc.Sources {
			d := core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true, Upserts: facts[id]}
			if id == core.SourceNodePods {
				d.State, d.Replace = tt.before, tt.before == core.SourceLive
			}
			e.take(d)
		}
		look := func() (*core.NodeView, []core.CourseStage) {
			now = now.Add(time.Second)
			e.publish()
			v, _ := progress.NodeView(e.Snapshot(), "cmp-01")
			return v, e.observed.Courses["uid-cmp-01"]
		}
		if v, told := look(); v.Stage != core.StageUpdating || v.Open != tt.open || len(told) > 0 == tt.open {
			t.Errorf("%s: at first %s, open %t, told %v", tt.name, v.Stage, v.Open, told)
		}
		if tt.pods != nil {
			e.take(core.Delta{Source: core.SourceNodePods, At: now, State: core.SourceLive, Replace: true, Upserts: []core.Object{tt.pods}})
		}
		v, told := look()
		if v.Stage != tt.want || v.Open || len(told) != 1 || told[0].Stage != tt.want {
			t.Errorf("%s: in the end %s, open %t, told %v; want %s", tt.name, v.Stage, v.Open, told, tt.want)
		}
	}
}
