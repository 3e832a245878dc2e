package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// The age of an entry about something that takes too long counts from when it should have been over, not from its beginning.
func TestWhatTakesTooLongIsAsOldAsItsLateness(t *testing.T) {
	plan := func(estimate string, begun time.Duration) func(sc scene.Scene) {
		return func(sc scene.Scene) {
			sc.Update(20 * time.Hour)
			sc.Management = &core.Management{Plans: []*core.UpdatePlan{{Meta: core.Meta{Name: "plan", UID: "plan"}, Status: core.PlanStuck,
				Steps: []core.PlanStep{
					{ID: core.PlanStepWorkers + "rack-a", Name: "rack-a", Status: core.PlanStuck, Estimate: estimate, Started: scene.Ago(begun)}}}}}
		}
	}
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		entry string // the beginning of its ID
		late  core.Since
	}{
		"a group of the plan": {plan("2h", 137*time.Minute), "plan-stuck",
			core.Since{At: scene.Ago(17 * time.Minute), Exact: true}},
		"a group that is stuck before its time":  {plan("8h", 137*time.Minute), "plan-stuck", core.Since{}},
		"a group for which nobody says how long": {plan("", 137*time.Minute), "plan-stuck", core.Since{}},
		"a phase": {func(sc scene.Scene) {
			sc.Update(20 * time.Hour)
			sc.Lock("", core.ControllerOpenStack, core.LockActive)
		}, "phase/2", core.Since{At: scene.Ago(20 * time.Hour), Exact: true}.Plus(progress.EstimatesOf(scene.Healthy().Snapshot).Services())},
		"a node that does not come back": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "False", scene.Ago(40*time.Minute)
			sc.NodeRequest("cmp-01").Created = scene.Ago(50 * time.Minute)
		}, "node-slow", core.Since{At: scene.Ago(10 * time.Minute), Exact: true}},
		"a node that does not get back into service": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequest("cmp-01").Deleting = scene.Ago(13 * time.Minute)
		}, "node-slow", core.Since{At: scene.Ago(3 * time.Minute), Exact: true}},
		"a live migration": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "Starting migration")
			in := sc.ByHost["cmp-01"][0]
			in.Status, in.TaskState = "MIGRATING", "migrating"
			sc.Migration(in, "running", "cmp-02", 50*time.Minute)
		}, "migration-long", core.Since{At: scene.Ago(20 * time.Minute), Exact: true}},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			for _, a := range Of(sc.Again().Snapshot) {
				if !strings.HasPrefix(a.ID, tt.entry) {
					continue
				}
				if !a.Since.At.Equal(tt.late.At) || a.Since.Exact != tt.late.Exact {
					t.Errorf("%s: late since %+v, want %+v", a.Reason, a.Since, tt.late)
				}
				return
			}
			t.Errorf("nothing of %s in %q", tt.entry, ids(Of(sc.Snapshot)))
		})
	}
}
