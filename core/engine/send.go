package engine

import (
	"context"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

const (
	// writeTimeout is behind the deadlines that the adapters set on each call: they know how long their servers may take.
	writeTimeout = 35 * time.Minute

	// answerPatience is how long an answer may take before Lockstep looks what becomes of the write meanwhile, and how often it does.
	answerPatience = 15 * time.Second
)

// look is one look at what became of the write.
func (w *writing) look() outcome {
	ctx, cancel := context.WithTimeout(w.work, lookTimeout)
	defer cancel()
	return w.checker.outcome(ctx, w.sent)
}

// send makes the write, and waits for its answer. Nova schedules a migration before it answers, which can take half an hour
// (docs/mosk.md#how-long-nova-takes): the instance is looked at meanwhile. Where that shows the write done, its answer is not waited
// for any longer.
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
