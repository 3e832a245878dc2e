package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// A box says what enter does with the focused button, beside the buttons and among the keys below, and enter does just that.
func TestABoxSaysWhatEnterDoes(t *testing.T) {
	held := withWrite(core.WriteMode{Lease: "bob@jump02"})
	for _, tt := range []struct {
		name string
		s    *core.Snapshot
		keys []string
		says string
		arms bool
		ends bool
	}{
		{"arm", world(), []string{"w"}, "enter leaves writing off", false, false},
		{"arm, the other button", world(), []string{"w", "tab"}, "enter switches writing on", true, false},
		{"arm, back", world(), []string{"w", "tab", "tab"}, "enter leaves writing off", false, false},
		{"take over", held, []string{"w"}, "enter leaves writing off", false, false},
		{"take over, no word", held, []string{"w", "tab"}, "enter does nothing until you type the word", false, false},
		{"take over, the word", held, []string{"w", "tab", takeOverWord}, "enter takes the lease over", true, false},
		{"leave", world(), []string{"q"}, "enter stays", false, false},
		{"leave, the other button", world(), []string{"q", "tab"}, "enter leaves", false, true},
		{"leave, by another key", world(), []string{"q", "down"}, "enter leaves", false, true},
		{"suspend", world(), []string{"ctrl+z"}, "enter stays", false, false},
		{"suspend, the other button", world(), []string{"ctrl+z", "tab"}, "enter suspends", false, true},
		{"suspend, by another key", world(), []string{"ctrl+z", "down"}, "enter suspends", false, true},
	} {
		for _, size := range sizes {
			d, _ := stoppable(tt.s, size.w, size.h)
			d.keys(tt.keys...)
			frame := strings.TrimRight(stripped(d.shows()), "\n")
			box, foot := frame[:strings.LastIndex(frame, "\n")], frame[strings.LastIndex(frame, "\n"):]
			if !strings.Contains(box, tt.says) || !strings.Contains(foot, tt.says) {
				t.Errorf("%s, %dx%d: it does not say %q:\n%s", tt.name, size.w, size.h, tt.says, frame)
			}
			_, cmd := d.Update(namedKeys["enter"])
			ends := false
			for _, msg := range answers(cmd) {
				_, quits := msg.(tea.QuitMsg)
				_, halts := msg.(haltMsg)
				ends = ends || quits || halts
				if m, ok := msg.(armedMsg); ok {
					d.send(m)
				}
			}
			if arms := len(d.fake.armed) > 0; arms != tt.arms || ends != tt.ends {
				t.Errorf("%s: it says %q, and enter arms: %t, ends: %t", tt.name, tt.says, arms, ends)
			}
		}
	}
}

// The same in a confirmation, whatever has the focus and whatever is missing.
func TestAConfirmationSaysWhatEnterDoes(t *testing.T) {
	typed, blocked := theStep(), theStep()
	typed.Type = "cmp-07"
	blocked.Guards = []core.Guard{{ID: "armed", Text: "writing is on", Answer: "it is off"}}
	for _, tt := range []struct {
		name    string
		step    core.Step
		keys    []string
		says    string
		granted int
		open    bool
	}{
		{"fresh", theStep(), nil, "enter cancels", 0, false},
		{"the other button", theStep(), []string{"tab"}, "enter confirms", 1, false},
		{"a name is missing", typed, nil, "enter does nothing yet", 0, true},
		{"the name is there", typed, []string{"cmp-07"}, "enter confirms", 1, false},
		{"a guard does not hold", blocked, []string{"tab"}, "enter does nothing yet", 0, true},
	} {
		for _, size := range sizes {
			d, _, _ := opened(tt.step, func(d *driver) { d.send(windowSize(size.w, size.h)) })
			frame := strings.TrimRight(stripped(d.keys(tt.keys...).shows()), "\n")
			if !strings.Contains(frame[strings.LastIndex(frame, "\n"):], tt.says) {
				t.Errorf("%s, %dx%d: the keys do not say %q:\n%s", tt.name, size.w, size.h, tt.says, frame)
			}
			d.keys("enter")
			if len(d.fake.granted) != tt.granted || (d.top() != nil) != tt.open {
				t.Errorf("%s: it says %q; granted %d, open %t", tt.name, tt.says, len(d.fake.granted), d.top() != nil)
			}
		}
	}
}
