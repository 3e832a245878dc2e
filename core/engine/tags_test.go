package engine

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// The former tags are remembered over a restart, offered back when the maintenance is over, and set back.
func TestFormerTagsAreOfferedBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.instances["id-web-1"].Tags = append(scene.Tagged("notify"), "backup=daily")
		cloud.instances["id-web-1"].TagsKnown = true
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentTagPowerOff, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Fatalf("ended as %s: %s", op.State, op.Text)
		}
		if want := append([]string{"backup=daily"}, scene.Tagged("poweroff")...); !slices.Equal(cloud.instances["id-web-1"].Tags, want) {
			t.Errorf("the cloud has %q, want %q", cloud.instances["id-web-1"].Tags, want)
		}
		b.end()

		b = newBench(t, dir, cloud)
		defer b.end()
		c, ok := b.engine.Snapshot().History.Tags["id-web-1"]
		if !ok || !slices.Equal(c.Old, []core.MaintenanceAction{core.ActionNotify}) ||
			!slices.Equal(c.New, []core.MaintenanceAction{core.ActionPowerOff}) || c.By != "anna@jump01" {
			t.Fatalf("after a restart the change is %+v", c)
		}
		b.arm()
		id, err = b.confirm(core.Intent{Kind: core.IntentRestoreTags, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if got, want := cloud.instances["id-web-1"].Tags, append([]string{"backup=daily"}, scene.Tagged("notify")...); !slices.Equal(got, want) {
			t.Errorf("the tags are %q, want %q", got, want)
		}
		if changes := b.engine.Snapshot().History.Tags; len(changes) != 0 {
			t.Errorf("set back, and still offered: %v", changes)
		}
	})
}

// Tags that somebody changed meanwhile are that person's decision: nothing is written over them, and nothing is set back.
func TestTagsThatChangedMeanwhileStay(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.instances["id-web-1"].TagsKnown = true
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		stp := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentTagPowerOff, Instance: "id-web-1"})
		w := &tagChecker{nova: cloud, change: stp.Change.(core.SetMaintenanceTags)}
		cloud.instances["id-web-1"].Tags = scene.Tagged("notify")
		refused(t, w.check(t.Context()), "have changed: it is tagged notify now")
		sc := scene.Healthy()
		sc.History.Tags[scene.Web1] = core.TagChange{Instance: "web-1", Old: []core.MaintenanceAction{core.ActionNotify},
			New: []core.MaintenanceAction{core.ActionPowerOff}, At: scene.Ago(time.Hour)}
		sc.Named("web-1").Tags = scene.Tagged("live_migrate")
		if st := step.Plan(sc.Snapshot, sc.Asked("web-1", core.IntentRestoreTags)); st.Change != nil ||
			!slices.Equal(scene.Failing(st), []core.GuardID{"unchanged"}) {
			t.Errorf("restore over another's tag: %q, %+v", scene.Failing(st), st.Change)
		}
	})
}
