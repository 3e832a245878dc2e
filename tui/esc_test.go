package tui

import (
	"io"
	"strings"
	"testing"

	"lockstep/sim/bubble"
)

// Over a slow line several keys arrive at once. Esc is never lost by that: it closes what lies above the dashboard.
func TestEscPressedInARowIsEscPressedTwice(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		p := start(t, world(), 120, 40)
		p.settle()
		press := func(keys string) (came string) {
			_, _ = io.WriteString(p.keys, keys)
			_, came = p.settle()
			return came
		}
		const dashboard = "Phases"
		press("\r")
		press("?")
		if came := press("\x1b"); came == "" || strings.Contains(came, dashboard) {
			t.Fatalf("one esc closes the help above a page; came %q", came)
		}
		for _, esc := range []string{"\x1b\x1b", "\x1b\x1b\x1b", "\x1b\x1b\x1b\x1b"} {
			press("?")
			if came := press(esc); !strings.Contains(came, dashboard) {
				t.Errorf("%q: came %q", esc, came)
			}
			press("\r")
		}
	})
}
