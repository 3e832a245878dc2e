package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/table"
)

// globalActions work on the dashboard and on every page above it.
func globalActions() []Action {
	return []Action{
		{ID: "help", Title: "Show all keys", Short: "help", Scope: ScopeGlobal, Keys: []string{"?", "f1"},
			run: func(m *Model) tea.Cmd { m.open(newHelp(m)); return nil }},
		{ID: "palette", Title: "Find an action, a node or an instance by typing", Short: "palette", Scope: ScopeGlobal,
			Keys: []string{":", "ctrl+k"}, Footer: 90,
			run: func(m *Model) tea.Cmd { m.open(newPalette(m, false)); return nil }},
		{ID: "arm", Title: "Switch writing on, or off again", Short: "arm writing", Scope: ScopeGlobal, Keys: []string{"w"},
			Footer: 88, blocked: needSnapshot, run: (*Model).toggleArm},
		{ID: "mouse", Title: "Switch the mouse on or off (on, it takes text selection away from the terminal)", Short: "mouse",
			Scope: ScopeGlobal, Keys: []string{"f2"}, run: func(m *Model) tea.Cmd {
				m.mouse = !m.mouse
				if m.mouse {
					return m.say(toneInfo, "the mouse is on; f2 switches it off")
				}
				return m.say(toneInfo, "the mouse is off")
			}},
		{ID: "theme", Title: "Change the theme", Short: "theme", Scope: ScopeGlobal, Keys: []string{"f3"}, run: (*Model).nextTheme},
		{ID: "rehearsal", Title: "Open or close the demo's panel: the story, its clock, and what goes wrong with the servers",
			Short: "rehearsal", Scope: ScopeGlobal, Keys: []string{"f4"}, Footer: 89, demo: true, run: (*Model).toggleRehearsal},
		{ID: "redraw", Title: "Draw the screen anew", Short: "redraw", Scope: ScopeGlobal, Keys: []string{"ctrl+l"},
			run: func(*Model) tea.Cmd { return tea.ClearScreen }},
		{ID: "suspend", Title: "Suspend Lockstep and go back to the shell, whose fg brings it back", Short: "suspend", Scope: ScopeGlobal,
			Keys: []string{"ctrl+z"}, run: (*Model).suspend},
		{ID: "quit", Title: "Leave", Short: "leave", Scope: ScopeGlobal, Keys: []string{"q", "ctrl+c"}, run: (*Model).quit},
		{ID: "log", Title: "Show what was done", Short: "log", Scope: ScopeGlobal, Keys: []string{"l"}, Footer: 40,
			blocked: needSnapshot, run: (*Model).openLog},
		{ID: "messages", Title: "Show what this line has said before, with times", Short: "messages", Scope: ScopeGlobal, Keys: []string{"L"},
			Footer: 96, run: (*Model).openSaid},
		{ID: "acknowledge", Title: "Acknowledge a failure: it has been seen", Short: "seen", Scope: ScopeGlobal,
			Keys: []string{"x"}, blocked: needFailure, run: (*Model).acknowledge},
		{ID: "operation.pause", Title: "Hold the running batch, or let it go on", Short: "hold", Scope: ScopeGlobal,
			Keys: []string{"h"}, blocked: needRunning, run: func(m *Model) tea.Cmd {
				if m.running().State == core.OperationPaused {
					return m.control(core.ControlResume)
				}
				return m.control(core.ControlPause)
			}},
		{ID: "operation.skip", Title: "Leave the next item of the running batch out", Short: "omit", Scope: ScopeGlobal,
			Keys: []string{"o"}, blocked: needRunning, run: func(m *Model) tea.Cmd { return m.control(core.ControlSkip) }},
		{ID: "operation.stop", Title: "Stop the running batch: begin nothing more", Short: "stop", Scope: ScopeGlobal,
			Keys: []string{"t"}, blocked: needRunning, run: func(m *Model) tea.Cmd { return m.control(core.ControlStop) }},
	}
}

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
		{ID: "filter", Title: "Filter the rows: text, role:cmp,gtw, zone:az-1, -stage:done",
			Short: "filter", Scope: ScopeDashboard, Keys: []string{"/"}, Footer: 30, run: func(m *Model) tea.Cmd { m.filtering = true; return nil }},
		{ID: "sort", Title: "Sort by the next column; after the last, what moves first", Short: "sort", Scope: ScopeDashboard,
			Keys: []string{"s"}, Footer: 31, run: func(m *Model) tea.Cmd { return m.sorted(m.focused().NextSort()) }},
		{ID: "sort.reverse", Title: "Sort the other way round", Short: "reverse", Scope: ScopeDashboard, Keys: []string{"S"},
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
		{ID: "owners", Title: "Show whose instances need their owner, with a note to send to each project", Short: "owners", Scope: ScopeDashboard,
			Keys: []string{"O"}, blocked: needSnapshot, run: func(m *Model) tea.Cmd { return m.openOwners(m.focused().nodes()) }},
		{ID: "plan", Title: "Plan the whole update: what every instance will do, what holds it, is there room", Short: "plan all",
			Scope: ScopeDashboard, Keys: []string{"V"}, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.openPlan(nil) }},
		{ID: "back", Title: "Clear the filter, the marks, or the last word of the screen", Short: "clear", Scope: ScopeDashboard,
			Keys: []string{"esc"}, run: (*Model).clearOne},
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
	for _, mv := range []struct {
		id, title string
		keys      []string
		run       func(l table.List)
	}{
		{"down", "Go down a row", []string{"down", "j"}, func(l table.List) { l.MoveBy(1) }},
		{"up", "Go up a row", []string{"up", "k"}, func(l table.List) { l.MoveBy(-1) }},
		{"page.down", "Go down a page", []string{"pgdown"}, func(l table.List) { l.MoveBy(l.Page()) }},
		{"page.up", "Go up a page", []string{"pgup"}, func(l table.List) { l.MoveBy(-l.Page()) }},
		{"first", "Go to the first row", []string{"home", "g"}, func(l table.List) { l.GoTo(0) }},
		{"last", "Go to the last row", []string{"end", "G"}, func(l table.List) { l.MoveBy(1 << 30) }},
	} {
		all = append(all, Action{ID: "row." + mv.id, Title: mv.title, Short: mv.id, Scope: ScopeDashboard, Keys: mv.keys,
			run: func(m *Model) tea.Cmd {
				mv.run(m.focused())
				return m.selectionMoved()
			}})
	}
	return all
}

func needSnapshot(m *Model) string {
	if m.snap == nil {
		return "nothing is known yet"
	}
	return ""
}

func needRow(m *Model) string { return m.focused().needRow() }

func needRunning(m *Model) string {
	if m.running() == nil {
		return "nothing runs"
	}
	return ""
}

func needFailure(m *Model) string {
	if m.failure() == nil {
		return "there is no failure to acknowledge here"
	}
	return ""
}

// failure is the failed operation that x acknowledges: the selected one, else the newest that nobody has seen.
func (m *Model) failure() *core.Operation {
	if m.snap == nil {
		return nil
	}
	unseen := func(op *core.Operation) bool {
		return op != nil && !op.Acknowledged && (op.State == core.OperationFailed || op.State == core.OperationUnknown)
	}
	if p, ok := m.top().(*procedurePage); ok {
		for i := range m.snap.Operations {
			op := &m.snap.Operations[i]
			if unseen(op) && (op.Node == p.key.Subject || op.Instance == p.key.Subject || p.has(op.Step)) {
				return op
			}
		}
		return nil
	}
	if p, ok := m.entryShown(); ok {
		if op := operationOf(m.snap, p.a); unseen(op) {
			return op
		}
		return nil
	}
	switch m.focus {
	case ScopeLog:
		if op := m.focused().subject().operation; unseen(op) {
			return op
		}
	case ScopeNeeds:
		if a := m.focused().subject().attention; a != nil {
			if op := operationOf(m.snap, *a); unseen(op) {
				return op
			}
		}
		return nil
	}
	for i := range m.snap.Operations {
		if unseen(&m.snap.Operations[i]) {
			return &m.snap.Operations[i]
		}
	}
	return nil
}

func (m *Model) acknowledge() tea.Cmd {
	op := m.failure()
	if op == nil {
		return nil
	}
	backend, id := m.backend, op.ID
	return tea.Batch(m.say(toneInfo, "seen: "+op.Title), func() tea.Msg {
		backend.Acknowledge(id)
		return nil
	})
}

func (m *Model) setFocus(id Scope) tea.Cmd {
	m.focus = id
	m.filtering = false
	m.focused().entered()
	return m.selectionMoved()
}

func (m *Model) sorted(by string) tea.Cmd {
	if by == "" {
		return m.say(toneInfo, "sorted as it comes: what moves first")
	}
	return m.say(toneInfo, "sorted by "+by)
}

// clearOne takes back one thing at a time: the toast, the marks, the filter.
func (m *Model) clearOne() tea.Cmd {
	p := m.focused()
	switch {
	case m.toast.text != "":
		m.toast.text = ""
	case p.Marks() > 0:
		p.ClearMarks()
	case p.Filter() != "":
		p.SetFilter("")
		return m.selectionMoved()
	}
	return nil
}

func (m *Model) nextTheme() tea.Cmd {
	names := themes.Names()
	for i, n := range names {
		if n == m.theme.Name {
			if t, err := themes.Load(names[(i+1)%len(names)]); err == nil {
				m.theme = t
				m.opts.AutoTheme = false
				m.relook()
			}
			break
		}
	}
	return m.say(toneInfo, "theme "+m.theme.Name)
}
