package wording

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// OneLine is the words of a text with a space between, whether a text needs that or not.
func TestOneLineIsTheWordsOfAText(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("aZ~! \t\n\u00a0ü\x7f\x00")))
	rapid.Check(t, func(t *rapid.T) {
		s, most := text.Draw(t, "text"), rapid.IntRange(4, 12).Draw(t, "most")
		if got, want := OneLine(s, most), strings.Join(strings.Fields(Clip(s, most)), " "); got != want {
			t.Fatalf("%q on one line of %d bytes is %q, want %q", s, most, got, want)
		}
	})
	if got := testing.AllocsPerRun(10, func() { OneLine("web-01 of acme", 100) }); got > 0 {
		t.Errorf("a name takes %.0f allocations", got)
	}
}
