package draw

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockstep/tui/sanitise"
)

func TestWrappingKeepsWordsAndLosesNothing(t *testing.T) {
	got := Wrap("openstack server migrate --live-migration 0cb6df91-8a3c-4f10-9d2e-5b1f0c7a0002", 50)
	if strings.Join(got, "|") != "openstack server migrate --live-migration|0cb6df91-8a3c-4f10-9d2e-5b1f0c7a0002" {
		t.Errorf("a command became %q", got)
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := sanitise.Row(rapid.StringMatching(`[a-zé日 -]{0,80}`).Draw(rt, "text"))
		w := rapid.IntRange(2, 30).Draw(rt, "width")
		lines := Wrap(in, w)
		for _, l := range lines {
			if Width(l) > w {
				rt.Fatalf("%q is wider than %d", l, w)
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(strings.Join(lines, "")) != squeeze(in) {
			rt.Fatalf("%q became %q", in, lines)
		}
	})
}
