package engine

import (
	"lockstep/core"
)

// Control pauses, resumes or stops a running batch, or has it leave out the next item. What it does already is not recorded again. The
// error is a refusal: the operation does not exist, is another run's, has ended, or is a single step.
func (e *Engine) Control(id string, c core.Control) error {
	op := e.ops.find(id)
	if op == nil {
		for _, other := range e.ops.allElsewhere() {
			if other.ID == id {
				return refuse("another window of yours has it under way (%s): control it there", other.Elsewhere)
			}
		}
		return refuse("there is no operation %s", id)
	}
	op.mu.Lock()
	if op.state.State.Ended() {
		op.mu.Unlock()
		return refuse("it has ended: %s", op.state.Title)
	}
	if len(op.state.Items) == 0 {
		op.mu.Unlock()
		return refuse("what was sent cannot be called back here, and it is one step only: %s", op.state.Title)
	}
	if c == core.ControlPause && op.paused || c == core.ControlResume && !op.paused || c == core.ControlStop && op.stopped {
		op.mu.Unlock()
		return nil
	}
	switch c {
	case core.ControlPause:
		op.paused = true
	case core.ControlResume:
		op.paused = false
	case core.ControlSkip:
		op.skip++
	case core.ControlStop:
		op.stopped = true
	default:
		op.mu.Unlock()
		return refuse("unknown control %q", c)
	}
	title := op.state.Title
	op.mu.Unlock()
	e.record(Record{Kind: RecordControl, Operation: id, State: string(c), Title: title}, true)
	select {
	case op.control <- struct{}{}:
	default:
	}
	e.changed()
	return nil
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

func (op *operation) takeSkip() bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.skip == 0 {
		return false
	}
	op.skip--
	return true
}
