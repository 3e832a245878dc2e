package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// remember keeps a message, so that it can be read again. A repeated message is one entry with a count.
func (m *Model) remember(tone themes.Token, text string) {
	at := m.now()
	if m.snap != nil {
		at = m.snap.Now
	}
	if len(m.said) > 0 && m.said[0].text == text && m.said[0].tone == tone {
		m.said[0].at = at
		m.said[0].times++
		return
	}
	m.remembered++
	m.said = append([]message{{n: m.remembered, at: at, text: text, tone: tone, times: 1}}, m.said...)
	m.said = m.said[:min(len(m.said), keepMessages)]
}

// dateMessages gives the messages that came before the first facts the time of these: only they tell the cluster's time, which in a
// recording is another one.
func (m *Model) dateMessages() {
	for i := range m.said {
		m.said[i].at = m.snap.Now
	}
}

// saidTitle and logTitle identify these pages: the keys that open them also close them.
const (
	saidTitle = "Messages, the newest first"
	logTitle  = "Log, the newest first"
)

// openSaid shows earlier messages, or closes that page again.
func (m *Model) openSaid() tea.Cmd { return m.toggleText(saidTitle, saidLines) }

func saidLines(m *Model, w int) []draw.Line {
	if len(m.said) == 0 {
		return []draw.Line{draw.One(themes.Dim, "There are no messages yet.")}
	}
	now := m.now()
	if m.snap != nil {
		now = m.snap.Now
	}
	var out []draw.Line
	for _, msg := range m.said {
		lead := secondsClock(msg.at, now) + "  "
		text := msg.text
		if msg.times > 1 {
			text += " (" + times(msg.times) + ")"
		}
		out = append(out, entryLines(draw.One(themes.Dim, lead), msg.tone, text, w)...)
	}
	return out
}

// entryLines are a text after what stands before it, indented below that.
func entryLines(lead draw.Line, tone themes.Token, text string, w int) []draw.Line {
	var out []draw.Line
	n := lead.Width()
	for i, part := range draw.Wrap(sanitise.Row(text), max(w-n, 12)) {
		if i > 0 {
			lead = draw.Line{draw.Blank(n)}
		}
		out = append(out, append(lead[:len(lead):len(lead)], draw.Text(tone, part)))
	}
	return out
}

// toggleText opens a page of text, or closes it when it is shown.
func (m *Model) toggleText(title string, lines func(m *Model, w int) []draw.Line) tea.Cmd {
	if p, ok := m.top().(*pager); ok && p.title(m) == title {
		m.close(p)
		return nil
	}
	m.open(&pager{title: func(*Model) string { return title }, lines: lines})
	return nil
}

// openLog goes to the log and back: to its pane from the dashboard, to a page above another page.
func (m *Model) openLog() tea.Cmd {
	if m.top() != nil {
		about := ""
		if p, ok := m.top().(*procedurePage); ok {
			about = p.key.Subject
		}
		return m.toggleText(logTitle, func(m *Model, w int) []draw.Line { return logLines(m, about, w) })
	}
	if m.focus == ScopeLog {
		return m.setFocus(m.beforeLog)
	}
	m.beforeLog = m.focus
	return m.setFocus(ScopeLog)
}

// logLines are the entries of the log in full. Those about the node or instance of the page below come first.
func logLines(m *Model, about string, w int) []draw.Line {
	if m.snap == nil {
		return nil
	}
	var own, others []draw.Line
	for _, r := range logRows(m.snap, m.messages, m.story.lines) {
		of := &others
		if r.isAbout(about) {
			of = &own
		}
		*of = append(*of, logEntry(m, r, w)...)
	}
	switch {
	case len(own)+len(others) == 0:
		return []draw.Line{draw.One(themes.Dim, emptyLog)}
	case len(own) == 0:
		return others
	}
	name := m.snap.Label(about)
	if in := m.snap.Instances.At(about); in != nil {
		name = instanceName(in)
	}
	out := append([]draw.Line{draw.One(themes.Strong, "Of "+name)}, own...)
	if len(others) > 0 {
		out = append(append(out, draw.Line{}, draw.One(themes.Strong, "Of others")), others...)
	}
	return out
}

// isAbout tells whether the entry is about the node or instance.
func (r logRow) isAbout(subject string) bool {
	switch {
	case subject == "" || r.op == nil && r.line == nil:
		return false
	case r.line != nil:
		return r.line.line.Node == subject || r.line.line.Instance == subject
	}
	return r.op.Node == subject || r.op.Instance == subject ||
		slices.ContainsFunc(r.op.Items, func(it core.OperationItem) bool { return it.Instance == subject })
}

func logEntry(m *Model, r logRow, w int) []draw.Line {
	const at, state = 13, 12
	if r.line != nil {
		l := r.line.line
		lead := draw.One(themes.Dim, clock(l.At, m.snap.Now)).Fit(at, false)
		lead = append(lead, draw.One(kindTone(*r.line), "  "+string(l.Kind)).Fit(state, false)...)
		out := entryLines(lead, themes.Strong, r.titleIn(m.snap)+wording.Prefixed(", by ", l.Who)+wording.InBrackets(lineTook(l.Took)), w)
		return append(out, draw.Inset(at+state+2, draw.Paragraph(themes.Text, lineText(m.snap, l), max(w-at-state-2, 12)))...)
	}
	if r.message != nil {
		lead := draw.One(themes.Dim, clock(r.message.at, m.snap.Now)).Fit(at, false)
		return entryLines(append(lead, draw.One(r.message.tone, m.look.Glyph.Failed+" error").Fit(state, false)...), themes.Text,
			r.message.text, w)
	}
	k := operationMark(m.look.Glyph, r.state())
	lead := append(draw.One(themes.Dim, clock(r.started(), m.snap.Now)).Fit(at, false), k.spans(string(r.state())).Fit(state, false)...)
	title := strings.TrimSpace(r.title())
	if r.item != nil {
		title = "  " + title
	}
	out := entryLines(lead, themes.Strong, title+wording.InBrackets(took(r.state(), r.started(), r.ended(), m.snap.Now)), w)
	if r.text() != "" {
		out = append(out, draw.Inset(at+state+2, draw.Paragraph(themes.Text, named(m.snap, r.text()), max(w-at-state-2, 12)))...)
	}
	return out
}
