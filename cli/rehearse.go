package cli

import (
	"fmt"

	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/tui"
)

// rehearsal is the backend of the demo's panel: the simulated cloud's clock, story and faults.
type rehearsal struct{ cloud *sim.Cloud }

var _ tui.Rehearsal = (*rehearsal)(nil)

// State implements tui.Rehearsal.
func (r *rehearsal) State() tui.RehearsalState {
	told := r.cloud.Scenario
	st := tui.RehearsalState{
		Scenario: told.Name, Title: told.Title, Teaches: told.Teaches,
		Now: r.cloud.Clock.Now(), Speed: r.cloud.Clock.Speed(),
	}
	for _, f := range r.cloud.Faults.States() {
		id := string(f.Server)
		if n := len(st.Servers); n == 0 || st.Servers[n-1].ID != id {
			st.Servers = append(st.Servers, tui.RehearsalServer{ID: id, Name: f.Server.Name()})
		}
		kind, _ := fault.Find(f.Kind)
		server := &st.Servers[len(st.Servers)-1]
		server.Faults = append(server.Faults, tui.RehearsalFault{
			ID: f.Kind, Title: kind.Title, Details: f.Details(), Does: kind.Does, Sees: kind.Sees, On: f.On, Met: f.Met,
		})
	}
	return st
}

// Toggle implements tui.Rehearsal.
func (r *rehearsal) Toggle(server, id string) error {
	return r.cloud.Faults.Toggle(fault.Server(server), id)
}

// Clear implements tui.Rehearsal.
func (r *rehearsal) Clear() { r.cloud.Faults.Clear() }

// SetSpeed implements tui.Rehearsal.
func (r *rehearsal) SetSpeed(speed float64) error {
	if speed < 0 || speed > 3600 {
		return fmt.Errorf("the clock runs at 0 to 3600 times the real time, not at %g", speed)
	}
	if speed == 0 {
		r.cloud.Clock.Pause()
	} else {
		r.cloud.Clock.SetSpeed(speed)
	}
	return nil
}
