package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lockstep/core/attention"
	"lockstep/tui/sanitise"
)

// Call is what calls the operator while the screen is open. Its texts are not sanitised.
type Call struct {
	Title  string // of the notification
	Text   string // of the notification, one line
	Bell   bool   // rings the terminal's bell
	OSC9   bool   // shows a notification as iTerm2 does, and others that know OSC 9
	OSC777 bool   // shows one as urxvt does, and others that know OSC 777

	Trouble string // what went wrong with calling otherwise; empty: this is a call
}

// callMsg is the next call.
type callMsg struct{ call Call }

// mostOfCall is how much of a text a notification shows, in bytes.
const mostOfCall = 200

// awaitCall waits for the next call; nil when nothing calls.
func (m *Model) awaitCall() tea.Cmd {
	calls := m.opts.Calls
	if calls == nil {
		return nil
	}
	return func() tea.Msg {
		call, open := <-calls
		if !open {
			return nil
		}
		return callMsg{call}
	}
}

// arrive calls the operator, by the terminal's own means. What it is about stands on the screen.
func (msg callMsg) arrive(m *Model) tea.Cmd {
	c := msg.call
	if c.Trouble != "" {
		return tea.Batch(m.say(toneBad, c.Trouble), m.awaitCall())
	}
	m.dirty = false
	cmds := []tea.Cmd{m.awaitCall()}
	for _, sequence := range c.sequences() {
		if m.tmux && sequence != bell { // tmux has bells of its own
			sequence = ansi.TmuxPassthrough(sequence)
		}
		cmds = append(cmds, tea.Raw(sequence))
	}
	return tea.Batch(cmds...)
}

const bell = "\a"

// sequences are the escape sequences of the call. Names in its texts come from users: nothing in them ends a sequence, or begins another.
func (c Call) sequences() []string {
	var out []string
	title, text := sanitise.Text(c.Title, mostOfCall), sanitise.Text(c.Text, mostOfCall)
	if c.OSC9 {
		out = append(out, "\x1b]9;"+title+": "+text+bell)
	}
	if c.OSC777 {
		part := strings.NewReplacer(";", ",") // what separates the parts
		out = append(out, "\x1b]777;notify;"+part.Replace(title)+";"+part.Replace(text)+bell)
	}
	if c.Bell {
		out = append(out, bell)
	}
	return out
}

// windowTitle is the title of the terminal's window: "(2 urgent) Lockstep".
func (m *Model) windowTitle() string {
	if m.opts.Title == "" || !m.opts.CountUrgent || m.snap == nil {
		return m.opts.Title
	}
	urgent := attention.Urgent(attention.List(m.snap))
	if urgent == 0 {
		return m.opts.Title
	}
	return "(" + strconv.Itoa(urgent) + " urgent) " + m.opts.Title
}
