package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

// afterActions lead to what is left to do once an update is over.
func afterActions() []Action {
	return []Action{
		{ID: afterID, Title: "Open the steps after the update: what is left over, old pods to restart, Tempest", Short: "after the update",
			Scope: ScopeDashboard, Keys: []string{"z"}, blocked: needSnapshot,
			Intent: []core.IntentKind{core.IntentRestartPods, core.IntentRestartPod, core.IntentAddTempest, core.IntentRemoveTempest},
			run: func(m *Model) tea.Cmd {
				return m.openProcedure(core.ProcedureKey{Kind: core.ProcedureAfter})
			}},
	}
}

const afterID = "after"

// afterKey is the key that opens the steps after the update, for the header.
func (m *Model) afterKey() string {
	for _, a := range m.actions {
		if a.ID == afterID && len(a.Keys) > 0 {
			return " (" + a.Keys[0] + ")"
		}
	}
	return ""
}
