package core

import (
	"context"
	"time"
)

const (
	// writeTimeout is behind the deadlines that the adapters set on each call: they know how long their servers may take.
	writeTimeout = 35 * time.Minute

	// answerPatience is how long an answer may take before Lockstep looks what becomes of the write meanwhile, and how often it does.
	answerPatience = 15 * time.Second
)

// checked asks the servers themselves whether the step may be done.
func (e *Engine) checked(work context.Context, step Step, w writer) error {
	ctx, cancel := context.WithTimeout(work, checkTimeout)
	defer cancel()
	if err := e.nobodyElse(ctx, step); err != nil {
		return err
	}
	return w.check(ctx)
}

// lookOnce is one look at what became of a write.
func lookOnce(work context.Context, w writer, began time.Time) outcome {
	ctx, cancel := context.WithTimeout(work, lookTimeout)
	defer cancel()
	return w.outcome(ctx, began)
}

// send makes the write, and waits for its answer. Nova schedules a migration before it answers, which can take half an hour
// (docs/mosk.md#how-long-nova-takes): the instance is looked at meanwhile. Where that shows the write done, its answer is not waited
// for any longer.
func (e *Engine) send(work context.Context, w writer, began time.Time, report func(text string)) error {
	ctx, cancel := context.WithTimeout(work, writeTimeout)
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- w.write(ctx) }()
	action, schedules := w.(*instanceWriter)
	sent := e.cfg.Wall()
	for {
		select {
		case err := <-answer:
			return err
		case <-time.After(answerPatience):
		}
		text := "no answer for " + spanText(e.cfg.Wall().Sub(sent)) + " yet"
		if schedules {
			switch o := lookOnce(work, action, began); {
			case o.err != nil:
			case o.state == OperationDone:
				cancel()
				return <-answer
			case o.moving && o.text != "":
				text += "; " + o.text
			}
		}
		report(text)
	}
}
