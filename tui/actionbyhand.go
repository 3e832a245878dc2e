package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// byHandActions are maintenance without an update and without the management cluster, as far as it concerns the cluster.
func byHandActions() []Action {
	return []Action{
		{ID: "cluster.ask", Title: "Ask for the cluster's maintenance by hand, without an update and without the management cluster", Short: "ask for maintenance",
			Scope: ScopePhases, Intent: []core.IntentKind{core.IntentAskCluster}, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { m.ask(newClusterForm(m)); return nil }},
	}
}
