package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

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

// rest is the tone of a cell: dim in rows of nodes where nothing happens, so that the others stand out.
func rest(v *core.NodeView, tone themes.Token) themes.Token {
	if v.Active() {
		return tone
	}
	return themes.Dim
}

func stageCell(s *scene, v *core.NodeView) draw.Line {
	k := nodeMark(s.look.Glyph, s.snap, v)
	return k.spans(string(v.Stage))
}

// ageOf is for how long the node is in its stage; empty where that says nothing.
func ageOf(s *scene, v *core.NodeView) string {
	if v.Since.At.IsZero() || v.Stage == core.StageIdle || v.Stage == core.StageQueued && v.Request == nil {
		return ""
	}
	return s.now.since(v.Since)
}

func stageAge(s *scene, v *core.NodeView) draw.Line {
	age := ageOf(s, v)
	if age == "" {
		return draw.One(themes.Dim, s.look.Glyph.None)
	}
	tone := themes.Dim
	if v.Active() {
		tone = themes.Text
	}
	return draw.One(tone, age)
}

func readyCell(v *core.NodeView) draw.Line {
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

func modeCell(s *scene, v *core.NodeView) draw.Line {
	switch {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return draw.One(themes.Dim, s.look.Glyph.None)
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

// modeWidth is the width of a node's mode, with brackets where it has no effect.
func modeWidth(v *core.NodeView) int {
	switch w := draw.Width(string(v.Mode)); {
	case v.Node == nil || !v.Node.Is(core.RoleCompute) && !v.ModeSet:
		return 1
	case !v.ModeCounts:
		return w + 2
	default:
		return w
	}
}

func attemptsCell(s *scene, v *core.NodeView) draw.Line {
	if v.Node == nil || !v.Node.Is(core.RoleCompute) {
		return draw.One(themes.Dim, s.look.Glyph.None)
	}
	return draw.One(rest(v, themes.Text), fmt.Sprint(v.Attempts))
}

// locksCell has one mark for every controller; their words are in the locks pane and the inspection.
func (p *nodesPane) locksCell(v *core.NodeView) draw.Line {
	var out draw.Line
	for i, c := range p.controllers {
		if i > 0 {
			out = append(out, draw.Blank(2))
		}
		out = append(out, p.lockSpan(v, c))
	}
	return out
}

func (p *nodesPane) lockSpan(v *core.NodeView, controller string) draw.Span {
	for _, l := range v.Locks {
		if l.Controller == controller {
			k := lockMark(p.look.Glyph, l.State())
			return draw.Text(rest(v, k.tone), k.glyph)
		}
	}
	return draw.Text(themes.Dim, p.look.Glyph.None)
}

func instancesCell(s *scene, v *core.NodeView) draw.Line {
	switch {
	case v.Instances < 0 && (v.Node == nil || v.Node.Is(core.RoleCompute)):
		return draw.One(themes.Warn, s.look.Glyph.Unknown)
	case v.Node == nil || v.Instances < 0 || v.Instances == 0 && !v.Node.Is(core.RoleCompute):
		return draw.One(themes.Dim, s.look.Glyph.None)
	}
	return draw.One(rest(v, themes.Text), fmt.Sprint(v.Instances))
}

func whatCell(s *scene, v *core.NodeView) draw.Line {
	var out draw.Line
	if v.Stage == core.StageEvacuating && v.MovedFrom > 0 && v.Instances >= 0 {
		out = append(draw.Gauge(s.look.Glyph, v.MovedFrom-v.Instances, v.MovedFrom, 8), draw.Blank(1))
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

// whatIn is whatCell in w columns: where room is short, the bar is dropped before the words are cut.
func whatIn(s *scene, v *core.NodeView, w int) draw.Line {
	out := whatCell(s, v)
	if out.Width() > w && len(out) > 1 {
		return out[len(out)-1:]
	}
	return out
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

// nodeColumns is what the nodes have in common that decides about columns.
type nodeColumns struct {
	zones, racks bool     // there are several
	controllers  []string // those that have locks on nodes, in their order

	of core.Digest[nodeColumn] // what it was made of
}

// nodeColumn is what one node has to say about the columns.
type nodeColumn struct {
	zone, rack  string
	controllers string // one a line
}

var columnsOfNodes core.Derivation[nodeColumns]

// nodeColumnsOf is made from the nodes of which something has changed: there are thousands of others.
func nodeColumnsOf(s *core.Snapshot) nodeColumns {
	return columnsOfNodes.After(s, func(s *core.Snapshot, earlier nodeColumns) nodeColumns {
		each := core.DeriveByNode(s, earlier.of.ByNode, nil, progress.NodeNames(s), progress.ByNode(s),
			func(s *core.Snapshot, name string) (nodeColumn, bool) {
				v := progress.ViewOf(s, name)
				var controllers []string
				for _, l := range s.NodeLocks.At(name) {
					controllers = append(controllers, l.Controller)
				}
				return nodeColumn{zoneOf(v), rackOf(v), strings.Join(controllers, "\n")}, false
			})
		c := nodeColumns{of: core.DigestOf(s, earlier.of, each, func(c nodeColumn) nodeColumn { return c })}
		if c.of.SameAs(earlier.of) {
			earlier.of = c.of
			return earlier
		}
		var zone, rack, last string
		seen := map[string]bool{}
		for n := range each.All() {
			c.zones, c.racks = c.zones || another(&zone, n.zone), c.racks || another(&rack, n.rack)
			if n.controllers == last || n.controllers == "" {
				continue
			}
			last = n.controllers
			for name := range strings.SplitSeq(n.controllers, "\n") {
				if !seen[name] {
					seen[name] = true
					c.controllers = append(c.controllers, name)
				}
			}
		}
		sortControllers(c.controllers)
		return c
	})
}

// another tells whether a value is another one than the first; it notes the first.
func another(first *string, value string) bool {
	if *first == "" {
		*first = value
	}
	return value != "" && value != *first
}

// sortControllers puts those that every MOSK has first.
func sortControllers(names []string) {
	rank := []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric}
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
}

// setControllers fits the locks column to the controllers: one mark each, their first two letters as its title.
func (p *nodesPane) setControllers(names []string) {
	const most = 6
	names = names[:min(len(names), most)]
	if slices.Equal(names, p.controllers) {
		return
	}
	p.controllers = slices.Clone(names)
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
	first := ansi.Truncate(sanitise.Text(name, 64), 2, "") // any text may be its name
	return first + strings.Repeat(" ", 2-draw.Width(first))
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
		{"for", "how long it has been in this stage; > at least this long"},
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

// nodeActions are what can be done with the selected node, or with the marked ones.
func nodeActions() []Action {
	// step leads to the confirmation of what is done with the selected node.
	step := func(id, title, short string, kind core.IntentKind, need func(*nodesPane) string) Action {
		return inPane(Action{ID: id, Title: title, Short: short, Scope: ScopeNodes, Intent: []core.IntentKind{kind}}, need,
			func(p *nodesPane) request {
				v, ok := p.selected()
				if !ok {
					return nil
				}
				return confirmStep{core.Intent{Kind: kind, Node: v.Name}}
			})
	}
	keyed := func(a Action, footer int, key string) Action {
		a.Footer, a.Keys = footer, []string{key}
		return a
	}
	// ask leads to a form.
	ask := func(id, title, short string, kind core.IntentKind, need func(*nodesPane) string, ask func(*nodesPane) *form) Action {
		return inPane(Action{ID: id, Title: title, Short: short, Scope: ScopeNodes, Intent: []core.IntentKind{kind}}, need,
			func(p *nodesPane) request { return openForm{ask(p)} })
	}
	return []Action{
		inPane(Action{ID: "node.mark", Title: "Mark the node, to set the mode, the attempts or the update group of several", Short: "mark",
			Scope: ScopeNodes, Keys: []string{"space"}, Footer: 32, live: true}, (*nodesPane).needRow,
			func(p *nodesPane) request { p.ToggleMark(); return rowMoved{} }),
		keyed(step("node.migrate", "Move the instances off the node that hold its lock", "migrate", core.IntentLiveMigrateAll,
			(*nodesPane).needCompute), 10, "m"),
		keyed(ask("node.mode", "Set the migration mode of the node, or of all marked ones", "mode", core.IntentSetMode,
			(*nodesPane).needMode, func(p *nodesPane) *form { return newModeForm(p.snap, p.nodes(), p.current()) }), 11, "e"),
		keyed(ask("node.attempts", "Set how often a migration is tried, on the node or on all marked ones", "attempts", core.IntentSetAttempts,
			(*nodesPane).needRow, func(p *nodesPane) *form { return newAttemptsForm(p.snap, p.nodes(), p.current()) }), 0, "n"),
		keyed(step("node.restore", "Restore the migration mode that the node had before Lockstep changed it", "restore mode",
			core.IntentRestoreMode, (*nodesPane).needChanged), 0, "u"),
		inPane(Action{ID: "node.plan", Title: "Plan the node's evacuation, or that of all marked ones, before anything moves", Short: "plan",
			Scope: ScopeNodes, Keys: []string{"v"}, Footer: 13}, (*nodesPane).needCompute,
			func(p *nodesPane) request { return openPlan{p.nodes()} }),
		keyed(ask("node.group", "Move the node's machine, or those of all marked ones, to an update group", "update group",
			core.IntentMoveMachines, (*nodesPane).needGroups, func(p *nodesPane) *form { return newMoveForm(p.snap, p.nodes()) }), 0, "U"),
		ask("node.index", "Set the upgrade index of the node's machine: its place in its update group", "upgrade index",
			core.IntentSetUpgradeIndex, (*nodesPane).needMachine, func(p *nodesPane) *form { return newUpgradeIndexForm(p.snap, p.Cursor()) }),
		step("node.safe", "Declare the node safe: set its mode to skip, once nothing is in the way", "declare safe", core.IntentDeclareSafe,
			(*nodesPane).needMode),
		ask("node.disable", "Take the node's nova-compute out of scheduling", "disable compute", core.IntentDisableCompute,
			func(p *nodesPane) string { return p.needService(true) },
			func(p *nodesPane) *form { return newReasonForm(p.snap, p.Cursor()) }),
		step("node.enable", "Put the node's nova-compute back into scheduling", "enable compute", core.IntentEnableCompute,
			func(p *nodesPane) string { return p.needService(false) }),
		ask("node.ask", "Ask for the node's maintenance by hand, without an update", "ask for maintenance", core.IntentAskNode,
			(*nodesPane).needRow, func(p *nodesPane) *form { return newScopeForm(p.snap, p.Cursor()) }),
		inPane(Action{ID: "node.withdraw", Title: "Withdraw the node's maintenance request", Short: "end maintenance", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentWithdraw}}, (*nodesPane).needRequest, func(p *nodesPane) request {
			return confirmStep{core.Intent{Kind: core.IntentWithdraw, Object: p.snap.NodeRequest(p.Cursor()).Ref()}}
		}),
		step("node.maintenance.enter", "Put the node's machine into maintenance mode", "enter maintenance", core.IntentEnterMachine,
			(*nodesPane).needMachine),
		step("node.maintenance.leave", "Take the node's machine out of maintenance mode", "leave maintenance", core.IntentLeaveMachine,
			(*nodesPane).needMachine),
		inPane(Action{ID: "node.reboot", Title: "Have LCM reboot the node gracefully, or all marked ones one after another", Short: "reboot",
			Scope: ScopeNodes, Intent: []core.IntentKind{core.IntentReboot}}, (*nodesPane).needMachine, func(p *nodesPane) request {
			return confirmStep{core.Intent{Kind: core.IntentReboot, Nodes: p.nodes()}}
		}),
		inPane(Action{ID: "node.agents", Title: "Restart the pods of the node's network agents that do not report", Short: "restart agents",
			Scope: ScopeNodes, Intent: []core.IntentKind{core.IntentRestartAgents, core.IntentRestartAgent}}, (*nodesPane).needNode,
			func(p *nodesPane) request {
				return confirmStep{core.Intent{Kind: core.IntentRestartAgents, Node: p.Cursor()}}
			}),
	}
}

// selected is the node under the cursor; false when nothing is selected.
func (p *nodesPane) selected() (*core.NodeView, bool) {
	if v, ok := p.Current(); ok {
		return *v, true
	}
	return nil, false
}

// current is the node under the cursor; an empty view when nothing is selected.
func (p *nodesPane) current() *core.NodeView {
	if v, ok := p.selected(); ok {
		return v
	}
	return &core.NodeView{}
}

// noNode is why there is no node to do something with: it was selected and has gone, or none was selected.
func (p *nodesPane) noNode() string {
	if gone := p.Gone(); gone != "" {
		return goneText(gone)
	}
	return "no node is selected"
}

func (p *nodesPane) needNode() string {
	if p.current().Node == nil {
		return p.noNode()
	}
	return ""
}

func (p *nodesPane) needChanged() string {
	v := p.current()
	if v.Node == nil {
		return p.noNode()
	}
	if _, changed := p.snap.History.Changes[v.Node.UID]; !changed {
		return "Lockstep has not changed it"
	}
	return ""
}

func (p *nodesPane) needRequest() string {
	if why := p.needRow(); why != "" {
		return why
	}
	if p.snap.NodeRequest(p.Cursor()) == nil {
		return "no maintenance of the node is requested"
	}
	return ""
}

func (p *nodesPane) needCompute() string {
	v, ok := p.selected()
	switch {
	case !ok:
		return p.noNode()
	case v.Node == nil || !v.Node.Is(core.RoleCompute):
		return v.Label + " is not a compute node"
	}
	return ""
}

// needMode is why the mode of the marked nodes has no effect; a mode that is set nevertheless can be removed.
func (p *nodesPane) needMode() string {
	if reason := p.needRow(); reason != "" {
		return reason
	}
	for _, name := range p.nodes() {
		if v, ok := progress.NodeView(p.snap, name); ok && !v.ModeCounts && !v.ModeSet {
			return v.Label + " is not a compute node: its mode has no effect"
		}
	}
	return ""
}

func (p *nodesPane) needService(enabled bool) string {
	if reason := p.needCompute(); reason != "" {
		return reason
	}
	v := p.current()
	switch {
	case v.Service == nil:
		return "its nova-compute is not known"
	case enabled && !v.Service.Enabled:
		return "its nova-compute is disabled already"
	case !enabled && v.Service.Enabled:
		return "its nova-compute is enabled already"
	}
	return ""
}

func (p *nodesPane) needMachine() string {
	if reason := p.needRow(); reason != "" {
		return reason
	}
	if reason := p.needManagement(); reason != "" {
		return reason
	}
	if progress.MachineOf(p.snap, p.Cursor()) == nil {
		return "the management cluster has no machine for it"
	}
	return ""
}
