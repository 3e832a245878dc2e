package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// ScopeRehearsal is the demo's own panel.
const ScopeRehearsal Scope = "rehearsal"

// rehearsalPage is the demo's own panel: the story, the clock, and the switchboard of faults, one server at a time.
type rehearsalPage struct {
	state RehearsalState
	known bool
	speed float64 // to go on with after a halt

	server int // index in state.Servers
	at     int // index in its Faults
	offset int // the first row that is shown
	rows   int // rows shown, as drawn last

	rowsFrom int      // the line of the page with the first row, as drawn last
	tabsAt   int      // the line with the servers
	tabs     []tabEnd // where each of them ends
}

// tabEnd is the column behind a server's name, and which it is.
type tabEnd struct{ column, server int }

func (*rehearsalPage) scope() Scope                                   { return ScopeRehearsal }
func (*rehearsalPage) page() bool                                     { return true }
func (*rehearsalPage) refresh(*Model) tea.Cmd                         { return nil }
func (*rehearsalPage) handle(*Model, tea.KeyPressMsg) (bool, tea.Cmd) { return false, nil }

// take keeps the server and the fault under the cursor.
func (p *rehearsalPage) take(s RehearsalState) {
	if s.Speed > 0 {
		p.speed = s.Speed
	}
	p.state, p.known = s, true
	p.server = max(min(p.server, len(s.Servers)-1), 0)
	p.move(0)
}

func (p *rehearsalPage) current() (server RehearsalServer, fault *RehearsalFault) {
	if p.server >= len(p.state.Servers) {
		return RehearsalServer{}, nil
	}
	server = p.state.Servers[p.server]
	if p.at < len(server.Faults) {
		fault = &server.Faults[p.at]
	}
	return server, fault
}

func (p *rehearsalPage) move(by int) {
	server, _ := p.current()
	p.at = max(min(p.at+by, len(server.Faults)-1), 0)
}

func (p *rehearsalPage) turn(by int) {
	if n := len(p.state.Servers); n > 0 {
		p.server = (p.server + by + n) % n
		p.move(0)
	}
}

// toggle switches the fault under the cursor.
func (p *rehearsalPage) toggle(m *Model) tea.Cmd {
	server, fault := p.current()
	if fault == nil {
		return nil
	}
	word := "on"
	if fault.On {
		word = "off"
	}
	id := fault.ID
	return tea.Batch(m.say(toneInfo, fmt.Sprintf("%s: %s is %s", server.Name, fault.Title, word)),
		m.rehearse(p, func(r Rehearsal) error { return r.Toggle(server.ID, id) }))
}

// run sets the clock's speed.
func (p *rehearsalPage) run(m *Model, speed float64) tea.Cmd {
	word := fmt.Sprintf("the clock runs %g times as fast", speed)
	if speed == 0 {
		word = "the clock is halted"
	}
	p.state.Speed = speed // until it is read again
	return tea.Batch(m.say(toneInfo, word), m.rehearse(p, func(r Rehearsal) error { return r.SetSpeed(speed) }))
}

// point takes the wheel and a click: on a server, or on a fault, which it switches when that is under the cursor already.
func (p *rehearsalPage) point(m *Model, at tea.Mouse) tea.Cmd {
	line := at.Y - len(m.headerLines(m.width))
	if n := wheel(at.Button); n != 0 {
		p.move(n)
		return nil
	}
	if at.Button != tea.MouseLeft {
		return nil
	}
	if line == p.tabsAt {
		for _, t := range p.tabs {
			if at.X < t.column {
				p.server = t.server
				p.move(0)
				break
			}
		}
		return nil
	}
	server, _ := p.current()
	row := p.offset + line - p.rowsFrom
	if line < p.rowsFrom || line >= p.rowsFrom+p.rows || row >= len(server.Faults) {
		return nil
	}
	if row == p.at {
		return p.toggle(m)
	}
	p.at = row
	return nil
}

// rehearsalActions work in the demo's panel.
func rehearsalActions() []Action {
	with := func(f func(m *Model, p *rehearsalPage) tea.Cmd) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if p, ok := m.top().(*rehearsalPage); ok {
				return f(m, p)
			}
			return nil
		}
	}
	do := func(f func(p *rehearsalPage)) func(*Model) tea.Cmd {
		return with(func(_ *Model, p *rehearsalPage) tea.Cmd { f(p); return nil })
	}
	all := []Action{
		{ID: "rehearsal.close", Title: "Close the panel", Short: "close", Keys: []string{"esc", "backspace"}, Footer: 7,
			run: with(func(m *Model, p *rehearsalPage) tea.Cmd { m.close(p); return nil })},
		{ID: "rehearsal.toggle", Title: "Switch the fault on or off", Short: "switch", Keys: []string{"space", "enter"}, Footer: 1,
			run: with(func(m *Model, p *rehearsalPage) tea.Cmd { return p.toggle(m) })},
		{ID: "rehearsal.clear", Title: "Switch all faults off", Short: "all off", Keys: []string{"c"}, Footer: 3,
			run: with(func(m *Model, p *rehearsalPage) tea.Cmd {
				return tea.Batch(m.say(toneInfo, "all faults are off"), m.rehearse(p, func(r Rehearsal) error { r.Clear(); return nil }))
			})},
		{ID: "rehearsal.pause", Title: "Halt the clock, or let it go on", Short: "halt", Keys: []string{"p"}, Footer: 4,
			run: with(func(m *Model, p *rehearsalPage) tea.Cmd {
				if p.state.Speed == 0 {
					return p.run(m, p.speed)
				}
				return p.run(m, 0)
			})},
		{ID: "rehearsal.slower", Title: "Let the clock run slower", Short: "slower", Keys: []string{"-"}, Footer: 5,
			run: with(func(m *Model, p *rehearsalPage) tea.Cmd { return p.run(m, nextSpeed(p.speed, false)) })},
		{ID: "rehearsal.faster", Title: "Let the clock run faster", Short: "faster", Keys: []string{"+", "="}, Footer: 6,
			run: with(func(m *Model, p *rehearsalPage) tea.Cmd { return p.run(m, nextSpeed(p.speed, true)) })},
		{ID: "rehearsal.next", Title: "Go to the next server", Short: "server", Keys: []string{"right", "tab"}, Footer: 2,
			run: do(func(p *rehearsalPage) { p.turn(1) })},
		{ID: "rehearsal.previous", Title: "Go to the previous server", Short: "previous server", Keys: []string{"left", "shift+tab"},
			run: do(func(p *rehearsalPage) { p.turn(-1) })},
		{ID: "rehearsal.down", Title: "Go down a row", Short: "down", Keys: []string{"down", "j"}, run: do(func(p *rehearsalPage) { p.move(1) })},
		{ID: "rehearsal.up", Title: "Go up a row", Short: "up", Keys: []string{"up", "k"}, run: do(func(p *rehearsalPage) { p.move(-1) })},
		{ID: "rehearsal.page.down", Title: "Go down a page", Short: "page down", Keys: []string{"pgdown"},
			run: do(func(p *rehearsalPage) { p.move(p.rows) })},
		{ID: "rehearsal.page.up", Title: "Go up a page", Short: "page up", Keys: []string{"pgup"},
			run: do(func(p *rehearsalPage) { p.move(-p.rows) })},
		{ID: "rehearsal.first", Title: "Go to the first row", Short: "first", Keys: []string{"home", "g"},
			run: do(func(p *rehearsalPage) { p.move(-1 << 30) })},
		{ID: "rehearsal.last", Title: "Go to the last row", Short: "last", Keys: []string{"end", "G"},
			run: do(func(p *rehearsalPage) { p.move(1 << 30) })},
	}
	for i := range all {
		all[i].Scope, all[i].demo = ScopeRehearsal, true
	}
	return all
}
