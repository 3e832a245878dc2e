package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lockstep/tui/sanitise"
)

// clipboardLimit is how many bytes are copied through OSC 52: terminals silently drop longer texts.
const clipboardLimit = 55 << 10 // 75 kB once it is base64

// copy puts a text into the clipboard of the operator's terminal.
func (m *Model) copy(text string) tea.Cmd {
	// A name that an API gave must not bring a line break or an escape sequence into somebody's shell.
	text = joined(sanitise.Lines(text, len(text)+1))
	switch {
	case text == "":
		return m.say(toneWarn, "there is nothing to copy")
	case m.opts.Clipboard == ClipboardOff:
		return m.say(toneWarn, "the clipboard is off; "+m.keyTo("plain")+" shows plain text to select")
	case len(text) > clipboardLimit:
		return m.say(toneWarn, "too long for the clipboard; "+m.keyTo("plain")+" shows plain text to select")
	}
	first, _, _ := strings.Cut(text, "\n")
	first = sanitise.Text(first, 60)
	set := tea.SetClipboard(text)
	if m.tmux {
		set = tea.Batch(set, tea.Raw(ansi.TmuxPassthrough(ansi.SetSystemClipboard(text))))
	}
	return tea.Batch(set, m.say(toneInfo, "copied: "+first))
}
