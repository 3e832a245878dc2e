package tui

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
	"lockstep/tui/table"
)

// ScopeNodes is the pane of the nodes.
const ScopeNodes Scope = "nodes"

// nodesPane is every node of the cluster, those where something happens first.
type nodesPane struct {
	tablePane[*core.NodeView]
	controllers []string // those that have locks on nodes, in the order of the column
	zoned       bool     // there are several availability zones
	racked      bool     // there are several racks
	grouped     bool     // there are several update groups of workers

	turns   map[string]progress.Turn // by node
	turnsOf *core.Management         // what turns were made from
}

func newNodesPane() pane {
	p := &nodesPane{}
	s := &p.scene
	t := &table.Table[*core.NodeView]{
		Header: true,
		ID:     func(v *core.NodeView) string { return v.Name },
		Name:   func(v *core.NodeView) string { return v.Label },
		Same:   func(a, b *core.NodeView) bool { return a == b },
	}
	t.Columns = []table.Column[*core.NodeView]{
		{Title: "node", Width: 6, Most: 24, Names: true, Measure: func(v *core.NodeView) int {
			return draw.Width(v.Label) + noteRoom(p.snap, v.Name, "")
		},
			Cell: func(v *core.NodeView) draw.Line {
				return withNote(draw.One(rest(v, themes.Strong), v.Label), p.look.Glyph, p.snap, v.Name, "")
			},
			Compare: func(a, b *core.NodeView) int { return strings.Compare(a.Label, b.Label) }},
		{Title: "role", Width: 3, Most: 11, Rank: 6, Measure: func(v *core.NodeView) int { return len(rolesText(v.Node)) },
			Cell:    func(v *core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), rolesText(v.Node)) },
			Compare: func(a, b *core.NodeView) int { return strings.Compare(rolesText(a.Node), rolesText(b.Node)) }},
		{Title: "zone", Width: 4, Most: 16, Rank: 10, Measure: func(v *core.NodeView) int { return draw.Width(zoneOf(v)) },
			Hide: func() bool { return !p.zoned }, Cell: func(v *core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), zoneOf(v)) },
			Compare: func(a, b *core.NodeView) int { return strings.Compare(zoneOf(a), zoneOf(b)) }},
		{Title: "rack", Width: 4, Most: 12, Rank: 11, Measure: func(v *core.NodeView) int { return draw.Width(rackOf(v)) },
			Hide: func() bool { return !p.racked }, Cell: func(v *core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), rackOf(v)) },
			Compare: func(a, b *core.NodeView) int { return strings.Compare(rackOf(a), rackOf(b)) }},
		{Title: "turn", Width: 4, Most: 7, Rank: 5, Measure: func(v *core.NodeView) int { return draw.Width(p.turnText(v)) },
			Hide:    func() bool { return !p.grouped },
			Cell:    func(v *core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), p.turnText(v)) },
			Compare: func(a, b *core.NodeView) int { return p.turns[a.Name].Compare(p.turns[b.Name]) }},
		{Title: "group", Width: 5, Most: 20, Rank: 12, Measure: func(v *core.NodeView) int { return draw.Width(p.groupText(v)) },
			Hide:    func() bool { return !p.grouped },
			Cell:    func(v *core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), p.groupText(v)) },
			Compare: func(a, b *core.NodeView) int { return strings.Compare(p.groupText(a), p.groupText(b)) }},
		{Title: "stage", Width: 17, Cell: func(v *core.NodeView) draw.Line { return stageCell(s, v) },
			Compare: func(a, b *core.NodeView) int { return strings.Compare(string(a.Stage), string(b.Stage)) }},
		{Title: "for", Width: 4, Most: 10, Right: true, Rank: 2, Measure: func(v *core.NodeView) int { return len(ageOf(s, v)) },
			Cell:    func(v *core.NodeView) draw.Line { return stageAge(s, v) },
			Compare: func(a, b *core.NodeView) int { return a.Since.At.Compare(b.Since.At) }},
		{Title: "ready", Width: 9, Rank: 8, Cell: readyCell,
			Compare: func(a, b *core.NodeView) int { return strings.Compare(readyCell(a).Text(), readyCell(b).Text()) }},
		{Title: "mode", Width: 6, Most: 12, Rank: 3, Measure: modeWidth, Cell: func(v *core.NodeView) draw.Line { return modeCell(s, v) },
			Compare: func(a, b *core.NodeView) int { return strings.Compare(string(a.Mode), string(b.Mode)) }},
		{Title: "tries", Width: 5, Right: true, Rank: 9, Cell: func(v *core.NodeView) draw.Line { return attemptsCell(s, v) },
			Compare: func(a, b *core.NodeView) int { return cmp.Compare(a.Attempts, b.Attempts) }},
		{Title: "locks", Width: 8, Rank: 4, Cell: func(v *core.NodeView) draw.Line { return p.locksCell(v) }},
		{Title: "inst", Width: 4, Right: true, Rank: 1, Cell: func(v *core.NodeView) draw.Line { return instancesCell(s, v) },
			Compare: func(a, b *core.NodeView) int { return cmp.Compare(a.Instances, b.Instances) }},
		{Title: "what", Width: 14, Grow: true, Cell: func(v *core.NodeView) draw.Line { return whatCell(s, v) },
			Fill: func(v *core.NodeView, w int) draw.Line { return whatIn(s, v, w) }},
	}
	t.Keys = nodeKeys(s, func(v *core.NodeView) string { return v.Name })
	p.Table = t
	return p
}

func (p *nodesPane) refresh() string {
	views := progress.NodeViews(p.snap)
	has := nodeColumnsOf(p.snap)
	p.zoned, p.racked = has.zones, has.racks
	p.setControllers(has.controllers)
	p.setTurns(p.snap.Management)
	return p.Set(views, p.snap.Revision)
}

// setTurns notes the order of the update, once for each state of the management cluster.
func (p *nodesPane) setTurns(m *core.Management) {
	if m == p.turnsOf && p.turns != nil {
		return
	}
	p.turns, p.turnsOf, p.grouped = progress.Turns(m), m, false
	p.Redraw() // what two columns say has changed, and the rows need not have
	if m == nil {
		return
	}
	for _, g := range m.Groups {
		p.grouped = p.grouped || g.Name != m.ControlGroup() && g.Name != m.DefaultGroup()
	}
}

// turnText is the node's turn in the update: "2.1", the first of a group that has the index 2.
func (p *nodesPane) turnText(v *core.NodeView) string {
	switch t, ok := p.turns[v.Name]; {
	case !ok:
		return p.look.Glyph.None
	case !t.Known():
		return p.look.Glyph.Unknown
	default:
		return fmt.Sprintf("%d.%d", t.Index, t.Place)
	}
}

// groupText is the name of the node's update group.
func (p *nodesPane) groupText(v *core.NodeView) string {
	if t, ok := p.turns[v.Name]; ok {
		return sanitise.Text(t.Group, 64)
	}
	return p.look.Glyph.None
}

func (p *nodesPane) name() string  { return "Nodes" }
func (p *nodesPane) empty() string { return "The cluster has no nodes." }

func (p *nodesPane) note() draw.Line {
	u := progress.Update(p.snap)
	var out draw.Line
	if n := p.Marks(); n > 0 {
		hidden := ""
		if h := p.HiddenMarks(); h > 0 {
			hidden = fmt.Sprintf(", %d of them hidden", h)
		}
		return out.And(themes.Match, fmt.Sprintf("%d marked%s", n, hidden)) // alone: where there is little room it must not be dropped
	}
	if u.Nodes > 0 {
		out = out.And(themes.Text, fmt.Sprintf("%d of %d done", u.Done, u.Nodes))
		if u.Waiting > 0 {
			out = out.And(themes.Dim, " "+p.look.Glyph.Dot+" ").And(themes.Needs, fmt.Sprintf("%d for you", u.Waiting))
		}
		if u.Moving > 0 {
			out = out.And(themes.Dim, " "+p.look.Glyph.Dot+" ").And(themes.Moves, fmt.Sprintf("%d moving", u.Moving))
		}
		return out
	}
	return out.And(themes.Dim, fmt.Sprint(len(p.All())))
}

// explain is the evidence for the selected node's stage.
func (p *nodesPane) explain() string {
	v, ok := progress.NodeView(p.snap, p.node)
	if !ok || v.Reason == "" {
		return p.lockLegend()
	}
	text := v.Label + ": " + named(p.snap, v.Reason)
	if v.What != "" && !strings.Contains(v.Reason, v.What) { // its column may be too narrow for it
		text += " " + p.look.Glyph.Dot + " " + v.What
	}
	return text + "\n" + p.lockLegend()
}

func (p *nodesPane) subject() subject {
	v, ok := p.selected()
	if !ok {
		return subject{}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name}, node: v.Name, name: v.Name,
		command: "kubectl get node " + v.Name + " -o yaml"}
}

// nodes are the names of the marked nodes, or of the selected one. A batch goes through them in this order: it is the screen's, as names
// of nodes say nothing where machines have names of their own (docs/mosk.md#cluster-and-machine).
func (p *nodesPane) nodes() []string {
	var names []string
	for _, v := range p.MarkedOrCurrent() {
		names = append(names, v.Name)
	}
	return names
}

func (p *nodesPane) words() []columnWord {
	words := []columnWord{
		{"node", "the machine's name where it is known, else the node's"},
		{"role", "mst Kubernetes master, ctl OpenStack controller, cmp compute, gtw gateway, osd Ceph storage"},
		{"zone", "availability zone of its nova-compute, where there are several"},
		{"rack", "the value of the node's label whose key has the word rack, where there are several racks"},
		{"turn", "its turn in the update, where there are several groups: the index of its group (0 the control plane's), and its place in that"},
		{"group", "its update group, where there are several"},
		{"stage", "where it stands in its maintenance"},
		{"for", "how long it has been in this stage; > at least, < at most this long"},
		{"ready", "whether the kubelet is Ready, and the node not cordoned"},
		{"mode", "instance_migration_mode: live, manual or skip; in brackets where it has no effect"},
		{"tries", "instance_migration_attempts: how often the OpenStack controller tries to move an instance"},
	}
	if len(p.controllers) > 0 {
		titles := make([]string, len(p.controllers))
		for i, name := range p.controllers {
			titles[i] = shortController(name)
		}
		words = append(words, columnWord{strings.Join(titles, " "),
			"the node's locks, one for each application controller: " + lockTitles(p.controllers)})
	}
	return append(words, columnWord{"inst", "instances on its host; ? not known"}, columnWord{"what", "what happens there now"})
}

// lockTitles are the two letters of each controller in the column of locks, with its name.
func lockTitles(controllers []string) string {
	parts := make([]string, len(controllers))
	for i, c := range controllers {
		parts[i] = shortController(c) + " " + c
	}
	return strings.Join(parts, ", ")
}

// lockLegend says what the marks in the column of locks are; empty without locks.
func (p *nodesPane) lockLegend() string {
	if len(p.controllers) == 0 {
		return ""
	}
	g := p.look.Glyph
	active, inactive := lockMark(g, core.LockActive).glyph, lockMark(g, core.LockInactive).glyph
	return "Locks: " + lockTitles(p.controllers) + ". " + active + " active: LCM waits, " + inactive + " inactive: it may go on"
}
