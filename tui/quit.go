package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// quit leaves Lockstep, but asks first while something runs.
func (m *Model) quit() tea.Cmd {
	if _, asking := m.top().(*quitDialog); asking {
		return tea.Quit
	}
	if op := m.unended(); op != nil {
		m.open(&quitDialog{underway: follow(op)})
		return nil
	}
	return tea.Quit
}

// quitDialog asks before leaving while something runs.
type quitDialog struct {
	underway
	leave bool
	back  bool // to the list of clusters
}

func (*quitDialog) scope() Scope { return ScopeForm }
func (*quitDialog) page() bool   { return false }

func (q *quitDialog) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "left", "right", "tab", "shift+tab", "up", "down":
		q.leave = !q.leave
	case "esc", "q":
		m.close(q)
	case "enter":
		switch {
		case q.leave && q.back:
			return true, m.leaveForClusters()
		case q.leave:
			return true, tea.Quit
		}
		m.close(q)
	}
	return true, nil
}

// enters is what enter does with the button that has the focus.
func (q *quitDialog) enters() string {
	if q.leave {
		return "leaves"
	}
	return "stays"
}

func (q *quitDialog) hints() []keyHint {
	return []keyHint{{"enter", q.enters()}, {"tab", "other button"}, {"esc", "stays"}}
}

func (q *quitDialog) draw(m *Model, w, h int) []string {
	w = min(w-2, 72)
	text := q.says(m)
	if !q.over {
		text += " What the servers have begun goes on; nothing more is begun, and nobody watches it."
	}
	body := append([]draw.Line{{}}, atMost(max(h-boxFrame-3, 1), themes.Text, text, w-4)...)
	focus := 0
	if q.leave {
		focus = 1
	}
	body = append(body, draw.Line{}, draw.Apart(draw.One(themes.Dim, "enter "+q.enters()),
		draw.Buttons([]string{"Stay", "Leave"}, focus), w-4))
	title := "Leave?"
	if q.back {
		title = "Leave " + m.clusterName() + " for the list of clusters?"
	}
	return m.look.Box(draw.One(themes.Warn, title), nil, body, w)
}
