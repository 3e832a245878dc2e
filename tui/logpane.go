package tui

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/themes"
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
	t := &table[logRow]{
		header: true,
		id: func(r logRow) string {
			switch {
			case r.item != nil:
				return r.op.ID + "/" + r.item.Instance + "/" + r.item.Label
			case r.op != nil:
				return r.op.ID
			}
			return fmt.Sprint("message/", r.message.n)
		},
		name: func(r logRow) string { return "the entry" },
	}
	t.columns = []column[logRow]{
		{title: "at", width: 5, most: 12, measure: func(r logRow) int { return len(clock(r.started(), m.snap.Now)) },
			cell: func(r logRow) line { return one(themes.Dim, clock(r.started(), m.snap.Now)) }},
		{title: "state", width: 11, cell: func(r logRow) line {
			if r.message != nil {
				return one(r.message.tone, m.look.glyph.Failed+" error")
			}
			k := operationMark(m.look.glyph, r.state())
			return k.spans(string(r.state()))
		}},
		{title: "what", width: 20, most: 48, share: 38, measure: func(r logRow) int { return width(clean(r.title(), rowLimit)) },
			cell: func(r logRow) line {
				if r.item != nil {
					return plain("  " + r.item.Label)
				}
				return one(themes.Strong, r.title())
			}},
		{title: "took", width: 9, right: true, rank: 1, cell: func(r logRow) line {
			if r.message != nil {
				return nil
			}
			return one(themes.Dim, took(r.state(), r.started(), r.ended(), m.snap.Now))
		}},
		{title: "", width: 16, grow: true, cell: func(r logRow) line {
			tone := themes.Text
			if r.op != nil && (r.state() == core.OperationFailed || r.state() == core.OperationUnknown) {
				tone = themes.Bad
				if r.op.Acknowledged {
					tone = themes.Dim
				}
			}
			return one(tone, named(m.snap, r.text()))
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
	p.set(rows, m.snap.Revision<<8|uint64(len(m.messages)&0xff))
	return ""
}

func (p *logPane) name(*Model) string       { return "Log" }
func (p *logPane) short() string            { return "Log" }
func (p *logPane) sources() []core.SourceID { return nil }
func (p *logPane) empty(*Model) string      { return "Nothing was done yet." }

func (p *logPane) note(m *Model) line {
	running := 0
	for _, op := range m.snap.Operations {
		if !op.State.Ended() && !op.Past {
			running++
		}
	}
	if running > 0 {
		return one(themes.Moves, fmt.Sprintf("%d running", running))
	}
	return nil
}

// explain is the selected entry's text in full.
func (p *logPane) explain(m *Model) string {
	r, ok := p.current()
	const short = 40
	if !ok || len(r.text()) < short {
		return "" // its row shows it
	}
	return named(m.snap, r.text())
}

func (p *logPane) subject(*Model) subject {
	r, ok := p.current()
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
		if r, ok := m.log.current(); ok && r.op != nil && !r.op.State.Ended() && !r.op.Past && r.op.Elsewhere == "" {
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
func (m *Model) runningLine(w int) line {
	op := m.running()
	if op == nil {
		return nil
	}
	k := operationMark(m.look.glyph, op.State)
	out := line{blank(1), txt(k.tone, k.glyph+" "+string(op.State)), blank(2), txt(themes.Strong, op.Title)}
	if len(op.Items) > 0 {
		ended := 0
		for _, it := range op.Items {
			if it.State.Ended() {
				ended++
			}
		}
		out = append(out, blank(2))
		out = append(out, gauge(m.look.glyph, ended, len(op.Items), 8)...)
		out = out.and(themes.Text, fmt.Sprintf(" %d of %d", ended, len(op.Items)))
	}
	text := op.Text
	for _, it := range op.Items {
		if !it.State.Ended() && it.State != core.OperationQueued {
			text = strings.TrimSpace(it.Label + " " + it.Text)
			break
		}
	}
	if text != "" {
		out = out.and(themes.Dim, "  "+named(m.snap, text))
	}
	out = out.and(themes.Dim, "  "+took(op.State, op.Started, op.Ended, m.snap.Now))
	if len(op.Items) == 0 {
		return out
	}
	hold := " hold  "
	if op.State == core.OperationPaused {
		hold = " go on  "
	}
	keys := line{blank(2), txt(themes.Text, "h"), txt(themes.Hint, hold), txt(themes.Text, "o"), txt(themes.Hint, " omit  "), txt(themes.Text, "t"),
		txt(themes.Hint, " stop ")}
	return apart(out, keys, w)
}
