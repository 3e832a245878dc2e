package tui

import (
	"lockstep/themes"
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

// wideBody is all panes: what needs you above, phases beside nodes, instances, and locks or log below.
func (m *Model) wideBody(w, h, top int) []string {
	rows := func(id paneID) int {
		if m.snap == nil {
			return 1
		}
		shown, all := m.panes[id].count()
		if all == 0 {
			return 1
		}
		return shown
	}
	const rules = 4
	room := h - rules
	needs := min(max(rows(paneNeeds), 1), max(room/8, 1))
	third := m.bottomPane()
	locks := 1 + rows(third)
	if roomy(w) {
		locks = 1 + max(rows(paneLocks), min(rows(paneLog), 8))
	}
	locks = min(max(locks, 3), max(room/6, 3))
	instances := min(max(1+rows(paneInstances), 4), max(room/4, 4))
	middle := room - needs - locks - instances
	left := phasesWidth(w)
	right := w - left - 1

	var out []string
	y := func() int { return top + len(out) }
	out = append(out, m.paneRule(paneNeeds, w, nil))
	out = append(out, m.paneBody(paneNeeds, 0, y(), w, needs)...)
	g := m.look.glyph
	bar := m.look.draw(one(themes.Rule, g.Bar), 1, asItIs)
	out = append(out, m.paneRule(panePhases, left, nil)+m.look.draw(one(themes.Rule, g.TeeDown), 1, asItIs)+
		m.paneRule(paneNodes, right, nil))
	phases := m.paneBody(panePhases, 0, y(), left, middle)
	nodes := m.paneBody(paneNodes, left+1, y(), right, middle)
	for i := range middle {
		out = append(out, phases[i]+bar+nodes[i])
	}
	out = append(out, m.paneRule(paneInstances, w, map[int]string{left: g.TeeUp}))
	out = append(out, m.paneBody(paneInstances, 0, y(), w, instances)...)
	if !roomy(w) {
		out = append(out, m.paneRule(third, w, nil))
		return append(out, m.paneBody(third, 0, y(), w, locks)...)
	}
	left = w * 3 / 5
	right = w - left - 1
	out = append(out, m.paneRule(paneLocks, left, nil)+m.look.draw(one(themes.Rule, g.TeeDown), 1, asItIs)+
		m.paneRule(paneLog, right, nil))
	lockRows := m.paneBody(paneLocks, 0, y(), left, locks)
	logRows := m.paneBody(paneLog, left+1, y(), right, locks)
	for i := range locks {
		out = append(out, lockRows[i]+bar+logRows[i])
	}
	return out
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
	if l := m.urgentLine(); l != nil && m.focus != paneNeeds && h >= 14 {
		out = append(out, m.look.draw(l, w, asItIs))
	}
	out = append(out, m.paneRule(m.focus, w, nil))
	return append(out, m.paneBody(m.focus, 0, top+len(out), w, h-len(out))...)
}

// tabsLine names the panes; the one that is shown stands out.
func (m *Model) tabsLine(w int) string {
	const roomyTabs = 70
	var parts []line
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
		part := line{txt(tone, " "+name+" ")}
		if id == paneNeeds && m.snap != nil {
			if n := len(m.snap.Attention()); n > 0 {
				part = line{txt(tone, " "+name), txt(orTone(id == m.focus, themes.TabFocus, themes.Needs), " "+itoa(n)+" ")}
			}
		}
		parts = append(parts, part)
	}
	return m.look.draw(append(line{blank(1)}, join(1, parts...)...), w, asItIs)
}

func orTone(first bool, a, b themes.Token) themes.Token {
	if first {
		return a
	}
	return b
}

// urgentLine is the first thing that needs the operator; nil when nothing does.
func (m *Model) urgentLine() line {
	if m.snap == nil || len(m.snap.Attention()) == 0 {
		return nil
	}
	a := m.snap.Attention()[0]
	k := severityMark(m.look.glyph, a.Severity)
	return line{txt(k.tone, " "+k.glyph+" "+a.Label+"  "), txt(k.tone, a.Reason)}
}
