package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Rehearsal is the backend of a demo's panel: the simulated cloud's clock, its story, and the faults of its servers. Its methods
// are called from commands, never while the screen is drawn.
type Rehearsal interface {
	// State is how everything stands now.
	State() RehearsalState
	// Toggle switches a fault of a server on or off; both are IDs of the State.
	Toggle(server, fault string) error
	// Clear switches all faults off.
	Clear()
	// SetSpeed sets the speed of the cloud's clock, in its seconds per real second; 0 halts it.
	SetSpeed(speed float64) error
}

// RehearsalState is the state of a simulated cloud.
type RehearsalState struct {
	Scenario string // its name
	Title    string // one line
	Teaches  string // some sentences

	Now   time.Time // the cloud's clock
	Speed float64   // its seconds per real second; 0 while it is halted

	Servers []RehearsalServer
}

// RehearsalServer is one server and what can go wrong with it.
type RehearsalServer struct {
	ID, Name string
	Faults   []RehearsalFault
}

// RehearsalFault is one thing that can go wrong.
type RehearsalFault struct {
	ID      string
	Title   string // a few words
	Details string // its parameters; may be empty
	Does    string // what the server does
	Sees    string // what the operator should see
	On      bool
	Met     int // how many requests met it since it was switched on last
}

// on counts the faults that are switched on.
func (s RehearsalServer) on() int {
	n := 0
	for _, f := range s.Faults {
		if f.On {
			n++
		}
	}
	return n
}

// speeds are the steps of slower and faster.
var speeds = []float64{1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600}

// nextSpeed is the speed after the current one or, with faster unset, before it.
func nextSpeed(speed float64, faster bool) float64 {
	if faster {
		for _, s := range speeds {
			if s > speed {
				return s
			}
		}
		return speeds[len(speeds)-1]
	}
	for i := len(speeds) - 1; i >= 0; i-- {
		if speeds[i] < speed {
			return speeds[i]
		}
	}
	return speeds[0]
}

// rehearsalMsg is the state that a command has read, and the result of what the command did before.
type rehearsalMsg struct {
	page  *rehearsalPage
	state RehearsalState
	err   error
}

// rehearsalTick makes the page read the state again.
type rehearsalTick struct{ page *rehearsalPage }

// rehearsalEvery is how often the page reads the state, so that its counts of requests stay fresh.
const rehearsalEvery = 500 * time.Millisecond

// rehearse does something with the rehearsal and reads its state.
func (m *Model) rehearse(p *rehearsalPage, do func(Rehearsal) error) tea.Cmd {
	r := m.opts.Rehearsal
	return func() tea.Msg {
		var err error
		if do != nil {
			err = do(r)
		}
		return rehearsalMsg{p, r.State(), err}
	}
}

// arrive puts the cloud's state on the panel.
func (msg rehearsalMsg) arrive(m *Model) tea.Cmd {
	msg.page.take(msg.state)
	if msg.err != nil {
		return m.say(toneBad, msg.err.Error())
	}
	return nil
}

// arrive makes the panel read the state again while it is open.
func (msg rehearsalTick) arrive(m *Model) tea.Cmd {
	for _, l := range m.layers {
		if l == layer(msg.page) {
			return tea.Batch(m.rehearse(msg.page, nil), m.after(rehearsalEvery, rehearsalTick{msg.page}))
		}
	}
	return nil
}

// toggleRehearsal opens the panel, or closes it.
func (m *Model) toggleRehearsal() tea.Cmd {
	if m.opts.Rehearsal == nil {
		return m.say(toneWarn, "there is no simulated cloud")
	}
	for _, l := range m.layers {
		if p, ok := l.(*rehearsalPage); ok {
			m.close(p)
			return nil
		}
	}
	p := &rehearsalPage{speed: speeds[0]}
	m.open(p)
	return tea.Batch(m.rehearse(p, nil), m.after(rehearsalEvery, rehearsalTick{p}))
}
