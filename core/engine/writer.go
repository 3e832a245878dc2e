package engine

import (
	"time"

	"lockstep/core"
)

// outcome is what the server shows of a write.
type outcome struct {
	state  core.OperationState // an end, or OperationVerifying
	text   string
	moving bool  // something happens: keep looking, however long it takes
	again  bool  // of a failure: it was taken and did not work out, and another try may; never of a refusal or a lost answer
	err    error // the server could not be asked

	at time.Time // when it ended, where that is known of one that nobody watched
}
