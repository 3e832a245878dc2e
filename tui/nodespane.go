package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
	"lockstep/tui/table"
)

// nodesPane is every node of the cluster, what moves first.
type nodesPane struct {
	tablePane[core.NodeView]
	controllers []string // those that have locks on nodes, in the order of the column
	zoned       bool     // there are several availability zones
	racked      bool     // there are several racks
}

func newNodesPane(m *Model) *nodesPane {
	p := &nodesPane{}
	t := &table.Table[core.NodeView]{
		Header: true,
		ID:     func(v core.NodeView) string { return v.Name },
		Name:   func(v core.NodeView) string { return v.Label },
	}
	t.Columns = []table.Column[core.NodeView]{
		{Title: "node", Width: 6, Most: 24, Names: true, Measure: func(v core.NodeView) int { return draw.Width(v.Label) },
			Cell:    func(v core.NodeView) draw.Line { return draw.One(rest(v, themes.Strong), v.Label) },
			Compare: func(a, b core.NodeView) int { return strings.Compare(a.Label, b.Label) }},
		{Title: "role", Width: 3, Most: 11, Rank: 5, Measure: func(v core.NodeView) int { return len(rolesText(v.Node)) },
			Cell:    func(v core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), rolesText(v.Node)) },
			Compare: func(a, b core.NodeView) int { return strings.Compare(rolesText(a.Node), rolesText(b.Node)) }},
		{Title: "zone", Width: 4, Most: 16, Rank: 10, Measure: func(v core.NodeView) int { return draw.Width(zoneOf(v)) },
			Hide: func() bool { return !p.zoned }, Cell: func(v core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), zoneOf(v)) },
			Compare: func(a, b core.NodeView) int { return strings.Compare(zoneOf(a), zoneOf(b)) }},
		{Title: "rack", Width: 4, Most: 12, Rank: 11, Measure: func(v core.NodeView) int { return draw.Width(rackOf(v)) },
			Hide: func() bool { return !p.racked }, Cell: func(v core.NodeView) draw.Line { return draw.One(rest(v, themes.Text), rackOf(v)) },
			Compare: func(a, b core.NodeView) int { return strings.Compare(rackOf(a), rackOf(b)) }},
		{Title: "stage", Width: 17, Cell: func(v core.NodeView) draw.Line { return stageCell(m, v) },
			Compare: func(a, b core.NodeView) int { return strings.Compare(string(a.Stage), string(b.Stage)) }},
		{Title: "for", Width: 4, Most: 10, Right: true, Rank: 2, Measure: func(v core.NodeView) int { return stageAge(m, v).Width() }, Cell: func(v core.NodeView) draw.Line { return stageAge(m, v) },
			Compare: func(a, b core.NodeView) int { return a.Since.At.Compare(b.Since.At) }},
		{Title: "ready", Width: 9, Rank: 8, Cell: readyCell,
			Compare: func(a, b core.NodeView) int { return strings.Compare(readyCell(a).Text(), readyCell(b).Text()) }},
		{Title: "mode", Width: 6, Most: 12, Rank: 3, Measure: modeWidth, Cell: func(v core.NodeView) draw.Line { return modeCell(m, v) },
			Compare: func(a, b core.NodeView) int { return strings.Compare(string(a.Mode), string(b.Mode)) }},
		{Title: "tries", Width: 5, Right: true, Rank: 9, Cell: func(v core.NodeView) draw.Line { return attemptsCell(m, v) },
			Compare: func(a, b core.NodeView) int { return cmp.Compare(a.Attempts, b.Attempts) }},
		{Title: "locks", Width: 8, Rank: 4, Cell: func(v core.NodeView) draw.Line { return p.locksCell(m, v) }},
		{Title: "inst", Width: 4, Right: true, Rank: 1, Cell: func(v core.NodeView) draw.Line { return instancesCell(m, v) },
			Compare: func(a, b core.NodeView) int { return cmp.Compare(a.Instances, b.Instances) }},
		{Title: "what", Width: 14, Grow: true, Cell: func(v core.NodeView) draw.Line { return whatCell(m, v) },
			Fill: func(v core.NodeView, w int) draw.Line { return whatIn(m, v, w) }},
	}
	t.Keys = nodeKeys(m, func(v core.NodeView) string { return v.Name })
	p.tablePane = tablePane[core.NodeView]{t}
	return p
}

// rest is the tone of a cell: dim in the rows of nodes where nothing happens, so that the others stand out.
func rest(v core.NodeView, tone themes.Token) themes.Token {
	if v.Active() {
		return tone
	}
	return themes.Dim
}

func stageCell(m *Model, v core.NodeView) draw.Line {
	k := nodeMark(m.look.Glyph, m.snap, v)
	return k.spans(string(v.Stage))
}

func stageAge(m *Model, v core.NodeView) draw.Line {
	if v.Since.At.IsZero() || v.Stage == core.StageIdle || v.Stage == core.StageQueued && v.Request == nil {
		return draw.One(themes.Dim, m.look.Glyph.None)
	}
	tone := themes.Dim
	if v.Active() {
		tone = themes.Text
	}
	return draw.One(tone, sinceText(v.Since, m.snap.Now))
}

func readyCell(v core.NodeView) draw.Line {
	switch {
	case v.Node == nil:
		return draw.One(themes.Bad, "no node")
	case v.Node.Ready != "True":
		return draw.One(themes.Warn, "not ready")
	case v.Node.Cordoned:
		return draw.One(rest(v, themes.Moves), "cordoned")
	}
	return draw.One(rest(v, themes.Text), "ready")
}

func modeCell(m *Model, v core.NodeView) draw.Line {
	switch {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return draw.One(themes.Dim, m.look.Glyph.None)
	case !v.ModeCounts:
		return draw.One(themes.Dim, "("+string(v.Mode)+")")
	case !v.Mode.Known():
		return draw.One(themes.Bad, string(v.Mode))
	case v.Mode == core.ModeManual:
		return draw.One(rest(v, themes.Needs), string(v.Mode))
	case v.Mode == core.ModeSkip:
		return draw.One(rest(v, themes.Warn), string(v.Mode))
	}
	return draw.One(rest(v, themes.Text), string(v.Mode))
}

// modeWidth is what a node's mode takes, with the brackets of one that does not count.
func modeWidth(v core.NodeView) int {
	switch w := draw.Width(string(v.Mode)); {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return 1
	case !v.ModeCounts:
		return w + 2
	default:
		return w
	}
}

func attemptsCell(m *Model, v core.NodeView) draw.Line {
	if v.Node == nil || !v.Node.Is(core.RoleCompute) {
		return draw.One(themes.Dim, m.look.Glyph.None)
	}
	return draw.One(rest(v, themes.Text), fmt.Sprint(v.Attempts))
}

// locksCell has one mark for every controller; their words are in the locks pane and the inspection.
func (p *nodesPane) locksCell(m *Model, v core.NodeView) draw.Line {
	var out draw.Line
	for i, c := range p.controllers {
		if i > 0 {
			out = append(out, draw.Blank(2))
		}
		out = append(out, p.lockSpan(m, v, c))
	}
	return out
}

func (p *nodesPane) lockSpan(m *Model, v core.NodeView, controller string) draw.Span {
	for _, l := range v.Locks {
		if l.Controller == controller {
			k := lockMark(m.look.Glyph, l.State())
			return draw.Text(rest(v, k.tone), k.glyph)
		}
	}
	return draw.Text(themes.Dim, m.look.Glyph.None)
}

func instancesCell(m *Model, v core.NodeView) draw.Line {
	switch {
	case v.Instances < 0 && (v.Node == nil || v.Node.Is(core.RoleCompute)):
		return draw.One(themes.Warn, m.look.Glyph.Unknown)
	case v.Node == nil || v.Instances < 0 || v.Instances == 0 && !v.Node.Is(core.RoleCompute):
		return draw.One(themes.Dim, m.look.Glyph.None)
	}
	return draw.One(rest(v, themes.Text), fmt.Sprint(v.Instances))
}

func whatCell(m *Model, v core.NodeView) draw.Line {
	var out draw.Line
	if v.Stage == core.StageEvacuating && v.MovedFrom > 0 && v.Instances >= 0 {
		out = append(draw.Gauge(m.look.Glyph, v.MovedFrom-v.Instances, v.MovedFrom, 8), draw.Blank(1))
	}
	tone := themes.Text
	if !v.Active() {
		tone = themes.Dim
	}
	what := v.What
	if what == "" && len(v.Problems) > 0 {
		what, tone = v.Problems[0], themes.Warn
	}
	return append(out, draw.Text(tone, what))
}

// whatIn is whatCell in w columns: where there is no room for all of it, the bar goes before the words are cut.
func whatIn(m *Model, v core.NodeView, w int) draw.Line {
	out := whatCell(m, v)
	if out.Width() > w && len(out) > 1 {
		return out[len(out)-1:]
	}
	return out
}

func (p *nodesPane) refresh(m *Model) string {
	views := m.snap.NodeViews()
	p.zoned, p.racked = differ(views, zoneOf), differ(views, rackOf)
	p.setControllers(m.snap)
	return p.Set(views, m.snap.Revision)
}

// setControllers makes the locks column as wide as there are controllers, and its title their first two letters.
func (p *nodesPane) setControllers(s *core.Snapshot) {
	const most = 6
	rank := []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric}
	seen := make(map[string]bool)
	for _, locks := range s.NodeLocks {
		for _, l := range locks {
			seen[l.Controller] = true
		}
	}
	var names []string
	for name := range seen {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		ra, rb := slices.Index(rank, a), slices.Index(rank, b)
		if ra < 0 {
			ra = len(rank)
		}
		if rb < 0 {
			rb = len(rank)
		}
		return cmp.Or(cmp.Compare(ra, rb), strings.Compare(a, b))
	})
	names = names[:min(len(names), most)]
	if slices.Equal(names, p.controllers) {
		return
	}
	p.controllers = names
	title := make([]string, len(names))
	for i, n := range names {
		title[i] = shortController(n)
	}
	for i := range p.Columns {
		if c := &p.Columns[i]; c.Rank == 4 {
			c.Title = strings.Join(title, " ")
			c.Width = max(3*len(names)-1, 0)
		}
	}
}

func shortController(name string) string {
	switch name {
	case core.ControllerTungstenFabric:
		return "tf"
	case core.ControllerOpenStack:
		return "os"
	case core.ControllerCeph:
		return "ce"
	case core.ControllerStackLight:
		return "sl"
	}
	return (sanitise.Text(name, 64) + "  ")[:2]
}

// selected is the name of the node under the cursor; empty when there is none.
func (p *nodesPane) selected() string {
	if v, ok := p.Current(); ok {
		return v.Name
	}
	return ""
}

func (p *nodesPane) name(*Model) string       { return "Nodes" }
func (p *nodesPane) short() string            { return "Nodes" }
func (p *nodesPane) sources() []core.SourceID { return []core.SourceID{core.SourceNodes} }
func (p *nodesPane) empty(*Model) string      { return "The cluster has no nodes." }

func (p *nodesPane) note(m *Model) draw.Line {
	u := m.snap.Update()
	var out draw.Line
	if n := p.Marks(); n > 0 {
		hidden := ""
		if h := p.HiddenMarks(); h > 0 {
			hidden = fmt.Sprintf(", %d of them hidden", h)
		}
		out = out.And(themes.Match, fmt.Sprintf("%d marked%s  ", n, hidden))
	}
	if u.Nodes > 0 {
		out = out.And(themes.Text, fmt.Sprintf("%d of %d done", u.Done, u.Nodes))
		if u.Waiting > 0 {
			out = out.And(themes.Dim, " "+m.look.Glyph.Dot+" ").And(themes.Needs, fmt.Sprintf("%d for you", u.Waiting))
		}
		if u.Moving > 0 {
			out = out.And(themes.Dim, " "+m.look.Glyph.Dot+" ").And(themes.Moves, fmt.Sprintf("%d moving", u.Moving))
		}
		return out
	}
	return out.And(themes.Dim, fmt.Sprint(len(p.All())))
}

// explain is what the selected node's stage rests on.
func (p *nodesPane) explain(m *Model) string {
	v, ok := m.snap.NodeView(m.shown)
	if !ok || v.Reason == "" {
		return lockLegend(m)
	}
	text := v.Label + ": " + named(m.snap, v.Reason)
	if v.What != "" && !strings.Contains(v.Reason, v.What) { // its column may be too narrow for it
		text += " " + m.look.Glyph.Dot + " " + v.What
	}
	return text + "\n" + lockLegend(m)
}

func (p *nodesPane) subject(*Model) subject {
	v, ok := p.Current()
	if !ok {
		return subject{}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name}, node: v.Name, name: v.Name,
		command: "kubectl get node " + v.Name + " -o yaml"}
}
