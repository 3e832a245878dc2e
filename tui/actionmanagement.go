package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// phaseActions work in the phases: what concerns the cluster as a whole.
func phaseActions() []Action {
	return []Action{
		{ID: "cluster.maintenance", Title: "Open the steps of maintenance without an update: maintenance mode, graceful reboots", Short: "maintenance",
			Scope: ScopePhases, Keys: []string{"m"}, Footer: 10, blocked: needManagement,
			run: func(m *Model) tea.Cmd {
				return m.openProcedure(core.ProcedureKey{Kind: core.ProcedureMaintenance})
			}},
		{ID: "cluster.maintenance.enter", Title: "Put the cluster into maintenance mode", Short: "enter maintenance", Scope: ScopePhases,
			Intent: []core.IntentKind{core.IntentEnterCluster}, blocked: needManagement, run: onCluster(core.IntentEnterCluster)},
		{ID: "cluster.maintenance.leave", Title: "Take the cluster out of maintenance mode", Short: "leave maintenance", Scope: ScopePhases,
			Intent: []core.IntentKind{core.IntentLeaveCluster}, blocked: needManagement, run: onCluster(core.IntentLeaveCluster)},
	}
}

// machineActions are what can be done with the machine of the selected node, or with those of the marked ones.
func machineActions() []Action {
	return []Action{
		{ID: "node.maintenance.enter", Title: "Put the node's machine into maintenance mode", Short: "enter maintenance", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentEnterMachine}, blocked: needMachine, run: onNode(core.IntentEnterMachine)},
		{ID: "node.maintenance.leave", Title: "Take the node's machine out of maintenance mode", Short: "leave maintenance", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentLeaveMachine}, blocked: needMachine, run: onNode(core.IntentLeaveMachine)},
		{ID: "node.reboot", Title: "Have LCM reboot the node gracefully, or all marked ones one after another", Short: "reboot", Scope: ScopeNodes,
			Intent: []core.IntentKind{core.IntentReboot}, blocked: needMachine, run: func(m *Model) tea.Cmd {
				return m.confirm(core.Intent{Kind: core.IntentReboot, Nodes: m.markedNodes()}, "")
			}},
	}
}

// onCluster asks for a step on the cluster.
func onCluster(kind core.IntentKind) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.confirm(core.Intent{Kind: kind}, "") }
}

func needManagement(m *Model) string {
	switch {
	case m.snap == nil:
		return "nothing is known yet"
	case m.snap.Management == nil || !m.snap.Management.Found:
		return "the management cluster is not connected"
	}
	return ""
}

func needMachine(m *Model) string {
	if reason := needRow(m); reason != "" {
		return reason
	}
	if reason := needManagement(m); reason != "" {
		return reason
	}
	if v, ok := m.nodes.Current(); !ok || m.snap.MachineOf(v.Name) == nil {
		return "the management cluster has no machine of it"
	}
	return ""
}
