package tui

import (
	"fmt"

	"lockstep/themes"
)

// The panel in two columns: the faults at the left, what the one under the cursor is at the right.
const (
	rehearsalWide = 110
	// explainFault is how many lines the fault under the cursor has below the list, where there is one column.
	explainFault = 5
)

func (p *rehearsalPage) draw(m *Model, w, h int) []string {
	note := one(themes.Dim, "esc closes")
	if n := p.on(); n > 0 {
		word := " faults on"
		if n == 1 {
			word = " fault on"
		}
		note = append(one(themes.Bad, itoa(n)+word), blank(3))
		note = note.and(themes.Dim, "esc closes")
	}
	out := []string{m.ruleLine(w, one(themes.RuleFocus, "Rehearsal"), note, true, nil)}
	add := func(lines ...line) {
		for _, l := range lines {
			out = append(out, m.look.draw(l, w, asItIs))
		}
	}
	if !p.known {
		add(one(themes.Dim, " looking"))
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
	out = padTo(out, w, p.rowsFrom+p.rows)
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
func (p *rehearsalPage) story(m *Model, w, h int) []line {
	out := []line{{blank(1), txt(themes.Strong, p.state.Title), blank(2), txt(themes.Dim, p.state.Scenario)}}
	most := 0
	switch {
	case h >= 45:
		most = 8
	case h >= 30:
		most = 5
	case h >= 18:
		most = 2
	}
	lines := paragraph(themes.Dim, p.state.Teaches, min(w-2, 118))
	if len(lines) > most {
		lines = lines[:most]
		if most > 0 {
			last := lines[most-1].text()
			lines[most-1] = one(themes.Dim, last+" "+m.look.glyph.Ellipsis).cut(w - 2)
		}
	}
	for _, l := range lines {
		out = append(out, append(line{blank(1)}, l...))
	}
	if most > 2 {
		out = append(out, line{})
	}
	return out
}

// clockLine is the cloud's time and how fast it runs.
func (p *rehearsalPage) clockLine(m *Model, w int) line {
	g := m.look.glyph
	speed := line{txt(themes.Moves, g.Moves+" "+fmt.Sprintf("%g times as fast as yours", p.state.Speed))}
	switch p.state.Speed {
	case 0:
		speed = one(themes.Needs, g.Paused+" it stands")
	case 1:
		speed = one(themes.Moves, g.Moves+" as fast as yours")
	}
	left := line{blank(1), txt(themes.Dim, "clock  "), txt(themes.Text, p.state.Now.Local().Format("2006-01-02 15:04:05")), blank(3)}
	return append(left, speed...).cut(w)
}

// tabLine is the servers, the one whose faults are shown standing out, with how many faults each has on.
func (p *rehearsalPage) tabLine(w int) line {
	out := line{blank(1)}
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
		out = append(out, txt(tone, " "+name+" "))
		if n := s.on(); n > 0 {
			out = append(out, txt(themes.Bad, itoa(n)+" on "))
		}
		out = append(out, blank(1))
		p.tabs = append(p.tabs, tabEnd{out.width(), i})
	}
	return out
}

// list is the faults of the server, as many as there is room for.
func (p *rehearsalPage) list(m *Model, w int) []string {
	server, _ := p.current()
	p.rows = max(p.rows, 1)
	p.offset = min(max(p.offset, p.at-p.rows+1), p.at)
	p.offset = max(min(p.offset, len(server.Faults)-p.rows), 0)
	end := min(p.offset+p.rows, len(server.Faults))
	var out []string
	for i, f := range server.Faults[p.offset:end] {
		over := asItIs
		if p.offset+i == p.at {
			over = selected
		}
		out = append(out, m.look.draw(faultLine(m, f, p.offset+i == p.at, w), w, over))
	}
	return out
}

// faultLine is one fault: whether it is on, what it is, with which parameters, and how many requests met it.
func faultLine(m *Model, f RehearsalFault, here bool, w int) line {
	g := m.look.glyph
	lead := blank(1)
	if here {
		lead = txt(themes.Match, g.Cursor)
	}
	state, name := line{txt(themes.Dim, g.Off+" off")}, themes.Text
	if f.On {
		state, name = line{txt(themes.Bad, g.On+" on")}, themes.Strong
	}
	left := append(line{lead, blank(1)}, state.fit(7, false)...)
	left = append(left, one(name, f.ID).fit(15, false)...)
	left = left.and(themes.Text, f.Title)
	if f.Details != "" {
		left = left.and(themes.Dim, "  "+f.Details)
	}
	var right line
	if f.On || f.Met > 0 {
		tone := themes.Dim
		if f.On {
			tone = themes.Moves
		}
		right = one(tone, "met "+itoa(f.Met)+" ")
	}
	return apart(left, right, w)
}

// sideBySide is the list and what the fault under the cursor is.
func (p *rehearsalPage) sideBySide(m *Model, w, h int) []string {
	left := w * 3 / 5
	right := w - left - 2
	p.rows = h
	list := padTo(p.list(m, left), left, h)
	text := m.drawn(p.explain(right-1, h), right, h)
	bar := m.look.draw(one(themes.Rule, " "+m.look.glyph.Bar), 2, asItIs)
	out := make([]string, h)
	for i := range out {
		out[i] = list[i] + bar + text[i]
	}
	return out
}

// explain says what the fault under the cursor does, and what is to be seen, in at most h lines.
func (p *rehearsalPage) explain(w, h int) []line {
	server, f := p.current()
	if f == nil || h < 1 {
		return nil
	}
	out := []line{{txt(themes.Strong, f.Title), txt(themes.Dim, "  "+server.Name)}}
	out = append(out, paragraph(themes.Text, f.Does, w)...)
	if h > explainFault {
		out = append(out, line{}, one(themes.Key, "What you should see"))
		out = append(out, paragraph(themes.Text, f.Sees, w)...)
		if f.Details != "" {
			out = append(out, line{}, one(themes.Key, "Parameters"))
			out = append(out, paragraph(themes.Dim, f.Details, w)...)
		}
		out = append(out, line{}, one(themes.Key, "From the start"))
		option := server.ID + ":" + f.ID
		if f.Details != "" {
			option += "," + f.Details
		}
		out = append(out, paragraph(themes.Dim, "lockstep demo --fault "+option, w)...)
	} else {
		out = append(out, paragraph(themes.Dim, "You should see: "+f.Sees, w)...)
	}
	return out[:min(len(out), h)]
}

// drawn is lines of w columns with a margin, padded to h.
func (m *Model) drawn(lines []line, w, h int) []string {
	var out []string
	for _, l := range lines {
		out = append(out, m.look.draw(append(line{blank(1)}, l...), w, asItIs))
	}
	return padTo(out, w, h)
}
