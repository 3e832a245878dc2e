package tui

import (
	"strings"
	"testing"
)

// In 80 columns the footer of every pane has the keys to look around: steps (of the log: the entry), actions, filter and help.
func TestTheFooterHasTheKeysToLookAround(t *testing.T) {
	for _, pane := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		lines := strings.Split(strings.TrimSpace(stripped(drive(world(), 80, 24).keys(pane).shows())), "\n")
		foot := lines[len(lines)-1]
		enter := "enter steps"
		switch pane {
		case "1":
			enter = "enter open"
		case "6":
			enter = "enter in full"
		}
		for _, want := range []string{enter, "a actions", "/ filter", "? help"} {
			if !strings.Contains(foot, want) {
				t.Errorf("pane %s: %q is not in %q", pane, want, foot)
			}
		}
		if strings.Contains(foot, "…") {
			t.Errorf("pane %s: the footer is cut: %q", pane, foot)
		}
	}
}

// While writing is not armed, the page of steps says how to arm it, in 80 columns, too. Once it is armed, a confirmation does not
// mention it.
func TestTheFooterSpeaksOfArmingWhileItMatters(t *testing.T) {
	d := drive(world(), 80, 24).keys("3", "enter")
	if frame := stripped(d.shows()); !strings.Contains(frame, "w arm writing") {
		t.Errorf("the steps do not say how to arm:\n%s", frame)
	}
	for armed, want := range map[bool]bool{false: true, true: false} {
		d, _, _ := opened(theStep())
		d.snap.Write.Armed = armed
		d.dirty = true
		if got := strings.Contains(stripped(d.shows()), "w arm writing"); got != want {
			t.Errorf("armed %t: the confirmation speaks of arming: %t", armed, got)
		}
	}
}
