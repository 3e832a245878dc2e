package engine

import (
	"context"
	"time"

	"lockstep/core"
)

// checker asks the servers about one change: before its write whether it may be made, and after it what came of it.
type checker interface {
	// check reads from the server, not from a Snapshot, whether the change may be made. A dry-run comes after it.
	check(ctx context.Context) error
	// outcome tells what the server shows of the write now.
	outcome(ctx context.Context, of sent) outcome
	// values are what the change replaces and what it sets, for the journal.
	values() (from, to string)
}

// sent is a write that was sent.
type sent struct {
	began    time.Time // cluster time
	accepted bool      // the server accepted it; false while no answer has come, and when it was lost
}

// outcome is what the server shows of a write.
type outcome struct {
	state  core.OperationState // an end, or OperationVerifying
	text   string
	moving bool  // something happens: keep looking as long as it does
	stalls bool  // of what moves: what stands still for stallPatience is not known to end
	again  bool  // of a failure: it was accepted and failed, so another try may succeed; not after a refusal
	err    error // the server could not be asked
	unsure bool  // it may go on unseen: when nothing comes of it for a while, it is not known how it ends

	unasked bool // of a failure: nothing was sent, as a whole server could not be asked, or writing was not allowed any more

	tries int  // of an item of a batch that is still to be done: how often something was sent for it
	held  bool // of a failure: the batch is held, and the next try comes when it goes on

	at time.Time // when it ended, for a write that nobody watched; zero where that is not known
}
