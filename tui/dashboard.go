package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/tui/table"
)

// dashboardActions work in every pane.
func dashboardActions() []Action {
	all := []Action{
		{ID: "steps", Title: "Open what is selected: its steps, its page or its entry", Short: "steps",
			Scope: ScopeDashboard, Keys: []string{"enter"},
			Footer: 1, blocked: needRow, now: (*Model).stepsOrDetails, run: (*Model).openSteps},
		{ID: "inspect", Title: "Show everything that is known of what is selected", Short: "inspect", Scope: ScopeDashboard,
			Keys: []string{"i", "d"}, Footer: 20, blocked: needRow, run: (*Model).inspect},
		{ID: "menu", Title: "Show all that can be done with what is selected", Short: "actions", Scope: ScopeDashboard,
			Keys: []string{"a"}, Footer: 12, run: func(m *Model) tea.Cmd { m.open(newPalette(m, true)); return nil }},
		{ID: "filter", Title: "Filter the rows: text, role:cmp,gtw, zone:az-1, node:=cmp-1, -stage:done",
			Short: "filter", Scope: ScopeDashboard, Keys: []string{"/"}, Footer: 30, run: func(m *Model) tea.Cmd { m.filtering = true; return nil }},
		{ID: "sort", Title: "Sort by the next column; after the last, in the default order", Short: "sort", Scope: ScopeDashboard,
			Keys: []string{"s"}, Footer: 31, run: func(m *Model) tea.Cmd { return m.sorted(m.focused().NextSort()) }},
		{ID: "sort.reverse", Title: "Reverse the order", Short: "reverse", Scope: ScopeDashboard, Keys: []string{"S"},
			run: func(m *Model) tea.Cmd { return m.sorted(m.focused().ReverseSort()) }},
		{ID: "copy", Title: "Copy the name or ID of what is selected", Short: "copy", Scope: ScopeDashboard, Keys: []string{"y"},
			blocked: needRow, run: func(m *Model) tea.Cmd { return m.copy(m.focused().subject().name) }},
		{ID: "copy.command", Title: "Copy the command that shows what is selected", Short: "copy command", Scope: ScopeDashboard,
			Keys: []string{"c"}, blocked: func(m *Model) string {
				if m.snap == nil || m.focused().subject().command == "" {
					return "there is no command for it"
				}
				return ""
			}, run: func(m *Model) tea.Cmd { return m.copy(m.focused().subject().command) }},
		{ID: "plain", Title: "Show the pane as plain text, for selecting with the terminal", Short: "plain", Scope: ScopeDashboard,
			Keys: []string{"p"}, blocked: needSnapshot, run: func(m *Model) tea.Cmd { m.open(newPlain(m)); return nil }},
		{ID: "owners", Title: "Show whose instances need their owner, with a note to send to each project", Short: "owners",
			Scope: ScopeDashboard, Keys: []string{"O"}, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.openOwners(m.focused().nodes()) }},
		{ID: "check", Title: "Check whether the cluster is fit for an update, or what the update broke", Short: "check",
			Scope: ScopeDashboard, Keys: []string{"C"}, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.openCheck() }},
		{ID: "plan", Title: "Plan the whole update: the fate of each instance, what blocks, is there room", Short: "plan all",
			Scope: ScopeDashboard, Keys: []string{"V"}, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.openPlan(nil) }},
		{ID: "until", Title: "Show how long the update takes, and until when", Short: "until when",
			Scope: ScopeDashboard, Keys: []string{"F"}, blocked: needSnapshot, run: (*Model).openUntil},
		{ID: "note", Title: "Write a note about what is selected, or set an entry aside",
			Short: "note", Scope: ScopeDashboard, Keys: []string{"#"}, Footer: 95, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.writeNote(m.noteOn(m.focused().subject())) }},
		{ID: "history", Title: "Show the whole history: what was done, and what was seen", Short: "history",
			Scope: ScopeDashboard, Keys: []string{"H"}, blocked: needSnapshot, run: func(m *Model) tea.Cmd { return m.openHistory("") }},
		{ID: "history.of", Title: "Show the history of what is selected", Short: "its history", Scope: ScopeDashboard, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.openHistory(m.historyOf(m.focused().subject())) }},
		{ID: "handover", Title: "Show the handover: a note for the next shift",
			Short: "handover", Scope: ScopeDashboard, blocked: handoverBlocked, run: (*Model).openHandover},
		{ID: "notes", Title: "Show all notes and promises", Short: "notes", Scope: ScopeDashboard, blocked: needSnapshot,
			run: (*Model).openNotes},
		{ID: "back", Title: "Clear the last message, the marks or the filter, one at a time", Short: "clear", Scope: ScopeDashboard,
			Keys: []string{"esc"}, run: (*Model).clearOne},
		{ID: "clusters", Title: "Go back to the list of clusters (as esc does where nothing is left to clear)", Short: "clusters",
			Scope: ScopeDashboard, Keys: []string{"B"}, Footer: 60, listed: true, run: (*Model).backToClusters},
		{ID: "pane.next", Title: "Go to the next pane", Short: "next pane", Scope: ScopeDashboard, Keys: []string{"tab"}, Footer: 50,
			run: func(m *Model) tea.Cmd { return m.setFocus(m.beside(1)) }},
		{ID: "pane.previous", Title: "Go to the previous pane", Short: "previous pane", Scope: ScopeDashboard,
			Keys: []string{"shift+tab"}, run: func(m *Model) tea.Cmd { return m.setFocus(m.beside(-1)) }},
	}
	for i, k := range paneKinds() {
		key := itoa(i + 1)
		all = append(all, Action{ID: "pane." + key, Title: "Go to " + k.title, Short: k.title, Scope: ScopeDashboard, Keys: []string{key},
			run: func(m *Model) tea.Cmd { return m.setFocus(k.scope) }})
	}
	moves := rowMoves("row", func(move func(l table.List)) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			move(m.focused())
			return m.selectionMoved()
		}
	})
	for i := range moves {
		moves[i].Scope = ScopeDashboard
	}
	return append(append(all, alertActions()...), moves...)
}

func needSnapshot(m *Model) string {
	if m.snap == nil {
		return "nothing is known yet"
	}
	return ""
}

func needRow(m *Model) string { return m.focused().needRow() }

func (m *Model) setFocus(id Scope) tea.Cmd {
	m.enter(id)
	return m.selectionMoved()
}

// enter has the keys go to a pane.
func (m *Model) enter(id Scope) {
	m.focus = id
	m.across = m.across && id == ScopeTimeline
	m.filtering = false
	m.focused().entered()
}

func (m *Model) sorted(by string) tea.Cmd {
	if by == "" {
		return m.say(toneInfo, "sorted in the default order")
	}
	return m.say(toneInfo, "sorted by "+by)
}

// clearOne clears one thing at a time: the toast, the marks, the filter.
func (m *Model) clearOne() tea.Cmd {
	if m.leaves != 0 && m.toast.n == m.leaves && m.toast.text != "" {
		return m.backToClusters()
	}
	if done, cmd := m.clearToast(); done {
		return cmd
	}
	p := m.focused()
	switch {
	case p.Marks() > 0:
		p.ClearMarks()
	case p.Filter() != "":
		p.SetFilter("")
		return m.selectionMoved()
	case m.whole():
		return m.setFocus(m.beforeTimeline)
	case m.opts.Back != nil && m.snap != nil && m.snap.Write.Armed:
		cmd := m.say(toneWarn, "writing is on: esc again switches it off and leaves "+m.clusterName())
		m.leaves = m.toast.n
		return cmd
	case m.opts.Back != nil:
		return m.backToClusters()
	}
	return nil
}
