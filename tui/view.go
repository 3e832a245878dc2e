package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
	"lockstep/themes"
)

// View implements tea.Model. The frame is made anew only when something that it shows may have changed.
func (m *Model) View() tea.View {
	if m.dirty {
		m.frame = m.compose()
		m.dirty = false
	}
	v := tea.NewView(m.frame)
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = m.opts.Title
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// compose makes the frame: never more lines than the terminal has, never a line wider than it.
func (m *Model) compose() string {
	if m.width < 1 || m.height < 1 {
		return ""
	}
	lines := m.screen(m.width, m.height)
	// One box at a time: two of them on each other would read as one, with two buttons to press.
	if top := m.top(); top != nil && !top.page() && !m.small() {
		lines = m.lay(top.draw(m, m.width, m.height), lines)
	}
	frame := strings.Join(lines[:min(len(lines), m.height)], "\n")
	if m.opts.ASCII {
		frame = toASCII(frame)
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
		lines = append(lines, padTo(page.draw(m, w, room), w, room)...)
		if _, ok := page.(searched); ok {
			foot = m.footLines(w) // it says how much was found
		}
	case wide(w, h):
		lines = append(lines, m.wideBody(w, room, len(lines))...)
	default:
		lines = append(lines, m.narrowBody(w, room, len(lines))...)
	}
	return append(lines, foot...)
}

func (m *Model) small() bool { return m.width < leastWidth || m.height < leastHeight }

func (m *Model) tooSmall(w, h int) []string {
	words := "lockstep needs " + itoa(leastWidth) + "x" + itoa(leastHeight) + ", this is " + itoa(w) + "x" + itoa(h)
	if m.snap != nil {
		if n := len(m.snap.Attention()); n > 0 {
			need := " need you. "
			if n == 1 {
				need = " needs you. "
			}
			words = itoa(n) + need + words
		}
	}
	var out []string
	for _, l := range wrap(words, w) {
		if len(out) < h {
			out = append(out, m.look.draw(one(themes.Warn, l), w, asItIs))
		}
	}
	return out
}

// padTo makes lines exactly h lines.
func padTo(lines []string, w, h int) []string {
	for len(lines) < h {
		lines = append(lines, strings.Repeat(" ", max(w, 0)))
	}
	return lines[:max(h, 0)]
}

// lay puts a box in the middle of the screen.
func (m *Model) lay(box, screen []string) []string {
	if len(box) == 0 || len(screen) == 0 {
		return screen
	}
	out := append([]string(nil), screen...)
	w := ansi.StringWidth(box[0])
	x := max((m.width-w)/2, 0)
	y := max((len(screen)-len(box))/2, 0)
	for i, b := range box {
		if y+i >= len(out) {
			break
		}
		under := out[y+i]
		left := ansi.Truncate(under, x, "")
		if n := x - ansi.StringWidth(left); n > 0 {
			left += strings.Repeat(" ", n)
		}
		out[y+i] = left + "\x1b[m" + b + ansi.TruncateLeft(under, x+w, "")
	}
	return out
}

// ruleLine is the line above a pane: its name at the left, its note at the right. The tees are the columns at which a
// vertical line begins or ends.
func (m *Model) ruleLine(w int, name, note line, focused bool, tees map[int]string) string {
	tone := themes.Rule
	if focused {
		tone = themes.RuleFocus
	}
	g := m.look.glyph
	left := line{txt(tone, g.Line), blank(1)}
	if len(name) == 0 {
		left = nil
	} else {
		left = append(append(left, name...), blank(1))
	}
	var right line
	if len(note) > 0 && left.width()+note.width()+6 < w {
		right = append(append(line{blank(1)}, note...), blank(1), txt(tone, g.Line))
	}
	left = left.cut(max(w, 0))
	var fill strings.Builder
	for x := left.width(); x < w-right.width(); x++ {
		if t, ok := tees[x]; ok {
			fill.WriteString(t)
		} else {
			fill.WriteString(g.Line)
		}
	}
	return m.look.draw(append(append(left, txt(tone, fill.String())), right...), w, asItIs)
}

// paneRule is the rule of a pane.
func (m *Model) paneRule(id paneID, w int, tees map[int]string) string {
	p := m.panes[id]
	focused := m.focus == id
	tone := themes.Strong
	if focused {
		tone = themes.RuleFocus
	}
	name := one(tone, itoa(int(id))+" "+p.name(m))
	// What there is no room for goes from the end: the trouble stays longest.
	parts := m.paneNote(id)
	for len(parts) > 1 && name.width()+join(2, parts...).width()+8 >= w {
		parts = parts[:len(parts)-1]
	}
	return m.ruleLine(w, name, join(2, parts...), focused, tees)
}

// paneNote is what stands at the right of a pane's rule, the most important first: whether its facts are fresh, the filter,
// its own note.
func (m *Model) paneNote(id paneID) []line {
	p := m.panes[id]
	if m.snap == nil {
		return nil
	}
	var parts []line
	st := loadStateOf(m.snap, p.sources())
	shown, all := p.count()
	switch {
	case st.old != nil:
		parts = append(parts, oldNote(m, st.old))
	case st.trouble != nil && all > 0:
		k := healthMark(m.look.glyph, health{state: st.trouble.State, worst: st.trouble})
		words := string(st.trouble.ID) + " " + string(st.trouble.State)
		if e := cause(st.trouble); e != nil {
			words = e.Cause() + ": " + string(st.trouble.ID)
		}
		parts = append(parts, one(k.tone, k.glyph+" "+words))
	}
	if p.filterText() != "" {
		parts = append(parts, one(themes.Match, "/"+p.filterText()).and(themes.Dim, " "+itoa(shown)+" of "+itoa(all)))
	}
	if n := p.note(m); len(n) > 0 {
		parts = append(parts, n)
	}
	if text := m.moreText(p.more()); text != "" {
		parts = append(parts, one(themes.Dim, text))
	}
	return parts
}

// moreText says how many rows there are above and below those that are seen; empty when all are.
func (m *Model) moreText(above, below int) string {
	up, down := m.look.glyph.Up+" "+itoa(above), m.look.glyph.Down+" "+itoa(below)
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
func (m *Model) paneBody(id paneID, x, y, w, h int) []string {
	m.areas = append(m.areas, area{id: id, x: x, y: y, w: w, h: h})
	p := m.panes[id]
	var words []line
	if m.snap == nil {
		words = []line{one(themes.Dim, " connecting")}
	} else if shown, all := p.count(); shown == 0 {
		st := loadStateOf(m.snap, p.sources())
		switch {
		case all > 0:
			text := "Nothing here matches /" + p.filterText() + ". esc clears the filter."
			if keys := p.known(); len(keys) > 0 {
				text += " A filter can ask for one thing: " + strings.Join(keys, ": ") + ": and for any of several, or for what is not: " +
					keys[0] + ":this,that -" + keys[0] + ":other"
			}
			for _, l := range wrap(clean(text, rowLimit), max(w-2, 8)) {
				words = append(words, one(themes.Dim, " "+l))
			}
		case st.trouble != nil:
			words = allTroubleLines(m, append([]*core.Source{st.trouble}, st.others...), w)
		default:
			for _, l := range wrap(clean(p.empty(m), rowLimit), max(w-2, 8)) {
				words = append(words, one(themes.Dim, " "+l))
			}
		}
	}
	if words != nil {
		out := make([]string, 0, h)
		for _, l := range words[:min(len(words), h)] {
			out = append(out, m.look.draw(l, w, asItIs))
		}
		return padTo(out, w, h)
	}
	st := loadStateOf(m.snap, p.sources())
	out := p.drawRows(m, w, h, m.focus == id, st.old != nil)
	if st.trouble != nil {
		return padTo(append(out, m.troubled(st.trouble, w, h-len(out))...), w, h)
	}
	return padTo(append(out, m.explained(p, w, h-len(out))...), w, h)
}

// troubled says below the rows which part of them is missing, and why, where at least room lines are free.
func (m *Model) troubled(src *core.Source, w, room int) []string {
	if room < 3 {
		return nil
	}
	out := []string{m.look.draw(nil, w, asItIs)}
	for _, l := range troubleLines(m, src, w) {
		if len(out) == room {
			break
		}
		out = append(out, m.look.draw(l, w, asItIs))
	}
	return out
}

// explained is more of the selected row, where at least room lines below the rows are free.
func (m *Model) explained(p pane, w, room int) []string {
	text := p.explain(m)
	if room < 3 || text == "" {
		return nil
	}
	var lines []string // where all of it has no room, i shows it
	for _, part := range strings.SplitN(text, "\n", 4) {
		if more := wrap(clean(part, rowLimit), max(w-3, 8)); part != "" && (len(lines) == 0 || len(lines)+len(more) < room) {
			lines = append(lines, more...) // what comes after the first is there as a whole, or not at all
		}
	}
	if len(lines) > room-1 {
		lines = lines[:room-1]
		last := one(themes.Dim, lines[room-2]+" "+m.look.glyph.Ellipsis)
		lines[room-2] = last.cut(max(w-3, 8)).text()
	}
	out := []string{m.look.draw(nil, w, asItIs)}
	for _, l := range lines {
		out = append(out, m.look.draw(one(themes.Dim, "  "+l), w, asItIs))
	}
	return out
}
