package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/tui/sanitise"
)

// mostSought is how long a search or a filter can be, in bytes: a list of a hundred nodes is a filter.
const mostSought = 1 << 10

// tooLong is said of what was not taken.
const tooLong = "not taken: it would be longer than 1,024 bytes"

// sought is the text of a search or a filter with what was typed or pasted. One that would be too long is refused: what is left of it
// after a cut would find something else.
func sought(text, more string) (string, bool) {
	return sanitise.Typed(text+strings.TrimRight(more, "\r\n"), mostSought) // a copied line ends in a line break
}

// addToFilter has the filter take what was typed or pasted, or says that it does not.
func (m *Model) addToFilter(text, more string, set func(string)) tea.Cmd {
	out, fits := sought(text, more)
	if !fits {
		return m.say(toneWarn, tooLong)
	}
	set(out)
	return nil
}
