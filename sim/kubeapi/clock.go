package kubeapi

import "time"

// Kubeconfigs say by SimulatedExtension, an extension of the cluster that other clients ignore, that the cluster is simulated. With
// Options.TellClock the cluster has a clock of its own, which runs faster than the machine's: the extension names ClockPath, where the
// server tells it. No real cluster has either.
const (
	SimulatedExtension = "lockstep-sim"
	ClockPath          = "/lockstep-sim/clock"
)

// clockReading is what ClockPath answers.
type clockReading struct {
	Now   time.Time `json:"now"`
	Rate  float64   `json:"rate"`  // seconds of the cluster in a real one, at this moment
	Speed float64   `json:"speed"` // the same while the machine keeps up
}
