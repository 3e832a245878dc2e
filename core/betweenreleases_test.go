package core

import (
	"testing"
	"time"
)

// The documents' warning: longer than a day between two releases is a risk for workloads. It is told with since when, and not as urgent.
func TestLongerThanADayBetweenTwoReleasesIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(sc scene)
		since  time.Duration
	}{
		"no update runs": {func(scene) {}, 0},
		"for 23 hours":   {func(sc scene) { sc.update(23 * time.Hour) }, 0},
		"for 25 hours":   {func(sc scene) { sc.update(25 * time.Hour) }, 25 * time.Hour},
		"by hand":        {func(sc scene) { sc.update(25 * time.Hour).MadeBy = MadeByLockstep }, 0},
		"paused between two steps of its plan": {func(sc scene) {
			sc.Management = &Management{Found: true, Plans: []*UpdatePlan{{Meta: Meta{Name: "mos-21.0.0"}, Status: PlanInProgress, Started: ago(30 * time.Hour)}}}
		}, 30 * time.Hour},
		"its plan was completed": {func(sc scene) {
			sc.Management = &Management{Found: true, Plans: []*UpdatePlan{{Meta: Meta{Name: "mos-21.0.0"}, Status: PlanCompleted, Started: ago(30 * time.Hour), Completed: ago(20 * time.Hour)}}}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sc := healthy()
			tt.change(sc)
			a, told := entryOf(sc.again().Snapshot, "between-releases")
			switch {
			case told != (tt.since > 0):
				t.Errorf("told %v: %+v", told, a)
			case told && (a.Severity != SeverityWarning || !a.Since.At.Equal(ago(tt.since))):
				t.Errorf("%+v", a)
			}
		})
	}
}
