package tui

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// logRow is an operation, an item of one, or an error that the screen showed.
type logRow struct {
	op      *core.Operation
	item    *core.OperationItem
	message *message
}

// logPane is what Lockstep does and did, newest first.
type logPane struct{ tablePane[logRow] }

func newLogPane(m *Model) *logPane {
	t := &table.Table[logRow]{
		Header: true,
		ID: func(r logRow) string {
			switch {
			case r.item != nil:
				return r.op.ID + "/" + r.item.Instance + "/" + r.item.Label
			case r.op != nil:
				return r.op.ID
			}
			return fmt.Sprint("message/", r.message.n)
		},
		Name: func(r logRow) string { return "the entry" },
	}
	t.Columns = []table.Column[logRow]{
		{Title: "at", Width: 5, Most: 12, Measure: func(r logRow) int { return len(clock(r.started(), m.snap.Now)) },
			Cell: func(r logRow) draw.Line { return draw.One(themes.Dim, clock(r.started(), m.snap.Now)) }},
		{Title: "state", Width: 11, Cell: func(r logRow) draw.Line {
			if r.message != nil {
				return draw.One(r.message.tone, m.look.Glyph.Failed+" error")
			}
			k := operationMark(m.look.Glyph, r.state())
			return k.spans(string(r.state()))
		}},
		{Title: "what", Width: 20, Most: 48, Share: 38, Measure: func(r logRow) int { return draw.Width(r.title()) },
			Cell: func(r logRow) draw.Line {
				if r.item != nil {
					return draw.Plain("  " + r.item.Label)
				}
				return draw.One(themes.Strong, r.title())
			}},
		{Title: "took", Width: 9, Right: true, Rank: 1, Cell: func(r logRow) draw.Line {
			if r.message != nil {
				return nil
			}
			return draw.One(themes.Dim, took(r.state(), r.started(), r.ended(), m.snap.Now))
		}},
		{Title: "", Width: 16, Grow: true, Cell: func(r logRow) draw.Line {
			tone := themes.Text
			if r.op != nil && (r.state() == core.OperationFailed || r.state() == core.OperationUnknown) {
				tone = themes.Bad
				if r.op.Acknowledged {
					tone = themes.Dim
				}
			}
			return draw.One(tone, named(m.snap, r.text()))
		}},
	}
	return &logPane{tablePane[logRow]{t}}
}

func (r logRow) state() core.OperationState {
	switch {
	case r.item != nil:
		return r.item.State
	case r.op != nil:
		return r.op.State
	}
	return core.OperationFailed
}

func (r logRow) started() time.Time {
	switch {
	case r.item != nil:
		return r.item.Started
	case r.op != nil:
		return r.op.Started
	}
	return r.message.at
}

func (r logRow) ended() time.Time {
	if r.item != nil {
		return r.item.Ended
	}
	return r.op.Ended
}

func (r logRow) title() string {
	switch {
	case r.item != nil:
		return "  " + r.item.Label
	case r.op != nil:
		return r.op.Title
	}
	return "error"
}

func (r logRow) text() string {
	switch {
	case r.item != nil:
		return r.item.Text
	case r.op != nil:
		if r.op.State == core.OperationFailed && !r.op.Acknowledged {
			return r.op.Text + " (x: seen)"
		}
		return r.op.Text
	}
	return r.message.text
}

func (p *logPane) refresh(m *Model) string {
	if m.snap == nil {
		return ""
	}
	var rows []logRow
	messages := m.messages
	for i := range m.snap.Operations {
		op := &m.snap.Operations[i]
		for len(messages) > 0 && messages[0].at.After(op.Started) {
			rows = append(rows, logRow{message: &messages[0]})
			messages = messages[1:]
		}
		rows = append(rows, logRow{op: op})
		for j := range op.Items {
			rows = append(rows, logRow{op: op, item: &op.Items[j]})
		}
	}
	for i := range messages {
		rows = append(rows, logRow{message: &messages[i]})
	}
	p.Set(rows, m.snap.Revision<<8|uint64(len(m.messages)&0xff))
	return ""
}

func (p *logPane) name(*Model) string       { return "Log" }
func (p *logPane) short() string            { return "Log" }
func (p *logPane) sources() []core.SourceID { return nil }
func (p *logPane) empty(*Model) string      { return "Nothing was done yet." }

func (p *logPane) note(m *Model) draw.Line {
	running := 0
	for _, op := range m.snap.Operations {
		if !op.State.Ended() && !op.Past {
			running++
		}
	}
	if running > 0 {
		return draw.One(themes.Moves, fmt.Sprintf("%d running", running))
	}
	return nil
}

// explain is the selected entry's text in full.
func (p *logPane) explain(m *Model) string {
	r, ok := p.Current()
	const short = 40
	if !ok || len(r.text()) < short {
		return "" // its row shows it
	}
	return named(m.snap, r.text())
}

func (p *logPane) subject(*Model) subject {
	r, ok := p.Current()
	if !ok || r.op == nil {
		return subject{}
	}
	out := subject{operation: r.op, node: r.op.Node, instance: r.op.Instance, name: r.op.Title}
	if r.item != nil {
		out.instance = r.item.Instance
	}
	switch {
	case out.instance != "":
		out.procedure = &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: out.instance}
	case out.node != "":
		out.procedure = &core.ProcedureKey{Kind: core.ProcedureNode, Subject: out.node}
	}
	return out
}

// running is the operation that controls work on: the selected one, else the newest that runs.
func (m *Model) running() *core.Operation {
	if m.snap == nil {
		return nil
	}
	if m.top() == nil && m.focus == paneLog {
		if r, ok := m.log.Current(); ok && r.op != nil && !r.op.State.Ended() && !r.op.Past && r.op.Elsewhere == "" {
			return r.op
		}
	}
	for i := range m.snap.Operations {
		if op := &m.snap.Operations[i]; !op.State.Ended() && !op.Past && op.Elsewhere == "" {
			return &m.snap.Operations[i]
		}
	}
	return nil
}

// runningLine is what runs, in one line; nil when nothing does.
func (m *Model) runningLine(w int) draw.Line {
	op := m.running()
	if op == nil {
		return nil
	}
	k := operationMark(m.look.Glyph, op.State)
	out := draw.Line{draw.Blank(1), draw.Text(k.tone, k.glyph+" "+string(op.State)), draw.Blank(2), draw.Text(themes.Strong, op.Title)}
	if len(op.Items) > 0 {
		ended := 0
		for _, it := range op.Items {
			if it.State.Ended() {
				ended++
			}
		}
		out = append(out, draw.Blank(2))
		out = append(out, draw.Gauge(m.look.Glyph, ended, len(op.Items), 8)...)
		out = out.And(themes.Text, fmt.Sprintf(" %d of %d", ended, len(op.Items)))
	}
	text := op.Text
	for _, it := range op.Items {
		if !it.State.Ended() && it.State != core.OperationQueued {
			text = strings.TrimSpace(it.Label + " " + it.Text)
			break
		}
	}
	if text != "" {
		out = out.And(themes.Dim, "  "+named(m.snap, text))
	}
	out = out.And(themes.Dim, "  "+took(op.State, op.Started, op.Ended, m.snap.Now))
	if len(op.Items) == 0 {
		return out
	}
	hold := " hold  "
	if op.State == core.OperationPaused {
		hold = " go on  "
	}
	keys := draw.Line{draw.Blank(2), draw.Text(themes.Text, "h"), draw.Text(themes.Hint, hold), draw.Text(themes.Text, "o"), draw.Text(themes.Hint, " omit  "), draw.Text(themes.Text, "t"),
		draw.Text(themes.Hint, " stop ")}
	return draw.Apart(out, keys, w)
}
