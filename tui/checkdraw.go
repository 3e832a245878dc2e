package tui

import (
	"cmp"
	"slices"

	"lockstep/core/checklist"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// verdictMark is how a verdict is drawn.
func verdictMark(g themes.Glyphs, v checklist.Verdict) mark {
	switch v {
	case checklist.Fail:
		return mark{g.Failed, themes.Bad}
	case checklist.Warn:
		return mark{g.Dot, themes.Warn}
	case checklist.Unknown:
		return mark{g.Unknown, themes.Warn}
	}
	return mark{g.Done, themes.Good}
}

// draw draws the headline, the points, and the selected one in full below them.
func (p *checkPage) draw(m *Model, w, h int) []string {
	note := "esc back"
	if p.asking {
		note = "OpenStack is asked for room   " + note
	}
	out := []string{m.look.Rule(w, draw.One(themes.RuleFocus, "Check"), draw.One(themes.Dim, note), true, nil)}
	if !p.made {
		return append(out, m.look.Draw(draw.One(themes.Dim, " checking"+m.look.Glyph.Ellipsis), w, draw.AsItIs))
	}
	for _, l := range draw.Wrap(sanitise.Row(p.report.Headline()), max(w-2, 8)) {
		out = append(out, m.look.Draw(draw.One(themes.Strong, " "+l), w, draw.AsItIs))
	}
	if text := p.comparedText(); text != "" {
		out = append(out, m.look.Draw(draw.One(themes.Dim, " "+text), w, draw.AsItIs))
	}
	if n := len(p.unlike); n > 0 {
		text := " that check does not know enough of " + counted(n, "point") + ": not compared"
		out = append(out, m.look.Draw(draw.One(themes.Dim, text), w, draw.AsItIs))
	}
	detail := p.detail(m, w-2)
	room := h - len(out) - 1
	if room < 2 {
		return out[:min(len(out), h)]
	}
	rows := len(p.rows.Rows())
	below := min(len(detail), max(room/2, room-rows-1))
	list := max(min(rows, room-below), 1)
	out = append(out, draw.PadTo(p.rows.Draw(m.look, w, list, true, false), w, list)...)
	var more draw.Line
	if text := m.moreText(p.rows.More()); text != "" {
		more = draw.One(themes.Dim, text)
	}
	passed := p.report.Count(checklist.Pass)
	title := draw.One(themes.Dim, itoa(passed)+" pass"+wording.TextIf(p.every, "", "; "+m.keyTo("check.every")+" shows them"))
	out = append(out, m.look.Rule(w, title, more, false, nil))
	if fit := max(h-len(out), 0); len(detail) > fit {
		detail = append(detail[:max(fit-1, 0)], draw.One(themes.Dim, m.look.Glyph.Ellipsis+" "+m.keyTo("check.copy")+" copies all of it"))[:fit]
	}
	for _, l := range detail {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	return out[:min(len(out), h)]
}

// comparedText says with what the points are compared.
func (p *checkPage) comparedText() string {
	if p.earlier == nil {
		if p.alone {
			return "no check from before the update is kept here, with which to compare"
		}
		return ""
	}
	before := " worse than before the update, in the check of " + p.earlier.AsOf.Local().Format("2006-01-02 15:04")
	if len(p.worse) == 0 {
		return "nothing is" + before
	}
	return counted(len(p.worse), "point") + wording.Verb(len(p.worse), " is", " are") + before
}

// detail is all of the selected row.
func (p *checkPage) detail(m *Model, w int) []draw.Line {
	row, ok := p.rows.Current()
	if !ok {
		text := "nothing speaks against an update"
		if len(p.rows.Rows()) > 0 {
			text = "nothing is selected: up and down select a row"
		}
		return []draw.Line{draw.One(themes.Dim, text)}
	}
	var out []draw.Line
	say := func(tone themes.Token, label, text string) {
		if text == "" {
			return
		}
		const labels = 12
		for _, l := range draw.Wrap(sanitise.Row(named(m.snap, text)), max(w-labels, 8)) {
			out = append(out, append(draw.One(themes.Dim, label).Fit(labels, false), draw.Text(tone, l)))
			label = ""
		}
	}
	point := row.point
	say(themes.Strong, "must be", point.Title)
	if f := row.finding; f != nil {
		say(themes.Text, "found", row.text)
		say(themes.Key, "what to do", cmp.Or(f.Remedy, point.Remedy))
	}
	say(themes.Text, "why", point.Why)
	say(themes.Warn, "not known", point.Unknown)
	say(themes.Text, "note", point.Note)
	if c, ok := p.worse[point.ID]; ok {
		before := c.Before()
		if c.Against != nil {
			before += wording.InBrackets("in the check of " + wording.StampText(*c.Against))
		}
		say(themes.Needs, "before", before)
	}
	if slices.Contains(p.unlike, point.ID) {
		say(themes.Dim, "before", "it was not known, or not wholly: nobody can tell what of it is new")
	}
	say(themes.Dim, "", p.leads(*row))
	for _, c := range point.Commands {
		say(themes.Key, "by hand", c)
	}
	say(themes.Dim, "documents", point.Page)
	return out
}
