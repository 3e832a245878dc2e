package draw

import (
	"strings"

	"lockstep/themes"
	"lockstep/tui/sanitise"
)

// Overlay is what is laid over a row's own looks.
type Overlay uint8

// The values of Overlay.
const (
	AsItIs   Overlay = iota
	Selected         // the row under the cursor of the pane that has the keys
	Stale            // facts that are not fresh
	staleSelected
	Panel // a box over the dashboard, where the terminal has enough colours for a background of its own
	overlays
)

// Look is a theme made ready for one terminal: the escape sequence of every token under every overlay.
type Look struct {
	theme themes.Theme
	Glyph themes.Glyphs // ASCII where nothing else may be shown
	ascii bool
	depth themes.Depth
	open  map[themes.Token]*[overlays]string
	inked map[themes.Token]bool // its spaces are visible: it has a background, is reversed or underlined
}

// NewLook makes a theme ready for a terminal of that depth; ascii says that nothing but ASCII may be shown.
func NewLook(theme themes.Theme, glyph themes.Glyphs, ascii bool, depth themes.Depth) *Look {
	k := &Look{theme: theme, Glyph: glyph, ascii: ascii, depth: depth, open: make(map[themes.Token]*[overlays]string),
		inked: make(map[themes.Token]bool)}
	sel := theme.Looks[themes.Selected]
	for _, token := range themes.Tokens() {
		own := theme.Looks[token]
		k.inked[token] = own.Background != "" || own.Reverse || own.Reverse16 || own.Underline
		old := theme.Looks[themes.Stale]
		if depth == themes.DepthNone {
			old = own.Over(old) // without colours a stale state still keeps its own weight
		}
		on := themes.Look{}.Over(sel) // the row has one look, except for what needs the operator, failed or moves
		if depth > themes.Depth16 && (token == themes.Needs || token == themes.Bad || token == themes.Moves || token == themes.Match) {
			on = sel.Over(own)
		}
		var set [overlays]string
		back := theme.Looks[themes.Panel].Over(own)
		for i, l := range []themes.Look{AsItIs: own, Selected: on, Stale: old, staleSelected: sel.Over(old), Panel: back} {
			if sgr := l.SGR(depth); sgr != "" {
				set[i] = "\x1b[" + sgr + "m"
			}
		}
		k.open[token] = &set
	}
	return k
}

// Draw turns a line into text of exactly w columns.
func (k *Look) Draw(l Line, w int, over Overlay) string {
	var b strings.Builder
	b.Grow(2 * max(w, 0)) // with the sequences of a usual row
	k.write(&b, l, w, over)
	return b.String()
}

func (k *Look) write(b *strings.Builder, l Line, w int, over Overlay) {
	if w <= 0 {
		return
	}
	have := l.Width()
	if have > w {
		l = l.Cut(w)
		have = l.Width()
	}
	open, last := "", themes.Text
	for _, s := range l {
		if s.text == "" {
			continue
		}
		next := k.sequence(s.tone, over)
		if strings.TrimLeft(s.text, " ") == "" && !k.inked[s.tone] {
			if next = open; open == "" || k.inked[last] { // spaces look the same in every colour
				next = k.sequence(themes.Text, over)
			}
		} else {
			last = s.tone
		}
		if next != open {
			if open != "" {
				b.WriteString("\x1b[m")
			}
			b.WriteString(next)
			open = next
		}
		b.WriteString(s.text)
	}
	if have < w {
		next := open
		if open == "" || k.inked[last] {
			next = k.sequence(themes.Text, over)
		}
		if over == AsItIs || over == Stale {
			next = ""
		}
		if next != open {
			if open != "" {
				b.WriteString("\x1b[m")
			}
			b.WriteString(next)
			open = next
		}
		b.WriteString(strings.Repeat(" ", w-have))
	}
	if open != "" {
		b.WriteString("\x1b[m")
	}
}

func (k *Look) sequence(tone themes.Token, over Overlay) string {
	if set := k.open[tone]; set != nil {
		return set[over]
	}
	return ""
}

// ASCII replaces every other character and keeps each column in its place. It is applied to the whole frame, where the terminal
// or the operator wants ASCII only.
func ASCII(frame string) string {
	var b strings.Builder
	b.Grow(len(frame))
	for _, r := range frame {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for range sanitise.Width(string(r)) {
			b.WriteString(themes.ASCII(r))
		}
	}
	return b.String()
}
