package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// foundLine returns the text of the search's current line in the frame.
func foundLine(d *driver) string {
	for _, l := range strings.Split(stripped(d.shows()), "\n") {
		if text, ok := strings.CutPrefix(l, d.look.Glyph.Cursor); ok {
			return text
		}
	}
	return ""
}

func TestAPageOfTextIsSearched(t *testing.T) {
	for _, size := range sizes {
		d := drive(world(), size.w, size.h).keys("?", "/", "MIGRATION mode")
		if got := foundLine(d); !strings.Contains(got, "Set the migration mode of the node") {
			t.Errorf("at %d columns it is on %q", size.w, got)
		}
		if foot := lastLine(d); !strings.Contains(foot, "/MIGRATION mode") || !strings.Contains(foot, "2 found") ||
			!strings.Contains(foot, "n next, N before") {
			t.Errorf("the footer says %q", foot)
		}
		d.keys("enter")
		if frame := stripped(d.shows()); !strings.Contains(frame, "/MIGRATION mode 1 of 2   esc clears it") {
			t.Errorf("the rule has no count:\n%s", frame)
		}
		if got := foundLine(d.keys("n")); !strings.Contains(got, "Restore the migration mode") {
			t.Errorf("n leads to %q", got)
		}
		if got := foundLine(d.keys("n")); !strings.Contains(got, "of the node, or of all") {
			t.Errorf("n at the end leads to %q", got)
		}
		if got := foundLine(d.keys("N")); !strings.Contains(got, "Restore the migration mode") {
			t.Errorf("N leads to %q", got)
		}
		d.keys("esc")
		if p := d.top().(*pager); p.find.text != "" || foundLine(d) != "" {
			t.Error("esc does not clear the search")
		}
		if d.keys("esc"); d.top() != nil {
			t.Error("the second esc does not close the page")
		}
	}
}

func lastLine(d *driver) string {
	lines := strings.Split(strings.TrimRight(stripped(d.shows()), "\n"), "\n")
	return lines[len(lines)-1]
}

// Typed characters are text, whatever they mean as keys elsewhere. A search that finds nothing says so, and so does n without a
// search.
func TestWhatIsSearchedForIsText(t *testing.T) {
	d := drive(world(), 120, 40).keys("?", "n")
	if !strings.Contains(d.toast.text, "there is no search yet") {
		t.Errorf("n without a search says %q", d.toast.text)
	}
	d.keys("/", "qnN/ly")
	if p, ok := d.top().(*pager); !ok || p.find.text != "qnN/ly" {
		t.Fatalf("%#v", d.top())
	}
	if foot := lastLine(d); !strings.Contains(foot, "not found") {
		t.Errorf("the footer says %q", foot)
	}
	if d.keys("enter", "n"); !strings.Contains(d.toast.text, "not on this page") {
		t.Errorf("n says %q", d.toast.text)
	}
	d.keys("esc", "/", "a", "backspace", "backspace")
	if d.top().(*pager).find.typing {
		t.Error("backspace does not leave the empty search")
	}
	d.keys("/")
	d.send(tea.PasteMsg{Content: "writ\ning"})
	if got := d.top().(*pager).find.text; got != "writ ing" {
		t.Errorf("pasted: %q", got)
	}
}

// Every page that scrolls has the search, and its footer says so if there is room.
func TestEveryPageOfTextHasTheSearch(t *testing.T) {
	for name, keys := range map[string][]string{"help": {"?"}, "inspection": {"i"}, "plain": {"p"}, "plan": {"v"}, "owners": {"1", "O"},
		"log": {"enter", "l"}, "messages": {"L"}} {
		d := drive(owned(), 200, 60, withOwners(newDesk())).keys(keys...)
		p, ok := d.top().(searched)
		if !ok {
			t.Errorf("%s: %T has no search", name, d.top())
			continue
		}
		if !strings.Contains(lastLine(d), "/ search") {
			t.Errorf("%s: the footer does not tell of the search: %q", name, lastLine(d))
		}
		if d.keys("/", "no such text", "enter"); p.search().text != "no such text" {
			t.Errorf("%s: / does not search", name)
		}
		d.keys("esc", "esc")
		if d.top() == p.(layer) {
			t.Errorf("%s: esc twice does not close it", name)
		}
	}
}

// A wrapped text is found where it begins.
func TestAWrappedTextIsFound(t *testing.T) {
	f := finder{text: "one two"}
	lines := []draw.Line{draw.Plain("zero one"), draw.Plain("   two three"), draw.Plain("One TWO")}
	out, _ := f.look(lines, 0, 10)
	if len(f.hits) != 2 || f.hits[0] != 0 || f.hits[1] != 2 {
		t.Fatalf("hits %v", f.hits)
	}
	if out[2][0].Tone() != themes.Match || out[2][0].Text() != "One TWO" {
		t.Errorf("marked %+v", out[2])
	}
}

// Marking changes no character of a line, whatever its spans and letters are, and marks exactly the search text.
func TestMarkingKeepsTheLine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l draw.Line
		for _, s := range rapid.SliceOfN(rapid.SampledFrom([]string{"aB", "b", "日a", "İ", "ab ab", " "}), 1, 6).Draw(rt, "spans") {
			l = append(l, draw.Text(themes.Dim, s))
		}
		want := folded(rapid.SampledFrom([]string{"a", "ab", "b", "日", "bb", "a b"}).Draw(rt, "want"))
		out := l.Marked(folded(l.Text()), want)
		if out.Text() != l.Text() || out.Width() != l.Width() {
			rt.Fatalf("%q became %q", l.Text(), out.Text())
		}
		matched := ""
		for _, s := range out {
			if s.Tone() == themes.Match {
				matched += folded(s.Text())
			}
		}
		if n := strings.Count(folded(l.Text()), want); matched != strings.Repeat(want, n) {
			rt.Fatalf("of %q is marked %q, want %d times %q", l.Text(), matched, n, want)
		}
	})
}

// What a search has found stands in the rule, however long the page's title is: the title gives way.
func TestALongTitleGivesWayToWhatWasFound(t *testing.T) {
	for _, w := range []int{40, 60, 80, 120} {
		for text, want := range map[string]string{"nowhere": "/nowhere not found", "0db7e092-aaaa-4aaa": "/0db7e092-aaaa-… not found",
			"cmp-11": "/cmp-11 1 of 1"} {
			d := drive(world(), w, 24)
			d.open(&pager{title: func(*Model) string {
				return "Log of the OpenStack controller, container nodemaintenancerequest of rockoon"
			},
				lines: func(*Model, int) []draw.Line { return []draw.Line{draw.Plain("cmp-11 moves")} }})
			d.keys("/", text, "enter")
			if first := stripped(d.shows()); !strings.Contains(first, want) || w > 40 && !strings.Contains(first, "Log of the") {
				t.Errorf("at %d columns, /%s: the rule is not there with its title:\n%s", w, text, first)
			}
		}
	}
}
