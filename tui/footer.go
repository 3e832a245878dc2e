package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// footLines are what runs, the last message, and the keys that work here. The message has a line of its own, mostly empty: it
// separates the keys from the panes, and on a slow line a message costs only its own bytes.
func (m *Model) footLines(w int) []string {
	var out []string
	if m.opts.Replay != nil {
		out = append(out, m.look.Draw(m.replayLine(w), w, draw.AsItIs))
	}
	if l := m.runningLine(w); l != nil {
		out = append(out, m.look.Draw(l, w, draw.AsItIs))
	}
	var word draw.Line
	switch {
	case m.toast.text == "":
	case m.toast.tone == toneBad:
		word = draw.One(toneBad, " "+m.look.Glyph.Failed+" "+m.toast.text)
	default:
		word = draw.One(m.toast.tone, " "+m.toast.text)
	}
	if chain := m.scope().chain(); word.Width() > w && chain[len(chain)-1] == ScopeGlobal {
		word = draw.Apart(word, draw.Line{draw.Text(themes.Text, m.keyTo("messages")), draw.Text(themes.Hint, " all of it ")}, w)
	}
	return append(out, m.look.Draw(word, w, draw.AsItIs), m.look.Draw(m.keysLine(w), w, draw.AsItIs))
}

// keysLine is the filter while it is being typed, otherwise the keys that work here, the most useful first.
func (m *Model) keysLine(w int) draw.Line {
	if m.filtering && m.top() == nil {
		return m.filterLine(w)
	}
	if p, ok := m.top().(*clustersPage); ok && p.typing {
		return p.filterLine(w)
	}
	if p, ok := m.top().(searched); ok && p.search().typing {
		f := p.search()
		found := draw.One(themes.Dim, "  type what to search for")
		switch {
		case f.tooLong:
			found = draw.One(themes.Warn, "  "+tooLong)
		case f.text != "" && len(f.hits) == 0:
			found = draw.One(themes.Dim, "  not found")
		case f.text != "":
			found = draw.One(themes.Dim, "  "+itoa(len(f.hits))+" found")
		}
		return append(typedLine(f.text, found, w), draw.Text(themes.Dim, "   enter keeps it: n next, N before   esc clears it"))
	}
	var help draw.Line
	if chain := m.scope().chain(); chain[len(chain)-1] == ScopeGlobal && m.keyOf("help") != "" {
		help = draw.Line{draw.Text(themes.Text, m.keyOf("help")), draw.Text(themes.Hint, " help ")}
	}
	if l, ok := m.top().(hinter); ok {
		var out draw.Line
		for _, h := range l.hints() {
			out = append(out, draw.Blank(1), draw.Text(themes.Text, h.key), draw.Text(themes.Hint, " "+h.does), draw.Blank(1))
		}
		return out.Cut(w)
	}
	var out draw.Line
	room := w - help.Width() - 1
	for _, a := range m.footerActions() {
		tone, key := themes.Hint, themes.Text
		if a.Blocked(m) != "" {
			tone, key = themes.Off, themes.Off
		}
		gap := draw.Blank(2)
		if len(out) == 0 {
			gap = draw.Blank(1)
		}
		part := draw.Line{gap, draw.Text(key, keyName(a.key(m))), draw.Text(tone, " "+a.short(m))}
		if out.Width()+part.Width() > room {
			break
		}
		out = append(out, part...)
	}
	return draw.Apart(out, help, w)
}

// typedLine is a search or a filter while it is typed, and what it has found. Of a long one the end is seen: that is being typed.
func typedLine(text string, found draw.Line, w int) draw.Line {
	lead := draw.Text(themes.Key, " /")
	return append(draw.Line{lead, draw.Tail(themes.Input, text+" ", max(w-3-found.Width(), 8))}, found...)
}

// footerActions are the actions that have a place in the footer here, in their order.
func (m *Model) footerActions() []*Action {
	var out []*Action
	for _, scope := range m.scope().chain() {
		for i := range m.actions {
			a := &m.actions[i]
			if a.Scope == scope && a.Footer > 0 && len(a.Keys) > 0 && a.offered(m) && !a.achieved(m) {
				out = append(out, a)
			}
		}
	}
	for i := range out {
		for j := i; j > 0 && out[j].place(m) < out[j-1].place(m); j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// place is the action's place in the footer here: on a page, the page's own actions come before the log.
func (a *Action) place(m *Model) int {
	if a.ID == "log" && m.top() != nil {
		return 95
	}
	return a.Footer
}

// achieved tells whether the action's goal is reached already, so that the footer can leave it out.
func (a *Action) achieved(m *Model) bool {
	if a.ID == silenceOnPage {
		return !onAlerts(m) // it works on one page of steps only
	}
	return a.ID == "confirm.arm" && m.snap != nil && m.snap.Write.Armed
}

// short is the action's word in the footer, depending on what it would do now.
func (a *Action) short(m *Model) string {
	if enter := m.kind(m.focus).enter; a.ID == "steps" && enter != "" {
		return enter
	}
	if a.ID == "arm" && m.snap != nil && m.snap.Write.Armed {
		return "disarm"
	}
	if a.ID == "log" && m.top() == nil && m.focus == ScopeLog {
		return "back"
	}
	if a.now != nil && m.snap != nil {
		return a.now(m)
	}
	return a.Short
}

// key is the action's key that works now: while a name is typed, letters are text.
func (a *Action) key(m *Model) string {
	if d, ok := m.top().(*confirmDialog); ok && d.focus == onInput {
		for _, k := range a.Keys {
			if len(k) > 1 {
				return k
			}
		}
	}
	return a.Keys[0]
}

// keyName is how a key is written for people.
func keyName(k string) string {
	switch k {
	case "pgdown":
		return "page down"
	case "pgup":
		return "page up"
	}
	return strings.ReplaceAll(k, "ctrl+", "^")
}

// typeFilter takes a key while a filter is typed.
func (m *Model) typeFilter(msg tea.KeyPressMsg) tea.Cmd {
	p := m.focused()
	text := p.Filter()
	switch key := msg.String(); key {
	case "esc":
		p.SetFilter("")
		m.filtering = false
	case "enter":
		m.filtering = false
	case "backspace":
		if text == "" {
			m.filtering = false
		} else {
			r := []rune(text)
			p.SetFilter(string(r[:len(r)-1]))
		}
	case "ctrl+u":
		p.SetFilter("")
	case "up", "down":
		m.filtering = false
		return m.press(msg)
	case "tab":
		return m.completeFilter()
	default:
		if msg.Text == "" {
			return nil
		}
		return tea.Batch(m.addToFilter(text, msg.Text, p.SetFilter), m.selectionMoved())
	}
	return m.selectionMoved()
}
