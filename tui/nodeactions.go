package tui

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/progress"
)

// nodeActions are what can be done with the selected node, or with the marked ones.
func nodeActions() []Action {
	// step leads to the confirmation of what is done with the selected node.
	step := func(id, title, short string, kind core.IntentKind, need func(*nodesPane) string) Action {
		return inPane(Action{ID: id, Title: title, Short: short, Scope: ScopeNodes, Intent: []core.IntentKind{kind}}, ofOne(need),
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
			(*nodesPane).needMode, func(p *nodesPane) *form { return newModeForm(p.snap, p.nodes()) }), 11, "e"),
		keyed(ask("node.attempts", "Set how often a migration is tried, on the node or on all marked ones", "attempts", core.IntentSetAttempts,
			(*nodesPane).needRow, func(p *nodesPane) *form { return newAttemptsForm(p.snap, p.nodes()) }), 0, "n"),
		keyed(step("node.restore", "Restore the migration mode that the node had before Lockstep changed it", "restore mode",
			core.IntentRestoreMode, (*nodesPane).needChanged), 0, "u"),
		inPane(Action{ID: "node.plan", Title: "Plan the node's evacuation, or that of all marked ones, before anything moves", Short: "plan",
			Scope: ScopeNodes, Keys: []string{"v"}, Footer: 13}, ofEach((*nodesPane).whyNoCompute),
			func(p *nodesPane) request { return openPlan{p.nodes()} }),
		keyed(ask("node.group", "Move the node's machine, or those of all marked ones, to an update group", "update group",
			core.IntentMoveMachines, (*nodesPane).needGroups, func(p *nodesPane) *form { return newMoveForm(p.snap, p.nodes()) }), 0, "U"),
		ask("node.index", "Set the upgrade index of the node's machine: its place in its update group", "upgrade index",
			core.IntentSetUpgradeIndex, ofOne((*nodesPane).needMachine),
			func(p *nodesPane) *form { return newUpgradeIndexForm(p.snap, p.Cursor()) }),
		step("node.safe", "Declare the node safe: set its mode to skip, once nothing is in the way", "declare safe", core.IntentDeclareSafe,
			(*nodesPane).needMode),
		ask("node.disable", "Take the node's nova-compute out of scheduling", "disable compute", core.IntentDisableCompute,
			ofOne(func(p *nodesPane) string { return p.needService(true) }),
			func(p *nodesPane) *form { return newReasonForm(p.snap, p.Cursor()) }),
		step("node.enable", "Put the node's nova-compute back into scheduling", "enable compute", core.IntentEnableCompute,
			func(p *nodesPane) string { return p.needService(false) }),
		ask("node.ask", "Ask for the node's maintenance by hand, without an update", "ask for maintenance", core.IntentAskNode,
			ofOne((*nodesPane).needRow), func(p *nodesPane) *form { return newScopeForm(p.snap, p.Cursor()) }),
		inPane(Action{ID: "node.withdraw", Title: "Withdraw the node's maintenance request", Short: "end maintenance", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentWithdraw}}, ofOne((*nodesPane).needRequest), func(p *nodesPane) request {
			return confirmStep{core.Intent{Kind: core.IntentWithdraw, Object: p.snap.NodeRequest(p.Cursor()).Ref()}}
		}),
		step("node.maintenance.enter", "Put the node's machine into maintenance mode", "enter maintenance", core.IntentEnterMachine,
			(*nodesPane).needMachine),
		step("node.maintenance.leave", "Take the node's machine out of maintenance mode", "leave maintenance", core.IntentLeaveMachine,
			(*nodesPane).needMachine),
		inPane(Action{ID: "node.reboot", Title: "Have LCM reboot the node gracefully, or all marked ones one after another", Short: "reboot",
			Scope: ScopeNodes, Intent: []core.IntentKind{core.IntentReboot}}, ofEach((*nodesPane).whyNoMachine), func(p *nodesPane) request {
			return confirmStep{core.Intent{Kind: core.IntentReboot, Nodes: p.nodes()}}
		}),
		inPane(Action{ID: "node.agents", Title: "Restart the pods of the node's network agents that do not report", Short: "restart agents",
			Scope: ScopeNodes, Intent: []core.IntentKind{core.IntentRestartAgents, core.IntentRestartAgent}}, ofOne((*nodesPane).needNode),
			func(p *nodesPane) request {
				return confirmStep{core.Intent{Kind: core.IntentRestartAgents, Node: p.Cursor()}}
			}),
	}
}

// ofOne is why something that is done with one node cannot be: several may be marked, and then it is not clear which one is meant.
func ofOne(need func(*nodesPane) string) func(*nodesPane) string {
	return func(p *nodesPane) string {
		if n := p.Marks(); n > 0 {
			return fmt.Sprintf("%d marked, and this is done with one node: esc clears the marks", n)
		}
		return need(p)
	}
}

// ofEach is why something cannot be done with the marked nodes, or with the selected one.
func ofEach(why func(p *nodesPane, node string) string) func(*nodesPane) string {
	return func(p *nodesPane) string {
		if reason := p.needRow(); reason != "" && p.Marks() == 0 {
			return reason
		}
		for _, name := range p.nodes() {
			if reason := why(p, name); reason != "" {
				return reason
			}
		}
		return ""
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
	if !ok {
		return p.noNode()
	}
	return p.whyNoCompute(v.Name)
}

func (p *nodesPane) whyNoCompute(node string) string {
	if n := p.snap.Nodes[node]; n == nil || !n.Is(core.RoleCompute) {
		return p.snap.Label(node) + " is not a compute node"
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
	return p.whyNoMachine(p.Cursor())
}

func (p *nodesPane) whyNoMachine(node string) string {
	if reason := p.needManagement(); reason != "" {
		return reason
	}
	if progress.MachineOf(p.snap, node) == nil {
		return "the management cluster has no machine for " + p.snap.Label(node)
	}
	return ""
}
