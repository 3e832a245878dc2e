package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// notice is a box that opens by itself to say something important.
type notice struct {
	title, text string
	hush        hush
}

func newNotice(m *Model, title, text string) *notice {
	n := &notice{title: title, text: text}
	n.hush.begin(m)
	return n
}

func (*notice) scope() Scope           { return ScopeForm }
func (*notice) page() bool             { return false }
func (*notice) refresh(*Model) tea.Cmd { return nil }

func (n *notice) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch key := msg.String(); {
	case key != "enter" && key != "esc":
	case n.hush.on(m):
		return true, m.notTaken(key, "this has just come up")
	default:
		m.close(n)
	}
	return true, nil
}

func (*notice) hints() []keyHint { return []keyHint{{"enter", "close"}} }

func (n *notice) draw(m *Model, w, h int) []string {
	w = min(w-2, 72)
	body := append([]draw.Line{{}}, atMost(max(h-boxFrame-3, 1), themes.Text, n.text, w-4)...)
	focus := 0
	if n.hush.on(m) {
		focus = -1
	}
	body = append(body, draw.Line{}, draw.Buttons([]string{"OK"}, focus))
	return m.look.Box(draw.One(themes.Warn, n.title), nil, body, w)
}
