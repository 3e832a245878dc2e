package core

import (
	"time"
)

// Grant is the operator's confirmation of exactly one step on exactly one object. It is used once, and goes stale when
// anything in its basis has changed.
type Grant struct {
	ID      string    `json:"id"`
	StepID  string    `json:"step"`
	Intent  Intent    `json:"intent"`
	Target  Ref       `json:"target"`
	Basis   []Fact    `json:"basis"`
	Typed   string    `json:"typed,omitempty"`
	By      string    `json:"by"`      // user@host
	At      time.Time `json:"at"`      // wall time
	Expires time.Time `json:"expires"` // wall time
}

// Preview is what the servers say about a step before it is confirmed.
type Preview struct {
	Step   Step
	DryRun string    // the dry-run and its result: "kubectl annotate … --dry-run=server: accepted"; empty when the API has no dry-run
	Err    *APIError // the refusal; nil when there was none
}
