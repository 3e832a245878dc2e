package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"lockstep/themes"
)

// Box frames lines, with a title and a note above them. It has borders on terminals with few colours, and elsewhere a background
// of its own, which takes half the bytes on a slow line.
func (k *Look) Box(title, note Line, body []Line, w int) []string {
	inner := w - 4
	if k.depth <= themes.Depth16 || k.theme.Looks[themes.Panel].Background == "" {
		return k.bordered(title, note, body, w)
	}
	margin := Line{Blank(2)}
	head := Apart(title, note, inner)
	out := []string{k.Draw(append(margin, head...), w, Panel)}
	for _, l := range body {
		out = append(out, k.Draw(append(margin[:1:1], l.Cut(inner)...), w, Panel))
	}
	return append(out, k.Draw(nil, w, Panel))
}

func (k *Look) bordered(title, note Line, body []Line, w int) []string {
	g, tone := k.Glyph, themes.Text
	inner := w - 4
	room := w - 4 // corners, and a line beside each
	if len(note) > 0 {
		room -= note.Width() + 3
	}
	top := Line{Text(tone, g.CornerNW+g.Line+" ")}
	top = append(top, title.Cut(max(room-2, 4))...)
	top = append(top, Text(tone, " "))
	end := Line{Text(tone, g.Line+g.CornerNE)}
	if len(note) > 0 {
		end = append(append(Line{Text(tone, " ")}, note...), Text(tone, " "+g.Line+g.CornerNE))
	}
	top = append(top, Text(tone, strings.Repeat(g.Line, max(w-top.Width()-end.Width(), 0))))
	out := []string{k.Draw(append(top, end...), w, AsItIs)}
	side := k.Draw(One(tone, g.Bar), 1, AsItIs)
	for _, l := range body {
		out = append(out, side+" "+k.Draw(l, inner, AsItIs)+" "+side)
	}
	bottom := g.CornerSW + strings.Repeat(g.Line, max(w-2, 0)) + g.CornerSE
	return append(out, k.Draw(One(tone, bottom), w, AsItIs))
}

// Rule is the line above a pane: its name at the left, its note at the right. Tees are the columns at which a vertical line
// begins or ends.
func (k *Look) Rule(w int, name, note Line, focused bool, tees map[int]string) string {
	tone := themes.Rule
	if focused {
		tone = themes.RuleFocus
	}
	g := k.Glyph
	left := Line{Text(tone, g.Line), Blank(1)}
	if len(name) == 0 {
		left = nil
	} else {
		left = append(append(left, name...), Blank(1))
	}
	var right Line
	if len(note) > 0 && left.Width()+note.Width()+6 < w {
		right = append(append(Line{Blank(1)}, note...), Blank(1), Text(tone, g.Line))
	}
	left = left.Cut(max(w, 0))
	var fill strings.Builder
	for x := left.Width(); x < w-right.Width(); x++ {
		if t, ok := tees[x]; ok {
			fill.WriteString(t)
		} else {
			fill.WriteString(g.Line)
		}
	}
	return k.Draw(append(append(left, Text(tone, fill.String())), right...), w, AsItIs)
}

// NotedRule is Rule with a note that has to be read: where both have no room, the name is cut.
func (k *Look) NotedRule(w int, name, note Line, focused bool, tees map[int]string) string {
	const least = 8 // columns of a name that still says something
	if room := w - note.Width() - 9; name.Width() > room && room >= least {
		name = name.Cut(room)
	}
	return k.Rule(w, name, note, focused, tees)
}

// Buttons draws the buttons of a dialog; the focused one stands out by its look and by brackets.
func Buttons(names []string, focus int) Line {
	var out Line
	for i, n := range names {
		if i > 0 {
			out = append(out, Blank(2))
		}
		if i == focus {
			out = append(out, Text(themes.ButtonFocus, "[ "+n+" ]"))
		} else {
			out = append(out, Text(themes.Button, "  "+n+"  "))
		}
	}
	return out
}

// Lay puts a box in the middle of a screen that is w columns wide.
func Lay(box, screen []string, w int) []string {
	if len(box) == 0 || len(screen) == 0 {
		return screen
	}
	out := append([]string(nil), screen...)
	wide := ansi.StringWidth(box[0])
	x := max((w-wide)/2, 0)
	y := max((len(screen)-len(box))/2, 0)
	for i, b := range box {
		if y+i >= len(out) {
			break
		}
		under := out[y+i]
		left := ansi.Truncate(under, x, "")
		if n := x - ansi.StringWidth(left); n > 0 {
			left += strings.Repeat(" ", n)
		}
		right := ansi.TruncateLeft(under, x+wide, "")
		if ansi.StringWidth(right) > max(ansi.StringWidth(under)-x-wide, 0) { // a wide character lies half under the box
			right = " " + ansi.TruncateLeft(under, x+wide+1, "")
		}
		out[y+i] = left + "\x1b[m" + b + right
	}
	return out
}

// PadTo makes lines exactly h lines.
func PadTo(lines []string, w, h int) []string {
	for len(lines) < h {
		lines = append(lines, strings.Repeat(" ", max(w, 0)))
	}
	return lines[:max(h, 0)]
}
