package kube

import (
	"context"
	"slices"
	"sync"

	"lockstep/core"
)

// outbox carries Deltas to the sink in a goroutine of its own, so that a busy sink never delays a watch. It merges what arrives
// meanwhile by source: a burst of events becomes one Delta.
type outbox struct {
	sink func(core.Delta)
	wake chan struct{}

	mu      sync.Mutex
	pending []core.Delta
	last    map[core.SourceID]int // the index in pending of each source's last Delta
}

func newOutbox(sink func(core.Delta)) *outbox {
	return &outbox{sink: sink, wake: make(chan struct{}, 1), last: map[core.SourceID]int{}}
}

// put takes a Delta and owns its slices from then on. It never blocks.
func (o *outbox) put(d core.Delta) {
	o.mu.Lock()
	i, waiting := o.last[d.Source]
	if !waiting || !merge(&o.pending[i], d) {
		o.last[d.Source] = len(o.pending)
		o.pending = append(o.pending, d)
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run passes Deltas to the sink until ctx is done.
func (o *outbox) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
		o.mu.Lock()
		batch := o.pending
		o.pending = nil
		clear(o.last)
		o.mu.Unlock()
		for _, d := range batch {
			if ctx.Err() != nil {
				return
			}
			o.sink(d)
		}
	}
}

// merge adds b to a, an earlier Delta of the same source. It returns false when that would lose something that matters: a change of
// state or its time, or an object that was deleted and made again.
func merge(a *core.Delta, b core.Delta) bool {
	if b.State != "" || b.Replace || b.Host != a.Host || a.Err != nil || a.State != "" && b.At.Before(a.At) {
		return false
	}
	for _, o := range b.Upserts {
		if slices.Contains(a.Deletes, o.Key()) {
			return false
		}
	}
	for _, o := range b.Upserts {
		key := o.Key()
		if i := slices.IndexFunc(a.Upserts, func(u core.Object) bool { return u.Key() == key }); i >= 0 {
			a.Upserts[i] = o
		} else {
			a.Upserts = append(a.Upserts, o)
		}
	}
	for _, key := range b.Deletes {
		a.Upserts = slices.DeleteFunc(a.Upserts, func(u core.Object) bool { return u.Key() == key })
		if !slices.Contains(a.Deletes, key) {
			a.Deletes = append(a.Deletes, key)
		}
	}
	a.At = b.At
	a.Touch = a.Touch || b.Touch
	return true
}
