package table

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is typed and completed: tab never removes anything, comes to an end, and its result is read as it was offered.
func TestCompletionOnlyAdds(t *testing.T) {
	tab := thingsTable()
	tab.Set([]thing{{"t1", 1}, {"a b", 2}, {"a c\"", 3}, {"日本", 4}}, 1)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"id:", "value:", "-", "a", " ", "\"", "t1", "日", ",", "i", ":"}), 0,
			6).Draw(rt, "typed"), "")
		tab.SetFilter(text)
		for i := 0; tab.Complete(); i++ {
			if i > 5 {
				rt.Fatalf("tab after %q does not end: %q", text, tab.filter)
			}
			if len(tab.filter) < len(strings.TrimRight(text, ` "`)) {
				rt.Fatalf("tab after %q left %q", text, tab.filter)
			}
		}
	})
}
