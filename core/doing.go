package core

import "time"

// Doing is what an operator does right now. It is written beside the operator lease, so that a colleague who thinks of taking the lease
// knows what that would stop.
type Doing struct {
	Now    string    `json:"now,omitempty"`   // the operations that run: "live-migrate web-1, drain cmp-07 (4 of 12 done)"; empty: none
	Since  time.Time `json:"since,omitzero"`  // when the first of them began (the cluster's time)
	Last   string    `json:"last,omitempty"`  // the step that was confirmed last in this run; empty: none
	LastAt time.Time `json:"lastAt,omitzero"` // when it began (the cluster's time)
	As     string    `json:"as,omitempty"`    // as whom the servers know them: an Identity in one line; empty: it is not known
	Said   bool      `json:"said"`            // false: it is not known; an older Lockstep does not say it
}
