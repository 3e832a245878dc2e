package core

import (
	"strings"
	"testing"
	"time"
)

// What takes too long is late since it should have been over, and not since it began: that is how old its entry is.
func TestWhatTakesTooLongIsAsOldAsItsLateness(t *testing.T) {
	plan := func(estimate string, begun time.Duration) func(sc scene) {
		return func(sc scene) {
			sc.update(20 * time.Hour)
			sc.Management = &Management{Plans: []*UpdatePlan{{Meta: Meta{Name: "plan", UID: "plan"}, Status: PlanStuck, Steps: []PlanStep{
				{ID: planStepWorkers + "rack-a", Name: "rack-a", Status: PlanStuck, Estimate: estimate, Started: ago(begun)}}}}}
		}
	}
	for name, tt := range map[string]struct {
		given func(sc scene)
		entry string // the beginning of its ID
		late  Since
	}{
		"a group of the plan":                    {plan("2h", 137*time.Minute), "plan-stuck", Since{At: ago(17 * time.Minute), Exact: true}},
		"a group that is stuck before its time":  {plan("8h", 137*time.Minute), "plan-stuck", Since{}},
		"a group for which nobody says how long": {plan("", 137*time.Minute), "plan-stuck", Since{}},
		"a phase": {func(sc scene) {
			sc.update(20 * time.Hour)
			sc.lock("", ControllerOpenStack, LockActive)
		}, "phase/2", Since{At: ago(20 * time.Hour), Exact: true}.plus(estimatesOf(healthy().Snapshot).services())},
		"a node that does not come back": {func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "False", ago(40*time.Minute)
			sc.NodeRequest("cmp-01").Created = ago(50 * time.Minute)
		}, "node-slow", Since{At: ago(10 * time.Minute), Exact: true}},
		"a node that does not get back into service": {func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequest("cmp-01").Deleting = ago(13 * time.Minute)
		}, "node-slow", Since{At: ago(3 * time.Minute), Exact: true}},
		"a live migration": {func(sc scene) {
			sc.maintained("cmp-01", "Starting migration")
			in := sc.ByHost["cmp-01"][0]
			in.Status, in.TaskState = "MIGRATING", "migrating"
			sc.migration(in, "running", "cmp-02", 50*time.Minute)
		}, "migration-long", Since{At: ago(20 * time.Minute), Exact: true}},
	} {
		t.Run(name, func(t *testing.T) {
			sc := healthy()
			tt.given(sc)
			for _, a := range sc.again().Attention() {
				if !strings.HasPrefix(a.ID, tt.entry) {
					continue
				}
				if !a.Since.At.Equal(tt.late.At) || a.Since.Exact != tt.late.Exact {
					t.Errorf("%s: late since %+v, want %+v", a.Reason, a.Since, tt.late)
				}
				return
			}
			t.Errorf("nothing of %s in %q", tt.entry, ids(sc.Attention()))
		})
	}
}
