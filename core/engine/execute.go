package engine

import (
	"context"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// Execute does what was granted. It returns the operation's ID as soon as the gate has let the step through; the Snapshots show how the
// Operation goes. A refusal is journalled, and its error wraps ErrRefused.
func (e *Engine) Execute(ctx context.Context, g core.Grant) (string, error) {
	var (
		id  string
		err error
	)
	ran := e.call(func() { id, err = e.begin(g) })
	if !ran {
		return "", refuse("Lockstep is leaving")
	}
	return id, err
}

// begin runs in the Engine's goroutine: it asks the gate, and then starts the operation's own goroutine.
func (e *Engine) begin(g core.Grant) (string, error) {
	// The gate judges by the newest facts: what is in the inbox counts too.
	e.drain()
	e.publish()
	s := e.Snapshot()
	step := step.Plan(s, g.Intent)
	let, err := e.gate(g, step)
	if err != nil {
		e.record(Record{Kind: RecordRefused, Operation: g.ID, Step: g.StepID, Intent: &g.Intent, Object: &g.Target, Title: step.Title,
			Error: err.Error()}, true)
		return "", err
	}
	op := &operation{
		let:     let,
		control: make(chan struct{}, 1),
		state: core.Operation{ID: g.ID, Step: step.ID, Title: step.Title, Label: step.Label, Node: step.Node, Instance: step.Intent.Instance,
			Intent: step.Intent, State: core.OperationRunning, Started: s.Now},
	}
	batch, isBatch := step.Change.(core.Batch)
	if isBatch {
		for _, item := range batch.Items {
			op.state.Items = append(op.state.Items, core.OperationItem{Label: item.Label, Instance: item.Intent.Instance,
				Node: item.Intent.OneNode(), State: core.OperationQueued})
		}
	}
	e.ops.add(op)
	e.seenTo(s, op.snapshot())
	e.tasks.Add(1)
	work, done := e.work()
	go func() {
		defer e.tasks.Done()
		defer done()
		if isBatch {
			e.runBatch(work, op, batch)
		} else {
			o := e.perform(work, op, -1, step)
			op.set(o.state, o.text, e.cfg.Clock())
		}
		e.ended(work, op, step)
		e.changed()
	}()
	return g.ID, nil
}

// leavingApart is the time between telling one operation and the next that Lockstep is leaving.
const leavingApart = 10 * time.Microsecond

// work returns the context of an operation or of an item. It ends with the Engine's. The contexts end one after another, in the order
// in which they began, so that the last records of operations that are cut off together have an order too. The caller calls done.
func (e *Engine) work() (ctx context.Context, done context.CancelFunc) {
	behind := time.Duration(e.begun.Add(1)) * leavingApart
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.ctx))
	stop := context.AfterFunc(e.ctx, func() {
		select {
		case <-time.After(behind):
		case <-ctx.Done():
		}
		cancel()
	})
	return ctx, func() { stop(); cancel() }
}

// ended records how an operation ended. One that failed is shown until it is acknowledged, by the next run too, whether or not it wrote
// anything.
func (e *Engine) ended(work context.Context, op *operation, step core.Step) {
	s := op.snapshot()
	r := Record{Kind: RecordEnded, Operation: s.ID, Step: s.Step, Intent: &step.Intent, Object: new(step.Target), Node: s.Node, Title: s.Title,
		State: string(s.State), Text: s.Text, Began: s.Started.UTC(), Items: recordsOf(s.Items),
		Took: seconds(e.cfg.Clock().Sub(s.Started))}
	e.happened(work, r)
	e.announce(s, step.Target)
}

// recordsOf are the items of an operation as the record of its end keeps them.
func recordsOf(items []core.OperationItem) []ItemRecord {
	var out []ItemRecord
	for _, item := range items {
		out = append(out, ItemRecord{Label: item.Label, Instance: item.Instance, Node: item.Node, State: item.State,
			Text: wording.Clip(item.Text, maxItemText), Began: item.Started.UTC(), Ended: item.Ended.UTC()})
	}
	return out
}

// changed has a Snapshot published that shows how an operation goes.
func (e *Engine) changed() {
	e.call(func() {})
}
