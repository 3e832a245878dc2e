package tui

import (
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeLog is the pane of the log.
const ScopeLog Scope = "log"

// logRow is an operation, an item of one, or an error that the screen showed.
type logRow struct {
	op      *core.Operation
	item    *core.OperationItem
	message *message
}

const emptyLog = "Nothing has been done yet. H shows the whole history."

// logPane is what Lockstep does and did, newest first.
type logPane struct{ tablePane[logRow] }

func newLogPane() pane {
	p := &logPane{}
	s := &p.scene
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
		{Title: "at", Width: 5, Most: 12, Measure: func(r logRow) int { return len(clock(r.started(), s.snap.Now)) },
			Cell: func(r logRow) draw.Line { return draw.One(themes.Dim, clock(r.started(), s.snap.Now)) }},
		{Title: "state", Width: 11, Cell: func(r logRow) draw.Line {
			if r.message != nil {
				return draw.One(r.message.tone, s.look.Glyph.Failed+" error")
			}
			k := operationMark(s.look.Glyph, r.state())
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
			return draw.One(themes.Dim, took(r.state(), r.started(), r.ended(), s.snap.Now))
		}},
		{Title: "", Width: 16, Grow: true, Cell: func(r logRow) draw.Line {
			tone := themes.Text
			if r.op != nil && (r.state() == core.OperationFailed || r.state() == core.OperationUnknown) {
				tone = themes.Bad
				if r.op.Acknowledged {
					tone = themes.Dim
				}
			}
			return draw.One(tone, named(s.snap, r.text()))
		}},
	}
	p.Table = t
	return p
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

func (p *logPane) refresh() string {
	if p.snap == nil {
		return ""
	}
	p.Set(logRows(p.snap, p.messages), p.snap.Revision<<8|uint64(len(p.messages)&0xff))
	return ""
}

// logRows are the operations with their items and the errors that the screen showed, the newest first.
func logRows(s *core.Snapshot, messages []message) []logRow {
	var rows []logRow
	for i := range s.Operations {
		op := &s.Operations[i]
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
	return rows
}

func (p *logPane) name() string  { return "Log" }
func (p *logPane) empty() string { return emptyLog }

func (p *logPane) note() draw.Line {
	running := 0
	for _, op := range p.snap.Operations {
		if !op.State.Ended() && !op.Past {
			running++
		}
	}
	if running > 0 {
		return draw.One(themes.Moves, fmt.Sprintf("%d running", running))
	}
	return nil
}

// explain is the full text of the selected entry.
func (p *logPane) explain() string {
	r, ok := p.Current()
	const short = 40
	if !ok || len(r.text()) < short {
		return "" // its row shows it
	}
	return named(p.snap, r.text())
}

func (p *logPane) subject() subject {
	r, ok := p.Current()
	switch {
	case !ok:
		return subject{}
	case r.op == nil:
		return subject{message: r.message}
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

func (p *logPane) words() []columnWord {
	return []columnWord{
		{"at", "when it began"},
		{"state", "how it goes, or went"},
		{"what", "what Lockstep did, each item of a batch below it"},
		{"took", "how long it took, or takes"},
	}
}

// logActions work in the log; its footer shows what controls the running batch.
func logActions() []Action {
	return []Action{
		inPane(Action{ID: "log.where", Title: "Go to the instance or node that the entry is about", Short: "to it", Scope: ScopeLog,
			Keys: []string{"f", "right"}, Footer: 10}, (*logPane).needObject, func(p *logPane) request {
			s := p.subject()
			return goTo{s.node, s.instance}
		}),
		inPane(Action{ID: "log.steps", Title: "Open the steps of the instance or node that the entry is about", Short: "its steps",
			Scope: ScopeLog}, (*logPane).needObject, func(p *logPane) request { return openSteps{*p.subject().procedure} }),
	}
}

func (p *logPane) needObject() string {
	if p.snap == nil {
		return "nothing is known yet"
	}
	if s := p.subject(); s.node == "" && p.snap.Instances.At(s.instance) == nil {
		return "the entry is not about a known node or instance"
	}
	return ""
}
