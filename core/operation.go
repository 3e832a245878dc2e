package core

import (
	"strings"
	"time"
)

// OperationState is how something that Lockstep does goes.
type OperationState string

// The states of an operation or of an item of it.
const (
	OperationQueued    OperationState = "queued"
	OperationRunning   OperationState = "running"   // the call is under way
	OperationVerifying OperationState = "verifying" // the call was accepted; the cluster has not shown the result yet
	OperationDone      OperationState = "done"      // the cluster shows the result
	OperationFailed    OperationState = "failed"
	OperationSkipped   OperationState = "skipped" // by the operator, or because there was nothing left to do
	OperationPaused    OperationState = "paused"  // by the operator
	OperationStopped   OperationState = "stopped" // by the operator, or because the gate closed
	OperationUnknown   OperationState = "unknown" // the answer was lost and the cluster does not tell
)

// Ended tells whether nothing more will happen.
func (s OperationState) Ended() bool {
	switch s {
	case OperationDone, OperationFailed, OperationSkipped, OperationStopped, OperationUnknown:
		return true
	}
	return false
}

// mayHaveBeenDone tells whether a write that ended so was made, as far as is known: what it replaced is offered back then, where it
// still is as the write left it.
func (s OperationState) mayHaveBeenDone() bool {
	return s == OperationDone || s == OperationUnknown
}

// Operation is one confirmed step being done, or done. A failed one stays until the operator acknowledges it.
type Operation struct {
	ID           string
	Step         string // the step's ID
	Intent       Intent // the step's
	Title        string
	Label        string
	Node         string
	Instance     string
	State        OperationState
	Text         string          // progress or the error, with the server's own words
	Started      time.Time       // cluster time
	Ended        time.Time       // cluster time; zero while it goes on
	Items        []OperationItem // of a batch
	Acknowledged bool
	Past         bool // an earlier run of Lockstep began it: nothing more of it is begun, and how it ended is looked up

	Elsewhere string // who has it under way, when that is another run of the same user on this journal; empty otherwise
	run       string // the other run
}

// OperationItem is one item of a batch.
type OperationItem struct {
	Label    string
	Instance string // ID, where it is about one
	Node     string // the node's name, where it is about one, or about a pod there
	State    OperationState
	Text     string
	Started  time.Time
	Ended    time.Time
}

// does tells whether the item is the step, done as a part of a batch.
func (item OperationItem) does(step Step) bool {
	switch i := step.Intent; {
	case item.Instance != "" || i.Instance != "":
		return item.Instance == i.Instance
	case item.Node != "":
		return item.Node == i.Node
	}
	return item.Label == step.Label // it is from a record of an older version, which has no more
}

// is tells whether the operation does a step of the kind.
func (op Operation) is(kind IntentKind) bool { return op.Intent.Kind == kind }

// itemID is the ID under which the journal has an item of a batch.
func itemID(batch string, item int) string { return batch + "/" + itoa(item) }

// batchOf is the ID of an operation, or that of the batch that an item is of.
func batchOf(id string) string {
	batch, _, _ := strings.Cut(id, "/")
	return batch
}

// ofBatch tells whether the ID is that of an item.
func ofBatch(id string) bool { return batchOf(id) != id }

// Control is what the operator does with a running operation.
type Control string

// The controls.
const (
	ControlPause  Control = "pause" // begin no further item
	ControlResume Control = "resume"
	ControlSkip   Control = "skip" // leave the next item that has not begun out
	ControlStop   Control = "stop" // begin nothing more; what runs is watched to its end
)
