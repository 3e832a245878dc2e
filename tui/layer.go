package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// layer is what lies over the dashboard: a page in place of the panes, or a box before them. The topmost has the keys.
type layer interface {
	scope() Scope
	// page tells whether it takes the panes' place.
	page() bool
	// refresh follows a new Snapshot.
	refresh(m *Model) tea.Cmd
	// handle takes the keys that are text or moves within the layer; what it does not handle goes to the catalogue.
	handle(m *Model, msg tea.KeyPressMsg) (handled bool, cmd tea.Cmd)
	// draw makes a page of w by h, or a box that fits into them.
	draw(m *Model, w, h int) []string
}

// keyHint is what a key does in a box.
type keyHint struct{ key, does string }

// hinter is a box whose keys are its own: the footer shows them as they work now.
type hinter interface{ hints() []keyHint }

// paster is a layer into which text can be pasted.
type paster interface{ paste(m *Model, text string) }

// swallowFor is how long a box that opens or changes by itself takes no keys: the key was meant for what was there
// before.
const swallowFor = 300 * time.Millisecond

// boxWidth is how wide a box is that takes at most most columns: where next to nothing would be left beside it, all of them.
func boxWidth(w, most int) int {
	if w < most+8 {
		return w
	}
	return most
}

// notice is a box that opens by itself to say something that must not be missed.
type notice struct {
	title, text string
	quiet       time.Time // keys are swallowed until then
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

// quitDialog asks before leaving while something runs.
type quitDialog struct {
	what  string
	leave bool
}

func newQuitDialog(what string) *quitDialog { return &quitDialog{what: what} }

func (*quitDialog) scope() Scope           { return ScopeForm }
func (*quitDialog) page() bool             { return false }
func (*quitDialog) refresh(*Model) tea.Cmd { return nil }

func (q *quitDialog) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "left", "right", "tab", "shift+tab", "up", "down":
		q.leave = !q.leave
	case "esc", "q":
		m.close(q)
	case "enter":
		if q.leave {
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

func (q *quitDialog) draw(m *Model, w, _ int) []string {
	w = min(w-2, 72)
	body := append([]draw.Line{{}}, draw.Paragraph(themes.Text, "Still running: "+q.what+". What the servers have begun goes on; "+
		"nothing more is begun, and nobody watches it.", w-4)...)
	focus := 0
	if q.leave {
		focus = 1
	}
	body = append(body, draw.Line{}, draw.Apart(draw.One(themes.Dim, "enter "+q.enters()), draw.Buttons([]string{"Stay", "Leave"}, focus), w-4))
	return m.look.Box(draw.One(themes.Warn, "Leave?"), nil, body, w)
}
