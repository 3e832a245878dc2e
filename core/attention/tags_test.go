package attention

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// When its node is done, an instance that Lockstep tagged needs a look; not before, and not when somebody else decided.
func TestTagsLeft(t *testing.T) {
	left := func(change func(sc scene.Scene)) bool {
		sc := scene.Healthy()
		sc.Update(2 * time.Hour)
		sc.Named("web-1").Tags = scene.Tagged("poweroff")
		sc.History.Tags[scene.Web1] = core.TagChange{Instance: "web-1", Old: []core.MaintenanceAction{core.ActionNotify},
			New: []core.MaintenanceAction{core.ActionPowerOff}, At: scene.Ago(time.Hour)}
		sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "r", Update: "cmr", Started: scene.Ago(50 * time.Minute),
			Ended: scene.Ago(10 * time.Minute)}
		change(sc)
		return slices.ContainsFunc(Of(sc.Snapshot), func(a core.Attention) bool { return a.ID == "tags-left/"+scene.Web1 })
	}
	for name, tc := range map[string]struct {
		change func(sc scene.Scene)
		want   bool
	}{
		"its node is through":         {func(scene.Scene) {}, true},
		"its node is in maintenance":  {func(sc scene.Scene) { sc.Request("cmp-01", time.Minute) }, false},
		"its node's turn comes":       {func(sc scene.Scene) { sc.History.Rounds = map[string]core.Round{} }, false},
		"its owner decided otherwise": {func(sc scene.Scene) { sc.Named("web-1").Tags = scene.Tagged("live_migrate") }, false},
		"it is gone":                  {func(sc scene.Scene) { sc.Instances.Remove(scene.Web1) }, false},
	} {
		if got := left(tc.change); got != tc.want {
			t.Errorf("%s: told %v", name, got)
		}
	}
}
