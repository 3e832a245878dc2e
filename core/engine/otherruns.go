package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// apart separates the records of operations that other live runs have under way: those runs record the end themselves. It also leaves
// out this run's own operations, about which the Engine knows more than the journal.
func (e *Engine) apart(past []Record) (settled []Record, elsewhere []core.Operation) {
	type begun struct {
		run   string
		op    core.Operation
		ended bool
	}
	open := map[string]*begun{}
	var order []string
	for _, r := range past {
		id := core.BatchOf(r.Operation)
		if r.Settled {
			continue
		}
		switch r.Kind {
		case RecordGrant, RecordBefore:
			b := open[id]
			if b == nil {
				b = &begun{run: r.Run, op: r.operation(core.OperationRunning)}
				b.op.ID, b.op.Ended, b.op.Started = id, time.Time{}, time.Time{}
				open[id] = b
				order = append(order, id)
			}
			if r.Kind == RecordBefore && b.op.Started.IsZero() {
				b.op.Started = r.At
			}
		case RecordEnded:
			if b := open[id]; b != nil {
				b.ended = true
			}
		}
	}
	lives := map[string]string{} // by run: who it is
	apart := map[string]bool{}   // by ID: operations that are not of earlier runs
	for _, id := range order {
		b := open[id]
		if e.ops.find(id) != nil {
			apart[id] = true
			continue
		}
		if b.ended || b.run == "" || e.cfg.Lives == nil {
			continue
		}
		who, known := lives[b.run]
		if !known {
			var alive bool
			if who, alive = e.cfg.Lives(b.run); alive {
				who = wording.TextOf(who, "another process")
			}
			lives[b.run] = who
		}
		if who == "" {
			continue
		}
		if apart[id] = true; b.op.Started.IsZero() {
			continue // it was confirmed, but not begun
		}
		b.op.Elsewhere, b.op.Run = who, b.run
		b.op.Text = "under way in another window of yours: " + who
		elsewhere = append(elsewhere, b.op)
	}
	slices.Reverse(elsewhere) // newest first
	settled = slices.DeleteFunc(slices.Clone(past), func(r Record) bool { return apart[core.BatchOf(r.Operation)] && r.Operation != "" })
	return settled, elsewhere
}

// startFrom takes in the journal's records at the start.
func (e *Engine) startFrom(past []Record) {
	settled, elsewhere := e.apart(past)
	e.entries.remember(past)
	e.moves.remember(past)
	e.plan.remember(past)
	e.notes = notesOf(past)
	e.ops.restore(settled)
	e.ops.setElsewhere(elsewhere)
	// What a live run has begun and has not recorded the end of is still under way.
	e.history = replay(slices.DeleteFunc(slices.Clone(past), func(r Record) bool {
		return r.Kind == RecordBefore && slices.ContainsFunc(elsewhere,
			func(op core.Operation) bool { return op.ID == core.BatchOf(r.Operation) })
	}))
}

// otherRuns knows which other runs live. The Engine's goroutine asks, and never waits for the disk: the one that follows others looks.
type otherRuns struct {
	mu    sync.Mutex
	lives map[string]bool // by run, of those that were asked about: as at the last look
}

// live tells whether a run lives, as far as is known: one that was not looked at yet may live. It is looked at from now on.
func (o *otherRuns) live(run string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	lives, known := o.lives[run]
	if !known {
		if o.lives == nil {
			o.lives = map[string]bool{}
		}
		lives, o.lives[run] = true, true
	}
	return lives
}

// look looks at each run that was asked about. One that was dead stays so.
func (o *otherRuns) look(lives func(run string) (who string, lives bool)) {
	o.mu.Lock()
	runs := slices.Sorted(maps.Keys(o.lives))
	o.mu.Unlock()
	for _, run := range runs {
		if !o.live(run) {
			continue
		}
		_, lives := lives(run)
		o.mu.Lock()
		o.lives[run] = lives
		o.mu.Unlock()
	}
}

// followOthers takes in what other runs do, and notices those that die, whenever look says so, until ctx is done. It runs in a goroutine
// of its own, because the disk may be slow and the Engine's goroutine must not wait for it.
func (e *Engine) followOthers(ctx context.Context, look <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-look:
			e.follow()
		}
	}
}

func (e *Engine) follow() {
	follow, done := e.cfg.Follower.Follow, e.cfg.Follower.Done
	if e.cfg.Journal != nil {
		follow, done = e.cfg.Journal.Follow, e.cfg.Journal.Done
	}
	others, err := follow()
	e.kept(err)
	e.others.look(e.cfg.Lives)
	before := e.ops.allElsewhere()
	died := slices.ContainsFunc(before, func(op core.Operation) bool {
		_, lives := e.cfg.Lives(op.Run)
		return !lives
	})
	if len(others) == 0 && !died {
		return
	}
	settled, elsewhere := e.apart(done())
	dead := map[string]bool{}
	for _, op := range before {
		dead[op.ID] = !slices.ContainsFunc(elsewhere, func(o core.Operation) bool { return o.ID == op.ID })
	}
	var did []Record // what others did, in its order
	for _, r := range others {
		if r.Kind == RecordVerified {
			did = append(did, r)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(unseenEnds(settled))) {
		if dead[core.BatchOf(settled[i].Operation)] {
			did = append(did, settled[i].unseen())
		}
	}
	e.call(func() {
		h := own(e.history)
		for _, r := range did {
			noteRecord(&h, r)
		}
		e.history = h
		for _, r := range others {
			if r.Kind == RecordControl && r.State == stateAcknowledged {
				e.ops.acknowledge(r.Operation)
			}
			if r.Kind == RecordNote && r.Note != nil {
				e.notes = core.WithNote(e.notes, *r.Note)
			}
		}
		e.ops.restore(settled)
		e.ops.setElsewhere(elsewhere)
	})
}
