package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// haltMsg says that writing is off and the lease given back, so that the program can be stopped.
type haltMsg struct{}

// resumedMsg comes after the return from a suspension, or when it failed.
type resumedMsg struct {
	since time.Time
	err   error // it was not
}

// suspend gives the terminal back to the shell, but asks first while something runs: a stopped program follows nothing.
func (m *Model) suspend() tea.Cmd {
	if m.halting {
		return nil
	}
	if why := m.unstoppable(); why != "" {
		return m.say(toneWarn, "Lockstep cannot be suspended here: "+why)
	}
	if _, asking := m.top().(*suspendDialog); asking {
		return nil // it is answered by its buttons
	}
	if op := m.unended(); op != nil {
		if m.small() {
			return nil // nobody can see the question
		}
		m.open(&suspendDialog{underway: follow(op)})
		return nil
	}
	return m.beforeHalt()
}

// called returns the action with the ID; nil when there is none.
func (m *Model) called(id string) *Action {
	for i := range m.actions {
		if m.actions[i].ID == id {
			return &m.actions[i]
		}
	}
	return nil
}

// beforeHalt switches writing off: a stopped program must not hold the lease, nor begin anything the moment it goes on. The
// Engine then begins nothing more, and a batch waits. Whoever is about to switch it on takes that back.
func (m *Model) beforeHalt() tea.Cmd {
	m.halting, m.armedBefore = true, m.snap != nil && m.snap.Write.Armed
	for _, l := range slices.Clone(m.layers) {
		if d, ok := l.(*armDialog); ok && d.asking {
			m.armedBefore = true
			d.giveUp(m)
		}
	}
	backend := m.backend
	if backend == nil {
		return func() tea.Msg { return haltMsg{} }
	}
	return func() tea.Msg {
		backend.Disarm()
		return haltMsg{}
	}
}

// resumed says what the operator has to know after the return.
func (m *Model) resumed(msg resumedMsg) tea.Cmd {
	m.halting = false
	if msg.err != nil {
		return tea.Batch(tea.ClearScreen, m.say(toneWarn, "Lockstep was not suspended: "+msg.err.Error()))
	}
	text := "back after " + age(m.now().Sub(msg.since)) + ": what is shown is being read anew"
	if m.armedBefore {
		text += "; writing was switched off (w)"
	}
	return tea.Batch(tea.ClearScreen, m.askTerminal(), m.say(toneInfo, text))
}

// suspendDialog asks before the program is stopped while something runs.
type suspendDialog struct {
	underway
	stop bool // the button that suspends has the focus
}

func (*suspendDialog) scope() Scope { return ScopeForm }
func (*suspendDialog) page() bool   { return false }

func (d *suspendDialog) handle(m *Model, msg tea.KeyPressMsg) (bool, tea.Cmd) {
	switch msg.String() {
	case "left", "right", "tab", "shift+tab", "up", "down":
		d.stop = !d.stop
	case "esc", "q":
		m.close(d)
	case "enter":
		m.close(d)
		if d.stop {
			return true, m.beforeHalt()
		}
	}
	return true, nil
}

// enters is what enter does with the button that has the focus.
func (d *suspendDialog) enters() string {
	if d.stop {
		return "suspends"
	}
	return "stays"
}

func (d *suspendDialog) hints() []keyHint {
	return []keyHint{{"enter", d.enters()}, {"tab", "other button"}, {"esc", "stays"}}
}

func (d *suspendDialog) draw(m *Model, w, h int) []string {
	w = min(w-2, 76)
	text := d.says(m)
	if !d.over {
		text += " While Lockstep is suspended nobody follows it. What the servers have begun goes on; nothing more is begun."
	}
	text += " Writing is switched off first, and the lease given back."
	if !d.over {
		text += " After fg Lockstep looks up how it went."
	}
	if d.batch && !d.over {
		text += " The rest of the batch waits until you switch writing on (w) and let it go on (h)."
	}
	body := append([]draw.Line{{}}, atMost(max(h-boxFrame-3, 1), themes.Text, text, w-4)...)
	focus := 0
	if d.stop {
		focus = 1
	}
	body = append(body, draw.Line{}, draw.Apart(draw.One(themes.Dim, "enter "+d.enters()),
		draw.Buttons([]string{"Stay", "Suspend"}, focus), w-4))
	return m.look.Box(draw.One(themes.Warn, "Suspend?"), m.whichCluster(), body, w)
}
