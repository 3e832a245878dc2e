package engine

import (
	"context"
	"errors"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// The deadlines of a step's parts. Each part has its own, so that a slow one takes no time from the others.
const (
	// checkTimeout is for everything that is asked before a write, so that the answers are no older than facts may be
	// (Settings.StaleAfter).
	checkTimeout = time.Minute

	// leaseTimeout is for asking who holds the operator lease: two calls, and a renewal that may be under way.
	leaseTimeout = 30 * time.Second

	// answersHold is how long what was asked before a write is good for, from the first question on. The disk may take longer than that for
	// the record, or the machine may sleep, and meanwhile a request is withdrawn, a pod goes down, an instance is started.
	answersHold = checkTimeout + leaseTimeout

	// lookTimeout is for one look at the result of a write.
	lookTimeout = 30 * time.Second

	// writeTimeout is longer than the deadlines that the adapters set on each call: they know how long their servers may take.
	writeTimeout = 35 * time.Minute

	// blindFor is how long the result of a write is looked for while nobody can be asked for it: longer than a server is away for its own
	// update. Then it is not known, and the node is free for what needs no such answer, such as to set a lock by hand.
	blindFor = 30 * time.Minute

	// answerPatience is how long an answer may take before Lockstep looks for the result meanwhile, and how often it looks.
	answerPatience = 15 * time.Second
)

// stallPatience is how long what is awaited may stand still although its task goes on. Nothing else can be done on the node meanwhile, and
// a task never ends when RabbitMQ has lost what was to end it. Nova itself waits no longer for one of its parts
// (docs/mosk.md#how-long-nova-takes).
const stallPatience = 30 * time.Minute

// perform makes the change of a step and watches until the cluster shows its result. item is the batch item's index; -1 when there is
// none.
func (e *Engine) perform(work context.Context, op *operation, item int, step core.Step) outcome {
	w := e.newWriting(work, op, item, step)
	asked := e.cfg.Wall()
	if err := w.check(); err != nil {
		return w.refused(err)
	}
	if err := w.announce(); err != nil { // the journal may have the record all the same: then it needs its end
		return w.ended(w.notSent(outcome{state: core.OperationFailed, text: "not done: " + err.Error()}))
	}
	p, end, err := e.permit(op.let, step, w.change)
	if took := elapsed(e.cfg.Wall(), asked); err == nil && took > answersHold {
		end()
		err = refuse("what the servers answered is %s old: the disk of the journal was slow, or the machine slept; confirm it again",
			wording.SpanText(took))
	}
	if err != nil { // the disk may have taken longer than the lease lasts
		return w.ended(w.notSent(outcome{state: core.OperationFailed, text: "not done: " + errorText(err)}))
	}
	err = w.send(p)
	end()
	w.answered(err)
	if err != nil && !uncertain(err) {
		return w.ended(outcome{state: core.OperationFailed, text: errorText(err)})
	}
	return w.ended(w.verify(err))
}

// writing is one change on its way, from the check before its write to its result.
type writing struct {
	e    *Engine
	work context.Context
	op   *operation
	item int // of a batch; -1: the operation is this one change
	step core.Step
	base Record // what its records have in common

	rule    changeRule
	to      target
	checker checker
	memory  memory
	unable  error // why it cannot be written at all

	unasked bool // outcome.unasked, once check has failed

	change core.Change // as it is sent
	sent   sent
	sentAt time.Time // by the cluster's clock
}

// newWriting prepares a change. It asks no server yet.
func (e *Engine) newWriting(work context.Context, op *operation, item int, step core.Step) *writing {
	w := &writing{e: e, work: work, op: op, item: item, step: step, change: step.Change}
	id := op.state.ID // never changed
	if item >= 0 {
		id = core.ItemID(id, item)
	}
	w.base = Record{Operation: id, Step: step.ID, Intent: &step.Intent, Object: new(step.Target), Node: step.Node, Title: step.Title}
	if in := e.Snapshot().Instances.At(step.Intent.Instance); in != nil {
		w.base.Project = wording.OneLine(e.Snapshot().Project(in.ProjectID), 100)
	}
	rule, known := ruleOf(step.Change)
	if !known {
		w.unable = refuse("%s: a change of type %T cannot be done", step.Title, step.Change)
		return w
	}
	w.rule = rule
	if w.to, w.unable = e.target(rule.server); w.unable == nil {
		w.checker = rule.checker(e, step, step.Change)
		w.memory = rule.memory(e, step, step.Change, w.checker)
	}
	return w
}

// report shows in the Snapshots how it goes.
func (w *writing) report(state core.OperationState, text string) {
	if w.item >= 0 {
		w.op.setItem(w.item, state, text, w.e.cfg.Clock())
	} else {
		w.op.set(state, text, w.e.cfg.Clock())
	}
	w.e.changed()
}

// check asks the servers whether the change may be made, and has them try it. Then it asks once more whether writing is allowed: the
// lease can have expired while the servers were asked, or been taken over since it was last renewed.
func (w *writing) check() error {
	if w.unable != nil {
		return w.unable
	}
	if err := w.checkServers(); err != nil {
		var api *core.APIError
		w.unasked = errors.As(err, &api) && api.WholeServer()
		return err
	}
	w.change = w.rule.complete(w.change, w.checker)
	err := w.e.mayStillWrite(w.work)
	w.unasked = err != nil
	return err
}

func (w *writing) checkServers() error {
	ctx, cancel := context.WithTimeout(w.work, checkTimeout)
	defer cancel()
	if err := w.e.nobodyElse(ctx, w.step); err != nil {
		return err
	}
	if err := w.checker.check(ctx); err != nil {
		return err
	}
	if w.to.dryRun == nil {
		return nil
	}
	return w.to.dryRun.DryRun(ctx, w.change)
}

// refused records that nothing was written, and why.
func (w *writing) refused(err error) outcome {
	r := w.base
	r.Kind, r.Error = RecordRefused, err.Error()
	w.e.happened(w.work, r)
	return w.notSent(outcome{state: core.OperationFailed, text: errorText(err), unasked: w.unasked})
}

// notSent is how a change ended that was not sent: as failed says, unless Lockstep is leaving. Then it has not failed: it was not begun.
func (w *writing) notSent(failed outcome) outcome {
	if w.e.ctx.Err() != nil {
		return outcome{state: core.OperationStopped, text: "not begun: Lockstep left"}
	}
	return failed
}

// announce records what is about to be written, and waits until the record is on the disk.
func (w *writing) announce() error {
	w.memory.begins(&w.base)
	r := w.base
	r.Kind, r.Commands = RecordBefore, w.step.Commands
	r.From, r.To = w.checker.values()
	w.memory.before(&r)
	err := w.e.journal(w.work, r)
	w.sentAt = w.e.cfg.Clock()
	return err
}

// took is how long it is since the change was sent, in seconds.
func (w *writing) took() float64 {
	if w.sentAt.IsZero() {
		return 0
	}
	return seconds(w.e.cfg.Clock().Sub(w.sentAt))
}

// answered records the server's answer, or that it was lost.
func (w *writing) answered(err error) {
	r := w.base
	r.Kind, r.State, r.Took = RecordAfter, "accepted", w.took()
	if err != nil {
		r.State, r.Error = "refused", err.Error()
		if uncertain(err) {
			r.State = "answer lost"
		}
	}
	w.e.happened(w.work, r)
	w.e.wrote()
}

// ended records how it ended, and notes in the history what is to be remembered.
func (w *writing) ended(o outcome) outcome {
	r := w.base
	r.Kind, r.State, r.Took = RecordVerified, string(o.state), w.took()
	if o.state == core.OperationDone {
		r.Text = o.text
	} else {
		r.Error = o.text
	}
	note := w.memory.ends(&r, o.state)
	w.e.happened(w.work, r)
	if note != nil {
		w.e.call(func() { note(&w.e.history) })
	}
	return o
}

// wrote tells the pollers to look at once.
func (e *Engine) wrote() {
	if e.cfg.OnWrite != nil {
		e.cfg.OnWrite()
	}
}

// verify looks until the cluster shows how the write ended, or has shown no sign of it for too long. lost is why the answer is not
// known; nil: the change was accepted.
func (w *writing) verify(lost error) outcome {
	if lost != nil {
		w.report(core.OperationVerifying, "it is not known whether it was done ("+errorText(lost)+"): looking")
	} else {
		w.report(core.OperationVerifying, "accepted")
	}
	defer w.e.wrote()
	var (
		last  string
		since time.Time        // wall time since when last is told
		quiet = w.e.cfg.Wall() // wall time since when nothing has happened
		blind time.Time        // since when each look has failed; zero: the last one has not
	)
	for {
		o := w.look()
		if o.err == nil || isGone(o.err) {
			blind = time.Time{}
		} else if blind.IsZero() {
			blind = w.e.cfg.Wall()
		}
		if w.work.Err() != nil {
			return outcome{state: core.OperationUnknown, text: leftUnseen}
		}
		switch {
		case o.err != nil && isGone(o.err):
			o.text = "it cannot be found any more: " + errorText(o.err)
			if w.e.cfg.Wall().Sub(quiet) > w.e.cfg.Settle {
				return outcome{state: core.OperationUnknown, text: "the result was not seen: " + errorText(o.err)}
			}
		case o.err != nil && w.e.cfg.Wall().Sub(blind) > blindFor:
			return outcome{state: core.OperationUnknown, text: "its result could not be seen for " + wording.SpanText(blindFor) + ": " +
				errorText(o.err)}
		case o.err != nil:
			o.text = "cannot see the result: " + errorText(o.err)
			quiet = w.e.cfg.Wall() // an outage does not mean that nothing happens
		case o.state.Ended():
			return outcome{state: o.state, text: o.text, again: o.again}
		case o.moving && o.stalls && o.text == last && w.e.cfg.Wall().Sub(since) > stallPatience:
			return outcome{state: core.OperationUnknown, text: "still " + o.text + " after " + wording.SpanText(stallPatience) +
				": the message that asks for it may be lost"}
		case o.moving:
			quiet = w.e.cfg.Wall()
		case w.e.cfg.Wall().Sub(quiet) > w.e.cfg.Settle:
			if lost != nil {
				return outcome{state: core.OperationFailed, text: "it was not done: " + errorText(lost)}
			}
			if o.text == "" {
				o.text = "accepted, but nothing came of it"
			}
			if o.unsure {
				return outcome{state: core.OperationUnknown, text: o.text}
			}
			return outcome{state: core.OperationFailed, text: o.text}
		}
		if o.text != "" && o.text != last {
			last, since = o.text, w.e.cfg.Wall()
			w.report(core.OperationVerifying, o.text)
		}
		select {
		case <-w.work.Done():
			return outcome{state: core.OperationUnknown, text: leftUnseen}
		case <-time.After(w.e.cfg.PollEvery):
		}
	}
}

// look looks once at the result of the write.
func (w *writing) look() outcome {
	ctx, cancel := context.WithTimeout(w.work, lookTimeout)
	defer cancel()
	return w.checker.outcome(ctx, w.sent)
}

// send makes the write, and waits for its answer. Nova schedules a migration before it answers, which can take half an hour
// (docs/mosk.md#how-long-nova-takes). Lockstep looks at the instance meanwhile, and stops waiting when that shows the write done.
func (w *writing) send(p Permit) error {
	ctx, cancel := context.WithTimeout(w.work, writeTimeout)
	defer cancel()
	w.sent.began = w.e.cfg.Clock()
	answer := make(chan error, 1)
	go func() { answer <- w.to.writer.Write(ctx, p, w.change) }()
	since := w.e.cfg.Wall()
	for {
		select {
		case err := <-answer:
			w.sent.accepted = err == nil
			return err
		case <-time.After(answerPatience):
		}
		text := "no answer for " + wording.SpanText(w.e.cfg.Wall().Sub(since)) + " yet"
		if w.rule.slow {
			switch o := w.look(); {
			case o.err != nil:
			case o.state == core.OperationDone:
				cancel()
				err := <-answer
				w.sent.accepted = err == nil
				return err
			case o.moving && o.text != "":
				text += "; " + o.text
			}
		}
		w.report(core.OperationRunning, text)
	}
}
