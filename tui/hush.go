package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// hushFor is how long keys do nothing after a box has opened or changed by itself, or the cursor has gone on by itself: they were meant
// for what was there before.
const hushFor = 300 * time.Millisecond

// nothingYet is what enter does meanwhile.
const nothingYet = "does nothing yet"

// hush is such a moment. What it belongs to says on the screen that enter does nothing yet, and a key that is not taken is told.
// Otherwise a key would be lost without a word, where enter was said to confirm.
type hush struct{ until time.Time }

// hushOverMsg has the screen drawn again when a hush is over.
type hushOverMsg struct{}

// begin begins the moment, or begins it anew.
func (h *hush) begin(m *Model) {
	h.until = m.now().Add(hushFor)
	m.hushed = true
}

// on tells whether the moment still lasts.
func (h hush) on(m *Model) bool { return m.now().Before(h.until) }

// notTaken says that a key has done nothing, and why.
func (m *Model) notTaken(key, why string) tea.Cmd {
	return m.say(toneWarn, keyName(key)+" did nothing: "+why)
}

// hushEnds has the screen drawn again after the moments that this message has begun.
func (m *Model) hushEnds() tea.Cmd {
	if !m.hushed {
		return nil
	}
	m.hushed = false
	return m.after(hushFor, hushOverMsg{})
}
