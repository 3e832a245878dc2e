package tui

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// besideBox is the least width at which the box leaves room at its sides. Below it, only cut ends of lines would be seen there.
const besideBox = 144

// draw draws the box: what, why, the conditions, the same by hand, what comes after. The buttons never scroll away.
func (d *confirmDialog) draw(m *Model, w, h int) []string {
	if w > besideBox {
		w = 104
	}
	w = max(w, 20)
	inner := max(w-4, 10)
	s := d.step
	title := s.Title
	if s.Label != "" && !strings.Contains(s.Title, s.Label) {
		title = s.Label + " " + m.look.Glyph.Dot + " " + s.Title
	}
	note := append(m.whichCluster(), draw.Text(themes.Dim, "risk: "), draw.Text(riskTone(s.Risk), string(s.Risk)))
	if draw.Width(title)+note.Width() >= inner {
		title = s.Title // of what it is, the text below says, too
	}
	if d.where != "" {
		// what is done comes before its number
		if whole := d.where + " " + m.look.Glyph.Dot + " " + title; draw.Width(whole)+note.Width() < inner {
			title = whole
		}
	}
	foot := d.foot(m, inner, h)
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
			body = append(body[:len(body)-1:len(body)-1], draw.One(themes.Key, fmt.Sprintf("%s %d more lines: down", m.look.Glyph.Down, more+1)))
		}
	}
	return m.look.Box(draw.One(themes.Strong, title), note, append(body, foot...), w)
}

// body is everything to read, what is done and its result first. Where there is not enough room, the conditions that hold share a
// paragraph at the end, so that those that do not hold and the commands are seen without scrolling.
func (d *confirmDialog) body(m *Model, w int, all bool) []draw.Line {
	s := d.step
	var out []draw.Line
	add := func(tone themes.Token, text string) { out = append(out, draw.Paragraph(tone, text, w)...) }
	gapLine := func() {
		if len(out) > 0 && len(out[len(out)-1]) > 0 {
			out = append(out, draw.Line{})
		}
	}
	if d.next != nil {
		add(themes.Needs, "Changed since you opened it. Read again"+wording.InBrackets(m.keyOf("confirm.reread"))+" before you confirm.")
		for _, n := range d.news {
			add(themes.Needs, "  "+n)
		}
		gapLine()
	}
	for _, l := range describe(m.snap, s) {
		add(themes.Text, l)
	}
	if batch, ok := s.Change.(core.Batch); ok && s.MayGoPast() {
		add(themes.Text, atFailure(batch.PastFailures, m.keyWhileTyping("confirm.past")))
	}
	for _, p := range []struct{ label, text string }{{"Why: ", named(m.snap, s.Why)}, {"Now: ", named(m.snap, s.Status)}, {"Then: ", s.Then}} {
		if p.text != "" {
			out = append(out, labelled(p.label, p.text, w)...)
		}
	}
	out = append(out, d.room.lines(w)...)
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
			out = append(out, guardLines(m, g, m.keyOf("confirm.arm"), w)...)
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
	if s.Undo != "" || len(s.Commands) > 0 { // a step that was refused before it had a command says nothing of undoing it
		gapLine()
		out = append(out, labelled("To undo: ", cmp.Or(s.Undo, "it cannot be undone"), w)...)
	}
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

// dryRun is the server's answer to the dry-run.
func (d *confirmDialog) dryRun(m *Model, w int) []draw.Line {
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
	out := []draw.Line{{draw.Text(themes.Bad, "  "+m.look.Glyph.Failed+" "), draw.Text(themes.Text, "the server's dry-run")}}
	out = append(out, indented(themes.Bad, e.Error(), 4, w)...)
	if e.Remedy != "" {
		out = append(out, indented(themes.Key, e.Remedy, 4, w)...)
	}
	return out
}

// holdLines are conditions that hold, in one paragraph.
func holdLines(m *Model, guards []core.Guard, w int) []draw.Line {
	var parts []string
	for _, g := range guards {
		text := g.Text
		if g.Answer != "" {
			text += " (" + g.Answer + ")"
		}
		parts = append(parts, text)
	}
	var out []draw.Line
	for i, l := range draw.Wrap(sanitise.Row(strings.Join(parts, ", ")), max(w-4, 8)) {
		lead := draw.Line{draw.Blank(4)}
		if i == 0 {
			lead = draw.Line{draw.Blank(2), draw.Text(themes.Good, m.look.Glyph.On+" ")}
		}
		out = append(out, append(lead, draw.Text(themes.Dim, l)))
	}
	return out
}

// labelled is a paragraph after a dim word, indented below it.
func labelled(label, text string, w int) []draw.Line {
	n := draw.Width(label)
	var out []draw.Line
	for i, s := range draw.Wrap(sanitise.Row(text), max(w-n, 8)) {
		if i == 0 {
			out = append(out, draw.Line{draw.Text(themes.Dim, label), draw.Text(themes.Text, s)})
		} else {
			out = append(out, draw.Line{draw.Blank(n), draw.Text(themes.Text, s)})
		}
	}
	return out
}

func indented(tone themes.Token, text string, n, w int) []draw.Line {
	var out []draw.Line
	for i, s := range draw.Wrap(sanitise.Row(text), max(w-n-2, 8)) {
		in := n
		if i > 0 {
			in += 2
		}
		out = append(out, draw.Line{draw.Blank(in), draw.Text(tone, s)})
	}
	return out
}

// guardLines are one condition, what was found, and what to do when it does not hold; arms is the key that arms writing there.
func guardLines(m *Model, g core.Guard, arms string, w int) []draw.Line {
	k := mark{m.look.Glyph.On, themes.Good}
	tone, answer := themes.Text, themes.Dim
	if !g.Holds {
		k, tone, answer = mark{m.look.Glyph.Off, themes.Needs}, themes.Needs, themes.Text
	}
	lead := draw.Line{draw.Blank(2), draw.Text(k.tone, k.glyph+" ")}
	room := w - lead.Width()
	text := sanitise.Row(g.Text)
	found := sanitise.Row(g.Answer)
	var out []draw.Line
	if col := max(room/2, 30); draw.Width(text) < col && draw.Width(text)+draw.Width(found)+2 <= room ||
		draw.Width(text) < col && room-col > 20 {
		for i, s := range draw.Wrap(found, max(room-col, 8)) {
			if i == 0 {
				out = append(out, append(append(lead, draw.One(tone, text).Fit(col, false)...), draw.Text(answer, s)))
			} else {
				out = append(out, draw.Line{draw.Blank(4 + col), draw.Text(answer, s)})
			}
		}
	} else {
		for i, s := range draw.Wrap(text, max(room, 8)) {
			if i == 0 {
				out = append(out, append(lead, draw.Text(tone, s)))
			} else {
				out = append(out, draw.Line{draw.Blank(4), draw.Text(tone, s)})
			}
		}
		if found != "" {
			out = append(out, indented(answer, found, 6, w)...)
		}
	}
	if !g.Holds && g.Remedy != "" {
		remedy := g.Remedy
		if g.SaysUnarmed() && arms != "" {
			remedy = arms + " arms it"
		}
		out = append(out, indented(themes.Key, m.look.Glyph.Arrow+" "+remedy, 4, w)...)
	}
	return out
}

// foot is what blocks Confirm, the field for the name, and the buttons.
func (d *confirmDialog) foot(m *Model, w, h int) []draw.Line {
	var out []draw.Line
	if d.refusal != "" {
		const others = 7 // lines: the box's own two, one to read, the field's two, what is missing, and the buttons
		out = append(out, atMost(max(h-others, 1), themes.Bad, "Refused: "+d.refusal, w)...)
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
	b := draw.Buttons([]string{"Cancel", confirm}, focus)
	if reason != "" && d.next == nil && confirm == "Confirm" && focus != 1 {
		b = append(draw.Buttons([]string{"Cancel"}, focus), draw.Blank(2), draw.Text(themes.Off, "  "+confirm+"  "))
	}
	if d.fielded() {
		field := draw.One(themes.Dim, "Type ").And(themes.Strong, d.step.Type).And(themes.Dim, ": ")
		if need := draw.Width(d.step.Type) + 2; field.Width()+need <= w { // the name, and the cursor behind it
			out = append(out, append(field, d.field(need)...))
		} else {
			out = append(out, field.Cut(w), append(draw.Line{draw.Blank(2)}, d.field(w-2)...))
		}
	}
	var left draw.Line
	switch {
	case d.hush.on(m):
		left = draw.One(themes.Warn, "It has just changed.").And(themes.Dim, "  enter "+nothingYet)
	case d.missing != "" && d.fielded():
		left = draw.One(themes.Needs, d.missing)
	case reason == "":
		left = draw.One(themes.Good, "Ready.").And(themes.Dim, "  enter "+d.enters(m))
	case !d.fielded() || d.input.Value() == d.step.Type:
		left = draw.One(themes.Warn, "Not yet: "+reason+".")
	}
	if does := draw.One(themes.Dim, "  enter "+d.enters(m)); reason != "" && !d.hush.on(m) && left.Width()+does.Width()+b.Width()+1 <= w {
		left = append(left, does...)
	}
	if left.Width()+b.Width()+1 > w {
		out = append(out, left.Cut(w))
		left = nil
	}
	return append(out, draw.Apart(left, b, w))
}

// field is the text that is being typed, with its cursor.
func (d *confirmDialog) field(w int) draw.Line {
	return inputLine(d.input.Value(), d.input.Position(), w, d.focus == onInput)
}

// inputLine draws a text field whose cursor is at the at-th character. Of a long text what is before the cursor is seen: that is being
// typed.
func inputLine(value string, at, w int, focused bool) draw.Line {
	w = max(w, 8)
	r := []rune(value)
	at = min(max(at, 0), len(r))
	if !focused {
		return draw.One(themes.Input, value).Cut(w)
	}
	cursor, after := draw.Text(themes.ButtonFocus, " "), ""
	if at < len(r) {
		cursor, after = draw.Text(themes.ButtonFocus, string(r[at])), string(r[at+1:])
	}
	room := w - draw.Line{cursor}.Width() - 1 // of what comes after it there is a column at least
	return draw.Line{draw.Tail(themes.Input, string(r[:at]), room), cursor, draw.Text(themes.Input, after)}.Cut(w)
}

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func joined(lines []string) string { return strings.Join(lines, "\n") }
