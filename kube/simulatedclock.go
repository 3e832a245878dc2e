package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// `lockstep sim` says in the kubeconfig that it writes that the cluster is simulated, so that a rehearsal touches nothing real; and where
// its clock is told, if that runs faster than the machine's. A rehearsal would otherwise be timed by the wrong clock: an update of six
// hours would be over after six minutes.
const (
	simulatedExtension = "lockstep-sim" // of the cluster, in the kubeconfig
	simulatedClockPath = "/lockstep-sim/clock"
)

// simulated tells whether a kubeconfig's cluster is a simulated one, and has a clock of its own.
func simulated(cluster *clientcmdapi.Cluster) (it, ownClock bool) {
	says, it := cluster.Extensions[simulatedExtension]
	if raw, ok := says.(*runtime.Unknown); ok {
		var names struct{ Clock string }
		ownClock = json.Unmarshal(raw.Raw, &names) == nil && names.Clock != ""
	}
	return it, ownClock
}

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
