package tui

import (
	"lockstep/core"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// paneID numbers the panes as the keys 1 to 6 do.
type paneID int

const (
	paneNeeds paneID = iota + 1
	panePhases
	paneNodes
	paneInstances
	paneLocks
	paneLog
	lastPane = paneLog
)

var paneIDs = []paneID{paneNeeds, panePhases, paneNodes, paneInstances, paneLocks, paneLog}

var paneScopes = map[paneID]Scope{
	paneNeeds: ScopeNeeds, panePhases: ScopePhases, paneNodes: ScopeNodes, paneInstances: ScopeInstances,
	paneLocks: ScopeLocks, paneLog: ScopeLog,
}

// pane is one part of the dashboard: a list of objects below a rule that names it.
type pane interface {
	table.List
	// refresh takes rows from m's Snapshot; it returns the name of the selected object when that has gone.
	refresh(m *Model) (gone string)
	// name is the word in the rule and in the tabs; short the one for narrow tabs.
	name(m *Model) string
	short() string
	// note stands at the right end of the rule.
	note(m *Model) draw.Line
	// sources are those whose state the pane shows.
	sources() []core.SourceID
	// empty says in words that there is nothing, when there is nothing.
	empty(m *Model) string
	drawRows(m *Model, w, h int, focused, old bool) []string
	selectedName() string
	// explain is more of the selected row, shown below the rows where there is room; empty when there is no more.
	explain(m *Model) string
	// subject is what the selected row is about.
	subject(m *Model) subject
}

// subject is what a row is about: what steps, inspection and copying work on.
type subject struct {
	procedure *core.ProcedureKey // nil: none
	node      string
	instance  string
	lock      *core.WorkloadLock
	attention *core.Attention
	operation *core.Operation
	name      string // what y copies
	command   string // what c copies
}

// tablePane is what all panes share.
type tablePane[T any] struct{ *table.Table[T] }

func (p tablePane[T]) drawRows(m *Model, w, h int, focused, old bool) []string {
	return p.Draw(m.look, w, h, focused, old)
}

func (p tablePane[T]) selectedName() string {
	if r, ok := p.Current(); ok {
		return p.Table.Name(*r)
	}
	return "nothing"
}
