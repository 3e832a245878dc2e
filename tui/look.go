package tui

import (
	"strings"

	"lockstep/themes"
)

// overlay says what is laid over a row's own looks.
type overlay uint8

const (
	asItIs   overlay = iota
	selected         // the row under the cursor of the pane that has the keys
	stale            // facts that are not fresh
	staleSelected
	overlays
)

// look is a theme made ready for one terminal: the escape sequence of every token under every overlay.
type look struct {
	theme themes.Theme
	glyph themes.Glyphs
	ascii bool
	depth themes.Depth
	open  map[themes.Token]*[overlays]string
}

func newLook(theme themes.Theme, glyph themes.Glyphs, ascii bool, depth themes.Depth) *look {
	k := &look{theme: theme, glyph: glyph, ascii: ascii, depth: depth, open: make(map[themes.Token]*[overlays]string)}
	sel := theme.Looks[themes.Selected]
	for _, token := range themes.Tokens() {
		own := theme.Looks[token]
		old := theme.Looks[themes.Stale]
		if depth == themes.DepthNone {
			old = own.Over(old) // without colours a stale state still keeps its own weight
		}
		on := own.Over(sel)
		if depth <= themes.Depth16 && sel.Reverse16 {
			// Coloured text reversed is a coloured bar: unreadable in some palettes. The row is reversed plainly.
			on = themes.Look{Bold: own.Bold, Underline: own.Underline, Reverse16: true}
		}
		var set [overlays]string
		for i, l := range []themes.Look{asItIs: own, selected: on, stale: old, staleSelected: old.Over(sel)} {
			if sgr := l.SGR(depth); sgr != "" {
				set[i] = "\x1b[" + sgr + "m"
			}
		}
		k.open[token] = &set
	}
	return k
}

// draw turns a line into text of exactly w columns.
func (k *look) draw(l line, w int, over overlay) string {
	var b strings.Builder
	k.write(&b, l, w, over)
	return b.String()
}

func (k *look) write(b *strings.Builder, l line, w int, over overlay) {
	if w <= 0 {
		return
	}
	have := l.width()
	if have > w {
		l = l.cut(w)
		have = l.width()
	}
	open := ""
	for _, s := range l {
		if s.text == "" {
			continue
		}
		next := k.sequence(s.tone, over)
		if strings.TrimLeft(s.text, " ") == "" && over == asItIs {
			next = "" // spaces look the same in every colour
			if l := k.theme.Looks[s.tone]; l.Reverse || l.Background != "" || l.Underline {
				next = k.sequence(s.tone, over)
			}
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
		next := ""
		if over == selected || over == staleSelected {
			next = k.sequence(themes.Text, over)
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

func (k *look) sequence(tone themes.Token, over overlay) string {
	if set := k.open[tone]; set != nil {
		return set[over]
	}
	return ""
}

// toASCII replaces what plain ASCII does not have, keeping every column where it is. It is applied to the whole frame,
// where the terminal or the operator wants ASCII only.
func toASCII(frame string) string {
	var b strings.Builder
	b.Grow(len(frame))
	for _, r := range frame {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for range width(string(r)) {
			b.WriteString(themes.ASCII(r))
		}
	}
	return b.String()
}
