package draw

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"lockstep/themes"
	"lockstep/tui/sanitise"
)

// Width is the number of columns that Text(tone, s) takes, for any s. Nothing else in the program measures text.
func Width(s string) int {
	_, w := sanitise.Measured(s)
	return w
}

// Wrap breaks a clean text into lines of at most w columns: at spaces, and within a word only where the word alone is
// longer. A command keeps its dashes and IDs whole.
func Wrap(s string, w int) []string {
	w = max(w, 1)
	var out []string
	for {
		near := s // only what can matter for one line: a long text is not measured again for each of its lines
		if enough := 16*w + 64; len(near) > enough {
			for enough > 0 && !utf8.RuneStart(s[enough]) {
				enough--
			}
			near = s[:enough]
		}
		if len(near) == len(s) && sanitise.Width(s) <= w {
			break
		}
		head := ansi.Truncate(near, w, "")
		if head == "" { // a character wider than the room
			break
		}
		at := len(head)
		if s[at] != ' ' {
			if space := strings.LastIndexByte(head, ' '); space > 0 && strings.TrimLeft(head[:space], " ") != "" {
				at = space
			}
		}
		out = append(out, strings.TrimRight(s[:at], " "))
		if s = strings.TrimLeft(s[at:], " "); s == "" {
			return out
		}
	}
	return append(out, s)
}

// Paragraph wraps any text into lines of one look, of at most w columns each.
func Paragraph(tone themes.Token, text string, w int) []Line {
	var out []Line
	for _, s := range Wrap(sanitise.Row(text), w) {
		out = append(out, One(tone, s))
	}
	return out
}
