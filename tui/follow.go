package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// goneText says that the selected object has gone by itself.
func goneText(gone string) string { return "nothing is selected: " + gone + " is no longer there" }

// selectedNode is the name of the selected node; empty when there is none.
func (m *Model) selectedNode() string { return m.panes[ScopeNodes].Cursor() }

// showAnother shows the panes that depend on another node from their first row, except the pane with the keys: the operator
// decides what is selected there.
func (m *Model) showAnother() {
	for _, k := range m.kinds {
		if k.hangs && (k.scope != m.focus || !m.touched) {
			m.pane(k.scope).GoTo(0)
		}
	}
}

// watch tells the Backend which node is shown, when that has changed.
func (m *Model) watch() tea.Cmd {
	node := m.shown
	if node == m.watched || m.backend == nil {
		return nil
	}
	m.watched = node
	backend := m.backend
	return func() tea.Msg {
		backend.Focus(node)
		return nil
	}
}

// followAfter is how long the cursor rests on a node before its instances and locks are shown: on a slow line, going down a list
// must not redraw half the screen for each node.
const followAfter = 200 * time.Millisecond

type followMsg struct{ n int }

// selectionMoved makes the panes that depend on the selected node follow: at once when the operator goes to one, otherwise when
// the cursor rests.
func (m *Model) selectionMoved() tea.Cmd {
	if m.snap == nil {
		return nil
	}
	said := m.answer(m.focused().moved())
	switch {
	case m.shown == m.selectedNode():
		return said
	case !m.kind(m.focus).leads:
		return tea.Batch(said, m.follow())
	}
	m.follows++
	return tea.Batch(said, m.after(followAfter, followMsg{m.follows}))
}

// follow shows the instances and locks of the selected node.
func (m *Model) follow() tea.Cmd {
	if m.snap == nil {
		return nil
	}
	another := m.shown != m.selectedNode()
	m.shown = m.selectedNode()
	for _, k := range m.kinds {
		if !k.hangs {
			continue
		}
		p := m.pane(k.scope)
		if p.refresh(); another {
			p.GoTo(0)
		}
	}
	return m.watch()
}
