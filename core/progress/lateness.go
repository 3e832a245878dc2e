package progress

import (
	"time"
)

// How long something may last before it needs a look, where the documents give no number of their own.
const (
	ReturnLong    = 10 * time.Minute // a node on its way back: the controller's own timeouts are 5 minutes (docs/mosk.md#timers)
	RebootLong    = 30 * time.Minute // a node that is not Ready: the documents' window has 15 to 40 minutes for all of its update
	DeferredLong  = 10 * time.Minute // a controller that waits for others
	HealthLong    = 20 * time.Minute // one service may take so long to become healthy (docs/mosk.md#timers)
	StageLong     = 60 * time.Minute // any other stage: the documents' 20 and 40 minutes for a worker
	OutageLong    = 5 * time.Minute  // an API that does not answer the controller
	MigrationLong = 30 * time.Minute // one live migration
	// ServiceSettles is how old the newest look at the compute services can be, with room.
	ServiceSettles = 5 * time.Minute
	LockMissing    = 2 * time.Minute // a controller makes the lock of a node within a look or two
	InnerSettles   = time.Minute     // a request and its lock are two streams: what one tells, the other tells later
)
