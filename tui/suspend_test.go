package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// stoppable is a screen above which there is a shell. It counts how often it was stopped, and is resumed after two minutes.
func stoppable(s *core.Snapshot, w, h int) (*driver, *int) {
	d := drive(s, w, h)
	n := 0
	d.unstoppable = func() string { return "" }
	d.halt = func() tea.Cmd {
		n++
		since := d.at
		d.later(2 * time.Minute)
		return func() tea.Msg { return resumedMsg{since: since} }
	}
	return d, &n
}

// While nothing runs, ctrl+z suspends at once, from anywhere: in a form, while a filter is typed, on a page. Writing is disarmed
// first.
func TestCtrlZSuspends(t *testing.T) {
	for _, keys := range [][]string{nil, {"e"}, {"/", "cmp"}, {"?"}, {"?", "/", "x"}, {":"}, {"w"}, {"enter"}} {
		s := world()
		s.Operations = nil
		d, n := stoppable(s, 120, 40)
		d.keys(keys...).keys("ctrl+z")
		if *n != 1 || d.fake.disarmed != 1 {
			t.Errorf("after %q: stopped %d times, disarmed %d times", keys, *n, d.fake.disarmed)
		}
		if !strings.Contains(d.said[0].text, "back after 2 m") || strings.Contains(d.said[0].text, "writing was switched off") {
			t.Errorf("after %q it says %q", keys, d.said[0].text)
		}
	}
	s := world()
	s.Operations, s.Write.Armed = nil, true
	d, _ := stoppable(s, 120, 40)
	if d.keys("ctrl+z"); !strings.Contains(d.said[0].text, "writing was switched off (w)") {
		t.Errorf("armed before, it says %q", d.said[0].text)
	}
}

// While the lease is being given back, ctrl+z does nothing more, and writing cannot be switched on. What was asked when it was pressed is
// taken back.
func TestCtrlZTwiceSuspendsOnce(t *testing.T) {
	s := world()
	s.Operations, s.Write.Armed = nil, true
	d, n := stoppable(s, 120, 40)
	first := d.suspend()
	if first == nil || d.suspend() != nil {
		t.Error("it is suspended twice")
	}
	if d.Update(tea.KeyPressMsg{Code: 'w', Text: "w"}); d.top() != nil || !strings.Contains(d.toast.text, "is being suspended") {
		t.Errorf("w says %q", d.toast.text)
	}
	if d.send(first()); *n != 1 || !strings.Contains(d.said[0].text, "writing was switched off (w)") {
		t.Errorf("stopped %d times, and it says %q", *n, d.said[0].text)
	}
	s = world()
	s.Operations = nil
	d, _ = stoppable(s, 120, 40)
	d.keys("w", "tab")
	box := d.top().(*armDialog)
	box.asking, box.cancel = true, func() {}
	if d.keys("ctrl+z"); !box.givenUp || d.top() != nil {
		t.Error("what was asked goes on")
	}
}

// While something runs, ctrl+z asks, and says what will happen to it. Enter stays unless the other button was chosen.
func TestCtrlZAsksWhileSomethingRuns(t *testing.T) {
	for _, size := range sizes {
		d, n := stoppable(world(), size.w, size.h)
		d.keys("ctrl+z")
		text := strings.Join(strings.Fields(stripped(d.shows())), " ")
		for _, want := range []string{"Suspend?", "Still running: live-migrate web-1.", "nothing more is begun.", "enter stays", "[ Stay ]"} {
			if !strings.Contains(text, want) {
				t.Errorf("at %v it does not say %q:\n%s", size, want, stripped(d.shows()))
			}
		}
		if strings.Contains(text, "rest of the batch") {
			t.Error("it speaks of a batch")
		}
		d.keys("ctrl+z") // in a hurry
		if d.keys("enter"); *n != 0 || d.fake.disarmed != 0 || d.top() != nil {
			t.Fatalf("enter does not stay: stopped %d times", *n)
		}
		if d.keys("ctrl+z", "esc"); *n != 0 || d.top() != nil {
			t.Fatal("esc does not stay")
		}
		if d.keys("ctrl+z", "tab"); !strings.Contains(stripped(d.shows()), "enter suspends") {
			t.Errorf("the other button does not say what enter does:\n%s", stripped(d.shows()))
		}
		if d.keys("enter"); *n != 1 || d.fake.disarmed != 1 || d.top() != nil {
			t.Errorf("stopped %d times, disarmed %d times", *n, d.fake.disarmed)
		}
	}
	s := worked()
	s.Operations[0].State, s.Operations[0].Ended = core.OperationRunning, time.Time{}
	d, _ := stoppable(s, 120, 40)
	if text := strings.Join(strings.Fields(stripped(d.keys("ctrl+z").shows())), " "); !strings.Contains(text,
		"The rest of the batch waits until you") {
		t.Errorf("of a batch it says %q", text)
	}
	d, n := stoppable(world(), 20, 5)
	if d.keys("ctrl+z"); *n != 0 || d.top() != nil {
		t.Error("on a screen that is too small it asks where nobody sees it")
	}
}

// A step that was confirmed a moment ago counts as running, even before a Snapshot shows it. What another window has under way
// does not count.
func TestCtrlZRightAfterAConfirmation(t *testing.T) {
	s := world()
	s.Operations, s.Write.Armed = nil, true
	d, n := stoppable(s, 120, 40)
	d.confirming.title = "stop db-2"
	d.send(executedMsg{dialog: &confirmDialog{}, title: "stop db-2", op: "op-77"})
	if d.keys("ctrl+z"); *n != 0 || !strings.Contains(stripped(d.shows()), "Still running: stop db-2") {
		t.Fatalf("stopped %d times:\n%s", *n, stripped(d.shows()))
	}
	d.keys("esc")
	d.fresh(func(s *core.Snapshot) {
		s.Operations = []core.Operation{{ID: "op-77", Title: "stop db-2", State: core.OperationDone, Started: fixtureNow, Ended: fixtureNow},
			{ID: "op-78", Title: "live-migrate web-1", State: core.OperationRunning, Started: fixtureNow, Elsewhere: "anna@jump01"}}
	})
	if d.keys("ctrl+z"); *n != 1 {
		t.Errorf("it asks for what has ended, or for what runs elsewhere:\n%s", stripped(d.shows()))
	}
}

// Where the program cannot be resumed it is not stopped, and says why. A stop that did not happen is reported as well.
func TestCtrlZWhereThereIsNoShell(t *testing.T) {
	s := world()
	s.Operations = nil
	d, n := stoppable(s, 120, 40)
	d.unstoppable = func() string { return "no shell with job control is above it" }
	if d.keys("ctrl+z"); *n != 0 || d.fake.disarmed != 0 ||
		!strings.Contains(d.toast.text, "cannot be suspended here: no shell with job control") {
		t.Errorf("stopped %d times, and says %q", *n, d.toast.text)
	}
	d.unstoppable = func() string { return "" }
	d.halt = func() tea.Cmd {
		return func() tea.Msg { return resumedMsg{d.at, errors.New("the signal did not stop it")} }
	}
	if d.keys("ctrl+z"); !strings.Contains(d.toast.text, "was not suspended: the signal did not stop it") {
		t.Errorf("it says %q", d.toast.text)
	}
	moved, err := Rebind(Actions(), map[string][]string{"suspend": {}})
	if err != nil {
		t.Fatal(err)
	}
	d, n = stoppable(s, 120, 40)
	d.actions = moved
	if d.keys("ctrl+z"); *n != 0 {
		t.Error("without its key it is suspended all the same")
	}
}
