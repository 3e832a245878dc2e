package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
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
			Footer: 88, inside: true, blocked: needSnapshot, run: (*Model).toggleArm},
		{ID: "mouse", Title: "Switch the mouse on or off (while it is on, the terminal cannot select text)", Short: "mouse",
			Scope: ScopeGlobal, Keys: []string{"f2"}, run: func(m *Model) tea.Cmd {
				m.mouse = !m.mouse
				if m.mouse {
					return m.say(toneInfo, "the mouse is on; "+m.keyTo("mouse")+" switches it off")
				}
				return m.say(toneInfo, "the mouse is off")
			}},
		{ID: "theme", Title: "Change the theme", Short: "theme", Scope: ScopeGlobal, Keys: []string{"f3"}, run: (*Model).nextTheme},
		{ID: "rehearsal", Title: "Open or close the demo's panel: the story, its clock, and what goes wrong with the servers",
			Short: "rehearsal", Scope: ScopeGlobal, Keys: []string{"f4"}, Footer: 89, demo: true, run: (*Model).toggleRehearsal},
		{ID: "redraw", Title: "Redraw the screen", Short: "redraw", Scope: ScopeGlobal, Keys: []string{"ctrl+l"},
			run: func(*Model) tea.Cmd { return tea.ClearScreen }},
		{ID: "suspend", Title: "Suspend Lockstep and go back to the shell; fg brings it back", Short: "suspend", Scope: ScopeGlobal,
			Keys: []string{"ctrl+z"}, run: (*Model).suspend},
		{ID: "quit", Title: "Leave", Short: "leave", Scope: ScopeGlobal, Keys: []string{"q", "ctrl+c"}, run: (*Model).quit},
		{ID: "log", Title: "Show the log: what was done, by whom, and what was seen", Short: "log", Scope: ScopeGlobal,
			Keys: []string{"l"}, Footer: 40, inside: true, blocked: needSnapshot, run: (*Model).openLog},
		{ID: "messages", Title: "Show earlier messages, with their times", Short: "messages", Scope: ScopeGlobal, Keys: []string{"L"},
			Footer: 96, run: (*Model).openSaid},
		{ID: "acknowledge", Title: "Acknowledge a failure: it has been seen", Short: "seen", Scope: ScopeGlobal,
			Keys: []string{"x"}, inside: true, blocked: needFailure, run: (*Model).acknowledge},
		{ID: "operation.pause", Title: "Hold the running batch, or let it go on", Short: "hold", Scope: ScopeGlobal,
			Keys: []string{"h"}, inside: true, blocked: needRunning, run: func(m *Model) tea.Cmd {
				switch {
				case !holds(m.running()):
					return m.steer("operation.pause", core.ControlPause)
				case m.held.on(m):
					return m.notTaken(m.keyTo("operation.pause"), "the batch has just been held; press it again to let it go on")
				}
				return m.steer("operation.pause", core.ControlResume)
			}},
		{ID: "operation.skip", Title: "Omit the next item of the running batch", Short: "omit", Scope: ScopeGlobal,
			Keys: []string{"o"}, inside: true, blocked: needRunning,
			run: func(m *Model) tea.Cmd { return m.steer("operation.skip", core.ControlSkip) }},
		{ID: "operation.stop", Title: "Stop the running batch: begin nothing more", Short: "stop", Scope: ScopeGlobal,
			Keys: []string{"t"}, inside: true, blocked: needRunning,
			run: func(m *Model) tea.Cmd { return m.steer("operation.stop", core.ControlStop) }},
	}
}

func (m *Model) nextTheme() tea.Cmd {
	names := themes.Names()
	next := names[(slices.Index(names, m.theme.Name)+1)%len(names)] // the first one after a theme of the operator's own
	if t, err := themes.Load(next); err == nil {
		m.theme = t
		m.opts.AutoTheme = false
		m.relook()
	}
	return m.say(toneInfo, "theme "+m.theme.Name)
}
