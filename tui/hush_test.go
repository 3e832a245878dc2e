package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// What has just changed by itself takes no enter for a moment. It says so on the screen instead of what enter would do, says that a
// key was not taken, and is drawn again when the moment is over.
func TestTheMomentWithoutKeysIsSeen(t *testing.T) {
	cases := map[string]struct {
		begin func(t *testing.T) *driver
		says  string // meanwhile
		then  string // when it is over
		told  string // of an enter
	}{
		"a confirmation that changed": {func(t *testing.T) *driver {
			d, w, _ := opened(theStep())
			moved := theStep()
			moved.Guards = []core.Guard{{ID: "armed", Text: "writing is on", Holds: false, Answer: "it is off"}}
			w.step = moved
			d.news()
			w.step = theStep()
			d.news()
			return d
		}, "It has just changed.  enter does nothing yet", "Ready.  enter cancels", "enter did nothing: the box has just changed"},
		"the cursor went on": {func(t *testing.T) *driver {
			d, p := onSteps(t, 120, 40)
			p.goOn(d.Model)
			return d
		}, "the cursor has just gone on to this step: enter does nothing yet", "enter opens it",
			"enter did nothing: the cursor has just gone on to this step"},
		"a notice": {func(t *testing.T) *driver {
			s := world()
			s.Revision, s.Write = s.Revision+1, core.WriteMode{Lost: "bob took the lease over"}
			d := drive(world(), 120, 40)
			d.send(snapshotMsg{s})
			return d
		}, "  OK  ", "[ OK ]", "enter did nothing: this has just come up"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			d := tt.begin(t)
			top := d.top()
			if frame := stripped(d.shows()); !strings.Contains(frame, tt.says) || strings.Contains(frame, tt.then) {
				t.Errorf("it does not say %q:\n%s", tt.says, frame)
			}
			if d.keys("enter"); d.top() != top || len(d.fake.granted) > 0 {
				t.Fatalf("enter has opened %T, %d grants", d.top(), len(d.fake.granted))
			}
			if frame := stripped(d.shows()); !strings.Contains(frame, tt.told) {
				t.Errorf("it does not tell %q:\n%s", tt.told, frame)
			}
			d.later(hushFor)
			d.send(hushOverMsg{})
			if frame := stripped(d.shows()); !strings.Contains(frame, tt.then) || strings.Contains(frame, nothingYet) {
				t.Errorf("it does not say %q when the moment is over:\n%s", tt.then, frame)
			}
			if d.keys("enter"); d.top() == top {
				t.Error("it takes no enter any more")
			}
		})
	}
}

// Each such moment has its end announced, or the screen would go on saying that enter does nothing.
func TestTheEndOfAMomentWithoutKeysIsAnnounced(t *testing.T) {
	d, w, _ := opened(theStep())
	var announced []time.Duration
	d.after = func(in time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(hushOverMsg); ok {
			announced = append(announced, in)
		}
		return nil
	}
	d.news()
	if len(announced) > 0 {
		t.Error("nothing has changed, and an end is announced")
	}
	moved := theStep()
	moved.Basis[0].Value = "cmp-09"
	w.step = moved
	d.news()
	if len(announced) != 1 || announced[0] != hushFor {
		t.Errorf("announced: %v", announced)
	}
}
