package evacuation

import (
	"time"
)

// Request is what a forecast is asked for.
type Request struct {
	Nodes  []string  // names of the nodes; none: every compute node that the update has still to go through
	Order  []string  // names of nodes in the order of the update; those that are not in it come after, by their labels
	AtOnce int       // how many nodes are in maintenance at the same time; 0 means 1
	Made   time.Time // wall time; shown as the time of the forecast
}
