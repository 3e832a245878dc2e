package tui

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeNeeds is the pane of the things that need the operator.
const ScopeNeeds Scope = "needs you"

// needsPane shows what needs a person now, most urgent first.
type needsPane struct {
	tablePane[core.Attention]
	chosen bool // the operator has been here: the cursor no longer follows what is most urgent
}

func newNeedsPane() pane {
	p := &needsPane{}
	s := &p.scene
	p.Table = &table.Table[core.Attention]{
		Keys: append(nodeKeys(s, func(a core.Attention) string { return a.Node }),
			table.Key[core.Attention]{Name: "node", Values: func(a core.Attention) []string { return []string{s.snap.Label(a.Node)} }}),
		ID:   func(a core.Attention) string { return a.ID },
		Name: func(a core.Attention) string { return a.Label + ": " + a.Reason },
		Columns: []table.Column[core.Attention]{
			{Width: 1, Cell: func(a core.Attention) draw.Line {
				k := severityMark(s.look.Glyph, a.Severity)
				if a.Aside != nil {
					k = mark{s.look.Glyph.Paused, themes.Dim}
				}
				return draw.One(k.tone, k.glyph)
			}},
			{Width: 6, Most: 18, Names: true, Measure: func(a core.Attention) int { return draw.Width(a.Label) },
				Cell: func(a core.Attention) draw.Line { return draw.One(themes.Strong, a.Label) }},
			{Width: 20, Grow: true, Cell: func(a core.Attention) draw.Line {
				tone := themes.Text
				if n := a.Aside; n != nil {
					return draw.One(themes.Dim, "waits for somebody else until "+s.now.clock(n.Until)+": "+named(s.snap, a.Reason))
				}
				if a.Severity == core.SeverityUrgent {
					tone = themes.Needs
				}
				if len(s.snap.OpenNotes(a.ID, "", "")) > 0 {
					return draw.One(themes.Key, s.look.Glyph.Note+" ").And(tone, named(s.snap, a.Reason))
				}
				return draw.One(tone, named(s.snap, a.Reason))
			}},
			{Title: "for", Width: 4, Most: 10, Right: true, Rank: 1,
				Measure: func(a core.Attention) int { return len(s.now.since(a.Since)) },
				Cell:    func(a core.Attention) draw.Line { return draw.One(themes.Dim, s.now.since(a.Since)) }},
			{Most: 34, Rank: 2, Measure: func(a core.Attention) int { return draw.Width(besideReason(s, a)) },
				Cell: func(a core.Attention) draw.Line { return draw.One(themes.Dim, besideReason(s, a)) }},
		},
	}
	return p
}

// besideReason is what stands beside a reason: its cause, or what to do where there is no step. The footer says what enter does.
func besideReason(s *scene, a core.Attention) string {
	cause, ok := attention.Listed(s.snap, a.Cause)
	switch {
	case !ok:
		return hintText(s.keyOf, s.snap, a)
	case s.width < 160:
		return "see " + cause.Label
	}
	return "because of " + cause.Label
}

func (p *needsPane) refresh() string {
	p.Set(attention.List(p.snap), p.snap.Revision)
	if p.chosen = p.chosen || p.focus == ScopeNeeds; !p.chosen {
		p.GoTo(0)
	}
	return ""
}

func (p *needsPane) name() string { return "Needs you" }

func (p *needsPane) empty() string {
	if p.snap.ClusterRequest() == nil {
		return "Nothing needs you. No update runs."
	}
	return "Nothing needs you."
}

func (p *needsPane) note() draw.Line {
	now, aside := attention.Now(p.All())
	urgent, waits := attention.Urgent(now), ""
	if len(aside) > 0 {
		waits = fmt.Sprintf(" %s %d set aside", p.look.Glyph.Dot, len(aside))
	}
	switch {
	case len(p.All()) == 0:
		return nil
	case urgent > 0:
		return draw.One(themes.Needs, fmt.Sprintf("%d urgent", urgent)).And(themes.Dim, fmt.Sprintf(" of %d", len(now))).And(themes.Dim, waits)
	}
	return draw.One(themes.Dim, fmt.Sprint(len(now))).And(themes.Dim, waits)
}

// explain is the selected entry in full.
func (p *needsPane) explain() string {
	a, ok := p.Current()
	if !ok {
		return ""
	}
	text := a.Label + ": " + a.Reason
	if cause, ok := attention.Listed(p.snap, a.Cause); ok {
		text += " " + p.look.Glyph.Dot + " because of " + cause.Label + ": " + cause.Reason
	}
	for _, n := range p.snap.OpenNotes(a.ID, "", "") {
		text += " " + p.look.Glyph.Dot + " " + n.By + ": " + n.Text
	}
	if a.Detail != "" {
		text += " " + p.look.Glyph.Dot + " " + a.Detail
	}
	return named(p.snap, text)
}

func (p *needsPane) subject() subject {
	a, ok := p.Current()
	if !ok {
		return subject{}
	}
	return subject{procedure: a.Resolve, node: a.Node, instance: a.Instance, attention: a, name: a.Subject.Name,
		command: ""}
}

func (p *needsPane) entered() { p.chosen = p.chosen || p.snap != nil }

// moved leads to the node that the selected row is about, so that the panes below show it.
func (p *needsPane) moved() request {
	if a, ok := p.Current(); ok && a.Node != "" {
		return leadTo{a.Node}
	}
	return nil
}

func (p *needsPane) nodes() []string {
	if a, ok := p.Current(); ok && a.Node != "" {
		return []string{a.Node}
	}
	return nil
}

func (p *needsPane) words() []columnWord {
	return []columnWord{{"for", "how long it has needed you"}}
}

// needsActions work in the list of what needs the operator.
func needsActions() []Action {
	return []Action{inPane(Action{ID: "needs.node", Title: "Go to the node that it is about", Short: "to the node", Scope: ScopeNeeds,
		Keys: []string{"f", "right"}, Footer: 10}, func(p *needsPane) string {
		if len(p.nodes()) == 0 {
			return "it is not about a node"
		}
		return ""
	}, func(p *needsPane) request { return goTo{node: p.subject().node} })}
}

// hintText is an entry's hint, with the key of what Lockstep does at once.
func hintText(keyOf func(action string) string, s *core.Snapshot, a core.Attention) string {
	key := ""
	switch {
	case a.Rule == core.RuleDisarmed:
		key = keyOf("arm")
	case a.Rule == core.RuleOperation && operationOf(s, a) != nil:
		key = keyOf("acknowledge")
	}
	if key == "" {
		return a.Hint
	}
	return key + ": " + a.Hint
}

// operationOf is the operation that an entry is about: a failed one that has not been acknowledged.
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
