package tui

import (
	"testing"

	"lockstep/core"
)

// The way to an end that the operator has turned to gives its place to no other: when there is none to abort any more, what was
// on the abort is on the step itself, not on the next thing that can be done with the instance.
func TestAWayGivesItsPlaceToNoOther(t *testing.T) {
	s := world()
	d := drive(s, 120, 40).keys("3")
	d.nodes.choose("kaas-node-cmp07")
	d.keys("enter")
	page, ok := d.top().(*procedurePage)
	if !ok {
		t.Fatalf("enter opens no steps:\n%s", stripped(d.shows()))
	}
	web := instanceID(1)
	choose := func() core.Step {
		t.Helper()
		for _, st := range page.proc.Steps {
			if st.Target.UID == web {
				page.steps.choose(st.ID)
			}
		}
		chosen, _ := page.chosen()
		return chosen
	}
	choose()
	d.keys("right")
	if chosen := choose(); chosen.Intent.Kind != core.IntentAbortMigration {
		t.Fatalf("the second way of web-1 is %q", chosen.Title)
	}

	again := world()
	in := *again.Instances[web]
	in.Status, in.TaskState = "ACTIVE", ""
	again.Instances[web] = &in
	for i, other := range again.ByHost[in.Host] {
		if other.ID == web {
			again.ByHost[in.Host][i] = &in
		}
	}
	over := *again.Migrations[web][0]
	over.Status = "cancelled"
	again.Migrations[web] = []*core.Migration{&over}
	again.Revision = s.Revision + 1
	d.send(snapshotMsg{again})
	chosen := choose()
	step, _ := page.steps.current()
	if len(step.Alternatives) < 2 || chosen.Title != step.Title {
		t.Errorf("after the abort it is on %q, one of %d other ways to %q", chosen.Title, len(step.Alternatives), step.Title)
	}
	d.keys("right")
	if chosen := choose(); chosen.ID != step.Alternatives[0].ID {
		t.Errorf("the next way is %q", chosen.Title)
	}
	d.keys("left")
	if chosen := choose(); chosen.Title != step.Title {
		t.Errorf("back is %q", chosen.Title)
	}
}
