package tui

import (
	"errors"
	"strings"
	"testing"

	"lockstep/core"
)

// The note for the next shift is a page: written off the event loop, safe for the terminal, and said to be without what cannot be read.
func TestTheHandoverIsAPage(t *testing.T) {
	d := drive(world(), 120, 40)
	d.palette("next shift")
	if frame := stripped(d.shows()); !strings.Contains(frame, "there is no journal to write it from") {
		t.Errorf("without a journal:\n%s", frame)
	}
	d.keys("esc")
	d.opts.Handover = func(s *core.Snapshot) ([]string, error) {
		return []string{"mos: handover", "Phase 4: 5 of 17 nodes done.", "", "Open", "- cmp-07: \x1b[2Jwaits for you"}, errors.New("disk away")
	}
	d.palette("next shift")
	frame := stripped(d.shows())
	for _, want := range []string{"Handover, as of ", "Phase 4: 5 of 17 nodes done.", "- cmp-07: ", "waits for you",
		"The journal could not be read: disk away. The note is without what it has."} {
		if !strings.Contains(frame, want) {
			t.Errorf("it does not show %q:\n%s", want, frame)
		}
	}
	if strings.Contains(d.shows(), "\x1b[2J") {
		t.Error("a name reaches the terminal as it is")
	}
}
