package tui

import (
	"context"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// takeOverWord is what the operator types to take the lease from another operator.
const takeOverWord = "take over"

// armDialog explains what arming means, and asks. Where another operator holds the lease, the operator types a word to take it.
type armDialog struct {
	holder  string // who else holds the lease; empty for nobody
	focus   int
	input   textinput.Model
	missing bool // enter was pressed before the word was typed
	asking  bool
	cancel  context.CancelFunc // of what is asked
	givenUp bool               // esc was pressed while it was asked
	err     error
	looked  time.Time // when the lease was looked up for this dialog
}

// lookEvery is how often the lease is looked up while the dialog is open: whoever takes it over is to see what that stops.
const lookEvery = 5 * time.Second

// toggleArm switches writing off at once, or asks before it switches it on.
func (m *Model) toggleArm() tea.Cmd {
	if m.snap == nil {
		return nil
	}
	mode := m.snap.Write
	switch {
	case m.halting:
		return m.say(toneWarn, "writing stays off: Lockstep is being suspended")
	case mode.Armed:
		backend := m.backend
		return tea.Batch(m.say(toneInfo, "writing is off"), func() tea.Msg {
			backend.Disarm()
			return nil
		})
	case mode.Barred != "":
		return m.say(toneWarn, "writing cannot be switched on: "+mode.Barred)
	}
	d := &armDialog{input: newField("")}
	d.follow(m)
	m.open(d)
	return nil
}

func (*armDialog) scope() Scope { return ScopeForm }
func (*armDialog) page() bool   { return false }

func (d *armDialog) refresh(m *Model) tea.Cmd {
	if m.snap.Write.Armed {
		m.withdraw(d)
		return nil
	}
	d.follow(m)
	return nil
}

// follow updates the holder of the lease. What was typed against one holder does not count against another.
func (d *armDialog) follow(m *Model) {
	if now := m.now(); now.Sub(d.looked) >= lookEvery {
		d.looked = now
		m.backend.LookAtLease()
	}
	holder := ""
	if mode := m.snap.Write; mode.Lease != "" && !mode.Mine {
		holder = mode.Lease
	}
	if holder != d.holder {
		d.holder, d.focus, d.missing = holder, onCancel, false
		d.input.Reset()
	}
}

func (d *armDialog) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	key := msg.String()
	switch {
	case key == "esc" && d.asking:
		d.giveUp(m)
		return true, m.say(toneInfo, "writing stays off: you took it back")
	case key == "esc":
		m.close(d)
	case d.asking:
	case key == "tab", key == "down", d.focus != onInput && (key == "right" || key == "j"):
		d.move(1)
	case key == "shift+tab", key == "up", d.focus != onInput && (key == "left" || key == "k"):
		d.move(-1)
	case key == "enter":
		return true, d.press(m)
	case d.focus == onInput:
		d.input, _ = d.input.Update(msg)
		d.missing = false
	}
	return true, nil
}

// giveUp closes the dialog. What is asked may be answered already: then writing is switched off again.
func (d *armDialog) giveUp(m *Model) {
	if d.asking {
		d.givenUp = true
		d.cancel()
	}
	m.close(d)
}

func (d *armDialog) move(by int) {
	parts := []int{onCancel, onConfirm}
	if d.holder != "" {
		parts = []int{onCancel, onInput, onConfirm}
	}
	at := 0
	for i, p := range parts {
		if p == d.focus {
			at = i
		}
	}
	d.focus = parts[(at+by+len(parts))%len(parts)]
}

func (d *armDialog) ready() bool { return d.holder == "" || d.input.Value() == takeOverWord }

func (d *armDialog) press(m *Model) tea.Cmd {
	if d.focus == onCancel {
		m.close(d)
		return nil
	}
	if !d.ready() {
		d.missing, d.focus = true, onInput
		return nil
	}
	d.asking, d.err = true, nil
	backend, from := m.backend, d.holder
	ctx, cancel := context.WithTimeout(m.ctx, answerWithin)
	d.cancel = cancel
	return func() tea.Msg {
		defer cancel()
		return armedMsg{d, backend.Arm(ctx, from)}
	}
}

func (d *armDialog) failed(err error) { d.asking, d.err, d.focus = false, err, onCancel }

// enters is what enter does with the part that has the focus.
func (d *armDialog) enters() string {
	switch {
	case d.asking:
		return "waits for the lease"
	case d.focus == onCancel:
		return "leaves writing off"
	case !d.ready():
		return "does nothing until you type the word"
	case d.holder != "":
		return "takes the lease over"
	}
	return "switches writing on"
}

func (d *armDialog) hints() []keyHint {
	other := "other button"
	if d.holder != "" {
		other = "next"
	}
	return []keyHint{{"enter", d.enters()}, {"tab", other}, {"esc", "leaves writing off"}}
}

// What the dialog leaves out, one after the other, where the screen is too low for all of it: the buttons and what they stop come first.
const (
	armWhole     = iota
	armUntaught  // without what arming is
	armUntold    // without as whom the journal has the operator
	armShortest  // one line of each thing that the holder of the lease tells
	armDense     // without blank lines, and with one line of all that is said
	armShortened // how many there are
)

func (d *armDialog) draw(m *Model, w, h int) []string {
	w = boxWidth(w, 76)
	body := inRoom(h, armShortened, func(out int) []draw.Line { return d.body(m, max(w-4, 10), out) })
	return m.look.Box(draw.One(themes.Strong, "Switch writing on?"), m.whichCluster(), body, w)
}

// body is what the dialog says, but for what is left out.
func (d *armDialog) body(m *Model, inner, out int) []draw.Line {
	var body []draw.Line
	gap := func() {
		if out < armDense {
			body = append(body, draw.Line{})
		}
	}
	lines := func(n int) int {
		if out >= armDense {
			return 1
		}
		return n
	}
	gap()
	if out < armUntaught {
		body = append(body, draw.Paragraph(themes.Text, "With writing on, a step that you confirm is carried out. Nothing happens "+
			"without a confirmation of its own, each for one step on one object.", inner)...)
		body = append(body, draw.Line{})
		body = append(body, draw.Paragraph(themes.Text, "Lockstep takes the operator lease, so that two people do not act on one cluster at "+
			"once. Writing goes off by itself when the lease is lost.", inner)...)
		body = append(body, draw.Line{})
	}
	if out < armUntold {
		who := "The journal has you as " + m.snap.Operator
		if as := m.snap.Identity.String(); as != "" {
			who += ", known to the servers as " + as
		}
		body = append(body, draw.Paragraph(themes.Dim, who+".", inner)...)
	}
	name := "Switch on"
	if d.holder != "" {
		name = "Take over"
		if out < armUntold {
			body = append(body, draw.Line{})
		}
		most := 2 // lines of each thing
		if out >= armShortest {
			most = 1
		}
		body = append(body, atMost(lines(2), themes.Needs, m.look.Glyph.Needs+" "+d.holder+" holds the lease.", inner)...)
		body = append(body, othersWork(m.snap, inner, most)...)
		if out < armDense || d.err == nil {
			body = append(body, atMost(lines(4), themes.Text, "Talk to them first. Taking it switches their writing off; what they have begun "+
				"goes on.", inner)...)
		}
		gap()
		body = append(body, append(draw.One(themes.Dim, "Type ").And(themes.Strong, takeOverWord).And(themes.Dim, ": "),
			inputLine(d.input.Value(), d.input.Position(), 20, d.focus == onInput)...))
	}
	gap()
	if d.err != nil {
		body = append(body, atMost(lines(mostArmTrouble), themes.Bad, d.err.Error(), inner)...)
	}
	focus := map[int]int{onCancel: 0, onInput: -1, onConfirm: 1}[d.focus]
	left := draw.One(themes.Dim, "enter "+d.enters())
	switch {
	case d.asking:
		left = draw.One(themes.Moves, "asking for the lease")
	case d.missing:
		left = draw.One(themes.Needs, "Not taken over: type the word first.")
	}
	return append(body, draw.Apart(left, draw.Buttons([]string{"Cancel", name}, focus), inner))
}

// mostArmTrouble is how many lines say why the lease was not taken.
const mostArmTrouble = 5

// atMost is a paragraph of so many lines; the last one says that there was more.
func atMost(most int, tone themes.Token, text string, w int) []draw.Line {
	lines := draw.Paragraph(tone, text, w)
	if len(lines) > most {
		rest := draw.Line{draw.Text(tone, lines[most-1].Text()+"…")}
		lines = append(lines[:most-1:most-1], rest.Cut(w))
	}
	return lines
}

// othersWork is what the holder of the lease does right now, as far as they say it, each thing in so many lines.
func othersWork(s *core.Snapshot, w, most int) []draw.Line {
	d := s.Write.Other
	if !d.Said {
		return atMost(2*most, themes.Dim, "What they are doing is not known: an older Lockstep does not say it.", w)
	}
	some := func(tone themes.Token, text string) []draw.Line { return atMost(most, tone, text, w) }
	var out []draw.Line
	if d.As != "" {
		out = some(themes.Dim, "The servers know them as "+d.As+".")
	}
	// They tell it in the lease, some seconds after it has changed, and it is looked up while this is open.
	now := some(themes.Text, "Nothing of theirs runs, by what they told in the last seconds.")
	if d.Now != "" {
		now = some(themes.Moves, "They are at work"+since(d.Since, s.Now)+": "+d.Now+".")
	}
	switch {
	case d.Last == "":
		now = append(now, some(themes.Dim, "They have confirmed no step since their Lockstep began.")...)
	case d.Last != d.Now || !d.LastAt.Equal(d.Since):
		now = append(now, some(themes.Dim, "The last step that they confirmed, "+clock(d.LastAt, s.Now)+": "+d.Last+".")...)
	}
	return append(out, now...)
}

// since is " since 02:10"; empty where the time is not known.
func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " since " + clock(t, now)
}

// armedAtOnceMsg is the result of arming without a dialog.
type armedAtOnceMsg struct{ err error }

// armAtOnce arms writing for --write. The screen is open meanwhile, as the server may be slow to answer.
func (m *Model) armAtOnce() tea.Cmd {
	backend, parent := m.backend, m.ctx
	return tea.Batch(m.say(toneInfo, "asking for the operator lease, to switch writing on"), func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, answerWithin)
		defer cancel()
		return armedAtOnceMsg{backend.Arm(ctx, "")}
	})
}

func (m *Model) armedAtOnce(msg armedAtOnceMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(toneBad, "writing was not armed: "+msg.err.Error())
	}
	return m.say(toneWarn, "writing is on: confirmed steps are carried out")
}
