package engine

import (
	"maps"
	"slices"
	"sync"
	"time"

	"lockstep/core"
)

// operations are the operations of this run and of others, newest first. It is safe for use by several goroutines: running operations
// report to it, and the Engine copies it into Snapshots.
type operations struct {
	mu   sync.Mutex
	all  []*operation
	past []core.Operation // of earlier runs: those whose end nobody saw, or that failed

	unseen  []core.PastWrite  // writes of earlier runs that are still to be looked up
	records map[string]Record // for operations of earlier runs, by ID: what the record of their end says beside the end

	elsewhere []core.Operation // those that another live run has under way
}

// keptOperations is how many operations are kept. Failed ones that nobody has acknowledged are always kept.
const keptOperations = 200

// operation is one running or ended Operation, and the controls that its goroutine obeys.
type operation struct {
	let     passage // what may be written in it
	mu      sync.Mutex
	state   core.Operation
	control chan struct{} // wakes the batch after a control
	paused  bool
	stopped bool
	taken   map[int]bool // the items that have begun, and were not put back
}

func newOperations() *operations { return &operations{} }

func (o *operations) add(op *operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = slices.Insert(o.all, 0, op)
	if len(o.all) <= keptOperations {
		return
	}
	o.all = slices.DeleteFunc(o.all, func(op *operation) bool {
		s := op.snapshot()
		forget := s.State.Ended() && (s.State == core.OperationDone || s.Acknowledged) && op != o.all[0]
		return forget && len(o.all) > keptOperations
	})
}

func (o *operations) list() []core.Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]core.Operation, 0, len(o.all)+len(o.past))
	for _, op := range o.all {
		out = append(out, op.snapshot())
	}
	mixed := len(o.elsewhere) > 0 || len(out) > 0 && len(o.past) > 0 && o.past[0].Started.After(out[len(out)-1].Started)
	out = append(append(out, o.elsewhere...), o.past...)
	if mixed { // other runs work at the same time as this one
		slices.SortStableFunc(out, func(a, b core.Operation) int { return b.Started.Compare(a.Started) })
	}
	return out
}

// setElsewhere notes what other runs have under way.
func (o *operations) setElsewhere(ops []core.Operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.elsewhere = ops
}

// allElsewhere are the operations that other runs have under way.
func (o *operations) allElsewhere() []core.Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.elsewhere
}

func (o *operations) find(id string) *operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, op := range o.all {
		if op.state.ID == id { // the ID is never changed
			return op
		}
	}
	return nil
}

// acknowledge marks an ended operation as seen, and tells whether there was one to mark.
func (o *operations) acknowledge(id string) bool {
	if op := o.find(id); op != nil {
		op.mu.Lock()
		defer op.mu.Unlock()
		if !op.state.State.Ended() || op.state.Acknowledged {
			return false
		}
		op.state.Acknowledged = true
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.past {
		if o.past[i].ID == id && !o.past[i].Acknowledged {
			o.past[i].Acknowledged = true
			return true
		}
	}
	return false
}

// maxItemText is how much of a batch item's text the record of its end keeps, in bytes.
const maxItemText = 400

// restore finds the operations of earlier runs whose end was not recorded, or that failed and were not acknowledged. They are shown,
// not resumed, and their end is looked up; what to do next follows from the cluster alone. An operation that ended well or was
// acknowledged is kept if it came after one of these: the last try of a step is the one that counts.
func (o *operations) restore(past []Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	acknowledged := map[string]bool{} // meanwhile, perhaps, since these records were read
	for _, op := range o.past {
		acknowledged[op.ID] = op.Acknowledged
	}
	o.past, o.unseen = nil, nil
	open := map[string]core.Operation{}
	writes := map[string]core.PastWrite{} // by ID of the operation or item: its newest write
	o.records = map[string]Record{}
	var order []string
	update := ""                // its UID
	forget := func(id string) { // a batch with its items
		maps.DeleteFunc(open, func(known string, _ core.Operation) bool { return core.BatchOf(known) == id })
	}
	for _, r := range past {
		if r.Settled {
			continue
		}
		switch r.Kind {
		case RecordBefore:
			if _, ok := open[r.Operation]; !ok {
				order = append(order, r.Operation)
			}
			op := r.operation(core.OperationUnknown)
			op.Text, op.Started, op.Ended = leftUnseen, r.At, time.Time{}
			open[r.Operation] = op
			o.records[r.Operation] = r.base()
			if r.Intent != nil && r.Object != nil {
				writes[r.Operation] = core.PastWrite{Operation: r.Operation, Item: -1, Intent: *r.Intent, Object: *r.Object,
					Begun: r.Begun, At: r.At, Wall: r.Wall}
			}
		case RecordVerified:
			op, ok := open[r.Operation]
			if !ok {
				break
			}
			if op.State, op.Ended, op.Text = core.OperationState(r.State), r.At, r.Error; op.State == core.OperationDone {
				delete(open, r.Operation)
				break
			}
			open[r.Operation] = op
		case RecordEnded:
			op := r.operation(core.OperationState(r.State))
			o.records[r.Operation] = r.base()
			forget(r.Operation)
			order = append(order, r.Operation)
			open[r.Operation] = op
		case RecordControl:
			if r.State == stateAcknowledged {
				for id, op := range open {
					if id == r.Operation || core.BatchOf(id) == r.Operation {
						op.Acknowledged = true
						open[id] = op
					}
				}
			}
		case RecordUpdate:
			if r.Update == nil || r.Update.UID == update || r.endsEarlier(update) {
				break
			}
			if update = r.Update.UID; r.Update.Ended.IsZero() { // another one began: of what was before, only what has no end counts
				maps.DeleteFunc(open, func(_ string, op core.Operation) bool { return !op.Ended.IsZero() })
				order = slices.DeleteFunc(order, func(id string) bool { _, ok := open[id]; return !ok })
				maps.DeleteFunc(writes, func(id string, _ core.PastWrite) bool { _, ok := open[id]; return !ok })
			}
		}
	}
	failed := false // a failed one that nobody has acknowledged came before
	order = slices.DeleteFunc(order, func(id string) bool {
		op, ok := open[id]
		failed = failed || ok && !op.Acknowledged && (op.State == core.OperationFailed || op.State == core.OperationUnknown)
		return !ok || !failed
	})
	for _, id := range slices.Backward(order) {
		if op, ok := open[id]; ok {
			op.Past, op.Acknowledged = true, op.Acknowledged || acknowledged[id]
			o.past = append(o.past, op)
			o.unseen = append(o.unseen, op.Unseen(writes)...)
			delete(open, id)
		}
	}
	kept := map[string]bool{}
	for _, op := range o.past {
		kept[op.ID] = true
	}
	maps.DeleteFunc(o.records, func(id string, _ Record) bool { return !kept[id] })
}

// base is what all records of one operation have in common.
func (r Record) base() Record {
	return Record{Operation: r.Operation, Step: r.Step, Intent: r.Intent, Object: r.Object, Node: r.Node, Title: r.Title}
}

// operation makes an Operation from a record.
func (r Record) operation(state core.OperationState) core.Operation {
	op := core.Operation{ID: r.Operation, Step: r.Step, Title: r.Title, Node: r.Node, State: state, Text: r.Text, Started: r.At, Ended: r.At}
	if !r.Began.IsZero() {
		op.Started = r.Began
	}
	if r.Intent != nil {
		op.Intent, op.Instance = *r.Intent, r.Intent.Instance
	}
	if r.Object != nil {
		op.Label = r.Object.Name
	}
	for _, item := range r.Items {
		op.Items = append(op.Items, core.OperationItem{Label: item.Label, Instance: item.Instance, Node: item.Node, State: item.State,
			Text: item.Text, Started: item.Began, Ended: item.Ended})
	}
	return op
}

func (op *operation) snapshot() core.Operation {
	op.mu.Lock()
	defer op.mu.Unlock()
	s := op.state
	s.Items = slices.Clone(s.Items)
	switch {
	case s.State.Ended():
	case op.stopped:
		s.Asked = core.ControlStop
	case op.paused && s.State != core.OperationPaused:
		s.Asked = core.ControlPause
	}
	return s
}

// set changes the state of the whole operation.
func (op *operation) set(state core.OperationState, text string, now time.Time) {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.state.State, op.state.Text = state, text
	if state.Ended() {
		op.state.Ended = now
	}
}

// setItem changes the state of one item of a batch.
func (op *operation) setItem(i int, state core.OperationState, text string, now time.Time) {
	op.mu.Lock()
	defer op.mu.Unlock()
	item := &op.state.Items[i]
	if item.Started.IsZero() && state != core.OperationQueued && state != core.OperationSkipped {
		item.Started = now
	}
	item.State, item.Text = state, text
	if state.Ended() {
		item.Ended = now
	}
}
