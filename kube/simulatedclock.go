package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// `lockstep sim` names these in the kubeconfig that it writes, where its clock runs faster than the machine's. A rehearsal would
// otherwise be timed by the wrong clock: an update of six hours would be over after six minutes.
const (
	simulatedExtension = "lockstep-sim" // of the cluster, in the kubeconfig
	simulatedClockPath = "/lockstep-sim/clock"
)

// ClockReading is one look at the clock of a simulated cluster.
type ClockReading struct {
	Now   time.Time `json:"now"`
	Rate  float64   `json:"rate"`  // seconds of the cluster in a real one, at this moment
	Speed float64   `json:"speed"` // the same while the machine keeps up
}

// Clock reads the clock of a simulated cluster. No other cluster has one: ask only where OwnClock is set.
func (c *Client) Clock(ctx context.Context) (ClockReading, error) {
	var r ClockReading
	body, _, err := c.get(ctx, simulatedClockPath)
	if err != nil {
		return r, fmt.Errorf("read the clock of the simulated cluster: %w", err)
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("read the clock of the simulated cluster: %w", err)
	}
	if r.Now.IsZero() || r.Rate < 0 || r.Speed < 0 {
		return r, fmt.Errorf("read the clock of the simulated cluster: it says %s", body)
	}
	return r, nil
}
