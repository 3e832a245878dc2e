package attention

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The documents warn that more than a day between two releases is a risk for workloads. The entry shows its time, and is not
// urgent.
func TestLongerThanADayBetweenTwoReleasesIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(sc scene.Scene)
		since  time.Duration
	}{
		"no update runs": {func(scene.Scene) {}, 0},
		"for 23 hours":   {func(sc scene.Scene) { sc.Update(23 * time.Hour) }, 0},
		"for 25 hours":   {func(sc scene.Scene) { sc.Update(25 * time.Hour) }, 25 * time.Hour},
		"by hand":        {func(sc scene.Scene) { sc.Update(25 * time.Hour).MadeBy = core.MadeByLockstep }, 0},
		"paused between two steps of its plan": {func(sc scene.Scene) {
			sc.Management = &core.Management{Found: true,
				Plans: []*core.UpdatePlan{{Meta: core.Meta{Name: "mos-21.0.0"}, Status: core.PlanInProgress, Started: scene.Ago(30 * time.Hour)}}}
		}, 30 * time.Hour},
		"its plan was completed": {func(sc scene.Scene) {
			sc.Management = &core.Management{Found: true,
				Plans: []*core.UpdatePlan{{Meta: core.Meta{Name: "mos-21.0.0"}, Status: core.PlanCompleted, Started: scene.Ago(30 * time.Hour),
					Completed: scene.Ago(20 * time.Hour)}}}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.change(sc)
			a, told := entryOf(sc.Again().Snapshot, "between-releases")
			switch {
			case told != (tt.since > 0):
				t.Errorf("told %v: %+v", told, a)
			case told && (a.Severity != core.SeverityWarning || !a.Since.At.Equal(scene.Ago(tt.since))):
				t.Errorf("%+v", a)
			}
		})
	}
}
