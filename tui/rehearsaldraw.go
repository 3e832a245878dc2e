package tui

import (
	"fmt"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// The panel in two columns: the faults on the left, the one under the cursor explained on the right.
const (
	rehearsalWide = 110
	// explainFault is how many lines the fault under the cursor has below the list, where there is one column.
	explainFault = 5
)

func (p *rehearsalPage) draw(m *Model, w, h int) []string {
	note := draw.One(themes.Dim, "esc closes")
	if n := p.on(); n > 0 {
		word := " faults on"
		if n == 1 {
			word = " fault on"
		}
		note = append(draw.One(themes.Bad, itoa(n)+word), draw.Blank(3))
		note = note.And(themes.Dim, "esc closes")
	}
	out := []string{m.look.Rule(w, draw.One(themes.RuleFocus, "Rehearsal"), note, true, nil)}
	add := func(lines ...draw.Line) {
		for _, l := range lines {
			out = append(out, m.look.Draw(l, w, draw.AsItIs))
		}
	}
	if !p.known {
		add(draw.One(themes.Dim, " looking"))
		return out
	}
	if h >= 8 {
		add(p.story(m, w, h)...)
		add(p.clockLine(m, w))
	}
	p.tabsAt = len(out)
	add(p.tabLine(w))
	p.rowsFrom = len(out)
	room := max(h-len(out), 1)
	if w >= rehearsalWide {
		return append(out, p.sideBySide(m, w, room)...)
	}
	below := min(explainFault, max(room-4, 0))
	p.rows = room - below
	out = append(out, p.list(m, w)...)
	out = draw.PadTo(out, w, p.rowsFrom+p.rows)
	return append(out, m.drawn(p.explain(w-2, below), w, below)...)
}

func (p *rehearsalPage) on() int {
	n := 0
	for _, s := range p.state.Servers {
		n += s.on()
	}
	return n
}

// story is which scenario runs and, where there is room, what it teaches.
func (p *rehearsalPage) story(m *Model, w, h int) []draw.Line {
	out := []draw.Line{{draw.Blank(1), draw.Text(themes.Strong, p.state.Title), draw.Blank(2), draw.Text(themes.Dim, p.state.Scenario)}}
	most := 0
	switch {
	case h >= 45:
		most = 8
	case h >= 30:
		most = 5
	case h >= 18:
		most = 2
	}
	lines := draw.Paragraph(themes.Dim, p.state.Teaches, min(w-2, 118))
	if len(lines) > most {
		lines = lines[:most]
		if most > 0 {
			last := lines[most-1].Text()
			lines[most-1] = draw.One(themes.Dim, last+" "+m.look.Glyph.Ellipsis).Cut(w - 2)
		}
	}
	for _, l := range lines {
		out = append(out, append(draw.Line{draw.Blank(1)}, l...))
	}
	if most > 2 {
		out = append(out, draw.Line{})
	}
	return out
}

// clockLine is the cloud's time and how fast it runs.
func (p *rehearsalPage) clockLine(m *Model, w int) draw.Line {
	g := m.look.Glyph
	speed := draw.Line{draw.Text(themes.Moves, g.Moves+" "+fmt.Sprintf("%g times as fast as real time", p.state.Speed))}
	switch p.state.Speed {
	case 0:
		speed = draw.One(themes.Needs, g.Paused+" it is halted")
	case 1:
		speed = draw.One(themes.Moves, g.Moves+" in real time")
	}
	left := draw.Line{draw.Blank(1), draw.Text(themes.Dim, "clock  "),
		draw.Text(themes.Text, p.state.Now.Local().Format("2006-01-02 15:04:05")), draw.Blank(3)}
	return append(left, speed...).Cut(w)
}

// tabLine is the servers, each with how many of its faults are on; the one whose faults are shown stands out.
func (p *rehearsalPage) tabLine(w int) draw.Line {
	out := draw.Line{draw.Blank(1)}
	p.tabs = p.tabs[:0]
	for i, s := range p.state.Servers {
		tone := themes.Tab
		if i == p.server {
			tone = themes.TabFocus
		}
		name := s.Name
		if w < 90 {
			name = s.ID
		}
		out = append(out, draw.Text(tone, " "+name+" "))
		if n := s.on(); n > 0 {
			out = append(out, draw.Text(themes.Bad, itoa(n)+" on "))
		}
		out = append(out, draw.Blank(1))
		p.tabs = append(p.tabs, tabEnd{out.Width(), i})
	}
	return out
}

// list is the server's faults, as many as there is room for.
func (p *rehearsalPage) list(m *Model, w int) []string {
	server, _ := p.current()
	p.rows = max(p.rows, 1)
	p.offset = min(max(p.offset, p.at-p.rows+1), p.at)
	p.offset = max(min(p.offset, len(server.Faults)-p.rows), 0)
	end := min(p.offset+p.rows, len(server.Faults))
	var out []string
	for i, f := range server.Faults[p.offset:end] {
		over := draw.AsItIs
		if p.offset+i == p.at {
			over = draw.Selected
		}
		out = append(out, m.look.Draw(faultLine(m, f, p.offset+i == p.at, w), w, over))
	}
	return out
}

// faultLine is one fault: whether it is on, what it is, with which parameters, and how many requests met it.
func faultLine(m *Model, f RehearsalFault, here bool, w int) draw.Line {
	g := m.look.Glyph
	lead := draw.Blank(1)
	if here {
		lead = draw.Text(themes.Match, g.Cursor)
	}
	state, name := draw.Line{draw.Text(themes.Dim, g.Off+" off")}, themes.Text
	if f.On {
		state, name = draw.Line{draw.Text(themes.Bad, g.On+" on")}, themes.Strong
	}
	left := append(draw.Line{lead, draw.Blank(1)}, state.Fit(7, false)...)
	left = append(left, draw.One(name, f.ID).Fit(15, false)...)
	left = left.And(themes.Text, f.Title)
	if f.Details != "" {
		left = left.And(themes.Dim, "  "+f.Details)
	}
	var right draw.Line
	if f.On || f.Met > 0 {
		tone := themes.Dim
		if f.On {
			tone = themes.Moves
		}
		right = draw.One(tone, "met "+itoa(f.Met)+" ")
	}
	return draw.Apart(left, right, w)
}

// sideBySide is the list beside the explanation of the fault under the cursor.
func (p *rehearsalPage) sideBySide(m *Model, w, h int) []string {
	left := w * 3 / 5
	right := w - left - 2
	p.rows = h
	list := draw.PadTo(p.list(m, left), left, h)
	text := m.drawn(p.explain(right-1, h), right, h)
	bar := m.look.Draw(draw.One(themes.Rule, " "+m.look.Glyph.Bar), 2, draw.AsItIs)
	out := make([]string, h)
	for i := range out {
		out[i] = list[i] + bar + text[i]
	}
	return out
}

// explain says what the fault under the cursor does, and what to expect on the screen, in at most h lines.
func (p *rehearsalPage) explain(w, h int) []draw.Line {
	server, f := p.current()
	if f == nil || h < 1 {
		return nil
	}
	out := []draw.Line{{draw.Text(themes.Strong, f.Title), draw.Text(themes.Dim, "  "+server.Name)}}
	out = append(out, draw.Paragraph(themes.Text, f.Does, w)...)
	if h > explainFault {
		out = append(out, draw.Line{}, draw.One(themes.Key, "What you should see"))
		out = append(out, draw.Paragraph(themes.Text, f.Sees, w)...)
		if f.Details != "" {
			out = append(out, draw.Line{}, draw.One(themes.Key, "Parameters"))
			out = append(out, draw.Paragraph(themes.Dim, f.Details, w)...)
		}
		out = append(out, draw.Line{}, draw.One(themes.Key, "From the start"))
		option := server.ID + ":" + f.ID
		if f.Details != "" {
			option += "," + f.Details
		}
		out = append(out, draw.Paragraph(themes.Dim, "lockstep demo --fault "+option, w)...)
	} else {
		out = append(out, draw.Paragraph(themes.Dim, "You should see: "+f.Sees, w)...)
	}
	return out[:min(len(out), h)]
}

// drawn is lines of w columns with a margin, padded to h.
func (m *Model) drawn(lines []draw.Line, w, h int) []string {
	var out []string
	for _, l := range lines {
		out = append(out, m.look.Draw(append(draw.Line{draw.Blank(1)}, l...), w, draw.AsItIs))
	}
	return draw.PadTo(out, w, h)
}
