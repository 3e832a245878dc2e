package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// request is what a pane asks the screen to do: one of the types below. The screen does it at once, before the next key.
type request interface {
	answer(m *Model) tea.Cmd
}

// The requests.
type (
	// confirmStep opens the confirmation of the intent's step.
	confirmStep struct{ intent core.Intent }
	// openSteps opens the page of steps.
	openSteps struct{ key core.ProcedureKey }
	// openPlan opens the forecast of the nodes' evacuation.
	openPlan struct{ nodes []string }
	// openForm opens a form for what an intent still lacks.
	openForm struct{ form *form }
	// goTo goes to an instance on its present host, or to the node when the instance is not known.
	goTo struct{ node, instance string }
	// rowMoved says that the pane has selected another row by itself.
	rowMoved struct{}
	// leadTo selects a node, so that the panes below show it. The focus stays where it is.
	leadTo struct{ node string }
)

func (r confirmStep) answer(m *Model) tea.Cmd { return m.confirm(r.intent, "") }
func (r openSteps) answer(m *Model) tea.Cmd   { return m.openProcedure(r.key) }
func (r openPlan) answer(m *Model) tea.Cmd    { return m.openPlan(r.nodes) }

func (r openForm) answer(m *Model) tea.Cmd {
	m.ask(r.form)
	return nil
}

func (rowMoved) answer(m *Model) tea.Cmd { return m.selectionMoved() }

func (r goTo) answer(m *Model) tea.Cmd {
	node, in := r.node, m.snap.Instances.At(r.instance)
	if in != nil {
		if n := m.snap.NodeOfHost(in.Host); n != nil {
			node = n.Name
		}
	}
	cmd := m.goToNode(node)
	if in == nil || m.selectedNode() != node {
		return tea.Batch(cmd, m.setFocus(ScopeNodes))
	}
	m.shown = node
	cmd = tea.Batch(cmd, m.setFocus(ScopeInstances), m.follow())
	instances := m.pane(ScopeInstances)
	instances.refresh()
	if !instances.Choose(in.ID) {
		instances.SetFilter("")
		instances.Choose(in.ID)
	}
	return cmd
}

// goToNode puts the cursor of the nodes on a node. A filter that hides it is cleared, and that is said.
func (m *Model) goToNode(node string) tea.Cmd {
	nodes := m.pane(ScopeNodes)
	if node == "" || nodes.Choose(node) {
		return nil
	}
	filter := nodes.Filter()
	nodes.SetFilter("")
	if !nodes.Choose(node) {
		nodes.SetFilter(filter)
		return m.say(toneWarn, m.snap.Label(node)+" is not among the nodes")
	}
	return m.say(toneInfo, fmt.Sprintf("the filter /%s hid %s: it is cleared", filter, m.snap.Label(node)))
}

func (r leadTo) answer(m *Model) tea.Cmd {
	nodes := m.pane(ScopeNodes)
	if nodes.Choose(r.node) || nodes.Filter() == "" {
		return nil
	}
	return m.say(toneWarn, "the filter /"+nodes.Filter()+" hides "+m.snap.Label(r.node)+" among the nodes: f clears it and goes there")
}

// answer does what a pane requests; nil requests nothing.
func (m *Model) answer(r request) tea.Cmd {
	if r == nil {
		return nil
	}
	return r.answer(m)
}

// inPane makes an action that works in a pane. blocked says why it cannot be used now; nil: it always can. asks is its request to
// the screen.
func inPane[P pane](a Action, blocked func(P) string, asks func(P) request) Action {
	if blocked != nil {
		a.blocked = func(m *Model) string { return blocked(m.pane(a.Scope).(P)) }
	}
	a.run = func(m *Model) tea.Cmd { return m.answer(asks(m.pane(a.Scope).(P))) }
	return a
}
