// Package draw makes the rows of the screen from texts: lines of spans, each with a token of the theme, and the look that turns
// them into what a terminal shows. It knows widths, colours and glyphs, but not what the texts are about.
package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"lockstep/themes"
	"lockstep/tui/sanitise"
)

// Span is a piece of text with one look. Only Text makes spans of texts, and it sanitises: no text reaches the terminal another way.
type Span struct {
	text  string
	width int
	tone  themes.Token
}

// Line is one row of the screen, or a cell of one.
type Line []Span

// Text makes a span of any text.
func Text(tone themes.Token, s string) Span {
	s, w := sanitise.Measured(s)
	return Span{text: s, width: w, tone: tone}
}

// One is a line of a single span.
func One(tone themes.Token, s string) Line { return Line{Text(tone, s)} }

// Plain is a line of ordinary text.
func Plain(s string) Line { return One(themes.Text, s) }

// Blank is n spaces.
func Blank(n int) Span {
	if n = max(n, 0); n > len(blanks) {
		return Span{text: strings.Repeat(" ", n), width: n, tone: themes.Text}
	}
	return Span{text: blanks[:n], width: n, tone: themes.Text}
}

// blanks is as many spaces as most screens have columns.
var blanks = strings.Repeat(" ", 512)

// Text is what the span says.
func (s Span) Text() string { return s.text }

// Tone is the look that it has.
func (s Span) Tone() themes.Token { return s.tone }

// Width is the number of columns that the line takes.
func (l Line) Width() int {
	w := 0
	for _, s := range l {
		w += s.width
	}
	return w
}

// Text is what the line says, without its looks.
func (l Line) Text() string {
	if len(l) == 1 {
		return l[0].text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// Fit cuts or pads the line to exactly w columns, padding on the left when right is set.
func (l Line) Fit(w int, right bool) Line {
	if l.Width() == w {
		return l
	}
	return l.FitOnto(make(Line, 0, len(l)+1), w, right)
}

// FitOnto is Fit, put at the end of another line.
func (l Line) FitOnto(out Line, w int, right bool) Line {
	switch have := l.Width(); {
	case have > w:
		cut := l.Cut(w)
		if out = append(out, cut...); cut.Width() < w { // a wide character had no room
			out = append(out, Blank(w-cut.Width()))
		}
		return out
	case have < w && right:
		return append(append(out, Blank(w-have)), l...)
	case have < w:
		return append(append(out, l...), Blank(w-have))
	}
	return append(out, l...)
}

// Cut shortens the line to w columns, with an ellipsis in the last. It is a column shorter where a wide character has no room.
func (l Line) Cut(w int) Line {
	if l.Width() <= w {
		return l
	}
	var out Line
	for i, s := range l {
		switch {
		case s.width < w:
			out = append(out, s)
			w -= s.width
			continue
		case s.width == w && l[i+1:].blank():
			return append(out, s)
		case s.width == w: // Truncate would return it whole, as if nothing were left out
			s.text = ansi.Truncate(s.text, w-1, "") + "…"
		default:
			s.text = ansi.Truncate(s.text, w, "…")
		}
		s.width = sanitise.Width(s.text)
		return append(out, s)
	}
	return out
}

// blank tells whether there is nothing to read in the line.
func (l Line) blank() bool {
	for _, s := range l {
		if strings.Trim(s.text, " ") != "" {
			return false
		}
	}
	return true
}

// Tail is the end of a text in w columns, with an ellipsis in the first where it begins earlier.
func Tail(tone themes.Token, s string, w int) Span {
	all := Text(tone, s)
	if all.width <= w {
		return all
	}
	for n := max(all.width-w+1, 1); n < all.width; n++ { // a wide character may have only one of its columns there
		short := ansi.TruncateLeft(all.text, n, "…")
		if width := sanitise.Width(short); width <= w {
			return Span{text: short, width: width, tone: tone}
		}
	}
	return Span{text: "…", width: 1, tone: tone}
}

// Join puts lines side by side with n spaces between them.
func Join(n int, parts ...Line) Line {
	var out Line
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, Blank(n))
		}
		out = append(out, p...)
	}
	return out
}

// Apart puts left and right at the two ends of w columns; left is cut where there is no room for both.
func Apart(left, right Line, w int) Line {
	room := w - right.Width()
	if room < 1 || len(right) == 0 || right.Width() == 0 {
		return left.Fit(w, false)
	}
	return append(left.Cut(room-1).Fit(room, false), right...)
}

// And returns the line with another piece of text at its end.
func (l Line) And(tone themes.Token, s string) Line { return append(l, Text(tone, s)) }

// Marked returns the line with every match of want standing out. text is the line's text in lower case, as want is; each letter
// must keep its length in bytes.
func (l Line) Marked(text, want string) Line {
	var out Line
	begins := 0 // of the span, in text
	at := strings.Index(text, want)
	for _, s := range l {
		rest, ends := s.text, begins+len(s.text)
		for at >= 0 && at < ends {
			from, to := max(at-begins, 0), min(at+len(want)-begins, len(rest))
			if from > 0 {
				out = append(out, Text(s.tone, rest[:from]))
			}
			out = append(out, Text(themes.Match, rest[from:to]))
			rest, begins = rest[to:], begins+to
			if at+len(want) > ends {
				break // it goes on in the next span
			}
			if next := strings.Index(text[at+len(want):], want); next >= 0 {
				at += len(want) + next
			} else {
				at = -1
			}
		}
		if rest != "" {
			out = append(out, Text(s.tone, rest))
		}
		begins = ends
	}
	return out
}

// Inset moves lines n columns to the right.
func Inset(n int, lines []Line) []Line {
	for i, l := range lines {
		lines[i] = append(Line{Blank(n)}, l...)
	}
	return lines
}
