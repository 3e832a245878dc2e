package tui

import (
	tea "charm.land/bubbletea/v2"
)

// podLogActions work on the page of a log.
func podLogActions() []Action {
	with := func(f func(m *Model, p *logPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*logPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	need := func(what string, has func(m *Model, p *logPage) bool) func(m *Model) string {
		return func(m *Model) string {
			if p, ok := m.top().(*logPage); ok && has(m, p) {
				return ""
			}
			return what
		}
	}
	lines := need("there are no lines yet", func(_ *Model, p *logPage) bool { return len(p.ring.rows) > 0 })
	all := []Action{
		{ID: "podlog.close", Title: "Close the log; nothing of it is read any more", Short: "back", Keys: []string{"esc", "backspace"},
			Footer: 8, run: with(func(m *Model, p *logPage) tea.Cmd { p.leave(); m.close(p); return nil })},
		{ID: "podlog.follow", Title: "Follow the newest line, or stay where the page is", Short: "follow", Keys: []string{"f"}, Footer: 1,
			now: func(m *Model) string {
				if p, ok := m.top().(*logPage); ok && !p.held {
					return "hold"
				}
				return "follow"
			}, run: with(func(_ *Model, p *logPage) tea.Cmd { p.held = !p.held; return nil })},
		{ID: "podlog.container", Title: "Show the log of the pod's next container", Short: "container", Keys: []string{"c"}, Footer: 3,
			blocked: need("no other container is known", func(_ *Model, p *logPage) bool { return p.hasMore() }),
			run:     with(func(m *Model, p *logPage) tea.Cmd { return p.turn(m) })},
		{ID: "podlog.previous", Title: "Show what the container wrote before it was started again, or its present run", Short: "previous run",
			Keys: []string{"p"}, Footer: 4,
			now: func(m *Model) string {
				if p, ok := m.top().(*logPage); ok && p.previous {
					return "this run"
				}
				return "previous run"
			}, run: with(func(m *Model, p *logPage) tea.Cmd { p.previous = !p.previous; return p.ask(m) })},
		{ID: "podlog.range", Title: "Read further back: 2,000 lines, 15 minutes, an hour, 6 hours, 20,000 lines", Short: "how far back",
			Keys: []string{"a"}, Footer: 5,
			run: with(func(m *Model, p *logPage) tea.Cmd {
				if p.times.isZero() {
					p.reach = (p.reach + 1) % len(logRanges)
				}
				p.times, p.typed = timeRange{}, ""
				return p.ask(m)
			})},
		{ID: "podlog.times", Title: "Show the log from one time to another: 02:00 to 03:00", Short: "times", Keys: []string{"T"}, Footer: 9,
			run: with(func(m *Model, p *logPage) tea.Cmd { return m.askRange(p) })},
		{ID: "podlog.matches", Title: "Show only the lines with what is searched for, or all lines", Short: "only matches",
			Keys: []string{"m"}, Footer: 7,
			blocked: need("there is no search yet: / starts one", func(_ *Model, p *logPage) bool { return p.find.text != "" }),
			run: with(func(_ *Model, p *logPage) tea.Cmd {
				p.matches = !p.matches
				p.find.jump = true
				return nil
			})},
		{ID: "podlog.wrap", Title: "Cut long lines, or wrap them", Short: "wrap", Keys: []string{"z"},
			run: with(func(_ *Model, p *logPage) tea.Cmd { p.cut = !p.cut; return nil })},
		{ID: "podlog.save", Title: "Write the lines that are kept to a file, readable by you alone", Short: "save", Keys: []string{"s"},
			Footer: 6,
			blocked: func(m *Model) string {
				if m.opts.SaveFile == nil {
					return "files cannot be written here"
				}
				return lines(m)
			}, run: with(func(m *Model, p *logPage) tea.Cmd {
				return m.saveText(fileName(m, "log", p.target.Label, "log"), p.saved())
			})},
		{ID: "podlog.copy", Title: "Copy the lines that are seen", Short: "copy", Keys: []string{"y"}, blocked: lines,
			run: with(func(m *Model, p *logPage) tea.Cmd {
				if len(p.seen()) == 0 {
					return m.say(toneWarn, "there is nothing to copy")
				}
				return m.copy(p.text(p.seen()))
			})},
		{ID: "podlog.again", Title: "Read the log anew", Short: "anew", Keys: []string{"r"},
			run: with(func(m *Model, p *logPage) tea.Cmd { return p.ask(m) })},
	}
	all = append(all, scrollMoves("podlog", [2]Action{{Title: "Go to the oldest line", Short: "oldest"},
		{Title: "Go to the newest line and follow", Short: "newest"}}, func(move func(p scrolled)) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *logPage) tea.Cmd { move(p); return nil })
	})...)
	for i := range all {
		all[i].Scope = ScopePodLog
	}
	found := findActions(ScopePodLog, "podlog", func(m *Model) (*finder, int) {
		if p, ok := m.top().(*logPage); ok {
			return &p.find, p.offset
		}
		return nil, 0
	})
	found[0].Footer = 2
	return append(all, found...)
}
