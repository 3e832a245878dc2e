package tui

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/bubbles/v2/textinput"

	"lockstep/core"
)

// A text that is pasted into a field is taken as a whole, or not at all, and that is said: what is left of it after a cut means something
// else. What counts are characters.
func TestAPastedTextIsTakenWholeOrNotAtAll(t *testing.T) {
	step := theStep()
	step.Type, step.Risk = "cmp-07", core.RiskHigh
	for name, tt := range map[string]struct {
		opens func() (*driver, *textinput.Model)
		most  int
	}{
		"form": {func() (*driver, *textinput.Model) {
			d := drive(world(), 120, 40).keys("3", ":").keys("out of scheduling").keys("enter")
			return d, &d.asks(t).input
		}, mostInField},
		"note": {func() (*driver, *textinput.Model) {
			d := drive(world(), 120, 40).keys("1", "#")
			return d, &d.top().(*noteForm).text
		}, core.MostNoteText},
		"confirmation": {func() (*driver, *textinput.Model) {
			d, _, box := opened(step)
			return d, &box.input
		}, mostInName},
		"times of a log": {func() (*driver, *textinput.Model) {
			d := drive(world(), 120, 40, withLooker(&fakeLooker{parts: rockoonParts()})).keys("5", "P", "T")
			return d, &d.top().(*rangeBox).input
		}, mostInField},
		"palette": {func() (*driver, *textinput.Model) {
			d := drive(world(), 120, 40).keys(":")
			return d, &d.top().(*palette).input
		}, mostInField},
	} {
		d, in := tt.opens()
		d.keys("x").pastes(strings.Repeat("é", tt.most))
		says := fmt.Sprintf("not taken: it would be longer than %d characters", tt.most)
		if frame := stripped(d.shows()); in.Value() != "x" || !strings.Contains(frame, says) {
			t.Errorf("%s: it holds %d characters:\n%s", name, len([]rune(in.Value())), frame)
		}
		fits := strings.Repeat("é", tt.most-1)
		if d.pastes(fits + "\n"); in.Value() != "x"+fits {
			t.Errorf("%s: what has room is not taken: %q", name, in.Value())
		}
	}
}

// A note is bounded in bytes: one of longer characters is refused, and not cut.
func TestANoteThatIsTooLongIsNotCut(t *testing.T) {
	d := drive(world(), 120, 40).keys("1", "#").pastes(strings.Repeat("é", core.MostNoteText/2+1)).keys("enter")
	if frame := stripped(d.shows()); len(d.fake.notes) != 0 || !strings.Contains(frame, "no longer than 400 bytes") {
		t.Errorf("kept are %+v\n%s", d.fake.notes, frame)
	}
	if d.keys("backspace", "enter"); len(d.fake.notes) != 1 || len(d.fake.notes[0].Text) != core.MostNoteText {
		t.Errorf("kept are %+v", d.fake.notes)
	}
}
