package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// notice is a box that opens by itself to say something important.
type notice struct {
	title, text string
	quiet       time.Time // keys are ignored until then
}

func newNotice(m *Model, title, text string) *notice {
	return &notice{title: title, text: text, quiet: m.now().Add(swallowFor)}
}

func (*notice) scope() Scope           { return ScopeForm }
func (*notice) page() bool             { return false }
func (*notice) refresh(*Model) tea.Cmd { return nil }

func (n *notice) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	if key := msg.String(); m.now().After(n.quiet) && (key == "enter" || key == "esc") {
		m.close(n)
	}
	return true, nil
}

func (*notice) hints() []keyHint { return []keyHint{{"enter", "close"}} }

func (n *notice) draw(m *Model, w, _ int) []string {
	w = min(w-2, 72)
	body := append([]draw.Line{{}}, draw.Paragraph(themes.Text, n.text, w-4)...)
	body = append(body, draw.Line{}, draw.Buttons([]string{"OK"}, 0))
	return m.look.Box(draw.One(themes.Warn, n.title), nil, body, w)
}
