package progress

import (
	"time"
)

// These are the times after which something needs a look, where the documents give no number of their own.
const (
	ReturnLong    = 10 * time.Minute // a returning node: the controller's own timeouts are 5 minutes (docs/mosk.md#timers)
	RebootLong    = 30 * time.Minute // a node that is not Ready: the documents allow 15 to 40 minutes for its whole update
	DeferredLong  = 10 * time.Minute // a controller that waits for others
	ServicesStand = 30 * time.Minute // all services of OpenStack together, without one of them that comes into another state
	HealthLong    = 20 * time.Minute // the time one service has to become healthy (docs/mosk.md#timers)
	StageLong     = 60 * time.Minute // any other stage: the documents allow a worker 20 and 40 minutes
	OutageLong    = 5 * time.Minute  // an API that does not answer the controller
	MigrationLong = 30 * time.Minute // one live migration
	// ServiceSettles is the greatest age of the newest look at the compute services, with a margin.
	ServiceSettles = 5 * time.Minute
	ReturnSettles  = 2 * time.Minute // Nova and Neutron hear from what has started within one, and Lockstep asks them 15 s later
	LockMissing    = 2 * time.Minute // a controller makes a node's lock within a look or two
	InnerSettles   = time.Minute     // a request and its lock are two streams, and one can lag behind the other
)
