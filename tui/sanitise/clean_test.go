package sanitise

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text that was made clean before, lately or long ago, is the same again, and costs nothing.
func TestATextThatWasCleanedIsKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 20).Draw(rt, "texts")
		between := rapid.SampledFrom([]int{0, 1, 10, 10, 10, mostCleaned, 2 * mostCleaned}).Draw(rt, "others that come between")
		for range 2 {
			for i := range between {
				Row(fmt.Sprint(i, texts[0]))
			}
			for _, s := range texts {
				want := Text(s, RowLimit)
				if got, width := Measured(s); got != want || width != Width(want) || Row(s) != want {
					rt.Fatalf("%q is %q of %d columns, want %q of %d", s, got, width, want, Width(want))
				}
			}
		}
	})
	if n := testing.AllocsPerRun(10, func() { Row("größe: a lock of cmp-07") }); n != 0 {
		t.Errorf("a text that is kept costs %v allocations", n)
	}
}

// Nothing large is kept, nor a small piece of it that keeps it.
func TestFewTextsAreKept(t *testing.T) {
	var m memo
	for i := range 5 * mostCleaned {
		m.of(fmt.Sprint(i))
		m.of(strings.Repeat("x", longestCleaned) + fmt.Sprint(i))
	}
	if len(m.now)+len(m.was) > 2*mostCleaned {
		t.Errorf("%d texts are kept", len(m.now)+len(m.was))
	}
	for s := range m.now {
		if len(s) > longestCleaned {
			t.Errorf("a text of %d bytes is kept", len(s))
		}
	}
}
