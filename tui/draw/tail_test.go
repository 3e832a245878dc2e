package draw

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockstep/themes"
)

// A long text shows its end, with a mark, and never takes more columns than it has.
func TestTheEndOfALongText(t *testing.T) {
	if got := Tail(themes.Input, "abcdef", 4).Text(); got != "…def" {
		t.Errorf("got %q", got)
	}
	if got := Tail(themes.Input, "abcd", 4).Text(); got != "abcd" {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "日", "é", " "})).Draw(rt, "text"), "")
		w := rapid.IntRange(1, 20).Draw(rt, "columns")
		out := Tail(themes.Input, s, w)
		if out.width > w || out.width < min(w-1, Text(themes.Input, s).width) {
			rt.Fatalf("%q in %d columns is %q of %d", s, w, out.text, out.width)
		}
		if end := strings.TrimPrefix(out.text, "…"); !strings.HasSuffix(s, end) {
			rt.Fatalf("%q is no end of %q", end, s)
		}
	})
}
