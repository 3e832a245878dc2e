package kubeapi

import "time"

// Options.TellClock has a cluster whose clock runs faster than the machine's tell so to Lockstep: ClockExtension is the extension of
// the cluster in kubeconfigs, which other clients ignore, and ClockPath is where the server tells its clock. No real cluster has either.
const (
	ClockExtension = "lockstep-sim"
	ClockPath      = "/lockstep-sim/clock"
)

// clockReading is what ClockPath answers.
type clockReading struct {
	Now   time.Time `json:"now"`
	Rate  float64   `json:"rate"`  // seconds of the cluster in a real one, at this moment
	Speed float64   `json:"speed"` // the same while the machine keeps up
}
