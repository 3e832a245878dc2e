package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"lockstep/themes"
)

// span is a piece of text with one look. Spans are made by txt alone, which sanitises: no text reaches the terminal
// by another way.
type span struct {
	text  string
	width int
	tone  themes.Token
}

// line is one row of the screen, or a cell of one.
type line []span

// txt makes a span of any text.
func txt(tone themes.Token, s string) span {
	s = clean(s, rowLimit)
	return span{text: s, width: width(s), tone: tone}
}

// one is a line of a single span.
func one(tone themes.Token, s string) line { return line{txt(tone, s)} }

// plain is a line of ordinary text.
func plain(s string) line { return one(themes.Text, s) }

// blank is n spaces.
func blank(n int) span { return txt(themes.Text, strings.Repeat(" ", max(n, 0))) }

func (l line) width() int {
	w := 0
	for _, s := range l {
		w += s.width
	}
	return w
}

// text is what the line says, without its looks.
func (l line) text() string {
	if len(l) == 1 {
		return l[0].text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// fit cuts or pads the line to exactly w columns, padding on the left when right is set.
func (l line) fit(w int, right bool) line {
	have := l.width()
	switch {
	case have == w:
		return l
	case have < w && right:
		return append(line{blank(w - have)}, l...)
	case have < w:
		return append(l[:len(l):len(l)], blank(w-have))
	}
	return l.cut(w)
}

// cut shortens the line to w columns, with an ellipsis in the last.
func (l line) cut(w int) line {
	if l.width() <= w {
		return l
	}
	var out line
	for _, s := range l {
		if s.width < w {
			out = append(out, s)
			w -= s.width
			continue
		}
		short := ansi.Truncate(s.text, w, "…")
		out = append(out, span{text: short, width: width(short), tone: s.tone})
		break
	}
	return out
}

// join puts lines side by side with n spaces between them.
func join(n int, parts ...line) line {
	var out line
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, blank(n))
		}
		out = append(out, p...)
	}
	return out
}

// apart puts left and right at the two ends of w columns; the left gives way.
func apart(left, right line, w int) line {
	room := w - right.width()
	if room < 1 || len(right) == 0 || right.width() == 0 {
		return left.fit(w, false)
	}
	return append(left.cut(room-1).fit(room, false), right...)
}
