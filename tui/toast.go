package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
)

// The tones in which the screen speaks to the operator.
const (
	toneInfo = themes.Good
	toneWarn = themes.Warn
	toneBad  = themes.Bad
)

// toastFor is how long a result stays. An error stays until esc or the next message, and in the log for good.
const toastFor = 6 * time.Second

// toast is the last message, above the keys.
type toast struct {
	n    int
	text string
	tone themes.Token
	end  string // how an operation ended, when the text begins with that
}

// message is a toast as it is kept, to be read again.
type message struct {
	n     int
	at    time.Time // cluster time
	text  string
	tone  themes.Token
	times int // how often it was said, one time after the other
}

const keepMessages = 200

type toastGoneMsg struct{ n int }

// show shows a message.
func (m *Model) show(tone themes.Token, text string) tea.Cmd {
	m.toast = toast{n: m.toast.n + 1, text: text, tone: tone}
	m.remember(tone, text)
	if tone == toneBad {
		return nil
	}
	return m.after(toastFor, toastGoneMsg{m.toast.n})
}

// say shows a message, and keeps errors in the log.
func (m *Model) say(tone themes.Token, text string) tea.Cmd {
	cmd := m.show(tone, text)
	if tone == toneBad {
		at := m.now()
		if m.snap != nil {
			at = m.snap.Now
		}
		m.messages = append([]message{{m.toast.n, at, text, tone, 1}}, m.messages...)
		m.messages = m.messages[:min(len(m.messages), keepMessages)]
		m.pane(ScopeLog).refresh()
	}
	return cmd
}

// sayGone says that what was selected has gone by itself. How an operation ended stays readable before it: the end of a step is often
// what makes its row go.
func (m *Model) sayGone(gone string) tea.Cmd {
	text := goneText(gone)
	if m.toast.end == "" || m.toast.text == "" {
		return m.say(toneWarn, text)
	}
	m.remember(toneWarn, text)
	m.toast.text = m.toast.end + "; " + text
	return nil
}

func (m *Model) toastGone(msg toastGoneMsg) {
	if msg.n == m.toast.n && m.toast.text != "" {
		m.toast.text = ""
		m.faded.begin(m)
	}
}

// clearToast clears the last message, and tells whether esc has thereby done what it does. For a moment after the message has gone by
// itself it has, too: it was meant for the message, and must not do the next thing.
func (m *Model) clearToast() (bool, tea.Cmd) {
	switch {
	case m.toast.text != "":
		m.toast.text = ""
		return true, nil
	case m.faded.on(m):
		return true, m.notTaken("esc", "the message had just gone by itself")
	}
	return false, nil
}
