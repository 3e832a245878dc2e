package tui

import (
	tea "charm.land/bubbletea/v2"
)

// point takes a click or the wheel, when the mouse is on: both go to the pane below the pointer.
func (m *Model) point(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	if l := m.top(); l != nil {
		if p, ok := l.(pointed); ok {
			return p.point(m, at)
		}
		return nil
	}
	for _, a := range m.areas {
		if at.X < a.x || at.X >= a.x+a.w || at.Y < a.y || at.Y >= a.y+a.h {
			continue
		}
		if a.id != m.focus { // a filter that is typed is that of the pane before
			m.enter(a.id)
		}
		if n := wheel(at.Button); n != 0 {
			m.pane(a.id).MoveBy(n)
		} else if at.Button == tea.MouseLeft {
			m.pane(a.id).RowAt(at.Y - a.y)
		}
		return m.selectionMoved()
	}
	return nil
}

func wheel(b tea.MouseButton) int {
	switch b {
	case tea.MouseWheelDown:
		return 3
	case tea.MouseWheelUp:
		return -3
	}
	return 0
}
