package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
)

// footLines are what runs, the last word of the screen, and the keys that work here. The word has a line of its own that is
// empty most of the time: it parts the keys from the panes, and a word costs a slow line nothing but itself.
func (m *Model) footLines(w int) []string {
	var out []string
	if l := m.runningLine(w); l != nil {
		out = append(out, m.look.draw(l, w, asItIs))
	}
	var word line
	switch {
	case m.toast.text == "":
	case m.toast.tone == toneBad:
		word = one(toneBad, " "+m.look.glyph.Failed+" "+m.toast.text)
	default:
		word = one(m.toast.tone, " "+m.toast.text)
	}
	if chain := m.scope().chain(); word.width() > w && chain[len(chain)-1] == ScopeGlobal {
		word = apart(word, line{txt(themes.Text, "L"), txt(themes.Hint, " all of it ")}, w)
	}
	return append(out, m.look.draw(word, w, asItIs), m.look.draw(m.keysLine(w), w, asItIs))
}

// keysLine is the filter while it is being typed, otherwise the keys that work here, the most useful first.
func (m *Model) keysLine(w int) line {
	if m.filtering {
		return m.filterLine(w)
	}
	if p, ok := m.top().(searched); ok && p.search().typing {
		f := p.search()
		found := "type what to search for"
		if f.text != "" {
			found = itoa(len(f.hits)) + " found"
			if len(f.hits) == 0 {
				found = "not there"
			}
		}
		return line{txt(themes.Key, " /"), txt(themes.Input, f.text+" "),
			txt(themes.Dim, "  "+found+"   enter keeps it: n next, N before   esc clears it")}
	}
	var help line
	if chain := m.scope().chain(); chain[len(chain)-1] == ScopeGlobal {
		help = line{txt(themes.Text, "?"), txt(themes.Hint, " help ")}
	}
	if l, ok := m.top().(hinter); ok {
		var out line
		for _, h := range l.hints() {
			out = append(out, blank(1), txt(themes.Text, h.key), txt(themes.Hint, " "+h.does), blank(1))
		}
		return out.cut(w)
	}
	var out line
	room := w - help.width() - 1
	for _, a := range m.footerActions() {
		tone, key := themes.Hint, themes.Text
		if a.Blocked(m) != "" {
			tone, key = themes.Off, themes.Off
		}
		gap := blank(2)
		if len(out) == 0 {
			gap = blank(1)
		}
		part := line{gap, txt(key, keyName(a.key(m))), txt(tone, " "+a.short(m))}
		if out.width()+part.width() > room {
			break
		}
		out = append(out, part...)
	}
	return apart(out, help, w)
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

// place is the action's place in the footer here: on a page, what the page is for comes before the log.
func (a *Action) place(m *Model) int {
	if a.ID == "log" && m.top() != nil {
		return 95
	}
	return a.Footer
}

// achieved tells whether what the action is for is so already, so that the footer need not speak of it.
func (a *Action) achieved(m *Model) bool {
	return a.ID == "confirm.arm" && m.snap != nil && m.snap.Write.Armed
}

// short is the action's word in the footer, by what it would do now.
func (a *Action) short(m *Model) string {
	if a.ID == "steps" && m.focus == paneNeeds {
		return "open"
	}
	if a.ID == "arm" && m.snap != nil && m.snap.Write.Armed {
		return "disarm"
	}
	if a.ID == "steps" && m.focus == paneLog {
		return "in full"
	}
	if a.ID == "log" && m.top() == nil && m.focus == paneLog {
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

const filterLimit = 120 // bytes of a filter

// typeFilter takes a key while a filter is typed.
func (m *Model) typeFilter(msg tea.KeyPressMsg) tea.Cmd {
	p := m.panes[m.focus]
	text := p.filterText()
	switch key := msg.String(); key {
	case "esc":
		p.setFilter("")
		m.filtering = false
	case "enter":
		m.filtering = false
	case "backspace":
		if text == "" {
			m.filtering = false
		} else {
			r := []rune(text)
			p.setFilter(string(r[:len(r)-1]))
		}
	case "ctrl+u":
		p.setFilter("")
	case "up", "down":
		m.filtering = false
		return m.press(msg)
	case "tab":
		return m.completeFilter()
	default:
		if msg.Text == "" {
			return nil
		}
		p.setFilter(clean(text+msg.Text, filterLimit))
	}
	return m.selectionMoved()
}
