package engine

import (
	"strings"
	"time"

	"lockstep/core"
)

// Control pauses, resumes or stops a running batch, or has it leave out the next item. What it does already is not recorded again. The
// error is a refusal: the operation does not exist, is another run's, has ended, or is a single step.
func (e *Engine) Control(id string, c core.Control) error {
	op, err := e.controlled(id)
	if err != nil {
		return err
	}
	op.mu.Lock()
	if c == core.ControlPause && op.paused || c == core.ControlResume && !op.paused || c == core.ControlStop && op.stopped {
		op.mu.Unlock()
		return nil
	}
	text := ""
	switch c {
	case core.ControlPause:
		op.paused = true
	case core.ControlResume:
		op.paused = false
	case core.ControlSkip:
		text, err = op.leaveOut(op.nextItem(), e.cfg.Clock())
	case core.ControlStop:
		op.stopped = true
	default:
		err = refuse("unknown control %q", c)
	}
	op.mu.Unlock()
	if err != nil {
		return err
	}
	e.controls(op, c, text)
	return nil
}

// LeaveOut has a running batch leave out an item, by its place. It is left out from now on; the error is a refusal, as of Control, or
// because the item has begun.
func (e *Engine) LeaveOut(id string, item int) error {
	op, err := e.controlled(id)
	if err != nil {
		return err
	}
	op.mu.Lock()
	text, err := op.leaveOut(item, e.cfg.Clock())
	op.mu.Unlock()
	if err != nil {
		return err
	}
	e.controls(op, core.ControlSkip, text)
	return nil
}

// controlled is the operation, where it can be controlled.
func (e *Engine) controlled(id string) (*operation, error) {
	op := e.ops.find(id)
	if op == nil {
		for _, other := range e.ops.allElsewhere() {
			if other.ID == id {
				return nil, refuse("another window of yours has it under way (%s): control it there", other.Elsewhere)
			}
		}
		return nil, refuse("there is no operation %s", id)
	}
	switch s := op.snapshot(); {
	case s.State.Ended():
		return nil, refuse("it has ended: %s", s.Title)
	case len(s.Items) == 0:
		return nil, refuse("what was sent cannot be called back here, and it is one step only: %s", s.Title)
	}
	return op, nil
}

// controls records a control, and wakes the batch.
func (e *Engine) controls(op *operation, c core.Control, text string) {
	s := op.snapshot()
	e.record(Record{Kind: RecordControl, Operation: s.ID, State: string(c), Title: s.Title, Text: text}, true)
	select {
	case op.control <- struct{}{}:
	default:
	}
	e.changed()
}

// leaveOut leaves out an item that has not begun, and says which. The caller holds op.mu.
func (op *operation) leaveOut(i int, now time.Time) (string, error) {
	if i < 0 || i >= len(op.state.Items) {
		return "", refuse("nothing is left to be left out of it: %s", op.state.Title)
	}
	switch item := &op.state.Items[i]; {
	case item.State == core.OperationSkipped:
		return "", refuse("%s is left out already", item.Label)
	case op.taken[i] || item.State != core.OperationQueued:
		return "", refuse("%s has begun", item.Label)
	default:
		text := "left out by the operator"
		if tried := strings.TrimSuffix(item.Text, nextTryComes); tried != item.Text {
			text += "; " + tried
		}
		item.State, item.Text, item.Ended = core.OperationSkipped, text, now
		return item.Label, nil
	}
}

// nextItem is the first item that has not begun; -1 where all have. The caller holds op.mu.
func (op *operation) nextItem() int {
	for i := range op.state.Items {
		if !op.taken[i] && op.state.Items[i].State == core.OperationQueued {
			return i
		}
	}
	return -1
}

// next is the first item that has not begun; -1 where all have.
func (op *operation) next() int {
	op.mu.Lock()
	defer op.mu.Unlock()
	return op.nextItem()
}

// take begins an item of a batch; false when it was left out.
func (op *operation) take(i int) bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.state.Items[i].State != core.OperationQueued {
		return false
	}
	if op.taken == nil {
		op.taken = map[int]bool{}
	}
	op.taken[i] = true
	return true
}

// putBack makes an item one that is still to be done. One that was tried has begun.
func (op *operation) putBack(i int, text string, tried bool) {
	op.mu.Lock()
	defer op.mu.Unlock()
	delete(op.taken, i)
	item := &op.state.Items[i]
	if item.State, item.Text = core.OperationQueued, text; !tried {
		item.Started = time.Time{}
	}
}

// Acknowledge takes an ended operation out of what needs a person. It is journalled, so that the next run knows it.
func (e *Engine) Acknowledge(id string) {
	if e.ops.acknowledge(id) {
		e.record(Record{Kind: RecordControl, Operation: id, State: stateAcknowledged}, false)
		e.changed()
	}
}

// stateAcknowledged is what the record of an acknowledgement says.
const stateAcknowledged = "acknowledged"

func (op *operation) goesOn() bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	return !op.paused
}

func (op *operation) isStopped() bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	return op.stopped
}

func (op *operation) pause() {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.paused = true
}
