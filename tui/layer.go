package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
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

// box frames lines: a title and a note above them. On terminals with few colours it has borders, elsewhere a background
// of its own, which costs a slow line half of the bytes.
func (m *Model) box(title, note line, body []line, w int) []string {
	inner := w - 4
	if m.look.depth <= themes.Depth16 || m.look.theme.Looks[themes.Panel].Background == "" {
		return m.bordered(title, note, body, w)
	}
	margin := line{blank(2)}
	head := apart(title, note, inner)
	out := []string{m.look.draw(append(margin, head...), w, panel)}
	for _, l := range body {
		out = append(out, m.look.draw(append(margin[:1:1], l.cut(inner)...), w, panel))
	}
	return append(out, m.look.draw(nil, w, panel))
}

func (m *Model) bordered(title, note line, body []line, w int) []string {
	g, tone := m.look.glyph, themes.Text
	inner := w - 4
	room := w - 4 // corners, and a line beside each
	if len(note) > 0 {
		room -= note.width() + 3
	}
	top := line{txt(tone, g.CornerNW+g.Line+" ")}
	top = append(top, title.cut(max(room-2, 4))...)
	top = append(top, txt(tone, " "))
	end := line{txt(tone, g.Line+g.CornerNE)}
	if len(note) > 0 {
		end = append(append(line{txt(tone, " ")}, note...), txt(tone, " "+g.Line+g.CornerNE))
	}
	top = append(top, txt(tone, strings.Repeat(g.Line, max(w-top.width()-end.width(), 0))))
	out := []string{m.look.draw(append(top, end...), w, asItIs)}
	side := m.look.draw(one(tone, g.Bar), 1, asItIs)
	for _, l := range body {
		out = append(out, side+" "+m.look.draw(l, inner, asItIs)+" "+side)
	}
	bottom := g.CornerSW + strings.Repeat(g.Line, max(w-2, 0)) + g.CornerSE
	return append(out, m.look.draw(one(tone, bottom), w, asItIs))
}

// buttons draws the buttons of a dialog; the focused one stands out by its look and by brackets.
func buttons(names []string, focus int) line {
	var out line
	for i, n := range names {
		if i > 0 {
			out = append(out, blank(2))
		}
		if i == focus {
			out = append(out, txt(themes.ButtonFocus, "[ "+n+" ]"))
		} else {
			out = append(out, txt(themes.Button, "  "+n+"  "))
		}
	}
	return out
}

// paragraph wraps a text into lines of one look.
func paragraph(tone themes.Token, text string, w int) []line {
	var out []line
	for _, s := range wrap(clean(text, rowLimit), w) {
		out = append(out, one(tone, s))
	}
	return out
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
	body := append([]line{{}}, paragraph(themes.Text, n.text, w-4)...)
	body = append(body, line{}, buttons([]string{"OK"}, 0))
	return m.box(one(themes.Warn, n.title), nil, body, w)
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
	body := append([]line{{}}, paragraph(themes.Text, "Still running: "+q.what+". What the servers have begun goes on; "+
		"nothing more is begun, and nobody watches it.", w-4)...)
	focus := 0
	if q.leave {
		focus = 1
	}
	body = append(body, line{}, apart(one(themes.Dim, "enter "+q.enters()), buttons([]string{"Stay", "Leave"}, focus), w-4))
	return m.box(one(themes.Warn, "Leave?"), nil, body, w)
}
