package tui

import (
	"testing"
	"unicode/utf8"

	"lockstep/tui/draw"
)

// A controller of which only the name is known has two columns in the title, whatever its name is made of.
func TestAControllersTitleHasTwoColumns(t *testing.T) {
	for _, name := range []string{"openstack", "x", "", "日本", "日x", "Ж", "ЖЖЖ", "e\u0301tude", "\x1b[31mred", "👩‍🚀 crew"} {
		if got := shortController(name); draw.Width(got) != 2 || !utf8.ValidString(got) {
			t.Errorf("of %q it is %q, %d columns", name, got, draw.Width(got))
		}
	}
}
