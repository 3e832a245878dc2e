package tui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// finder is the search in a page of text. It runs over the lines of every frame, so it finds what is there now.
type finder struct {
	typing  bool
	text    string
	tooLong bool    // the last that was typed or pasted was not taken
	from    int     // the page's line when typing began: the search starts there
	hits    []int   // the lines in which a match begins
	at      int     // which of the hits is the current one
	line    int     // the line of the current hit, which is kept when lines come and go
	jump    bool    // the current hit is to be scrolled into sight
	kept    foundIn // of lookKept
}

// foundIn is lines with the matches marked, and what they were made of.
type foundIn struct {
	in   []draw.Line
	text string
	out  []draw.Line
}

// searched is a page with a search.
type searched interface{ search() *finder }

// typed takes a key while the text is typed; false when it is not for the search.
func (f *finder) typed(msg tea.KeyPressMsg) bool {
	key := msg.String()
	if !f.typing {
		if key == "esc" && f.text != "" { // first the search is cleared; the next esc closes the page
			f.clear()
			return true
		}
		return false
	}
	switch key {
	case "esc":
		f.clear()
	case "enter":
		f.typing, f.tooLong = false, false
	case "backspace":
		if f.text == "" {
			f.typing = false
			return true
		}
		_, n := utf8.DecodeLastRuneInString(f.text)
		f.set(f.text[:len(f.text)-n])
	case "ctrl+u":
		f.set("")
	case "up", "down", "pgup", "pgdown", "home", "end":
		f.typing = false
		return false
	default:
		if msg.Text != "" {
			f.add(f.text, msg.Text)
		}
	}
	return true
}

// set searches for another text, from where the page was on.
func (f *finder) set(text string) { f.add(text, "") }

// add searches for a text with what was typed or pasted after it.
func (f *finder) add(text, more string) {
	text, fits := sought(text, more)
	if f.tooLong = !fits; fits {
		f.text = text
		f.line, f.jump = f.from, true
	}
}

// paste is for text that comes at once; it is no text of the search unless that is being typed.
func (f *finder) paste(text string) {
	if f.typing {
		f.add(f.text, text)
	}
}

func (f *finder) clear() { *f = finder{} }

// begin opens the search at the line that the page shows first.
func (f *finder) begin(top int) {
	f.typing, f.from = true, top
}

// turn goes to the next or the previous match, and around at the ends.
func (f *finder) turn(by int) {
	if n := len(f.hits); n > 0 {
		f.at = (f.at + by + n) % n
		f.line, f.jump = f.hits[f.at], true
	}
}

// look finds the text in the lines. It returns the lines with the matches marked, and the top line of a page of h lines: the
// page's own, or one that brings the current match into sight.
func (f *finder) look(lines []draw.Line, top, h int) ([]draw.Line, int) {
	if f.text == "" {
		f.hits = f.hits[:0]
		return lines, top
	}
	return f.settle(f.mark(lines), top, h)
}

// lookKept is look for lines that never change: it searches the same ones once.
func (f *finder) lookKept(lines []draw.Line, top, h int) ([]draw.Line, int) {
	if f.text == "" || len(lines) == 0 {
		f.kept = foundIn{}
		return f.look(lines, top, h)
	}
	if k := f.kept; len(k.in) != len(lines) || &k.in[0] != &lines[0] || k.text != f.text {
		f.kept = foundIn{lines, f.text, f.mark(lines)}
	}
	return f.settle(f.kept.out, top, h)
}

// mostWrapped is over how many more lines a match can go: what fills a narrow screen to a third.
const mostWrapped = 32

// mark finds the text in the lines.
func (f *finder) mark(lines []draw.Line) []draw.Line {
	f.hits = f.hits[:0]
	want := folded(f.text)
	out := slices.Clone(lines)
	for i, l := range lines {
		text := folded(l.Text())
		rest := text
		if !strings.HasPrefix(text, want) { // finds a match that is wrapped onto the next lines
			for j := i + 1; j < len(lines) && j <= i+mostWrapped && len(rest) < len(text)+len(want); j++ {
				rest += " " + strings.TrimLeft(folded(lines[j].Text()), " ")
			}
		}
		at := strings.Index(rest, want)
		if at < 0 || at >= len(text) {
			continue
		}
		f.hits = append(f.hits, i)
		out[i] = l.Marked(text, want)
	}
	return out
}

// settle chooses the current match, and the page's top line.
func (f *finder) settle(lines []draw.Line, top, h int) ([]draw.Line, int) {
	if len(f.hits) == 0 {
		return lines, top
	}
	// The first match from where the search began, or the one nearest to the previous current match.
	f.at = max(slices.IndexFunc(f.hits, func(n int) bool { return n >= f.line }), 0)
	if f.jump {
		f.jump = false
		f.line = f.hits[f.at]
		if f.line < top || f.line >= top+h {
			top = f.line - h/3
		}
	}
	return lines, max(min(top, len(lines)-h), 0)
}

// current tells whether the current match begins in the line.
func (f *finder) current(i int) bool {
	return f.text != "" && f.at < len(f.hits) && f.hits[f.at] == i
}

// mostCounted is how many columns of what is searched for stand in the title: an ID would leave no room for how often it was found.
const mostCounted = 16

// count is "/drain 3 of 12", or that it is not there.
func (f *finder) count() draw.Line {
	out := draw.One(themes.Match, "/"+f.text).Cut(mostCounted)
	if len(f.hits) == 0 {
		return out.And(themes.Warn, " not found")
	}
	return out.And(themes.Dim, " "+itoa(f.at+1)+" of "+itoa(len(f.hits)))
}

// leastTitle is how many columns of a page's title stay beside what the search has found.
const leastTitle = 12

// rule is the rule above a page in which something is searched for: what was found stays, and a long title gives way to it.
func (f *finder) rule(m *Model, w int, title, asOf draw.Line) string {
	const around = 10 // columns of the rule's own, which Rule wants beside both
	note := f.count()
	if all := append(note[:len(note):len(note)], draw.Text(themes.Dim, "   esc clears it")); all.Width()+leastTitle+asOf.Width()+around <= w {
		note = all
	}
	return m.look.NotedRule(w, dated(title, asOf, w-note.Width()-around), note, true, nil)
}

// folded is a text in lower case; each character keeps its place.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if low := unicode.ToLower(r); utf8.RuneLen(low) == utf8.RuneLen(r) {
			return low
		}
		return r
	}, s)
}

// findActions are the search in the pages of one scope; top is the line that the page shows first.
func findActions(scope Scope, id string, top func(m *Model) (*finder, int)) []Action {
	turn := func(by int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			f, _ := top(m)
			if f == nil {
				return nil
			}
			if f.turn(by); len(f.hits) == 0 {
				return m.say(toneWarn, "/"+f.text+" is not on this page")
			}
			return nil
		}
	}
	searching := func(m *Model) string {
		if f, _ := top(m); f == nil || f.text == "" {
			return "there is no search yet: / starts one"
		}
		return ""
	}
	return []Action{
		{ID: id + ".find", Title: "Search in the page", Short: "search", Scope: scope, Keys: []string{"/"}, Footer: 7,
			run: func(m *Model) tea.Cmd {
				if f, line := top(m); f != nil {
					f.begin(line)
				}
				return nil
			}},
		{ID: id + ".find.next", Title: "Go to the next match", Short: "next match", Scope: scope, Keys: []string{"n"},
			blocked: searching, run: turn(1)},
		{ID: id + ".find.previous", Title: "Go to the previous match", Short: "previous match", Scope: scope, Keys: []string{"N"},
			blocked: searching, run: turn(-1)},
	}
}
