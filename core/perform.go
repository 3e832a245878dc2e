package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// The deadlines of a step's parts: a slow one leaves the others their own.
const (
	// checkTimeout is for all that is asked before a write: what was checked is then no older than facts may be to write on
	// (Settings.StaleAfter).
	checkTimeout = time.Minute

	// leaseTimeout is for asking whose the operator lease is: two calls, and a renewal that may be under way.
	leaseTimeout = 30 * time.Second

	// lookTimeout is for one look at what became of a write.
	lookTimeout = 30 * time.Second
)

// perform does one change and watches until the cluster shows its result. Item is the batch item's index, or -1.
func (e *Engine) perform(work context.Context, op *operation, item int, step Step, c Change) outcome {
	report := func(state OperationState, text string) {
		if item >= 0 {
			op.setItem(item, state, text, e.cfg.Clock())
		} else {
			op.set(state, text, e.cfg.Clock())
		}
		e.changed()
	}
	id := op.state.ID // never changed
	if item >= 0 {
		id = itemID(id, item)
	}
	base := Record{Operation: id, Step: step.ID, Intent: &step.Intent, Object: new(step.Target), Node: step.Node, Title: step.Title}
	override := e.overrideOf(step, c)
	change, tags := e.changeOf(c), e.tagsOf(c)
	end := func(o outcome) outcome {
		state, text := o.state, o.text
		r := base
		r.Kind, r.State = RecordVerified, string(state)
		r.Override = override.remembered(state)
		if state == OperationDone {
			r.Text = text
		} else {
			r.Error = text
		}
		if tags != nil && (state == OperationDone || state == OperationUnknown) { // offered back only where they are still so
			r.Tags = tags
			e.call(func() {
				changes := maps.Clone(e.history.Tags)
				noteTags(changes, step.Target.UID, *tags)
				e.history.Tags = changes
			})
		}
		if change != nil && (state == OperationDone || state == OperationUnknown) { // as with tags
			r.Change = change
			e.call(func() {
				if m := e.history.changesOf(change.Key); m != nil {
					changes := maps.Clone(*m) // Snapshots have the other one
					if changes == nil {
						changes = map[string]AnnotationChange{}
					}
					noteChange(changes, step.Target.UID, *change)
					*m = changes
				}
			})
		}
		e.kept(e.journal(work, r))
		if r.Override != nil {
			e.call(func() { e.history.Overrides = withOverride(e.history.Overrides, *r.Override) })
		}
		if _, onInstance := instanceRules[step.Intent.Kind]; onInstance {
			e.call(func() {
				stopped := maps.Clone(e.history.Stopped) // Snapshots have the other one
				noteStop(stopped, step.Intent, state, StopRecord{Name: step.Target.Name, At: e.cfg.Clock(), By: e.cfg.Operator})
				e.history.Stopped = stopped
				cold := maps.Clone(e.history.Cold)
				noteCold(cold, step.Intent, state, base.cold())
				e.history.Cold = cold
			})
		}
		return o
	}

	w, err := e.writerFor(step, c)
	if err == nil {
		err = e.checked(work, step, w)
	}
	if err == nil {
		// The last look before the write: the lease can have gone while the servers were asked, or been taken over since it was
		// last renewed.
		err = e.mayStillWrite(work)
	}
	if err != nil {
		r := base
		r.Kind, r.Error = RecordRefused, err.Error()
		e.kept(e.journal(work, r))
		if e.ctx.Err() != nil { // nothing failed: it was not begun
			return outcome{state: OperationStopped, text: "not begun: Lockstep left"}
		}
		return outcome{state: OperationFailed, text: errorText(err)}
	}

	if onInstance, ok := w.(*instanceWriter); ok {
		base.By = e.cfg.Operator
		base.Begun = onInstance.beginsFrom(e.cfg.Clock())
	}
	before := base
	before.Kind, before.Commands = RecordBefore, step.Commands
	before.From, before.To = w.values()
	before.Change, before.Tags, before.Override = change, tags, override // what is remembered where the end is not seen
	if err := e.journal(work, before); err != nil {
		return outcome{state: OperationFailed, text: "not done: " + err.Error()}
	}
	if err := e.mayWrite(); err != nil { // a slow disk may have taken longer than the lease is good for
		change, tags = nil, nil
		return end(outcome{state: OperationFailed, text: "not done: " + errorText(err)})
	}
	began := e.cfg.Clock()
	err = e.send(work, w, began, func(text string) { report(OperationRunning, text) })
	after := base
	after.Kind, after.State = RecordAfter, "accepted"
	if err != nil {
		after.State, after.Error = "refused", err.Error()
		if uncertain(err) {
			after.State = "answer lost"
		}
	}
	e.kept(e.journal(work, after))
	if e.cfg.OnWrite != nil {
		e.cfg.OnWrite()
	}
	if err != nil && !uncertain(err) {
		change, tags = nil, nil
		return end(outcome{state: OperationFailed, text: errorText(err)})
	}
	lost := err
	if lost != nil {
		report(OperationVerifying, "whether it was done is not known ("+errorText(lost)+"): looking")
	} else {
		report(OperationVerifying, "accepted")
	}
	ended := e.verify(work, w, began, lost, func(text string) { report(OperationVerifying, text) })
	if e.cfg.OnWrite != nil {
		e.cfg.OnWrite()
	}
	return end(ended)
}

// changeOf is what is remembered of a change of a node's annotation, to be offered back; nil for all others.
func (e *Engine) changeOf(c Change) *AnnotationChange {
	if a, ok := c.(SetNodeAnnotation); ok {
		return &AnnotationChange{Node: a.Node.Name, Key: a.Key, Old: a.Old, New: a.New, At: e.cfg.Clock(), By: e.cfg.Operator}
	}
	return nil
}

// tagsOf is the same of an instance's tags.
func (e *Engine) tagsOf(c Change) *TagChange {
	if a, ok := c.(SetMaintenanceTags); ok {
		return &TagChange{Instance: a.Instance.Name, Old: a.Old, New: a.New, At: e.cfg.Clock(), By: e.cfg.Operator}
	}
	return nil
}

// verify looks until the cluster shows how it ended, or it is clear that nothing will come.
func (e *Engine) verify(work context.Context, w writer, began time.Time, lost error, report func(string)) outcome {
	var (
		last  string
		quiet = e.cfg.Wall() // since when nothing has happened
	)
	for {
		o := lookOnce(work, w, began)
		if work.Err() != nil {
			return outcome{state: OperationUnknown, text: leftUnseen}
		}
		switch {
		case o.err != nil && isGone(o.err):
			o.text = "it cannot be found any more: " + errorText(o.err)
			if e.cfg.Wall().Sub(quiet) > e.cfg.Settle {
				return outcome{state: OperationUnknown, text: "the result was not seen: " + errorText(o.err)}
			}
		case o.err != nil:
			o.text = "cannot see the result: " + errorText(o.err)
			quiet = e.cfg.Wall() // an outage is not a sign that nothing happens
		case o.state.Ended():
			return outcome{state: o.state, text: o.text, again: o.again}
		case o.moving:
			quiet = e.cfg.Wall()
		case e.cfg.Wall().Sub(quiet) > e.cfg.Settle:
			if lost != nil {
				return outcome{state: OperationFailed, text: "it was not done: " + errorText(lost)}
			}
			if o.text == "" {
				o.text = "accepted, but nothing came of it"
			}
			return outcome{state: OperationFailed, text: o.text}
		}
		if o.text != "" && o.text != last {
			last = o.text
			report(o.text)
		}
		select {
		case <-work.Done():
			return outcome{state: OperationUnknown, text: leftUnseen}
		case <-time.After(e.cfg.PollEvery):
		}
	}
}

// isGone tells whether a server says that what was written to is not there, or is another object of the name by now.
func isGone(err error) bool {
	var api *APIError
	return errors.As(err, &api) && (api.Kind == ErrNotFound || api.Kind == ErrConflict)
}

// uncertain tells whether a write may have been made although it failed. What does not say that it was refused was not.
func uncertain(err error) bool {
	var api *APIError
	if errors.As(err, &api) {
		return api.Uncertain()
	}
	return !errors.Is(err, ErrRefused)
}

// errorText is an error for an operation's line: the server's own words where there are some.
func errorText(err error) string {
	var api *APIError
	if errors.As(err, &api) && api.Message != "" {
		return fmt.Sprintf("%s: %s", api.Kind, api.Message)
	}
	return err.Error()
}
