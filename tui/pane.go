package tui

import (
	"lockstep/core"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// paneKind is a row of the table of panes: what the screen knows about a pane before it is made.
type paneKind struct {
	scope Scope  // where its keys work; it identifies the pane
	title string // for the key that goes to it: "the nodes"
	short string // its name in the tabs of a narrow screen
	place place

	make    func() pane
	actions func() []Action
	sources []core.SourceID // its rule shows their state; none: its rows do not depend on one source
	enter   string          // the footer's word for enter; empty: it depends on the selected row
	leads   bool            // its selected row also selects a node
	hangs   bool            // it shows objects of the selected node
	changes bool            // its actions change the object of its selected row
}

// paneKinds is the table of panes, in the order of the keys 1, 2, 3 …
func paneKinds() []paneKind {
	return []paneKind{
		{scope: ScopeNeeds, title: "what needs you", short: "Needs you", place: placeTop, make: newNeedsPane, actions: needsActions,
			enter: "open", leads: true},
		{scope: ScopePhases, title: "the phases", short: "Phases", place: placeLeft, make: newPhasesPane, actions: phaseActions,
			sources: []core.SourceID{core.SourceClusterRequests, core.SourceClusterLocks}},
		{scope: ScopeNodes, title: "the nodes", short: "Nodes", place: placeRight, make: newNodesPane, actions: nodeActions,
			sources: []core.SourceID{core.SourceNodes}, leads: true, changes: true},
		{scope: ScopeInstances, title: "the selected node's instances", short: "Inst", place: placeMiddle, make: newInstancesPane,
			actions: instanceActions, sources: []core.SourceID{core.SourceInstances, core.SourceMigrations},
			hangs: true, changes: true},
		{scope: ScopeLocks, title: "the locks", short: "Locks", place: placeLowerLeft, make: newLocksPane, actions: lockActions,
			sources: []core.SourceID{core.SourceNodeLocks, core.SourceClusterLocks}, hangs: true, changes: true},
		{scope: ScopeLog, title: "the log", short: "Log", place: placeLowerRight, make: newLogPane, actions: logActions,
			enter: "in full"},
		{scope: ScopeTimeline, title: "the timeline", short: "Time", place: placeFarRight, make: newTimelinePane, actions: timelineActions,
			sources: []core.SourceID{core.SourceNodes}, leads: true},
	}
}

// place is where a pane stands on a wide screen. Of panes that share a place, the one that had the focus last is shown.
type place int

const (
	placeTop        place = iota // across the whole screen
	placeLeft                    // below placeTop, beside placeRight
	placeRight                   // below placeTop, beside placeLeft
	placeMiddle                  // across the whole screen, below these two
	placeLowerLeft               // at the bottom; without room for both, one of the two lower places is seen
	placeLowerRight              // at the bottom
	placeFarRight                // beside placeRight; without room for both it takes turns with that
)

// scene is what a pane is given to show. A pane does not know the Model.
type scene struct {
	snap     *core.Snapshot // nil: nothing is known yet
	now      *instant       // for which it is drawn
	look     *draw.Look
	width    int       // of the screen
	focus    Scope     // the pane that has the keys
	node     string    // the node whose instances and locks are shown; empty: none is selected
	messages []message // what went wrong, the newest first
	story    *story    // the lines of the journal, the newest first
	keyOf    func(action string) string
}

// pane is one part of the dashboard: a list of objects below a rule that names it. It is given what it shows, and returns a
// request when something is to happen outside of it.
type pane interface {
	table.List
	// see gives it what there is to show. The screen calls it before any other method.
	see(s scene)
	// refresh makes the rows from the scene; it returns the name of the selected object when that has gone.
	refresh() (gone string)
	// entered tells it that its keys work from now on.
	entered()
	// moved is its request after another row was selected; nil: none.
	moved() request
	// name is the word in the rule.
	name() string
	// note stands at the right end of the rule.
	note() draw.Line
	// empty is the text shown when there are no rows.
	empty() string
	// drawRows draws at most h lines of w columns; old says that the facts are not fresh.
	drawRows(w, h int, focused, old bool) []string
	// selectedName is what to call the selected row.
	selectedName() string
	// needRow is why there is no row to do something with; empty when there is one.
	needRow() string
	// explain is more of the selected row, shown below the rows where there is room; empty when there is no more.
	explain() string
	// words explain its columns in the help.
	words() []columnWord
	// subject is what the selected row is about.
	subject() subject
	// nodes are the nodes that the selection is about; none: the whole cluster.
	nodes() []string
}

// subject is what a row is about: what steps, inspection and copying work on.
type subject struct {
	procedure *core.ProcedureKey // nil: none
	update    bool               // the update of the cluster
	node      string
	instance  string
	lock      *core.WorkloadLock
	attention *core.Attention
	operation *core.Operation
	message   *message
	line      *historyRow // of the journal
	name      string      // what y copies
	command   string      // what c copies
	then      *then       // the time under the cursor that has passed; nil: it is about the present
}

// tablePane is what all panes share: a table, and default methods.
type tablePane[T any] struct {
	*table.Table[T]
	scene
}

func (p *tablePane[T]) see(s scene)     { p.scene = s }
func (p *tablePane[T]) entered()        {}
func (p *tablePane[T]) moved() request  { return nil }
func (p *tablePane[T]) nodes() []string { return nil }

func (p *tablePane[T]) words() []columnWord { return nil }

func (p *tablePane[T]) drawRows(w, h int, focused, old bool) []string {
	return p.Draw(p.look, w, h, focused, old)
}

func (p *tablePane[T]) selectedName() string {
	if r, ok := p.Current(); ok {
		return p.Name(*r)
	}
	return "nothing"
}

func (p *tablePane[T]) needRow() string {
	if p.snap == nil {
		return "nothing is known yet"
	}
	if gone := p.Gone(); gone != "" {
		return goneText(gone)
	}
	if shown, _ := p.Count(); shown == 0 {
		return "nothing is selected"
	}
	return ""
}

func (p *tablePane[T]) needSnapshot() string {
	if p.snap == nil {
		return "nothing is known yet"
	}
	return ""
}

func (p *tablePane[T]) needManagement() string {
	switch {
	case p.snap == nil:
		return "nothing is known yet"
	case p.snap.Management == nil || !p.snap.Management.Found:
		return "the management cluster is not connected"
	}
	return ""
}

// hangsOn is the node whose instances and locks are shown; none when none is selected.
func (p *tablePane[T]) hangsOn() []string {
	if p.node == "" {
		return nil
	}
	return []string{p.node}
}

// pane is the pane with that scope. It is given what there is to show now.
func (m *Model) pane(s Scope) pane {
	p := m.panes[s]
	p.see(scene{snap: m.snap, now: &m.instant, look: m.look, keyOf: m.keyOf, width: m.width, focus: m.focus, node: m.shown,
		messages: m.messages, story: m.story})
	return p
}

// focused is the pane whose keys work.
func (m *Model) focused() pane { return m.pane(m.focus) }

// kind is the row of the table of panes for the scope.
func (m *Model) kind(s Scope) paneKind { return m.kinds[m.number(s)-1] }

// number is the key that goes to the pane.
func (m *Model) number(s Scope) int {
	for i := range m.kinds {
		if m.kinds[i].scope == s {
			return i + 1
		}
	}
	panic("there is no pane " + string(s))
}

// beside is the pane n places after the focused one in the table; the first follows the last.
func (m *Model) beside(by int) Scope {
	n := len(m.kinds)
	return m.kinds[(m.number(m.focus)-1+by+n)%n].scope
}
