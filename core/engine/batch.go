package engine

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// runBatch does the items of a batch in order, at most AtOnce at a time, and plans each of them again from the newest Snapshot right
// before it. The batch pauses at the first item that has failed in all its tries (unless the grant says to go on past failures), when
// the gate closes, when a source that it rests on goes stale, and when an item that is still to be done has changed since the grant. It
// goes on only when the operator says so.
func (e *Engine) runBatch(ctx context.Context, op *operation, b core.Batch) {
	r := &batchRun{e: e, op: op, batch: b, items: b.Items, told: map[int]string{}}
	atOnce, running, ends := max(b.AtOnce, 1), 0, make(chan struct{})
	for {
		for ; running == atOnce; running-- {
			<-ends // where there is one at a time, its failure has to be known before the next item begins
		}
		i, ok := r.next(ctx)
		if !ok || i < 0 && running == 0 {
			break
		}
		if i < 0 { // one that runs may be put back
			select {
			case <-ends:
				running--
			case <-op.control:
			}
			continue
		}
		if op.take(i) {
			running++
			work, done := e.work()
			go func() {
				r.ended(i, e.runItem(work, op, i, b, r.lastTry(i)))
				done()
				ends <- struct{}{}
			}()
		}
	}
	for ; running > 0; running-- {
		<-ends
	}

	// Items that are still queued were never begun, or wait for another try.
	for i, item := range op.snapshot().Items {
		if item.State != core.OperationQueued {
			continue
		}
		if o := r.lastTry(i); o.tries > 0 {
			op.setItem(i, o.state, o.text+"; not tried again: "+wording.TextOf(e.notAgain(op, b), "the batch is over"), e.cfg.Clock())
			continue
		}
		op.setItem(i, core.OperationStopped, "not begun", e.cfg.Clock())
	}
	state, text := sumOf(op.snapshot().Items)
	op.set(state, text, e.cfg.Clock())
}

// batchRun is a running batch.
type batchRun struct {
	e     *Engine
	op    *operation
	batch core.Batch
	items []core.BatchItem
	told  map[int]string // by item: the change that the operator was told of; -1 is the request

	why       string // why it is paused; empty when the operator paused it
	withdrawn bool   // the operator was told that the node is not removed any more

	mu      sync.Mutex
	failed  string          // why it has to pause; empty while nothing has failed
	unasked map[int]bool    // the items that were put back once
	tried   map[int]outcome // by item: the last try of those that were put back and have tries left
}

// lastTry is the last try of an item that was put back; zero for one on which nothing was sent.
func (r *batchRun) lastTry(i int) outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tried[i]
}

// putBack makes an item one that is still to be done. It keeps the tries that are left: no grant is for more than it said.
func (r *batchRun) putBack(i int, o outcome, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried == nil {
		r.tried = map[int]outcome{}
	}
	r.tried[i] = outcome{state: core.OperationFailed, text: o.text, tries: o.tries}
	r.op.putBack(i, text, o.tries > 0)
}

// nextTryComes ends the text of an item that waits for another try while the batch is held.
const nextTryComes = "; the next try comes when the batch goes on"

// ended notes how an item ended. One for which nothing was sent, as a whole server was away, is still to be done: the batch pauses even
// where it goes on past failures, as all items after it would end in the same way. The second time it has failed: it may be the item.
func (r *batchRun) ended(i int, o outcome) {
	if o.held {
		r.putBack(i, o, o.text+nextTryComes)
		r.e.changed()
		return
	}
	o.unasked = o.unasked && r.once(i)
	if o.unasked {
		r.putBack(i, o, o.text)
	} else {
		r.op.setItem(i, o.state, o.text, r.e.cfg.Clock())
	}
	if o.unasked || o.state == core.OperationUnknown || o.state == core.OperationFailed && !r.batch.PastFailures {
		r.fail(r.items[i].Label + ": " + o.text)
	}
	r.e.changed()
}

// once tells whether an item is put back for the first time.
func (r *batchRun) once(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unasked == nil {
		r.unasked = map[int]bool{}
	}
	was := r.unasked[i]
	r.unasked[i] = true
	return !was
}

func (r *batchRun) fail(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == "" {
		r.failed = why
	}
}

func (r *batchRun) takeFailure() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := r.failed
	r.failed = ""
	return why
}

// next waits while the batch is paused, and returns the item that begins next; -1 when there is none, whether the batch is paused or not.
// It is false when the operator has stopped the batch, or when Lockstep is leaving.
func (r *batchRun) next(ctx context.Context) (i int, ok bool) {
	e, op := r.e, r.op
	for {
		if op.isStopped() || e.ctx.Err() != nil {
			return -1, false
		}
		if i = op.next(); i < 0 {
			if op.goesOn() { // what runs is not paused any more
				op.set(core.OperationRunning, "", e.cfg.Clock())
				e.changed()
			}
			return -1, true
		}
		if why := r.takeFailure(); why != "" { // of an item that ended during the pause, too
			r.why = why
			op.pause()
		}
		if op.goesOn() {
			if r.why = r.obstacle(i); r.why == "" {
				op.set(core.OperationRunning, "", e.cfg.Clock())
				return i, true
			}
			op.pause()
		}
		op.set(core.OperationPaused, "paused: "+wording.TextOf(r.why, "by the operator"), e.cfg.Clock())
		e.changed()
		select {
		case <-op.control:
		case <-ctx.Done():
			return -1, false
		}
	}
}

// obstacle is why the batch may not go on to item i now; empty when it may. What stands in the way of one item alone is no obstacle: it
// fails that item.
func (r *batchRun) obstacle(i int) string {
	if err := r.e.mayWrite(); err != nil {
		return err.Error()
	}
	s := r.e.Snapshot().Without(r.op.state.ID)
	if g, unmet := step.Plan(s, r.items[i].Intent).Unmet(core.GuardFresh); unmet {
		return "what is known is not fresh: " + g.Answer
	}
	if r.batch.Node != "" && s.Known(core.SourceNodeRequests) {
		if now := step.StandingRequest(s, r.batch.Node); now != r.batch.Request && r.told[-1] != now+"." {
			r.told[-1] = now + "."
			if now == "" {
				return "the maintenance request of " + s.Label(r.batch.Node) + " is gone: nobody asks for the node any more"
			}
			return s.Label(r.batch.Node) + " has another maintenance request than when the batch was confirmed"
		}
	}
	if withdrawn(s, r.batch) && !r.withdrawn {
		r.withdrawn = true
		return "the removal of " + s.Label(r.batch.Node) + " is withdrawn: the node stays"
	}
	states := r.op.snapshot().Items
	for j := i + 1; j < len(r.items); j++ {
		if states[j].State != core.OperationQueued {
			continue
		}
		if changed := changedSince(s, r.items[j], step.Plan(s, r.items[j].Intent)); changed != "" && r.told[j] != changed {
			r.told[j] = changed
			return r.items[j].Label + ", which is still to be done, has changed since the batch was confirmed: " + changed
		}
	}
	return ""
}

// withdrawn tells whether a batch was confirmed for the removal of a node that is not removed any more.
func withdrawn(s *core.Snapshot, b core.Batch) bool {
	d := s.Deletions[b.Node]
	return b.Removal != "" && s.Known(core.SourceDeletionRequests) && (d == nil || d.UID != b.Removal)
}

// changedSince says how an item has changed since the grant; empty when it has not, or when nothing is left to do.
func changedSince(s *core.Snapshot, item core.BatchItem, now core.Step) string {
	if nothingLeft(s, item.Change) != "" {
		return ""
	}
	switch changed := step.ChangedFactsIn(s, item.Basis, now.Basis); {
	case len(changed) > 0:
		return strings.Join(changed, "; ")
	case now.Change == nil:
		return wording.TextOf(now.Blocker(), "it cannot be done any more")
	case !reflect.DeepEqual(now.Change, item.Change):
		return changeText(item.Change) + " → " + changeText(now.Change)
	}
	return ""
}

// runItem does one item. When a try fails after Nova accepted it, it tries again, as often as the item allows. o is its last try, where it
// goes on with the next one. An outcome that leaves more to be tried says how many tries there were.
func (e *Engine) runItem(ctx context.Context, op *operation, i int, b core.Batch, o outcome) outcome {
	item := b.Items[i]
	tries := max(item.Tries, 1)
	for try := o.tries + 1; ; try++ {
		if try > 1 {
			if why := e.notAgain(op, b); why != "" {
				return outcome{state: o.state, text: o.text + "; not tried again: " + why}
			}
		}
		o = e.tryItem(ctx, op, i, item, try, tries)
		switch {
		case o.state == core.OperationDone && try > 1:
			o.text += wording.InBrackets(tryText(try, tries))
			return o
		case !o.again || try == tries:
			if try > 1 && o.state == core.OperationFailed {
				o.text = tryText(try, tries) + ": " + o.text
			}
			if o.unasked { // nothing was sent: this try is still to come
				o.tries = try - 1
			}
			return o
		}
		op.setItem(i, core.OperationVerifying, tryText(try+1, tries)+" comes: "+o.text, e.cfg.Clock())
		e.changed()
		e.awaitItem(ctx, op, item)
		o.text, o.tries = tryText(try, tries)+": "+o.text, try
		if !op.goesOn() { // what speaks against another try is said when it goes on, or at its end
			o.held = true
			return o
		}
	}
}

// notAgain is why nothing of the batch is tried again; empty when it may be.
func (e *Engine) notAgain(op *operation, b core.Batch) string {
	s := e.Snapshot()
	switch {
	case e.ctx.Err() != nil:
		return "Lockstep is leaving"
	case op.isStopped():
		return "the batch is stopped"
	case b.Node != "" && s.Known(core.SourceNodeRequests) && step.StandingRequest(s, b.Node) != b.Request:
		return "the node's maintenance request is not the one that was there"
	case withdrawn(s, b):
		return "the node is not removed any more"
	}
	return ""
}

func tryText(try, tries int) string { return fmt.Sprintf("try %d of %d", try, tries) }

// awaitItem waits until the Snapshots show the item as it was before its last try, but no longer than a result may take to be seen. The
// try was watched on the server itself; the Snapshots come later.
func (e *Engine) awaitItem(ctx context.Context, op *operation, item core.BatchItem) {
	for quiet := e.cfg.Wall(); e.cfg.Wall().Sub(quiet) < e.cfg.Settle && e.ctx.Err() == nil && !op.isStopped(); {
		s := e.Snapshot().Without(op.state.ID)
		gone := nothingLeft(s, item.Change) != ""
		if step := step.Plan(s, item.Intent); gone || changedSince(s, item, step) == "" && step.Blocker() == "" {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(e.cfg.PollEvery):
		}
	}
}

// tryItem plans one item again and does it. An item with nothing left to do is skipped; one that has changed since the grant fails.
func (e *Engine) tryItem(ctx context.Context, op *operation, i int, item core.BatchItem, try, tries int) outcome {
	s := e.Snapshot().Without(op.state.ID)
	step := step.Plan(s, item.Intent)
	if why := nothingLeft(s, item.Change); why != "" {
		return outcome{state: core.OperationSkipped, text: why}
	}
	if step.Change == nil {
		return outcome{state: core.OperationFailed, text: "it cannot be done any more: " + step.Blocker()}
	}
	if changed := changedSince(s, item, step); changed != "" {
		return outcome{state: core.OperationFailed, text: "it has changed since the batch was confirmed: " + changed}
	}
	if b := step.Blocker(); b != "" {
		return outcome{state: core.OperationFailed, text: b}
	}
	text := ""
	if try > 1 {
		text = tryText(try, tries)
		step.Title += wording.InBrackets(text)
	}
	op.setItem(i, core.OperationRunning, text, e.cfg.Clock())
	e.changed()
	return e.perform(ctx, op, i, step)
}

// sumOf is the state of a batch and its text, from its items: how it ended, or how a batch of an earlier run is going.
func sumOf(items []core.OperationItem) (core.OperationState, string) {
	counts := map[core.OperationState]int{}
	for _, item := range items {
		counts[item.State]++
	}
	parts := []string{fmt.Sprintf("%d of %d done", counts[core.OperationDone], len(items))}
	for _, s := range []core.OperationState{core.OperationFailed, core.OperationUnknown, core.OperationVerifying, core.OperationSkipped,
		core.OperationStopped} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], wording.TextOf(sumWords[s], string(s))))
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case counts[core.OperationVerifying] > 0:
		return core.OperationVerifying, text
	case counts[core.OperationFailed] > 0:
		return core.OperationFailed, text
	case counts[core.OperationUnknown] > 0:
		return core.OperationUnknown, text
	case counts[core.OperationStopped] > 0:
		return core.OperationStopped, text
	}
	return core.OperationDone, text
}

// sumWords are the words for items of a batch where they differ from the state's own name.
var sumWords = map[core.OperationState]string{core.OperationVerifying: "under way", core.OperationStopped: "not begun"}
