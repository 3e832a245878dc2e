package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/themes"
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
	t := &table[core.NodeView]{
		header: true,
		id:     func(v core.NodeView) string { return v.Name },
		name:   func(v core.NodeView) string { return v.Label },
	}
	t.can.mark = true
	t.columns = []column[core.NodeView]{
		{title: "node", width: 6, most: 24, names: true, measure: func(v core.NodeView) int { return width(clean(v.Label, rowLimit)) },
			cell:    func(v core.NodeView) line { return one(rest(v, themes.Strong), v.Label) },
			compare: func(a, b core.NodeView) int { return strings.Compare(a.Label, b.Label) }},
		{title: "role", width: 3, most: 11, rank: 5, measure: func(v core.NodeView) int { return len(rolesText(v.Node)) },
			cell:    func(v core.NodeView) line { return one(rest(v, themes.Text), rolesText(v.Node)) },
			compare: func(a, b core.NodeView) int { return strings.Compare(rolesText(a.Node), rolesText(b.Node)) }},
		{title: "zone", width: 4, most: 16, rank: 10, measure: func(v core.NodeView) int { return width(clean(zoneOf(v), rowLimit)) },
			hide: func() bool { return !p.zoned }, cell: func(v core.NodeView) line { return one(rest(v, themes.Text), zoneOf(v)) },
			compare: func(a, b core.NodeView) int { return strings.Compare(zoneOf(a), zoneOf(b)) }},
		{title: "rack", width: 4, most: 12, rank: 11, measure: func(v core.NodeView) int { return width(clean(rackOf(v), rowLimit)) },
			hide: func() bool { return !p.racked }, cell: func(v core.NodeView) line { return one(rest(v, themes.Text), rackOf(v)) },
			compare: func(a, b core.NodeView) int { return strings.Compare(rackOf(a), rackOf(b)) }},
		{title: "stage", width: 17, cell: func(v core.NodeView) line { return stageCell(m, v) },
			compare: func(a, b core.NodeView) int { return strings.Compare(string(a.Stage), string(b.Stage)) }},
		{title: "for", width: 4, most: 10, right: true, rank: 2, measure: func(v core.NodeView) int { return stageAge(m, v).width() }, cell: func(v core.NodeView) line { return stageAge(m, v) },
			compare: func(a, b core.NodeView) int { return a.Since.At.Compare(b.Since.At) }},
		{title: "ready", width: 9, rank: 8, cell: readyCell,
			compare: func(a, b core.NodeView) int { return strings.Compare(readyCell(a).text(), readyCell(b).text()) }},
		{title: "mode", width: 6, most: 12, rank: 3, measure: modeWidth, cell: func(v core.NodeView) line { return modeCell(m, v) },
			compare: func(a, b core.NodeView) int { return strings.Compare(string(a.Mode), string(b.Mode)) }},
		{title: "tries", width: 5, right: true, rank: 9, cell: func(v core.NodeView) line { return attemptsCell(m, v) },
			compare: func(a, b core.NodeView) int { return cmp.Compare(a.Attempts, b.Attempts) }},
		{title: "locks", width: 8, rank: 4, cell: func(v core.NodeView) line { return p.locksCell(m, v) }},
		{title: "inst", width: 4, right: true, rank: 1, cell: func(v core.NodeView) line { return instancesCell(m, v) },
			compare: func(a, b core.NodeView) int { return cmp.Compare(a.Instances, b.Instances) }},
		{title: "what", width: 14, grow: true, cell: func(v core.NodeView) line { return whatCell(m, v) },
			fill: func(v core.NodeView, w int) line { return whatIn(m, v, w) }},
	}
	t.keys = nodeKeys(m, func(v core.NodeView) string { return v.Name })
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

func stageCell(m *Model, v core.NodeView) line {
	k := nodeMark(m.look.glyph, m.snap, v)
	return k.spans(string(v.Stage))
}

func stageAge(m *Model, v core.NodeView) line {
	if v.Since.At.IsZero() || v.Stage == core.StageIdle || v.Stage == core.StageQueued && v.Request == nil {
		return one(themes.Dim, m.look.glyph.None)
	}
	tone := themes.Dim
	if v.Active() {
		tone = themes.Text
	}
	return one(tone, sinceText(v.Since, m.snap.Now))
}

func readyCell(v core.NodeView) line {
	switch {
	case v.Node == nil:
		return one(themes.Bad, "no node")
	case v.Node.Ready != "True":
		return one(themes.Warn, "not ready")
	case v.Node.Cordoned:
		return one(rest(v, themes.Moves), "cordoned")
	}
	return one(rest(v, themes.Text), "ready")
}

func modeCell(m *Model, v core.NodeView) line {
	switch {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return one(themes.Dim, m.look.glyph.None)
	case !v.ModeCounts:
		return one(themes.Dim, "("+string(v.Mode)+")")
	case !v.Mode.Known():
		return one(themes.Bad, string(v.Mode))
	case v.Mode == core.ModeManual:
		return one(rest(v, themes.Needs), string(v.Mode))
	case v.Mode == core.ModeSkip:
		return one(rest(v, themes.Warn), string(v.Mode))
	}
	return one(rest(v, themes.Text), string(v.Mode))
}

// modeWidth is what a node's mode takes, with the brackets of one that does not count.
func modeWidth(v core.NodeView) int {
	switch w := width(clean(string(v.Mode), rowLimit)); {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return 1
	case !v.ModeCounts:
		return w + 2
	default:
		return w
	}
}

func attemptsCell(m *Model, v core.NodeView) line {
	if v.Node == nil || !v.Node.Is(core.RoleCompute) {
		return one(themes.Dim, m.look.glyph.None)
	}
	return one(rest(v, themes.Text), fmt.Sprint(v.Attempts))
}

// locksCell has one mark for every controller; their words are in the locks pane and the inspection.
func (p *nodesPane) locksCell(m *Model, v core.NodeView) line {
	var out line
	for i, c := range p.controllers {
		if i > 0 {
			out = append(out, blank(2))
		}
		out = append(out, p.lockSpan(m, v, c))
	}
	return out
}

func (p *nodesPane) lockSpan(m *Model, v core.NodeView, controller string) span {
	for _, l := range v.Locks {
		if l.Controller == controller {
			k := lockMark(m.look.glyph, l.State())
			return txt(rest(v, k.tone), k.glyph)
		}
	}
	return txt(themes.Dim, m.look.glyph.None)
}

func instancesCell(m *Model, v core.NodeView) line {
	switch {
	case v.Instances < 0 && (v.Node == nil || v.Node.Is(core.RoleCompute)):
		return one(themes.Warn, m.look.glyph.Unknown)
	case v.Node == nil || v.Instances < 0 || v.Instances == 0 && !v.Node.Is(core.RoleCompute):
		return one(themes.Dim, m.look.glyph.None)
	}
	return one(rest(v, themes.Text), fmt.Sprint(v.Instances))
}

func whatCell(m *Model, v core.NodeView) line {
	var out line
	if v.Stage == core.StageEvacuating && v.MovedFrom > 0 && v.Instances >= 0 {
		out = append(gauge(m.look.glyph, v.MovedFrom-v.Instances, v.MovedFrom, 8), blank(1))
	}
	tone := themes.Text
	if !v.Active() {
		tone = themes.Dim
	}
	what := v.What
	if what == "" && len(v.Problems) > 0 {
		what, tone = v.Problems[0], themes.Warn
	}
	return append(out, txt(tone, what))
}

// whatIn is whatCell in w columns: where there is no room for all of it, the bar goes before the words are cut.
func whatIn(m *Model, v core.NodeView, w int) line {
	out := whatCell(m, v)
	if out.width() > w && len(out) > 1 {
		return out[len(out)-1:]
	}
	return out
}

func (p *nodesPane) refresh(m *Model) string {
	views := m.snap.NodeViews()
	p.zoned, p.racked = differ(views, zoneOf), differ(views, rackOf)
	p.setControllers(m.snap)
	return p.set(views, m.snap.Revision)
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
	for i := range p.columns {
		if c := &p.columns[i]; c.rank == 4 {
			c.title = strings.Join(title, " ")
			c.width = max(3*len(names)-1, 0)
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
	return (clean(name, 64) + "  ")[:2]
}

// selected is the name of the node under the cursor; empty when there is none.
func (p *nodesPane) selected() string {
	if v, ok := p.current(); ok {
		return v.Name
	}
	return ""
}

func (p *nodesPane) name(*Model) string       { return "Nodes" }
func (p *nodesPane) short() string            { return "Nodes" }
func (p *nodesPane) sources() []core.SourceID { return []core.SourceID{core.SourceNodes} }
func (p *nodesPane) empty(*Model) string      { return "The cluster has no nodes." }

func (p *nodesPane) note(m *Model) line {
	u := m.snap.Update()
	var out line
	if n := p.marks(); n > 0 {
		hidden := ""
		if h := p.hiddenMarks(); h > 0 {
			hidden = fmt.Sprintf(", %d of them hidden", h)
		}
		out = out.and(themes.Match, fmt.Sprintf("%d marked%s  ", n, hidden))
	}
	if u.Nodes > 0 {
		out = out.and(themes.Text, fmt.Sprintf("%d of %d done", u.Done, u.Nodes))
		if u.Waiting > 0 {
			out = out.and(themes.Dim, " "+m.look.glyph.Dot+" ").and(themes.Needs, fmt.Sprintf("%d for you", u.Waiting))
		}
		if u.Moving > 0 {
			out = out.and(themes.Dim, " "+m.look.glyph.Dot+" ").and(themes.Moves, fmt.Sprintf("%d moving", u.Moving))
		}
		return out
	}
	return out.and(themes.Dim, fmt.Sprint(len(p.all)))
}

// explain is what the selected node's stage rests on.
func (p *nodesPane) explain(m *Model) string {
	v, ok := m.snap.NodeView(m.shown)
	if !ok || v.Reason == "" {
		return lockLegend(m)
	}
	text := v.Label + ": " + named(m.snap, v.Reason)
	if v.What != "" && !strings.Contains(v.Reason, v.What) { // its column may be too narrow for it
		text += " " + m.look.glyph.Dot + " " + v.What
	}
	return text + "\n" + lockLegend(m)
}

func (p *nodesPane) subject(*Model) subject {
	v, ok := p.current()
	if !ok {
		return subject{}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureNode, Subject: v.Name}, node: v.Name, name: v.Name,
		command: "kubectl get node " + v.Name + " -o yaml"}
}
