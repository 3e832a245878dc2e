package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// nodeActions are what can be done with the selected node, or with the marked ones.
func nodeActions() []Action {
	return []Action{
		{ID: "node.mark", Title: "Mark the node, to set the mode or the attempts of several", Short: "mark", Scope: ScopeNodes,
			Keys: []string{"space"}, Footer: 32, blocked: needRow, run: func(m *Model) tea.Cmd {
				m.nodes.ToggleMark()
				return m.selectionMoved()
			}},
		{ID: "node.migrate", Title: "Move the instances off the node that hold its lock", Short: "migrate", Scope: ScopeNodes,
			Keys: []string{"m"}, Intent: []core.IntentKind{core.IntentLiveMigrateAll}, Footer: 10, blocked: needCompute,
			run: onNode(core.IntentLiveMigrateAll)},
		{ID: "node.mode", Title: "Set the migration mode of the node, or of all marked ones", Short: "mode", Scope: ScopeNodes,
			Keys: []string{"e"}, Intent: []core.IntentKind{core.IntentSetMode}, Footer: 11, blocked: needMode,
			run: func(m *Model) tea.Cmd { m.ask(newModeForm(m)); return nil }},
		{ID: "node.attempts", Title: "Set how often a migration is tried, on the node or on all marked ones", Short: "attempts",
			Scope: ScopeNodes, Keys: []string{"n"}, Intent: []core.IntentKind{core.IntentSetAttempts}, blocked: needRow,
			run: func(m *Model) tea.Cmd { m.ask(newAttemptsForm(m)); return nil }},
		{ID: "node.restore", Title: "Set the migration mode back to what it was before Lockstep changed it", Short: "restore mode",
			Scope: ScopeNodes, Keys: []string{"u"}, Intent: []core.IntentKind{core.IntentRestoreMode}, blocked: func(m *Model) string {
				v, ok := m.nodes.Current()
				if !ok || v.Node == nil {
					return "no node is selected"
				}
				if _, changed := m.snap.History.Changes[v.Node.UID]; !changed {
					return "Lockstep has not changed it"
				}
				return ""
			}, run: onNode(core.IntentRestoreMode)},
		{ID: "node.plan", Title: "Plan the node's evacuation, or that of all marked ones, before anything moves", Short: "plan", Scope: ScopeNodes,
			Keys: []string{"v"}, Footer: 13, blocked: needCompute, run: func(m *Model) tea.Cmd { return m.openPlan(m.markedNodes()) }},
		{ID: "node.safe", Title: "Declare the node safe: set its mode to skip, once nothing is in the way", Short: "declare safe",
			Scope: ScopeNodes, Intent: []core.IntentKind{core.IntentDeclareSafe}, blocked: needMode,
			run: onNode(core.IntentDeclareSafe)},
		{ID: "node.disable", Title: "Take the node's nova-compute out of scheduling", Short: "disable compute", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentDisableCompute}, blocked: func(m *Model) string { return needService(m, true) },
			run: func(m *Model) tea.Cmd { m.ask(newReasonForm(m)); return nil }},
		{ID: "node.enable", Title: "Put the node's nova-compute back into scheduling", Short: "enable compute", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentEnableCompute}, blocked: func(m *Model) string { return needService(m, false) },
			run: onNode(core.IntentEnableCompute)},
		{ID: "node.ask", Title: "Ask for the node's maintenance by hand, without an update", Short: "ask for maintenance", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentAskNode}, blocked: needRow,
			run: func(m *Model) tea.Cmd { m.ask(newScopeForm(m)); return nil }},
		{ID: "node.withdraw", Title: "Withdraw the node's maintenance request", Short: "end maintenance", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentWithdraw}, blocked: needRequest, run: func(m *Model) tea.Cmd {
				return m.confirm(core.Intent{Kind: core.IntentWithdraw, Object: m.snap.NodeRequest(m.nodes.selected()).Ref()}, "")
			}},
	}
}

func needRequest(m *Model) string {
	if why := needRow(m); why != "" {
		return why
	}
	if m.snap.NodeRequest(m.nodes.selected()) == nil {
		return "nobody asks for the node"
	}
	return ""
}

// instanceActions are what can be done with the selected instance. What is possible at the moment the step's own guards
// say; here stays visible what is not.
func instanceActions() []Action {
	var all []Action
	for _, a := range []struct {
		id, title, short string
		kind             core.IntentKind
		keys             []string
		footer           int
	}{
		{"migrate", "Live-migrate the instance", "migrate", core.IntentLiveMigrate, []string{"m"}, 10},
		{"cold", "Cold-migrate the instance: it is stopped, moved, and started", "cold-migrate", core.IntentColdMigrate, nil, 0},
		{"confirm", "Confirm the instance's cold migration", "confirm resize", core.IntentConfirmResize, nil, 0},
		{"revert", "Take the instance's cold migration back", "revert resize", core.IntentRevertResize, nil, 0},
		{"stop", "Stop the instance", "stop", core.IntentStop, nil, 0},
		{"start", "Start the instance", "start", core.IntentStart, nil, 0},
		{"resume", "Resume the suspended instance", "resume", core.IntentResume, nil, 0},
		{"evacuate", "Evacuate the instance off a host that is down: it is rebuilt on another one", "evacuate", core.IntentEvacuate, nil, 0},
		{"shelve", "Shelve the instance: it is shut down and leaves its host", "shelve", core.IntentShelve, nil, 0},
		{"unshelve", "Unshelve the instance", "unshelve", core.IntentUnshelve, nil, 0},
		{"reset", "Reset the instance's state from ERROR to ACTIVE, in Nova's record only", "reset state", core.IntentResetState, nil, 0},
		{"poweroff", "Tag the instance poweroff: it goes down with its host and comes back", "tag poweroff", core.IntentTagPowerOff, nil, 0},
		{"tags", "Give the instance the maintenance tags back that it had before Lockstep tagged it", "restore tags", core.IntentRestoreTags, nil, 0},
		{"abort", "Abort the instance's running migration", "abort", core.IntentAbortMigration, nil, 0},
		{"force", "Force the instance's running migration to complete: it pauses the guest", "force", core.IntentForceComplete, nil, 0},
	} {
		all = append(all, Action{ID: "instance." + a.id, Title: a.title, Short: a.short, Scope: ScopeInstances, Keys: a.keys,
			Intent: []core.IntentKind{a.kind}, Footer: a.footer, blocked: needRow, run: func(m *Model) tea.Cmd {
				v, ok := m.instances.Current()
				if !ok {
					return nil
				}
				return m.confirm(core.Intent{Kind: a.kind, Instance: v.Instance.ID}, "")
			}})
	}
	return all
}

// onNode asks for a step on the selected node.
func onNode(kind core.IntentKind) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		v, ok := m.nodes.Current()
		if !ok {
			return nil
		}
		return m.confirm(core.Intent{Kind: kind, Node: v.Name}, "")
	}
}

// markedNodes are the names of the marked nodes, or of the selected one.
func (m *Model) markedNodes() []string {
	var names []string
	for _, v := range m.nodes.MarkedOrCurrent() {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return names
}

func needCompute(m *Model) string {
	v, ok := m.nodes.Current()
	switch {
	case !ok:
		return "no node is selected"
	case v.Node == nil || !v.Node.Is(core.RoleCompute):
		return v.Label + " is no compute node"
	}
	return ""
}

// needMode is why the modes of the marked nodes decide nothing; one that is set all the same can be taken away.
func needMode(m *Model) string {
	if reason := needRow(m); reason != "" {
		return reason
	}
	for _, name := range m.markedNodes() {
		if v, ok := m.snap.NodeView(name); ok && !v.ModeCounts && !v.ModeSet {
			return v.Label + " is no compute node: nobody goes by its mode"
		}
	}
	return ""
}

func needService(m *Model, enabled bool) string {
	if reason := needCompute(m); reason != "" {
		return reason
	}
	v, _ := m.nodes.Current()
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
