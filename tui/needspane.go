package tui

import (
	"fmt"

	"lockstep/core"
	"lockstep/themes"
)

// needsPane is what needs a person now, most urgent first.
type needsPane struct {
	tablePane[core.Attention]
	chosen bool // the operator has been here: the cursor no longer follows what is most urgent
}

func newNeedsPane(m *Model) *needsPane {
	return &needsPane{tablePane: tablePane[core.Attention]{&table[core.Attention]{
		keys: append(nodeKeys(m, func(a core.Attention) string { return a.Node }),
			filterKey[core.Attention]{"node", func(a core.Attention) []string { return []string{m.snap.Label(a.Node)} }}),
		id:   func(a core.Attention) string { return a.ID },
		name: func(a core.Attention) string { return a.Label + ": " + a.Reason },
		columns: []column[core.Attention]{
			{width: 1, cell: func(a core.Attention) line {
				k := severityMark(m.look.glyph, a.Severity)
				return one(k.tone, k.glyph)
			}},
			{width: 6, most: 18, names: true, measure: func(a core.Attention) int { return width(clean(a.Label, rowLimit)) },
				cell: func(a core.Attention) line { return one(themes.Strong, a.Label) }},
			{width: 20, grow: true, cell: func(a core.Attention) line {
				tone := themes.Text
				if a.Severity == core.SeverityUrgent {
					tone = themes.Needs
				}
				return one(tone, named(m.snap, a.Reason))
			}},
			{title: "for", width: 4, most: 10, right: true, rank: 1, measure: func(a core.Attention) int { return len(sinceText(a.Since, m.snap.Now)) },
				cell: func(a core.Attention) line { return one(themes.Dim, sinceText(a.Since, m.snap.Now)) }},
			{most: 34, rank: 2, measure: func(a core.Attention) int { return width(clean(besideReason(m, a), rowLimit)) },
				cell: func(a core.Attention) line { return one(themes.Dim, besideReason(m, a)) }},
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
	p.set(m.snap.Attention(), m.snap.Revision)
	if p.chosen = p.chosen || m.focus == paneNeeds; !p.chosen {
		p.goTo(0)
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

func (p *needsPane) note(m *Model) line {
	urgent := 0
	for _, a := range p.all {
		if a.Severity == core.SeverityUrgent {
			urgent++
		}
	}
	switch {
	case len(p.all) == 0:
		return nil
	case urgent > 0:
		return one(themes.Needs, fmt.Sprintf("%d urgent", urgent)).and(themes.Dim, fmt.Sprintf(" of %d", len(p.all)))
	}
	return one(themes.Dim, fmt.Sprint(len(p.all)))
}

func (l line) and(tone themes.Token, s string) line { return append(l, txt(tone, s)) }

// explain is the selected entry in full.
func (p *needsPane) explain(m *Model) string {
	a, ok := p.current()
	if !ok {
		return ""
	}
	text := a.Label + ": " + a.Reason
	if cause, ok := m.snap.AttentionCalled(a.Cause); ok {
		text += " " + m.look.glyph.Dot + " because of " + cause.Label + ": " + cause.Reason
	}
	if a.Detail != "" {
		text += " " + m.look.glyph.Dot + " " + a.Detail
	}
	return named(m.snap, text)
}

func (p *needsPane) subject(*Model) subject {
	a, ok := p.current()
	if !ok {
		return subject{}
	}
	return subject{procedure: a.Resolve, node: a.Node, instance: a.Instance, attention: a, name: a.Subject.Name,
		command: ""}
}

// lead selects the node that the selected row is about, so that the panes below show it. It returns a word where the filter of the nodes
// hides it.
func (p *needsPane) lead(m *Model) string {
	a, ok := p.current()
	if !ok || a.Node == "" || m.nodes.choose(a.Node) || m.nodes.filterText() == "" {
		return ""
	}
	return "the filter /" + m.nodes.filterText() + " hides " + m.snap.Label(a.Node) + " among the nodes: f clears it and goes there"
}

// operationOf is the operation that an entry is about: the failed one that has not been acknowledged.
func operationOf(s *core.Snapshot, a core.Attention) *core.Operation {
	for i := range s.Operations {
		op := &s.Operations[i]
		if op.Acknowledged || !op.State.Ended() {
			continue
		}
		if a.Operation == op.ID {
			return op
		}
	}
	return nil
}
