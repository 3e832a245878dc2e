package tui

import "lockstep/core/attention"

import (
	"slices"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// area is the place of a pane's content on the screen.
type area struct {
	id         Scope
	x, y, w, h int
}

// wide tells whether the panes stand side by side; otherwise one is shown at a time.
func wide(w, h int) bool { return w >= 110 && h >= 27 }

// spacious tells whether the timeline stands beside the nodes.
func spacious(w int) bool { return w >= 180 }

// roomy tells whether locks and log stand side by side, too.
func roomy(w int) bool { return w >= 160 }

// On a tall screen the lower panes have room to explain their selected row.
const (
	tall         = 45
	explainLines = 3
)

// wideBody is all panes: what needs you above, phases beside nodes, instances, and locks or log below.
func (m *Model) wideBody(w, h, top int) []string {
	m.takeTurns()
	rows := func(id Scope) int {
		if m.snap == nil {
			return 1
		}
		shown, all := m.pane(id).Count()
		if all == 0 {
			return 1
		}
		return shown
	}
	const rules = 4
	room := h - rules
	above, middle, lowerLeft, lowerRight := m.at(placeTop), m.at(placeMiddle), m.at(placeLowerLeft), m.at(placeLowerRight)
	needs := min(max(rows(above), 1), max(room/7, 1))
	locks := 1 + rows(m.at(m.bottom))
	if roomy(w) {
		locks = 1 + max(rows(lowerLeft), min(rows(lowerRight), 8))
	}
	instances := 1 + rows(middle)
	if h >= tall {
		locks, instances = locks+explainLines, instances+explainLines
	}
	locks = min(max(locks, 3), max(room/5, 3))
	instances = min(max(instances, 4), max(room/4, 4))
	// A pane is drawn before its rule, which says how many rows are below those that are seen.
	g := m.look.Glyph
	bar := m.look.Draw(draw.One(themes.Rule, " "+g.Bar), 2, draw.AsItIs)
	tee := m.look.Draw(draw.One(themes.Rule, g.TeeDown), 1, draw.AsItIs)
	var out []string
	stack := func(id Scope, h int, tees map[int]string) {
		body := m.paneBody(id, 0, top+len(out)+1, w, h)
		out = append(append(out, m.paneRule(id, w, tees)), body...)
	}
	// beside puts panes side by side; at are the columns of the lines between them.
	beside := func(h int, at []int, ids ...Scope) {
		y, x := top+len(out)+1, 0
		rule, rows := "", make([]string, h)
		for i, id := range ids {
			end := w
			if i < len(at) {
				end = at[i]
			}
			wide := end - x
			if i < len(at) {
				wide-- // the line between has a space before it
			}
			for j, l := range m.paneBody(id, x, y, wide, h) {
				rows[j] += l
				if i < len(at) {
					rows[j] += bar
				}
			}
			rule += m.paneRule(id, end-x, nil)
			if i < len(at) {
				rule += tee
			}
			x = end + 1
		}
		out = append(append(out, rule), rows...)
	}
	left := phasesWidth(w)
	tees := map[int]string{left: g.TeeUp}
	stack(above, needs, nil)
	if spacious(w) {
		nodes := left + 1 + (w-left-1)*nodesShare/100
		tees[nodes] = g.TeeUp
		beside(room-needs-locks-instances, []int{left, nodes}, m.at(placeLeft), m.at(placeRight), m.at(placeFarRight))
	} else {
		beside(room-needs-locks-instances, []int{left}, m.at(placeLeft), m.at(placeRight))
	}
	stack(middle, instances, tees)
	if roomy(w) {
		left := w * 3 / 5
		if _, all := m.pane(lowerRight).Count(); all == 0 {
			left = w - emptyWidth
		}
		beside(locks, []int{left}, lowerLeft, lowerRight)
	} else {
		stack(m.at(m.bottom), locks, nil)
	}
	return out
}

// emptyWidth is the width of an empty pane at the lower right: the one beside it gets the room.
const emptyWidth = 32

// nodesShare is the part of the width beside the phases that the nodes have, in hundredths; the timeline has the rest.
const nodesShare = 58

// phasesWidth leaves the nodes what they need.
func phasesWidth(w int) int {
	switch {
	case spacious(w):
		return 40 // the timeline takes part of it
	case w >= 140:
		return 46
	}
	return 38
}

// takeTurns shows the focused pane at its place, and keeps it there when the focus moves on.
func (m *Model) takeTurns() {
	at := m.placeOf(m.focus)
	m.turn[at] = m.focus
	if at == placeLowerLeft || at == placeLowerRight {
		m.bottom = at
	}
}

// placeOf is the pane's place on a screen of this width.
func (m *Model) placeOf(s Scope) place {
	if p := m.kind(s).place; p != placeFarRight || spacious(m.width) {
		return p
	}
	return placeRight
}

// at is the pane shown at a place: the one that had the focus last, else the first in the table.
func (m *Model) at(p place) Scope {
	if s, ok := m.turn[p]; ok && m.placeOf(s) == p {
		return s
	}
	i := slices.IndexFunc(m.kinds, func(k paneKind) bool { return k.place == p })
	return m.kinds[i].scope
}

// narrowBody is one pane, with the names of the others above it, and the most urgent entry unless "Needs you" is shown.
func (m *Model) narrowBody(w, h, top int) []string {
	out := []string{m.tabsLine(w)}
	if l := m.urgentLine(); l != nil && m.focus != ScopeNeeds && h >= 7 {
		out = append(out, m.look.Draw(l, w, draw.AsItIs))
	}
	body := m.paneBody(m.focus, 0, top+len(out)+1, w, h-len(out)-1)
	return append(append(out, m.paneRule(m.focus, w, nil)), body...)
}

// tabsLine names the panes; the one that is shown stands out.
func (m *Model) tabsLine(w int) string {
	const roomyTabs = 70
	var parts []draw.Line
	for i, k := range m.kinds {
		id, p := k.scope, m.pane(k.scope)
		name := itoa(i + 1)
		if w >= roomyTabs || id == m.focus {
			name += " " + k.short
		}
		tone := themes.Tab
		if id == m.focus {
			tone = themes.TabFocus
		}
		part := draw.Line{draw.Text(tone, " "+name+" ")}
		if p.Filter() != "" { // the filter hides rows
			name += "/"
			part = draw.Line{draw.Text(tone, " "+name[:len(name)-1]), draw.Text(orTone(id == m.focus, themes.TabFocus, themes.Match), "/ ")}
		}
		if id == ScopeNeeds && m.snap != nil {
			now, _ := attention.Now(attention.List(m.snap))
			if n := len(now); n > 0 {
				part = draw.Line{draw.Text(tone, " "+name), draw.Text(orTone(id == m.focus, themes.TabFocus, themes.Needs), " "+itoa(n)+" ")}
			}
		}
		parts = append(parts, part)
	}
	return m.look.Draw(append(draw.Line{draw.Blank(1)}, draw.Join(1, parts...)...), w, draw.AsItIs)
}

func orTone(first bool, a, b themes.Token) themes.Token {
	if first {
		return a
	}
	return b
}

// urgentLine is the first thing that needs the operator; nil when nothing does.
func (m *Model) urgentLine() draw.Line {
	if m.snap == nil {
		return nil
	}
	now, _ := attention.Now(attention.List(m.snap))
	if len(now) == 0 {
		return nil
	}
	a := now[0]
	k := severityMark(m.look.Glyph, a.Severity)
	return draw.Line{draw.Text(k.tone, " "+k.glyph+" "+a.Label+"  "), draw.Text(k.tone, a.Reason)}
}
