package tui

import (
	"fmt"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// needsPane is what needs a person now, most urgent first.
type needsPane struct {
	tablePane[core.Attention]
	chosen bool // the operator has been here: the cursor no longer follows what is most urgent
}

func newNeedsPane(m *Model) *needsPane {
	return &needsPane{tablePane: tablePane[core.Attention]{&table.Table[core.Attention]{
		Keys: append(nodeKeys(m, func(a core.Attention) string { return a.Node }),
			table.Key[core.Attention]{Name: "node", Values: func(a core.Attention) []string { return []string{m.snap.Label(a.Node)} }}),
		ID:   func(a core.Attention) string { return a.ID },
		Name: func(a core.Attention) string { return a.Label + ": " + a.Reason },
		Columns: []table.Column[core.Attention]{
			{Width: 1, Cell: func(a core.Attention) draw.Line {
				k := severityMark(m.look.Glyph, a.Severity)
				return draw.One(k.tone, k.glyph)
			}},
			{Width: 6, Most: 18, Names: true, Measure: func(a core.Attention) int { return draw.Width(a.Label) },
				Cell: func(a core.Attention) draw.Line { return draw.One(themes.Strong, a.Label) }},
			{Width: 20, Grow: true, Cell: func(a core.Attention) draw.Line {
				tone := themes.Text
				if a.Severity == core.SeverityUrgent {
					tone = themes.Needs
				}
				return draw.One(tone, named(m.snap, a.Reason))
			}},
			{Title: "for", Width: 4, Most: 10, Right: true, Rank: 1, Measure: func(a core.Attention) int { return len(sinceText(a.Since, m.snap.Now)) },
				Cell: func(a core.Attention) draw.Line { return draw.One(themes.Dim, sinceText(a.Since, m.snap.Now)) }},
			{Most: 34, Rank: 2, Measure: func(a core.Attention) int { return draw.Width(besideReason(m, a)) },
				Cell: func(a core.Attention) draw.Line { return draw.One(themes.Dim, besideReason(m, a)) }},
		},
	}}}
}

// besideReason is what stands beside a reason: from what it follows, or what to do that is no step. What enter does the footer says.
func besideReason(m *Model, a core.Attention) string {
	cause, ok := m.snap.AttentionCalled(a.Cause)
	switch {
	case !ok:
		return a.Hint
	case m.width < 160:
		return "see " + cause.Label
	}
	return "because of " + cause.Label
}

func (p *needsPane) refresh(m *Model) string {
	p.Set(m.snap.Attention(), m.snap.Revision)
	if p.chosen = p.chosen || m.focus == paneNeeds; !p.chosen {
		p.GoTo(0)
	}
	return ""
}

func (p *needsPane) name(*Model) string { return "Needs you" }
func (p *needsPane) short() string      { return "Needs you" }
func (p *needsPane) sources() []core.SourceID {
	return nil // what is not known is itself a thing that needs you
}

func (p *needsPane) empty(m *Model) string {
	if m.snap.ClusterRequest() == nil {
		return "Nothing needs you. No update runs."
	}
	return "Nothing needs you."
}

func (p *needsPane) note(m *Model) draw.Line {
	urgent := 0
	for _, a := range p.All() {
		if a.Severity == core.SeverityUrgent {
			urgent++
		}
	}
	switch {
	case len(p.All()) == 0:
		return nil
	case urgent > 0:
		return draw.One(themes.Needs, fmt.Sprintf("%d urgent", urgent)).And(themes.Dim, fmt.Sprintf(" of %d", len(p.All())))
	}
	return draw.One(themes.Dim, fmt.Sprint(len(p.All())))
}

// explain is the selected entry in full.
func (p *needsPane) explain(m *Model) string {
	a, ok := p.Current()
	if !ok {
		return ""
	}
	text := a.Label + ": " + a.Reason
	if cause, ok := m.snap.AttentionCalled(a.Cause); ok {
		text += " " + m.look.Glyph.Dot + " because of " + cause.Label + ": " + cause.Reason
	}
	if a.Detail != "" {
		text += " " + m.look.Glyph.Dot + " " + a.Detail
	}
	return named(m.snap, text)
}

func (p *needsPane) subject(*Model) subject {
	a, ok := p.Current()
	if !ok {
		return subject{}
	}
	return subject{procedure: a.Resolve, node: a.Node, instance: a.Instance, attention: a, name: a.Subject.Name,
		command: ""}
}

// lead selects the node that the selected row is about, so that the panes below show it. It returns a word where the filter of the nodes
// hides it.
func (p *needsPane) lead(m *Model) string {
	a, ok := p.Current()
	if !ok || a.Node == "" || m.nodes.Choose(a.Node) || m.nodes.Filter() == "" {
		return ""
	}
	return "the filter /" + m.nodes.Filter() + " hides " + m.snap.Label(a.Node) + " among the nodes: f clears it and goes there"
}

// operationOf is the operation that an entry is about: the failed one that has not been acknowledged.
func operationOf(s *core.Snapshot, a core.Attention) *core.Operation {
	for i := range s.Operations {
		op := &s.Operations[i]
		if op.Acknowledged || !op.State.Ended() {
			continue
		}
		if a.ID == "operation/"+op.ID {
			return op
		}
	}
	return nil
}
