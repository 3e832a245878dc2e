package core

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core/wording"
)

// ActionBegun is the state from which an action on an instance began. It tells how the action ended, also after a restart of Lockstep.
type ActionBegun struct {
	Host      string    `json:"host,omitempty"`
	Status    string    `json:"status,omitempty"`
	Migration int       `json:"migration,omitempty"` // the migration record that it acts on; 0: none
	Known     int       `json:"known,omitempty"`     // the newest migration record before it; 0: none
	At        time.Time `json:"at,omitzero"`         // cluster time
}

// PastWrite is a write of an earlier run that did not see its end.
type PastWrite struct {
	Operation string
	Item      int // of a batch; -1: the operation is this one write
	Intent    Intent
	Object    Ref
	Begun     *ActionBegun // nil when it is not an action on an instance
	At        time.Time    // cluster time
	Wall      time.Time
}

// OperationState is the state of something that Lockstep does.
type OperationState string

// The states of an operation or of one of its items.
const (
	OperationQueued    OperationState = "queued"
	OperationRunning   OperationState = "running"   // the call is under way
	OperationVerifying OperationState = "verifying" // the call was accepted; the cluster has not shown the result yet
	OperationDone      OperationState = "done"      // the cluster shows the result
	OperationFailed    OperationState = "failed"
	OperationSkipped   OperationState = "skipped" // by the operator, or because nothing was left to do
	OperationPaused    OperationState = "paused"  // by the operator
	OperationStopped   OperationState = "stopped" // by the operator, or because the gate closed
	OperationUnknown   OperationState = "unknown" // the answer was lost, and the cluster does not show the result
)

// Ended tells whether nothing more will happen.
func (s OperationState) Ended() bool {
	switch s {
	case OperationDone, OperationFailed, OperationSkipped, OperationStopped, OperationUnknown:
		return true
	}
	return false
}

// MayHaveBeenDone tells whether a write in this state was made, or may have been. Then Lockstep offers to set the value back, if it
// is still as the write left it.
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
	Past         bool // an earlier run of Lockstep began it: nothing more is begun, and its result is looked up

	Elsewhere string // who runs it, when that is another run of the same user on this journal; else empty
	Run       string // the other run

	// Asked is what the operator has asked of a batch and what comes once its items that run have ended: ControlPause or ControlStop.
	// Empty: nothing; the batch goes on, or is held already.
	Asked Control `json:",omitempty"`
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

// Does tells whether the item is the step, done as part of a batch.
func (item OperationItem) Does(step Step) bool {
	switch i := step.Intent; {
	case item.Instance != "" || i.Instance != "":
		return item.Instance == i.Instance
	case item.Node != "":
		return item.Node == i.Node
	}
	return item.Label == step.Label // records of older versions have only the label
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
	ControlSkip   Control = "skip" // leave out the next item that has not begun
	ControlStop   Control = "stop" // begin nothing more; what runs is watched to its end
)

// Unseen are the writes of an earlier run's operation whose ends that run did not see.
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

// Goes says in a few words how the operation goes.
func (op Operation) Goes() string {
	if len(op.Items) == 0 || op.State.Ended() || op.Past {
		return op.Text
	}
	counts := map[OperationState]int{}
	for _, item := range op.Items {
		counts[item.State]++
	}
	text := fmt.Sprintf("%d of %d done", counts[OperationDone], len(op.Items))
	for _, other := range []struct {
		state OperationState
		word  string
	}{{OperationSkipped, "left out"}, {OperationFailed, "failed"}, {OperationUnknown, "not known"}} {
		if n := counts[other.state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, other.word)
		}
	}
	if op.Text != "" {
		text += ", " + op.Text
	}
	return text
}
