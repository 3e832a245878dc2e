package progress

import (
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// The facts show how far Lockstep's cold migration is.
func TestWhereAColdMigrationStands(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(sc scene.Scene, in *core.Instance)
		want  ColdState
	}{
		"it has not begun, as far as anybody knows": {func(scene.Scene, *core.Instance) {}, ColdUnseen},
		"it is copied": {func(_ scene.Scene, in *core.Instance) { in.Status, in.TaskState = "RESIZE", "resize_migrating" },
			ColdMoves},
		"it waits":                   {func(_ scene.Scene, in *core.Instance) { in.Status, in.Host = "VERIFY_RESIZE", "cmp-02" }, ColdUndecided},
		"it waits, on the same host": {func(_ scene.Scene, in *core.Instance) { in.Status = "VERIFY_RESIZE" }, ColdUndecided},
		"it is reverted": {func(_ scene.Scene, in *core.Instance) {
			in.Status, in.Host, in.TaskState = "REVERT_RESIZE", "cmp-02", "resize_reverting"
		}, ColdMoves},
		"it was confirmed": {func(_ scene.Scene, in *core.Instance) { in.Host = "cmp-02" }, ColdOver},
		"it was reverted":  {func(sc scene.Scene, in *core.Instance) { sc.ColdRecord(in, "reverted") }, ColdOver},
		"it failed":        {func(sc scene.Scene, in *core.Instance) { in.Status = "ERROR"; sc.ColdRecord(in, "error") }, ColdOver},
		"its owner resized it since": {func(sc scene.Scene, in *core.Instance) {
			in.Status = "VERIFY_RESIZE"
			sc.ColdRecord(in, "finished").Type = core.MigrationResize
		}, ColdOver},
		"an older record of another migration is told": {func(sc scene.Scene, in *core.Instance) {
			in.Status = "VERIFY_RESIZE"
			sc.ColdRecord(in, "completed").ID = 3
		}, ColdUndecided},
		"the instance is gone": {func(sc scene.Scene, in *core.Instance) { sc.Instances.Remove(in.ID) }, ColdOver},
		"nobody knows the instances": {func(sc scene.Scene, in *core.Instance) {
			sc.Instances.Remove(in.ID)
			sc.Source(core.SourceInstances, core.SourceFailed)
		}, ColdUnseen},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.Node("cmp-01", core.RoleCompute)
			sc.Node("cmp-02", core.RoleCompute)
			in := sc.Instance("cmp-01", "db-1")
			tt.given(sc, in)
			if got := ColdOf(sc.Snapshot, in.ID, core.ColdMigration{Name: "db-1", From: "cmp-01", Known: 3,
				At: scene.Ago(10 * 60e9)}); got != tt.want {
				t.Errorf("it is %d, want %d", got, tt.want)
			}
		})
	}
}
