package tui

import (
	"lockstep/themes"
	"lockstep/tui/draw"
)

// area is where a pane's content is on the screen.
type area struct {
	id         paneID
	x, y, w, h int
}

// wide tells whether the panes stand side by side; otherwise there is one at a time.
func wide(w, h int) bool { return w >= 110 && h >= 27 }

// roomy tells whether locks and log stand side by side, too.
func roomy(w int) bool { return w >= 160 }

// On a tall screen the lower panes have room to explain their selected row.
const (
	tall         = 45
	explainLines = 3
)

// wideBody is all panes: what needs you above, phases beside nodes, instances, and locks or log below.
func (m *Model) wideBody(w, h, top int) []string {
	rows := func(id paneID) int {
		if m.snap == nil {
			return 1
		}
		shown, all := m.panes[id].Count()
		if all == 0 {
			return 1
		}
		return shown
	}
	const rules = 4
	room := h - rules
	needs := min(max(rows(paneNeeds), 1), max(room/7, 1))
	third := m.bottomPane()
	locks := 1 + rows(third)
	if roomy(w) {
		locks = 1 + max(rows(paneLocks), min(rows(paneLog), 8))
	}
	instances := 1 + rows(paneInstances)
	if h >= tall {
		locks, instances = locks+explainLines, instances+explainLines
	}
	locks = min(max(locks, 3), max(room/5, 3))
	instances = min(max(instances, 4), max(room/4, 4))
	middle := room - needs - locks - instances
	// A pane is drawn before its rule, which says how many rows are below those that are seen.
	g := m.look.Glyph
	bar := m.look.Draw(draw.One(themes.Rule, " "+g.Bar), 2, draw.AsItIs)
	tee := m.look.Draw(draw.One(themes.Rule, g.TeeDown), 1, draw.AsItIs)
	var out []string
	stack := func(id paneID, h int, tees map[int]string) {
		body := m.paneBody(id, 0, top+len(out)+1, w, h)
		out = append(append(out, m.paneRule(id, w, tees)), body...)
	}
	beside := func(a, b paneID, left, h int) {
		y, right := top+len(out)+1, w-left-1
		as, bs := m.paneBody(a, 0, y, left-1, h), m.paneBody(b, left+1, y, right, h)
		out = append(out, m.paneRule(a, left, nil)+tee+m.paneRule(b, right, nil))
		for i := range h {
			out = append(out, as[i]+bar+bs[i])
		}
	}
	left := phasesWidth(w)
	stack(paneNeeds, needs, nil)
	beside(panePhases, paneNodes, left, middle)
	stack(paneInstances, instances, map[int]string{left: g.TeeUp})
	if roomy(w) {
		left := w * 3 / 5
		if m.logEmpty() {
			left = w - emptyLogWidth
		}
		beside(paneLocks, paneLog, left, locks)
	} else {
		stack(third, locks, nil)
	}
	return out
}

// emptyLogWidth is what a log takes in which nothing stands: the locks beside it have the room.
const emptyLogWidth = 32

// logEmpty tells whether nothing was done or said yet.
func (m *Model) logEmpty() bool {
	_, all := m.log.Count()
	return all == 0
}

// phasesWidth leaves the nodes what they need.
func phasesWidth(w int) int {
	switch {
	case w >= 180:
		return 56
	case w >= 140:
		return 46
	}
	return 38
}

// bottomPane is the pane that stands below where there is room for one: locks, or the log once it was looked at.
func (m *Model) bottomPane() paneID {
	if m.focus == paneLocks || m.focus == paneLog {
		m.bottom = m.focus
	}
	return m.bottom
}

// narrowBody is one pane, with the names of the others above it, and the most urgent thing where another is shown.
func (m *Model) narrowBody(w, h, top int) []string {
	out := []string{m.tabsLine(w)}
	if l := m.urgentLine(); l != nil && m.focus != paneNeeds && h >= 7 {
		out = append(out, m.look.Draw(l, w, draw.AsItIs))
	}
	body := m.paneBody(m.focus, 0, top+len(out)+1, w, h-len(out)-1)
	return append(append(out, m.paneRule(m.focus, w, nil)), body...)
}

// tabsLine names the panes; the one that is shown stands out.
func (m *Model) tabsLine(w int) string {
	const roomyTabs = 70
	var parts []draw.Line
	for _, id := range paneIDs {
		p := m.panes[id]
		name := itoa(int(id))
		if w >= roomyTabs || id == m.focus {
			name += " " + p.short()
		}
		tone := themes.Tab
		if id == m.focus {
			tone = themes.TabFocus
		}
		part := draw.Line{draw.Text(tone, " "+name+" ")}
		if p.Filter() != "" { // it hides rows

			name += "/"
			part = draw.Line{draw.Text(tone, " "+name[:len(name)-1]), draw.Text(orTone(id == m.focus, themes.TabFocus, themes.Match), "/ ")}
		}
		if id == paneNeeds && m.snap != nil {
			if n := len(m.snap.Attention()); n > 0 {
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
	if m.snap == nil || len(m.snap.Attention()) == 0 {
		return nil
	}
	a := m.snap.Attention()[0]
	k := severityMark(m.look.Glyph, a.Severity)
	return draw.Line{draw.Text(k.tone, " "+k.glyph+" "+a.Label+"  "), draw.Text(k.tone, a.Reason)}
}
