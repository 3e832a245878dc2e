package tui

import (
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeLog is the pane of the log.
const ScopeLog Scope = "log"

// logRow is an operation, an item of one, an error that the screen showed, or a line of the journal: what colleagues did and what was seen.
type logRow struct {
	line    *historyRow
	op      *core.Operation
	item    *core.OperationItem
	message *message
}

const emptyLog = "Nothing has happened yet."

// logPane is the story, the newest first: what Lockstep does and did with each item, what colleagues did, what the controllers did,
// what needed somebody, and errors. It has the newest lines of the journal; the page of the history has all.
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
			case r.line != nil:
				return r.line.id
			}
			return fmt.Sprint("message/", r.message.n)
		},
		Name: func(r logRow) string { return "the entry" },
	}
	t.Columns = []table.Column[logRow]{
		{Title: "at", Width: 5, Most: 12, Measure: func(r logRow) int { return len(s.now.clock(r.started())) },
			Cell: func(r logRow) draw.Line { return draw.One(themes.Dim, s.now.clock(r.started())) }},
		{Title: "state", Width: 11, Cell: func(r logRow) draw.Line {
			switch {
			case r.message != nil:
				return draw.One(r.message.tone, s.look.Glyph.Failed+" error")
			case r.line != nil:
				return draw.One(kindTone(*r.line), "  "+string(r.line.line.Kind))
			}
			k := operationMark(s.look.Glyph, r.state())
			return k.spans(string(r.state()))
		}},
		{Title: "what", Width: 14, Most: 48, Share: 24, Measure: func(r logRow) int { return draw.Width(r.titleIn(s.snap)) },
			Cell: func(r logRow) draw.Line {
				switch {
				case r.item != nil:
					return draw.Plain("  " + r.item.Label)
				case r.line != nil:
					return draw.Plain(r.titleIn(s.snap))
				}
				return draw.One(themes.Strong, r.title())
			}},
		{Title: "took", Width: 9, Right: true, Rank: 1, Cell: func(r logRow) draw.Line {
			switch {
			case r.message != nil:
				return nil
			case r.line != nil:
				return draw.One(themes.Dim, lineTook(r.line.line.Took))
			}
			return draw.One(themes.Dim, s.now.took(r.state(), r.started(), r.ended()))
		}},
		{Title: "", Width: 16, Grow: true, Cell: func(r logRow) draw.Line {
			if r.line != nil {
				out := lineWhat(s.snap, *r.line)
				if who := r.line.line.Who; who != "" {
					out = out.And(themes.Dim, "  by "+who)
				}
				return out
			}
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
	case r.line != nil:
		return r.line.line.At
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

// titleIn is what the row is about: of a line of the journal the object, by the name that people use.
func (r logRow) titleIn(s *core.Snapshot) string {
	if r.line != nil {
		return lineLabel(s, r.line.line)
	}
	return r.title()
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
	case r.line != nil:
		return wording.Join(r.line.line.What, r.line.line.Why)
	}
	return r.message.text
}

func (p *logPane) refresh() string {
	if p.snap == nil {
		return ""
	}
	newest := p.Index() == 0 && p.focus != ScopeLog
	p.Set(logRows(p.snap, p.messages, p.story.lines), p.snap.Revision<<16|p.story.came&0xff<<8|uint64(len(p.messages)&0xff))
	if newest { // nobody chose the row: the newest stays in sight
		p.GoTo(0)
	}
	return ""
}

// logRows are the operations with their items, the errors that the screen showed, and the lines of the journal, the newest first. What
// the journal has of an operation that is there is left out: the operation tells it, as it goes.
func logRows(s *core.Snapshot, messages []message, lines []historyRow) []logRow {
	known := make(map[string]bool, len(s.Operations))
	for i := range s.Operations {
		known[s.Operations[i].ID] = true
	}
	var rows []logRow
	// until adds what came after a time; a zero time is before all.
	until := func(at time.Time) {
		for {
			said, told := len(messages) > 0 && messages[0].at.After(at), len(lines) > 0 && lines[0].line.At.After(at)
			switch {
			case said && (!told || !lines[0].line.At.After(messages[0].at)):
				rows, messages = append(rows, logRow{message: &messages[0]}), messages[1:]
			case told:
				if l := &lines[0].line; !lines[0].again && (l.Operation == "" || !known[l.Operation]) {
					rows = append(rows, logRow{line: &lines[0]})
				}
				lines = lines[1:]
			default:
				return
			}
		}
	}
	for i := range s.Operations {
		op := &s.Operations[i]
		until(op.Started)
		rows = append(rows, logRow{op: op})
		for j := range op.Items {
			rows = append(rows, logRow{op: op, item: &op.Items[j]})
		}
	}
	until(time.Time{})
	return rows
}

func (p *logPane) name() string { return "Log" }
func (p *logPane) empty() string {
	if p.story.trouble != "" {
		return "The journal cannot be read: " + p.story.trouble
	}
	return emptyLog
}

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
	case r.line != nil:
		l := r.line.line
		out := subject{line: r.line, node: l.Node, instance: l.Instance, name: lineText(p.snap, l)}
		out.procedure = procedureOf(out)
		return out
	case r.op == nil:
		return subject{message: r.message}
	}
	out := subject{operation: r.op, node: r.op.Node, instance: r.op.Instance, name: r.op.Title}
	if r.item != nil {
		out.instance = r.item.Instance
	}
	out.procedure = procedureOf(out)
	return out
}

// procedureOf is the procedure of the instance or the node; nil when it is about neither.
func procedureOf(s subject) *core.ProcedureKey {
	switch {
	case s.instance != "":
		return &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: s.instance}
	case s.node != "":
		return &core.ProcedureKey{Kind: core.ProcedureNode, Subject: s.node}
	}
	return nil
}

func (p *logPane) words() []columnWord {
	return []columnWord{
		{"at", "when it began, or was seen"},
		{"state", "how it goes, or went; of what is in the journal, its kind"},
		{"what", "what Lockstep does, each item of a batch below it; of what is in the journal, the object"},
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
