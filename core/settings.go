package core

import "time"

// Settings are the numbers by which rules judge, all of them the operator's to change.
type Settings struct {
	StaleAfter       time.Duration // a source that was not confirmed for this long is too old to write on
	MaxParallelNodes map[Role]int  // nodes that Rockoon handles at once, by role (docs/mosk.md#concurrency)
	AcrossZones      bool          // computes of several availability zones at once: Rockoon's respect_nova_az=False
	MigrateAtOnce    int           // how many instances of one host a batch moves at the same time; 1 by default
	ActAs            []ActAs       // the application controllers that Lockstep plays
	Overdue          float64       // a phase or stage is overdue past its estimate times this
	RoleLabels       RoleLabels    // used when the controller's Deployment has none; nil: its defaults
}

// projectsStaleAfter is StaleAfter for the names of projects: they hardly change, no decision rests on them, and they are polled only
// every ten minutes.
const projectsStaleAfter = 15 * time.Minute

// StaleAfterOf is how long ago a source may have been confirmed and still be fresh.
func (s Settings) StaleAfterOf(id SourceID) time.Duration {
	after := s.StaleAfter
	if after <= 0 {
		after = DefaultSettings().StaleAfter
	}
	if id == SourceProjects {
		return max(after, projectsStaleAfter)
	}
	return after
}

// DefaultSettings are the documents' numbers, and cautious ones where the documents have none.
func DefaultSettings() Settings {
	return Settings{
		StaleAfter:       60 * time.Second,
		MaxParallelNodes: map[Role]int{RoleController: 1, RoleGateway: 1, RoleCompute: 30},
		MigrateAtOnce:    1,
		Overdue:          2,
	}
}
