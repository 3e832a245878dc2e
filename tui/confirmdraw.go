package tui

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/themes"
)

// besideBox is the width from which on the box leaves room at its sides: below it, what is left there would be the beginnings
// and ends of lines, which say nothing.
const besideBox = 144

// draw is the box: what, why, the conditions, the same by hand, what comes after; the buttons below never scroll away.
func (d *confirmDialog) draw(m *Model, w, h int) []string {
	if w > besideBox {
		w = 104
	}
	w = max(w, 20)
	inner := max(w-4, 10)
	s := d.step
	title := s.Title
	if s.Label != "" && !strings.Contains(s.Title, s.Label) {
		title = s.Label + " " + m.look.glyph.Dot + " " + s.Title
	}
	note := line{txt(themes.Dim, "risk: "), txt(riskTone(s.Risk), string(s.Risk))}
	if d.where != "" {
		if whole := d.where + " " + m.look.glyph.Dot + " " + title; width(whole)+note.width() < inner { // what is done comes before its number
			title = whole
		}
	}
	foot := d.foot(inner)
	room := max(h-2-len(foot), 1)
	body := d.body(m, inner, true)
	if len(body) > room {
		body = d.body(m, inner, false)
	}
	d.last = max(len(body)-room, 0)
	d.scroll = min(d.scroll, d.last)
	if d.last > 0 {
		more := len(body) - room - d.scroll
		body = body[d.scroll : d.scroll+room]
		if more > 0 {
			body = append(body[:len(body)-1:len(body)-1], one(themes.Key, fmt.Sprintf("%s %d more lines: down", m.look.glyph.Down, more+1)))
		}
	}
	return m.box(one(themes.Strong, title), note, append(body, foot...), w)
}

// body is everything that has to be read: what is done and what comes of it first. Where not all of it has room, the
// conditions that hold share a paragraph at the end, so that what does not hold and the commands are seen without scrolling.
func (d *confirmDialog) body(m *Model, w int, all bool) []line {
	s := d.step
	var out []line
	add := func(tone themes.Token, text string) { out = append(out, paragraph(tone, text, w)...) }
	gapLine := func() {
		if len(out) > 0 && len(out[len(out)-1]) > 0 {
			out = append(out, line{})
		}
	}
	if d.next != nil {
		add(themes.Needs, "Changed since you opened it. Read again (r) before you confirm.")
		for _, n := range d.news {
			add(themes.Needs, "  "+n)
		}
		gapLine()
	}
	for _, l := range describe(m.snap, s) {
		add(themes.Text, l)
	}
	for _, p := range []struct{ label, text string }{{"Why: ", named(m.snap, s.Why)}, {"Now: ", named(m.snap, s.Status)}, {"Then: ", s.Then}} {
		if p.text != "" {
			out = append(out, labelled(p.label, p.text, w)...)
		}
	}
	var shown, holding []core.Guard
	for _, g := range s.Guards {
		if all || !g.Holds {
			shown = append(shown, g)
		} else {
			holding = append(holding, g)
		}
	}
	gapLine()
	if len(shown) > 0 {
		add(themes.Dim, "Before this may happen")
		for _, g := range shown {
			out = append(out, guardLines(m, g, w)...)
		}
	}
	refused := d.preview != nil && d.preview.Err != nil
	if all || refused {
		out = append(out, d.dryRun(m, w)...)
	}
	if len(s.Commands) > 0 {
		gapLine()
		add(themes.Dim, "The same by hand")
		for _, c := range s.Commands {
			out = append(out, indented(themes.Key, c, 2, w)...)
		}
	}
	gapLine()
	undo := s.Undo
	if undo == "" {
		undo = "it cannot be undone"
	}
	out = append(out, labelled("To undo: ", undo, w)...)
	if len(holding) > 0 {
		gapLine()
		if len(shown) > 0 {
			add(themes.Dim, "What holds already")
		} else {
			add(themes.Dim, "Before this may happen")
		}
		out = append(out, holdLines(m, holding, w)...)
	}
	if !all && !refused {
		out = append(out, d.dryRun(m, w)...)
	}
	gapLine()
	return out
}

// dryRun is what the server says of the change before it is made.
func (d *confirmDialog) dryRun(m *Model, w int) []line {
	if d.preview == nil {
		return nil
	}
	e := d.preview.Err
	switch {
	case e == nil && d.preview.DryRun == "":
		return nil
	case e == nil:
		return indented(themes.Dim, d.preview.DryRun, 2, w)
	}
	out := []line{{txt(themes.Bad, "  "+m.look.glyph.Failed+" "), txt(themes.Text, "the server's dry-run")}}
	out = append(out, indented(themes.Bad, e.Error(), 4, w)...)
	if e.Remedy != "" {
		out = append(out, indented(themes.Key, e.Remedy, 4, w)...)
	}
	return out
}

// holdLines are conditions that hold, in one paragraph.
func holdLines(m *Model, guards []core.Guard, w int) []line {
	var parts []string
	for _, g := range guards {
		text := g.Text
		if g.Answer != "" {
			text += " (" + g.Answer + ")"
		}
		parts = append(parts, text)
	}
	var out []line
	for i, l := range wrap(clean(strings.Join(parts, ", "), rowLimit), max(w-4, 8)) {
		lead := line{blank(4)}
		if i == 0 {
			lead = line{blank(2), txt(themes.Good, m.look.glyph.On+" ")}
		}
		out = append(out, append(lead, txt(themes.Dim, l)))
	}
	return out
}

// labelled is a paragraph after a dim word, indented below it.
func labelled(label, text string, w int) []line {
	n := width(label)
	var out []line
	for i, s := range wrap(clean(text, rowLimit), max(w-n, 8)) {
		if i == 0 {
			out = append(out, line{txt(themes.Dim, label), txt(themes.Text, s)})
		} else {
			out = append(out, line{blank(n), txt(themes.Text, s)})
		}
	}
	return out
}

func indented(tone themes.Token, text string, n, w int) []line {
	var out []line
	for i, s := range wrap(clean(text, rowLimit), max(w-n-2, 8)) {
		in := n
		if i > 0 {
			in += 2
		}
		out = append(out, line{blank(in), txt(tone, s)})
	}
	return out
}

// guardLines are one condition, what was found, and what to do when it does not hold.
func guardLines(m *Model, g core.Guard, w int) []line {
	k := mark{m.look.glyph.On, themes.Good}
	tone, answer := themes.Text, themes.Dim
	if !g.Holds {
		k, tone, answer = mark{m.look.glyph.Off, themes.Needs}, themes.Needs, themes.Text
	}
	lead := line{blank(2), txt(k.tone, k.glyph+" ")}
	room := w - lead.width()
	text := clean(g.Text, rowLimit)
	found := clean(g.Answer, rowLimit)
	var out []line
	if col := max(room/2, 30); width(text) < col && width(text)+width(found)+2 <= room || width(text) < col && room-col > 20 {
		for i, s := range wrap(found, max(room-col, 8)) {
			if i == 0 {
				out = append(out, append(append(lead, one(tone, text).fit(col, false)...), txt(answer, s)))
			} else {
				out = append(out, line{blank(4 + col), txt(answer, s)})
			}
		}
	} else {
		for i, s := range wrap(text, max(room, 8)) {
			if i == 0 {
				out = append(out, append(lead, txt(tone, s)))
			} else {
				out = append(out, line{blank(4), txt(tone, s)})
			}
		}
		if found != "" {
			out = append(out, indented(answer, found, 6, w)...)
		}
	}
	if !g.Holds && g.Remedy != "" {
		out = append(out, indented(themes.Key, m.look.glyph.Arrow+" "+g.Remedy, 4, w)...)
	}
	return out
}

// foot is what stands before Confirm, the field for the name, and the buttons.
func (d *confirmDialog) foot(w int) []line {
	var out []line
	if d.refusal != "" {
		out = append(out, paragraph(themes.Bad, "Refused: "+d.refusal, w)...)
	}
	confirm := "Confirm"
	switch {
	case d.next != nil:
		confirm = "Read again"
	case d.preview != nil && d.preview.Err != nil && d.blocker() == "":
		confirm = "Ask again"
	}
	focus := 0
	if d.focus == onConfirm {
		focus = 1
	}
	if d.focus == onInput {
		focus = -1
	}
	reason := d.obstacle()
	b := buttons([]string{"Cancel", confirm}, focus)
	if reason != "" && d.next == nil && confirm == "Confirm" && focus != 1 {
		b = append(buttons([]string{"Cancel"}, focus), blank(2), txt(themes.Off, "  "+confirm+"  "))
	}
	if d.fielded() {
		field := one(themes.Dim, "Type ").and(themes.Strong, d.step.Type).and(themes.Dim, ": ")
		if need := width(d.step.Type) + 2; field.width()+need <= w { // the name, and the cursor behind it
			out = append(out, append(field, d.field(need)...))
		} else {
			out = append(out, field.cut(w), append(line{blank(2)}, d.field(w-2)...))
		}
	}
	var left line
	switch {
	case reason == "":
		left = one(themes.Good, "Ready.").and(themes.Dim, "  enter "+d.enters())
	case d.missing != "" && d.fielded():
		left = one(themes.Needs, d.missing)
	case !d.fielded() || d.input.Value() == d.step.Type:
		left = one(themes.Warn, "Not yet: "+reason+".")
	}
	if does := one(themes.Dim, "  enter "+d.enters()); reason != "" && left.width()+does.width()+b.width()+1 <= w {
		left = append(left, does...)
	}
	if left.width()+b.width()+1 > w {
		out = append(out, left.cut(w))
		left = nil
	}
	return append(out, apart(left, b, w))
}

// field is the text that is being typed, with its cursor.
func (d *confirmDialog) field(w int) line {
	return inputLine(d.input.Value(), d.input.Position(), w, d.focus == onInput)
}

// inputLine draws a text field whose cursor is at the at-th character.
func inputLine(value string, at, w int, focused bool) line {
	w = max(w, 8)
	r := []rune(value)
	at = min(max(at, 0), len(r))
	if !focused {
		return one(themes.Input, value).cut(w)
	}
	from := max(at-w+2, 0)
	under, after := " ", ""
	if at < len(r) {
		under, after = string(r[at]), string(r[at+1:])
	}
	return line{txt(themes.Input, string(r[from:at])), txt(themes.ButtonFocus, under), txt(themes.Input, after)}.cut(w)
}

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func joined(lines []string) string { return strings.Join(lines, "\n") }
