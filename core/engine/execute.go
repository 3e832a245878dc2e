package engine

import (
	"context"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// Execute does what was granted. It returns as soon as the gate has let the step through; how it goes is an Operation in
// the Snapshots. A refusal is journalled and wraps ErrRefused.
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

// begin runs in the Engine's goroutine: the gate, and then the operation's own goroutine.
func (e *Engine) begin(g core.Grant) (string, error) {
	// The newest facts, not those of the last Snapshot: what is in the inbox counts too.
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

// leavingApart is how long after one another those who work on operations are told that Lockstep leaves.
const leavingApart = 10 * time.Microsecond

// work is the context of an operation, or of an item of one. It ends with the Engine's, but one after the other, in the order in
// which they began: so the last words of those that are cut off together come in an order, too. The caller calls done.
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

// ended records how an operation ended: one that failed is shown until it is acknowledged, by the next run too, whether or not
// anything of it was written.
func (e *Engine) ended(work context.Context, op *operation, step core.Step) {
	s := op.snapshot()
	r := Record{Kind: RecordEnded, Operation: s.ID, Step: s.Step, Intent: &step.Intent, Object: new(step.Target), Node: s.Node, Title: s.Title,
		State: string(s.State), Text: s.Text, Began: s.Started.UTC(), Items: recordsOf(s.Items)}
	e.kept(e.journal(work, r))
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

// changed asks for a Snapshot that shows how an operation goes.
func (e *Engine) changed() {
	e.call(func() {})
}
