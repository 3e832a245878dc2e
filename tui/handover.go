package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// handoverMsg is the note for the next shift.
type handoverMsg struct {
	note  *handoverNote
	lines []string
	err   error
}

// handoverNote is what the page of the note shows: the note as it was when the page opened.
type handoverNote struct {
	at    string   // when it was asked for
	text  []string // nil: it is being written
	err   error
	asked bool
}

// openHandover writes the note off the event loop: it reads the journal.
func (m *Model) openHandover() tea.Cmd {
	n := &handoverNote{at: clock(m.snap.Now, m.snap.Now)}
	m.open(&pager{title: func(*Model) string { return "Handover, as of " + n.at }, lines: n.body,
		copied: func(*Model) string { return strings.Join(n.text, "\n") }})
	write, snap := m.opts.Handover, m.snap
	return func() tea.Msg {
		lines, err := write(snap)
		return handoverMsg{n, lines, err}
	}
}

func (msg handoverMsg) arrive(m *Model) tea.Cmd {
	msg.note.text, msg.note.err, msg.note.asked = msg.lines, msg.err, true
	m.dirty = true
	return nil
}

func (n *handoverNote) body(m *Model, w int) []draw.Line {
	if !n.asked {
		return []draw.Line{draw.One(themes.Moves, "reading the journal "+m.look.Glyph.Ellipsis)}
	}
	var out []draw.Line
	if n.err != nil {
		why := "The journal could not be read: " + n.err.Error() + ". The note is without what it has."
		out = append(draw.Paragraph(themes.Bad, why, w), draw.Line{})
	}
	for i, l := range n.text {
		head := l != "" && !strings.HasPrefix(l, "- ") && (i == 0 || n.text[i-1] == "")
		switch {
		case l == "":
			out = append(out, draw.Line{})
		case head:
			out = append(out, draw.Paragraph(themes.Strong, l, w)...)
		case strings.HasPrefix(l, "- "):
			out = append(out, entryLines(draw.One(themes.Dim, "- "), themes.Text, named(m.snap, l[2:]), w)...)
		default:
			out = append(out, draw.Paragraph(themes.Text, named(m.snap, l), w)...)
		}
	}
	return out
}

// handoverBlocked is why no note can be written; empty when one can.
func handoverBlocked(m *Model) string {
	if m.opts.Handover == nil {
		return "there is no journal to write it from"
	}
	return needSnapshot(m)
}
