package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// The questions before leaving and before suspending follow what runs while they wait for their answer: they say when it has ended, and
// how, and when something else has begun. The buttons stay as they are, and so does what enter does.
func TestTheQuestionFollowsWhatRuns(t *testing.T) {
	for key, title := range map[string]string{"q": "Leave?", "ctrl+z": "Suspend?"} {
		d, _ := stoppable(world(), 80, 24)
		shows := func(wants ...string) {
			t.Helper()
			text := strings.Join(strings.Fields(stripped(d.shows())), " ")
			for _, want := range append(wants, title, "enter stays", "[ Stay ]") {
				if !strings.Contains(text, want) {
					t.Errorf("after %s it does not say %q:\n%s", key, want, stripped(d.shows()))
				}
			}
		}
		d.keys(key)
		shows("Still running: live-migrate web-1. ", "nothing more is begun")
		d.fresh(func(s *core.Snapshot) { s.Operations = nil })
		shows("Nothing runs any more: live-migrate web-1 has ended.")
		d.fresh(func(s *core.Snapshot) {
			s.Operations = []core.Operation{{ID: "op-77", Title: "stop db-2", State: core.OperationRunning, Started: fixtureNow}}
		})
		shows("Still running: stop db-2. ", "nothing more is begun")
		d.fresh(func(s *core.Snapshot) {
			s.Operations = []core.Operation{{ID: "op-77", Title: "stop db-2", State: core.OperationFailed, Started: fixtureNow, Ended: fixtureNow}}
		})
		shows("Nothing runs any more; failed: stop db-2.")
		if strings.Contains(stripped(d.shows()), "servers have begun") {
			t.Errorf("after %s it warns of what no longer runs:\n%s", key, stripped(d.shows()))
		}
		if d.keys("enter"); d.top() != nil {
			t.Errorf("after %s, enter does not stay", key)
		}
	}
}

// Leaving asks for what Lockstep would no longer watch: for a step that was confirmed a moment ago, even before a Snapshot shows it, and
// not for what another window has under way.
func TestLeavingAsksForWhatIsOurs(t *testing.T) {
	s := world()
	s.Operations = []core.Operation{{ID: "op-78", Title: "live-migrate web-1", State: core.OperationRunning, Started: fixtureNow,
		Elsewhere: "anna@jump01"}}
	d := drive(s, 120, 40)
	if d.keys("q"); d.top() != nil {
		t.Errorf("it asks for what runs elsewhere:\n%s", stripped(d.shows()))
	}
	d = drive(s, 120, 40)
	d.confirming.title = "stop db-2"
	if d.keys("q"); !strings.Contains(stripped(d.shows()), "Still running: stop db-2.") {
		t.Errorf("it does not ask for what was just confirmed:\n%s", stripped(d.shows()))
	}
	d.keys("tab")
	_, cmd := d.Update(namedKeys["enter"])
	if cmd == nil {
		t.Fatal("Leave does not leave")
	}
	if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("Leave does not leave")
	}
}
