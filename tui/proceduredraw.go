package tui

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// draw draws the page: its rule, which says how many steps are out of sight, and the body.
func (p *procedurePage) draw(m *Model, w, h int) []string {
	body := p.body(m, w, h-1)
	note := draw.One(themes.Dim, "esc back")
	if !p.known {
		note = draw.One(themes.Warn, "no longer known: what was last seen")
	}
	if more := m.moreText(p.steps.More()); more != "" {
		note = append(draw.One(themes.Dim, more+"   "), note...)
	}
	return append([]string{m.look.NotedRule(w, draw.One(themes.RuleFocus, p.proc.Title), note, true, nil)}, body...)
}

// body is the list of steps, and the selected one in full below it, or beside it where there is room.
func (p *procedurePage) body(m *Model, w, h int) []string {
	var out []string
	var head []draw.Line
	if p.proc.Goal != "" && h >= 17 {
		head = append(head, draw.Paragraph(themes.Dim, p.proc.Goal, w-2)...)
	}
	if whole := p.wholeSummary(m, w-2); len(head)+len(whole)+1+p.wants(w) <= h {
		head = append(head, whole...) // nothing is cut above empty rows
	} else {
		head = append(head, p.summary(m, w-2, max((h+1)/3, 1))...)
	}
	for _, l := range head {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	if len(head) > 0 {
		out = append(out, m.look.Draw(nil, w, draw.AsItIs))
	}
	room := h - len(out)
	if len(p.proc.Steps) == 0 {
		return append(out, m.look.Draw(draw.One(themes.Dim, " "+cmp.Or(p.proc.Nothing, "There is nothing to do.")), w, draw.AsItIs))
	}
	if w >= 150 {
		return append(out, p.drawBeside(m, w, room)...)
	}
	list := max(min(len(p.proc.Steps), room*3/5), min(3, room))
	out = append(out, draw.PadTo(p.steps.Draw(m.look, w, list, true, false), w, list)...)
	if room-list < 3 {
		return out
	}
	out = append(out, p.stepRule(m, w))
	for _, l := range p.fitDetails(m, w-2, room-list-1) {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	return out
}

// wholeSummary is everything relevant that is known.
func (p *procedurePage) wholeSummary(m *Model, w int) []draw.Line {
	var out []draw.Line
	for _, text := range p.proc.Summary {
		out = append(out, draw.Paragraph(themes.Text, named(m.snap, text), w)...)
	}
	return out
}

// wants is how many lines the steps take, and how many the details of a step usually take: the same for each, so that nothing
// jumps when another is selected.
func (p *procedurePage) wants(w int) int {
	const usual = 12
	if w >= 150 {
		return max(len(p.proc.Steps), usual)
	}
	return len(p.proc.Steps) + usual
}

// summary is everything relevant that is known, in at most room lines. Texts are wrapped, not cut; where there is no room for
// all, the last line says so.
func (p *procedurePage) summary(m *Model, w, room int) []draw.Line {
	out := p.wholeSummary(m, w)
	if len(out) <= room {
		return out
	}
	rest := m.look.Glyph.Ellipsis
	last := out[room-1].Cut(w - draw.Width(rest) - 1)
	return append(out[:room-1:room-1], append(last, draw.Text(themes.Dim, " "+rest)))
}

func (p *procedurePage) drawBeside(m *Model, w, h int) []string {
	left := w * 11 / 20
	right := w - left - 1
	steps := draw.PadTo(p.steps.Draw(m.look, left, h, true, false), left, h)
	var side []string
	side = append(side, p.stepRule(m, right))
	for _, l := range p.fitDetails(m, right-2, h-1) {
		side = append(side, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), right, draw.AsItIs))
	}
	side = draw.PadTo(side, right, h)
	bar := m.look.Draw(draw.One(themes.Rule, m.look.Glyph.Bar), 1, draw.AsItIs)
	out := make([]string, h)
	for i := range out {
		out[i] = steps[i] + bar + side[i]
	}
	return out
}

// stepRule names the selected step, and the alternatives to it.
func (p *procedurePage) stepRule(m *Model, w int) string {
	s, ok := p.steps.Current()
	if !ok {
		return m.look.Rule(w, nil, nil, false, nil)
	}
	step, _ := p.chosen()
	name := draw.One(themes.Strong, step.Title)
	var note draw.Line
	if n := len(s.Alternatives); n > 0 && s.State != core.StepDone {
		note = draw.One(themes.Key, fmt.Sprintf("way %d of %d: left, right", p.wayOf(s)+1, n+1))
	}
	return m.look.Rule(w, name, note, false, nil)
}

// fitDetails are the details in at most h lines: commands are written out where there is room, and cut where there is not.
func (p *procedurePage) fitDetails(m *Model, w, h int) []draw.Line {
	out := p.details(m, w, true)
	if len(out) > h {
		out = p.details(m, w, false)
	}
	if len(out) > h {
		out = append(out[:max(h-1, 0)], draw.One(themes.Dim, m.look.Glyph.Ellipsis+" "+p.allShown(m)))
	}
	return out
}

// allShown says how to see the whole step, when there is no room for it.
func (p *procedurePage) allShown(m *Model) string {
	does := p.enterDoes(m)
	if s, ok := p.chosen(); ok && len(s.Tell) > 0 {
		return does.says
	}
	return "enter shows all"
}

// details are what to know about the selected step before opening it. For a step that is done or runs they leave out conditions
// and commands: those would be for doing it again.
func (p *procedurePage) details(m *Model, w int, written bool) []draw.Line {
	s, ok := p.chosen()
	if !ok {
		if gone := p.steps.Gone(); gone != "" {
			return append(draw.Paragraph(themes.Warn, "Nothing is selected: "+quote(gone)+" is no longer there.", w),
				draw.One(themes.Key, "up and down select a step, n the one that comes next"))
		}
		return nil
	}
	var out []draw.Line
	if own, _ := p.steps.Current(); len(own.Alternatives) > 0 && own.State != core.StepDone {
		parts := []draw.Line{wayName(wayTitle(*own), p.wayOf(own) == 0)}
		for i, a := range own.Alternatives {
			parts = append(parts, wayName(wayTitle(a), p.wayOf(own) == i+1))
		}
		out = append(out, draw.Join(2, parts...).Cut(w))
	}
	if s.Why != "" {
		out = append(out, labelled("why   ", named(m.snap, s.Why), w)...)
	}
	if s.Status != "" {
		out = append(out, labelled("now   ", named(m.snap, s.Status), w)...)
	}
	begun := s.State == core.StepDone || s.State == core.StepRunning
	for _, g := range s.Guards {
		if !g.Holds && !begun {
			out = append(out, guardLines(m, g, m.keyTo("arm"), w)...)
		}
	}
	if s.Risk != "" && s.Change != nil && !begun {
		out = append(out, draw.Line{draw.Text(themes.Dim, "risk  "), draw.Text(riskTone(s.Risk), string(s.Risk))})
	}
	if s.Then != "" && s.State != core.StepDone {
		out = append(out, labelled("then  ", s.Then, w)...)
	}
	enter := draw.One(themes.Key, p.enterDoes(m).says)
	if begun {
		return append(out, enter)
	}
	for i, c := range s.Commands {
		label := "hand  "
		if i > 0 {
			label = "      "
		}
		if !written {
			out = append(out, append(draw.One(themes.Dim, label), draw.Text(themes.Key, c)).Cut(w))
			continue
		}
		for j, l := range draw.Wrap(sanitise.Row(c), max(w-draw.Width(label)-2, 8)) {
			if j > 0 {
				label = "        "
			}
			out = append(out, draw.Line{draw.Text(themes.Dim, label), draw.Text(themes.Key, l)})
		}
	}
	return append(out, enter)
}

// wayTitle is what an alternative does: "cold-migrate", "stop". The rule above names the object.
func wayTitle(s core.Step) string {
	short := strings.TrimSpace(strings.Replace(" "+s.Title+" ", " "+s.Label+" ", " ", 1))
	if short = strings.TrimSuffix(short, " of"); s.Label == "" || short == "" {
		return s.Title
	}
	return short
}

func wayName(title string, on bool) draw.Line {
	if on {
		return draw.One(themes.TabFocus, " "+title+" ")
	}
	return draw.One(themes.Tab, " "+title+" ")
}
