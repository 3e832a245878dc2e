package core

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core/wording"
)

// ActionBegun is what an action on an instance began from: by it how it ended is told, also after Lockstep was away.
type ActionBegun struct {
	Host      string    `json:"host,omitempty"`
	Status    string    `json:"status,omitempty"`
	Migration int       `json:"migration,omitempty"` // the record that it acts on; 0: none
	Known     int       `json:"known,omitempty"`     // the newest migration record before it; 0: none
	At        time.Time `json:"at,omitzero"`         // cluster time
}

// PastWrite is a write of an earlier run of which that run did not see the end.
type PastWrite struct {
	Operation string
	Item      int // of a batch; -1: the operation is this one write
	Intent    Intent
	Object    Ref
	Begun     *ActionBegun // nil of what is no action on an instance
	At        time.Time    // cluster time
	Wall      time.Time
}

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

// MayHaveBeenDone tells whether a write that ended so was made, as far as is known: what it replaced is offered back then, where it
// still is as the write left it.
func (s OperationState) MayHaveBeenDone() bool {
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
	Run       string // the other run
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

// Does tells whether the item is the step, done as a part of a batch.
func (item OperationItem) Does(step Step) bool {
	switch i := step.Intent; {
	case item.Instance != "" || i.Instance != "":
		return item.Instance == i.Instance
	case item.Node != "":
		return item.Node == i.Node
	}
	return item.Label == step.Label // it is from a record of an older version, which has no more
}

// Is tells whether the operation does a step of the kind.
func (op Operation) Is(kind IntentKind) bool { return op.Intent.Kind == kind }

// ItemID is the ID under which the journal has an item of a batch.
func ItemID(batch string, item int) string { return batch + "/" + wording.Itoa(item) }

// BatchOf is the ID of an operation, or that of the batch that an item is of.
func BatchOf(id string) string {
	batch, _, _ := strings.Cut(id, "/")
	return batch
}

// OfBatch tells whether the ID is that of an item.
func OfBatch(id string) bool { return BatchOf(id) != id }

// Control is what the operator does with a running operation.
type Control string

// The controls.
const (
	ControlPause  Control = "pause" // begin no further item
	ControlResume Control = "resume"
	ControlSkip   Control = "skip" // leave the next item that has not begun out
	ControlStop   Control = "stop" // begin nothing more; what runs is watched to its end
)

// Unseen are the writes of an operation of an earlier run whose ends that run did not see.
func (o *Operation) Unseen(writes map[string]PastWrite) []PastWrite {
	var out []PastWrite
	if len(o.Items) == 0 {
		if w, ok := writes[o.ID]; ok && o.State == OperationUnknown {
			out = append(out, w)
		}
		return out
	}
	for i, item := range o.Items {
		if w, ok := writes[ItemID(o.ID, i)]; ok && item.State == OperationUnknown {
			w.Operation, w.Item = o.ID, i
			out = append(out, w)
		}
	}
	return out
}

// MayDo tells whether the operation is a batch that can have the step as one of its items.
func (op Operation) MayDo(step Step) bool {
	switch step.Intent.Kind {
	case IntentLiveMigrate:
		return op.Is(IntentLiveMigrateAll)
	case IntentRestartPod:
		return op.Is(IntentRestartPods) && op.Intent.Workload == step.Intent.Workload
	}
	return false
}

// Goes is how the operation goes, in a few words.
func (op Operation) Goes() string {
	if len(op.Items) == 0 || op.State.Ended() || op.Past {
		return op.Text
	}
	done := 0
	for _, item := range op.Items {
		if item.State.Ended() && item.State != OperationFailed {
			done++
		}
	}
	text := fmt.Sprintf("%d of %d done", done, len(op.Items))
	if op.Text != "" {
		text += ", " + op.Text
	}
	return text
}
