package tui

import (
	"strings"
	"testing"

	"lockstep/core"
)

// The other way that the operator has chosen is not replaced by another one: when there is nothing left to abort, nothing is
// selected, and enter says so, until the operator moves.
func TestAWayGivesItsPlaceToNoOther(t *testing.T) {
	s := world()
	d := drive(s, 120, 40).keys("3")
	d.nodes.Choose("kaas-node-cmp07")
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
				page.steps.Choose(st.ID)
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
	in := *again.Instances.At(web)
	in.Status, in.TaskState = "ACTIVE", ""
	again.Instances.Put(&in)
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
	if _, ok := page.chosen(); ok || strings.Contains(stripped(d.shows()), d.look.Glyph.Cursor) {
		t.Fatalf("after the abort something is selected:\n%s", stripped(d.shows()))
	}
	for _, key := range []string{"enter", "right", "c", "enter"} {
		if d.keys(key); d.top() != page {
			t.Fatalf("%s opens %T", key, d.top())
		}
	}
	if want := `nothing is selected: "abort the live migration of web-1" is no longer there`; d.toast.text != want {
		t.Errorf("enter says %q, want %q", d.toast.text, want)
	}
	chosen := choose()
	step, _ := page.steps.Current()
	if len(step.Alternatives) < 2 || chosen.Title != step.Title {
		t.Errorf("after the move it is on %q, one of %d other ways to %q", chosen.Title, len(step.Alternatives), step.Title)
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

// steps is a page with these steps.
func steps(t *testing.T, w, h int, list ...core.Step) (*driver, *procedurePage) {
	t.Helper()
	d := drive(world(), w, h).keys("3")
	d.nodes.Choose("kaas-node-cmp07")
	d.keys("enter")
	p, ok := d.top().(*procedurePage)
	if !ok {
		t.Fatal("enter opens no steps")
	}
	p.take(core.Procedure{Steps: list}, d.snap.Revision+1)
	p.steps.GoTo(0)
	d.dirty = true
	return d, p
}

// Of several steps that can be confirmed one comes next, and only that one stands out.
func TestOneStepComesNext(t *testing.T) {
	d, _ := steps(t, 120, 40, core.Step{ID: "a", Title: "first thing", State: core.StepDone},
		core.Step{ID: "b", Title: "second thing", State: core.StepReady},
		core.Step{ID: "c", Title: "third thing", State: core.StepReady})
	mark := d.look.Glyph.Needs
	for _, l := range strings.Split(stripped(d.shows()), "\n") {
		if strings.Contains(l, "second thing") && strings.Contains(l, "ready") && !strings.Contains(l, mark+" ready") {
			t.Errorf("what comes next does not stand out: %q", l)
		}
		if strings.Contains(l, "third thing") && (strings.Contains(l, mark) || !strings.Contains(l, "ready")) {
			t.Errorf("what can wait is not calm: %q", l)
		}
	}
}

// A step that nobody waits for is offered, but does not stand out; the cursor does not begin on it.
func TestWhatNobodyWaitsForDoesNotStandOut(t *testing.T) {
	d, p := steps(t, 120, 40, core.Step{ID: "a", Title: "cmp-07 went through", State: core.StepDone},
		core.Step{ID: "b", Title: "disable nova-compute", State: core.StepReady, Optional: true},
		core.Step{ID: "c", Title: "reboot it", State: core.StepBlocked, Optional: true})
	if frame := stripped(d.shows()); strings.Contains(frame, d.look.Glyph.Needs+" ready") {
		t.Errorf("it stands out:\n%s", frame)
	}
	p.steps.GoTo(2)
	if d.keys("n"); p.steps.Cursor() != "a" {
		t.Errorf("what comes next is %q", p.steps.Cursor())
	}
}

// A text in the summary for all steps is not repeated for each.
func TestWhatTheSummarySaysIsNotRepeated(t *testing.T) {
	d, p := steps(t, 120, 40, core.Step{ID: "a", Title: "stop web-1", State: core.StepReady, Status: "given up"},
		core.Step{ID: "b", Title: "move web-1", State: core.StepReady, Status: "9 %"})
	p.proc.Summary = []string{"given up"}
	if got := p.statusCell(d.Model, p.proc.Steps[0]).Text(); got != "" {
		t.Errorf("it says again %q", got)
	}
	if got := p.statusCell(d.Model, p.proc.Steps[1]).Text(); got != "9 %" {
		t.Errorf("it says %q", got)
	}
}

// A blocked step says what it waits for. What is known about the step itself comes before the note that writing is not armed.
func TestABlockedStepSaysWhatItWaitsFor(t *testing.T) {
	unarmed := core.Guard{ID: "armed", Text: "writing is armed", Answer: "read-only"}
	for want, step := range map[string]core.Step{
		"until writing is armed (read-only)":            {State: core.StepBlocked, Guards: []core.Guard{unarmed}},
		"2 to move; until writing is armed (read-only)": {State: core.StepBlocked, Status: "2 to move", Guards: []core.Guard{unarmed}},
		"until the host is empty (1 runs)": {State: core.StepBlocked,
			Guards: []core.Guard{unarmed, {ID: "empty", Text: "the host is empty", Answer: "1 runs"}}},
		"until the host is empty (1 runs); its owner has a say": {State: core.StepBlocked, Status: "its owner has a say",
			Guards: []core.Guard{{ID: "empty", Text: "the host is empty", Answer: "1 runs"}}},
		"until the host is empty": {State: core.StepBlocked,
			Guards: []core.Guard{{ID: "empty", Text: "the host is empty"}}},
	} {
		d := drive(world(), 120, 40)
		if got := stepStatus(d.Model, step).Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A step that is done or runs shows no open guards and no command: they would be those of doing it again.
func TestWhatIsBegunIsNotOfferedAgain(t *testing.T) {
	for _, state := range []core.StepState{core.StepDone, core.StepRunning, core.StepBlocked} {
		step := core.Step{ID: "a", Title: "release the lock", State: state, Intent: core.Intent{Kind: core.IntentActRelease},
			Commands: []string{"kubectl patch"},
			Guards:   []core.Guard{{ID: "turn", Text: "it is the time for it", Answer: "it is LCM's turn"}}}
		d, _ := steps(t, 120, 40, step)
		frame := stripped(d.shows())
		for _, says := range []string{"it is LCM's turn", "kubectl patch", "enter opens"} {
			if shown := strings.Contains(frame, says); shown != (state == core.StepBlocked) {
				t.Errorf("a step that is %s: %q is shown: %t", state, says, shown)
			}
		}
	}
}

// A command is written out completely if there is room.
func TestACommandIsWrittenOutWhereThereIsRoom(t *testing.T) {
	long := "kubectl annotate nodeworkloadlock openstack-kaas-node-9df0d016-06dc-4088-a491-2bfc0dade0eb inner_state=active --overwrite"
	d, _ := steps(t, 80, 40, core.Step{ID: "a", Title: "begin", State: core.StepReady, Intent: core.Intent{Kind: core.IntentActBegin},
		Commands: []string{long}})
	if frame := stripped(d.shows()); !strings.Contains(frame, "--overwrite") {
		t.Errorf("the command is cut:\n%s", frame)
	}
}

// The work of others does not move the cursor: a key that was meant for one step must not hit another. One key moves to the next
// step.
func TestOneKeyGoesToWhatComesNext(t *testing.T) {
	for name, tt := range map[string]struct {
		after []core.Step
		want  string
	}{
		"ready":    {[]core.Step{{ID: "a", State: core.StepDone}, {ID: "b", State: core.StepReady}, {ID: "c", State: core.StepReady}}, "b"},
		"failed":   {[]core.Step{{ID: "a", State: core.StepDone}, {ID: "b", State: core.StepReady}, {ID: "c", State: core.StepFailed}}, "c"},
		"one runs": {[]core.Step{{ID: "a", State: core.StepDone}, {ID: "b", State: core.StepBlocked}, {ID: "c", State: core.StepRunning}}, "c"},
		"one can be aborted": {[]core.Step{{ID: "a", State: core.StepReady, Optional: true}, {ID: "b", State: core.StepRunning},
			{ID: "c", State: core.StepBlocked}}, "b"},
		"nothing is ready": {[]core.Step{{ID: "a", State: core.StepDone}, {ID: "b", State: core.StepLater},
			{ID: "c", State: core.StepBlocked}}, "c"},
		"one can be begun ahead of its turn": {[]core.Step{{ID: "a", State: core.StepRunning}, {ID: "b", State: core.StepReady, Optional: true},
			{ID: "c", State: core.StepReady, Optional: true, Ahead: true}}, "c"},
		"one could be, with writing on": {[]core.Step{{ID: "a", State: core.StepRunning}, {ID: "c", State: core.StepBlocked, Optional: true,
			Ahead: true}}, "c"},
		"one that comes first can be confirmed": {[]core.Step{{ID: "a", State: core.StepReady}, {ID: "c", State: core.StepReady, Optional: true,
			Ahead: true}}, "a"},
		"all is done": {[]core.Step{{ID: "a", State: core.StepDone}, {ID: "b", State: core.StepDone}}, "b"},
	} {
		d, p := steps(t, 120, 40, core.Step{ID: "a", State: core.StepWaiting}, core.Step{ID: "b", State: core.StepLater},
			core.Step{ID: "c", State: core.StepLater})
		p.take(core.Procedure{Steps: tt.after}, d.snap.Revision+2)
		if p.steps.Cursor() != "a" {
			t.Errorf("%s: the cursor went to %q by itself", name, p.steps.Cursor())
		}
		d.keys("n")
		if p.steps.Cursor() != tt.want {
			t.Errorf("%s: the key goes to %q, want %q", name, p.steps.Cursor(), tt.want)
		}
	}
}

// After a success the cursor goes to what was begun, or to what comes later, rather than back to what is done.
func TestAfterASuccessTheCursorDoesNotGoBack(t *testing.T) {
	d := drive(world(), 120, 40)
	d.keys("3", "enter")
	p := d.top().(*procedurePage)
	done := core.Step{ID: "done", State: core.StepDone}
	for _, tt := range []struct {
		name  string
		steps []core.Step
		want  string
	}{
		{"what was begun goes on", []core.Step{done, {ID: "row", State: core.StepWaiting}}, "row"},
		{"another one took its place", []core.Step{done, {ID: "its plan step", State: core.StepLater}}, "its plan step"},
		{"something else waits", []core.Step{done, {ID: "row", State: core.StepWaiting}, {ID: "other", State: core.StepWaiting}}, "other"},
		{"all is done", []core.Step{done, {ID: "row", State: core.StepDone}}, "row"},
	} {
		p.take(core.Procedure{Steps: tt.steps}, d.snap.Revision+1)
		p.goNextAfter("row")
		if s, _ := p.steps.Current(); s == nil || s.ID != tt.want {
			t.Errorf("%s: the cursor is on %+v, want %s", tt.name, s, tt.want)
		}
	}
}

// Enter on a step that Lockstep does not do says so, and says how to get its commands if it has any: the operator may have to do
// some of it by hand.
func TestEnterOnWhatOthersDoSaysWhatIsLeft(t *testing.T) {
	for want, step := range map[string]core.Step{
		"nothing to confirm: LCM drains the node (waiting: 3 pods left)": {ID: "a", Title: "LCM drains the node", State: core.StepWaiting,
			Status: "3 pods left"},
		"Lockstep does nothing here, c copies the commands: delete the agents (waiting: yours to delete: 2 dead agents)": {ID: "a",
			Title: "delete the agents",
			State: core.StepWaiting, Status: "yours to delete: 2 dead agents", Commands: []string{"openstack network agent delete"}},
	} {
		d, _ := steps(t, 120, 40, step)
		d.keys("enter")
		if d.toast.text != want {
			t.Errorf("it says %q, want %q", d.toast.text, want)
		}
	}
}
