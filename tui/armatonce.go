package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// armedAtOnceMsg is what became of arming without a dialog.
type armedAtOnceMsg struct{ err error }

// armAtOnce arms writing as the operator has asked on the command line. The screen is open meanwhile: the server may be slow to answer.
func (m *Model) armAtOnce() tea.Cmd {
	backend, parent := m.backend, m.ctx
	return tea.Batch(m.say(toneInfo, "asking for the operator lease, to switch writing on"), func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, answerWithin)
		defer cancel()
		return armedAtOnceMsg{backend.Arm(ctx, false)}
	})
}

func (m *Model) armedAtOnce(msg armedAtOnceMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(toneBad, "writing was not armed: "+msg.err.Error())
	}
	return m.say(toneWarn, "writing is on: confirmed steps are carried out")
}
