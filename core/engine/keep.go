package engine

import (
	"context"
	"errors"
)

// record hands a record that no write depends on to the journal and does not wait, so it may be called in the Engine's goroutine. What
// cannot be written to the disk now waits there; until it is written, nothing is written to a cluster. Without a journal (as in a
// single look at the cluster) nothing is recorded.
func (e *Engine) record(r Record, durable bool) {
	e.keep(durable, e.stamped(r))
}

func (e *Engine) keep(durable bool, records ...Record) {
	e.recordAll(records...)
	if e.cfg.Journal != nil && len(records) > 0 {
		e.scribe.put(durable, e.kept, records...)
	}
}

// journal hands a record that a write depends on to the journal, and waits until it is on the disk. It must not be called in the
// Engine's goroutine. When ctx is done or the Engine has ended, it stops waiting; the record is written all the same.
func (e *Engine) journal(ctx context.Context, r Record) error {
	return e.awaitRecord(ctx, r, e.scribe.demand)
}

// happened is journal for what has happened already: a record that cannot be written now waits, and is written as soon as it can be.
func (e *Engine) happened(ctx context.Context, r Record) {
	e.kept(e.awaitRecord(ctx, r, func(r Record, done func(error)) { e.scribe.put(true, done, r) }))
}

func (e *Engine) awaitRecord(ctx context.Context, r Record, hand func(Record, func(error))) error {
	if e.cfg.Journal == nil {
		return errors.New("there is no journal to keep the record in")
	}
	done := make(chan error, 1)
	r = e.stamped(r)
	e.recordAll(r)
	hand(r, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return errors.New("the disk did not write the record in time")
		}
	case <-e.done:
	}
	return errLeaving
}

// errLeaving is the error when nobody waits for a record any more.
var errLeaving = errors.New("not waited for the record: Lockstep is leaving")

// kept notes whether records could be written, or read where they only are read. It logs when that begins to fail, and when it works again;
// of the writing it tells the operator, too, as nobody looks into a log on a disk that is full.
func (e *Engine) kept(err error) {
	if errors.Is(err, errLeaving) {
		return
	}
	switch failed := e.unkept.Swap(err != nil); {
	case err != nil && !failed && e.cfg.Journal == nil:
		e.cfg.Log.Warn("the journal cannot be read: what others do is not known", "error", err)
	case err == nil && failed && e.cfg.Journal == nil:
		e.cfg.Log.Info("the journal can be read again")
	case err != nil && !failed:
		e.cfg.Log.Error("the journal cannot be written; its records wait until it can be", "error", err)
		e.trouble("the journal cannot be written (" + err.Error() + "): its records wait until it can be, and those that still wait when " +
			"Lockstep ends are lost; make room on its disk, or see to that error")
	case err == nil && failed:
		e.cfg.Log.Info("the journal is written again")
		e.trouble("the journal is written again: no record waits any more")
	}
}

func (e *Engine) trouble(text string) {
	if e.cfg.Trouble != nil {
		e.cfg.Trouble(text)
	}
}

// stamped is the record with its operator and its times.
func (e *Engine) stamped(r Record) Record {
	r.Wall = e.cfg.Wall().UTC()
	if r.At.IsZero() {
		r.At = e.cfg.Clock().UTC()
	}
	if r.By == "" {
		r.By = e.cfg.Operator
	}
	return r
}
