package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// top is the layer that has the keys; nil when it is the dashboard.
func (m *Model) top() layer {
	if len(m.layers) == 0 {
		return nil
	}
	return m.layers[len(m.layers)-1]
}

func (m *Model) open(l layer) {
	m.layers = append(m.layers, l)
	if _, reads := l.(leaver); reads {
		m.reading = append(m.reading, l)
	}
}

// leaveClosed ends what closed pages read, however they were closed.
func (m *Model) leaveClosed() {
	m.reading = slices.DeleteFunc(m.reading, func(l layer) bool {
		if m.shows(l) {
			return false
		}
		l.(leaver).leave()
		return true
	})
}

// close removes the layer l and those above it.
func (m *Model) close(l layer) {
	for i := range m.layers {
		if m.layers[i] == l {
			m.cut(i)
			return
		}
	}
}

// withdraw removes the layer l alone: it closes by itself, and what lies above it waits for its own answer.
func (m *Model) withdraw(l layer) {
	if i := slices.Index(m.layers, l); i >= 0 {
		m.layers = slices.Delete(m.layers, i, i+1)
	}
}

// cut removes the layers from the given one on. What a closed page has read goes with it.
func (m *Model) cut(from int) {
	clear(m.layers[from:])
	m.layers = m.layers[:from]
}

// scope is where keys go now.
func (m *Model) scope() Scope {
	if l := m.top(); l != nil {
		return l.scope()
	}
	return m.focus
}

// press does what a key stands for: first in a text field, then in the layer or pane, then everywhere.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	if msg.Code == tea.KeyEscape && msg.Mod == tea.ModAlt {
		// Esc more than once in one read, as over a slow line, comes as one key: it was pressed twice at least.
		esc := tea.KeyPressMsg{Code: tea.KeyEscape}
		return tea.Batch(m.press(esc), m.press(esc))
	}
	m.touched = true
	key := msg.String()
	if key == "ctrl+c" {
		return m.quit()
	}
	if a := m.called("suspend"); a != nil && slices.Contains(a.Keys, key) { // works everywhere, as ctrl+c does
		return a.run(m)
	}
	if m.small() {
		return nil // nobody can see what the key would do
	}
	if key == "enter" && m.deaf.on(m) {
		return nil // what became of the form is being said
	}
	if l := m.top(); l != nil {
		if handled, cmd := l.handle(m, msg); handled {
			return cmd
		}
	} else if m.filtering {
		return m.typeFilter(msg)
	}
	a := m.actionFor(key)
	if a == nil {
		return nil
	}
	if reason := a.Blocked(m); reason != "" {
		return m.refuse(a.Title, reason)
	}
	return a.run(m)
}

// refuse says why an action cannot be used now. If the selection has gone, it says only that, so that it is never cut.
func (m *Model) refuse(title, reason string) tea.Cmd {
	if gone := m.focused().Gone(); gone != "" && reason == goneText(gone) {
		return m.say(toneWarn, reason)
	}
	return m.say(toneWarn, title+": "+reason)
}

// actionFor is the action that the key stands for here: the innermost scope that knows it wins.
func (m *Model) actionFor(key string) *Action {
	chain := m.scope().chain()
	if chain[len(chain)-1] == ScopeGlobal && m.opts.Replay != nil { // the keys of a recording mean the same on every page
		for i := range m.actions {
			if a := &m.actions[i]; a.replay && slices.Contains(a.Keys, key) {
				return a
			}
		}
	}
	for _, scope := range chain {
		for i := range m.actions {
			a := &m.actions[i]
			if a.Scope != scope || !a.offered(m) {
				continue
			}
			for _, k := range a.Keys {
				if k == key {
					return a
				}
			}
		}
	}
	return nil
}

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if p, ok := m.top().(paster); ok {
		return p.paste(m, msg.Content)
	}
	if m.filtering {
		return tea.Batch(m.addToFilter(m.focused().Filter(), msg.Content, m.focused().SetFilter), m.selectionMoved())
	}
	return nil
}
