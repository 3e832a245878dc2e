package progress_test

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
)

// Older releases have no IDs in their plans: each step still is one of its own, is called by its name, and shows the command that commences
// it, where it is its turn.
func TestStepsOfAPlanWithoutIDs(t *testing.T) {
	plan := &core.UpdatePlan{Meta: core.Meta{Name: "mos-2", Namespace: "prod", UID: "p"}, Cluster: "mos", Source: "1", Target: "2",
		Status: core.PlanInProgress, Steps: []core.PlanStep{
			{Name: "Update OpenStack", Status: core.PlanCompleted, Commence: true},
			{Name: "Update Ceph", Status: core.PlanNotStarted, Estimate: "1h"},
			{Name: "Update Ceph", Status: core.PlanNotStarted},
			{Status: core.PlanNotStarted},
		}}
	s := &core.Snapshot{}
	s.Cluster, s.Management = "mos", &core.Management{Plans: []*core.UpdatePlan{plan}}
	steps := progress.PlanSteps(s, plan.Ref())
	seen := map[string]bool{}
	for i, want := range []struct{ title, status string }{{"plan, Update OpenStack", "Completed"},
		{"plan, Update Ceph", "to be commenced; NotStarted, 1 h estimated, not commenced"}, {"plan, Update Ceph", "NotStarted, not commenced"},
		{"plan, a step without a name", "NotStarted, not commenced"}} {
		st := steps[i]
		if st.Title != want.title || st.Status != want.status || seen[st.ID] {
			t.Errorf("step %d: %q, %q, ID %q; want %q, %q and an ID of its own", i, st.Title, st.Status, st.ID, want.title, want.status)
		}
		seen[st.ID] = true
		if waits := i == 1; waits != (len(st.Commands) == 1 && strings.Contains(st.Commands[0], "/spec/steps/1")) {
			t.Errorf("step %d has the commands %q", i, st.Commands)
		}
	}
	if len(steps) != 4 {
		t.Errorf("%d steps", len(steps))
	}
}
