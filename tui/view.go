package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// View implements tea.Model. It makes a new frame only when something on it may have changed.
func (m *Model) View() tea.View {
	if m.dirty {
		m.frame, m.title = m.compose(), m.windowTitle()
		m.dirty = false
		m.frames.due()
	}
	v := tea.NewView(m.frame)
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = m.title
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// compose makes the frame, never larger than the terminal.
func (m *Model) compose() string {
	if m.width < 1 || m.height < 1 {
		return ""
	}
	lines := m.screen(m.width, m.height)
	// One box at a time: two boxes on top of each other would read as one.
	if top := m.top(); top != nil && !top.page() && !m.small() {
		lines = draw.Lay(top.draw(m, m.width, m.height), lines, m.width)
	}
	frame := strings.Join(lines[:min(len(lines), m.height)], "\n")
	if m.opts.ASCII {
		frame = draw.ASCII(frame)
	}
	return frame
}

// The least size at which the dashboard makes sense; below it the screen says so.
const (
	leastWidth  = 36
	leastHeight = 9
)

func (m *Model) screen(w, h int) []string {
	if m.small() {
		return m.tooSmall(w, h)
	}
	lines := m.headerLines(w)
	foot := m.footLines(w)
	room := h - len(lines) - len(foot)
	var page layer
	for _, l := range m.layers {
		if l.page() {
			page = l
		}
	}
	m.areas = m.areas[:0]
	switch {
	case page != nil:
		lines = append(lines, draw.PadTo(page.draw(m, w, room), w, room)...)
		if _, ok := page.(searched); ok {
			foot = m.footLines(w) // it says how much was found
		}
	case m.whole():
		lines = append(lines, m.wholeBody(w, room, len(lines))...)
	case wide(w, h):
		lines = append(lines, m.wideBody(w, room, len(lines))...)
	default:
		lines = append(lines, m.narrowBody(w, room, len(lines))...)
	}
	m.pump.shows.Store(slices.ContainsFunc(m.areas, func(a area) bool { return a.id == ScopeTimeline }))
	return append(lines, foot...)
}

func (m *Model) small() bool { return m.width < leastWidth || m.height < leastHeight }

func (m *Model) tooSmall(w, h int) []string {
	words := "lockstep needs " + itoa(leastWidth) + "x" + itoa(leastHeight) + ", this is " + itoa(w) + "x" + itoa(h)
	if m.snap != nil {
		now, _ := attention.Now(attention.List(m.snap))
		if n := len(now); n > 0 {
			need := " need you. "
			if n == 1 {
				need = " needs you. "
			}
			words = itoa(n) + need + words
		}
	}
	var out []string
	for _, l := range draw.Wrap(words, w) {
		if len(out) < h {
			out = append(out, m.look.Draw(draw.One(themes.Warn, l), w, draw.AsItIs))
		}
	}
	return out
}

// paneRule is the rule of a pane.
func (m *Model) paneRule(id Scope, w int, tees map[int]string) string {
	p := m.pane(id)
	focused := m.focus == id
	tone := themes.Strong
	if focused {
		tone = themes.RuleFocus
	}
	name := draw.One(tone, itoa(m.number(id))+" "+p.name())
	// Without room, parts are dropped from the end: the trouble stays longest.
	parts := m.paneNote(id, w)
	for len(parts) > 1 && name.Width()+draw.Join(2, parts...).Width()+8 >= w {
		parts = parts[:len(parts)-1]
	}
	return m.look.Rule(w, name, draw.Join(2, parts...), focused, tees)
}

// roomOfFilter is how many columns of a rule a filter takes: a rule drops what has no room, and a filter that hides rows is to be seen.
func roomOfFilter(w int) int { return max(w/2-12, 8) }

// paneNote is what stands at the right of a pane's rule, the most important first: whether its facts are fresh, the filter,
// its own note.
func (m *Model) paneNote(id Scope, w int) []draw.Line {
	p := m.pane(id)
	if m.snap == nil {
		return nil
	}
	var parts []draw.Line
	st := loadStateOf(m.snap, m.kind(id).sources)
	shown, all := p.Count()
	switch {
	case st.old != nil:
		parts = append(parts, oldNote(m, st.old))
	case st.trouble != nil && all > 0:
		k := healthMark(m.look.Glyph, health{state: st.trouble.State, worst: st.trouble})
		words := string(st.trouble.ID) + " " + string(st.trouble.State)
		if e := cause(st.trouble); e != nil {
			words = e.Cause() + ": " + string(st.trouble.ID)
		}
		parts = append(parts, draw.One(k.tone, k.glyph+" "+words))
	}
	if p.Filter() != "" {
		parts = append(parts, draw.One(themes.Match, "/"+p.Filter()).Cut(roomOfFilter(w)).And(themes.Dim, " "+itoa(shown)+" of "+itoa(all)))
	}
	if n := p.note(); len(n) > 0 {
		parts = append(parts, n)
	}
	if text := m.moreText(p.More()); text != "" {
		parts = append(parts, draw.One(themes.Dim, text))
	}
	return parts
}

// moreText says how many rows there are above and below those that are seen; empty when all are.
func (m *Model) moreText(above, below int) string {
	up, down := m.look.Glyph.Up+" "+itoa(above), m.look.Glyph.Down+" "+itoa(below)
	switch {
	case above > 0 && below > 0:
		return up + " " + down
	case above > 0:
		return up + " more"
	case below > 0:
		return down + " more"
	}
	return ""
}

// paneBody is a pane's content in exactly h lines of w columns.
func (m *Model) paneBody(id Scope, x, y, w, h int) []string {
	m.areas = append(m.areas, area{id: id, x: x, y: y, w: w, h: h})
	p := m.pane(id)
	var words []draw.Line
	if m.snap == nil {
		words = []draw.Line{draw.One(themes.Dim, " connecting")}
	} else if shown, all := p.Count(); shown == 0 {
		st := loadStateOf(m.snap, m.kind(id).sources)
		switch {
		case all > 0:
			text := "Nothing here matches /" + p.Filter() + ". esc clears the filter."
			if keys := p.Known(); len(keys) > 0 {
				text += " A filter can ask for one column: " + strings.Join(keys, ": ") + ": for any of several values, or for all but one: " +
					keys[0] + ":this,that -" + keys[0] + ":other"
			}
			for _, l := range draw.Wrap(sanitise.Row(text), max(w-2, 8)) {
				words = append(words, draw.One(themes.Dim, " "+l))
			}
		case st.trouble != nil:
			words = allTroubleLines(m, append([]*core.Source{st.trouble}, st.others...), w)
		default:
			for _, l := range draw.Wrap(sanitise.Row(p.empty()), max(w-2, 8)) {
				words = append(words, draw.One(themes.Dim, " "+l))
			}
		}
	}
	if words != nil {
		out := make([]string, 0, h)
		for _, l := range words[:min(len(words), h)] {
			out = append(out, m.look.Draw(l, w, draw.AsItIs))
		}
		return draw.PadTo(out, w, h)
	}
	st := loadStateOf(m.snap, m.kind(id).sources)
	out := p.drawRows(w, h, m.focus == id, st.old != nil)
	if st.trouble != nil {
		return draw.PadTo(append(out, m.troubled(st.trouble, w, h-len(out))...), w, h)
	}
	return draw.PadTo(append(out, m.explained(p, w, h-len(out))...), w, h)
}

// troubled says below the rows which part is missing and why, where at least room lines are free.
func (m *Model) troubled(src *core.Source, w, room int) []string {
	if room < 3 {
		return nil
	}
	out := []string{m.look.Draw(nil, w, draw.AsItIs)}
	for _, l := range troubleLines(m, src, w) {
		if len(out) == room {
			break
		}
		out = append(out, m.look.Draw(l, w, draw.AsItIs))
	}
	return out
}

// explained is more about the selected row, where at least room lines below the rows are free.
func (m *Model) explained(p pane, w, room int) []string {
	text := p.explain()
	if room < 3 || text == "" {
		return nil
	}
	var lines []string // without room for all of it, i shows it
	for _, part := range strings.SplitN(text, "\n", 4) {
		if more := draw.Wrap(sanitise.Row(part), max(w-3, 8)); part != "" && (len(lines) == 0 || len(lines)+len(more) < room) {
			lines = append(lines, more...) // what follows the first is shown whole or not at all
		}
	}
	if len(lines) > room-1 {
		lines = lines[:room-1]
		last := draw.One(themes.Dim, lines[room-2]+" "+m.look.Glyph.Ellipsis)
		lines[room-2] = last.Cut(max(w-3, 8)).Text()
	}
	out := []string{m.look.Draw(nil, w, draw.AsItIs)}
	for _, l := range lines {
		out = append(out, m.look.Draw(draw.One(themes.Dim, "  "+l), w, draw.AsItIs))
	}
	return out
}
