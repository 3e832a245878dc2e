package engine

import (
	"context"
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Arm allows writing from now on. It takes the operator lease, and takes it over from the holder whom the operator has seen: from is what a
// Snapshot says of it (core.WriteMode.Lease); empty: only a lease that nobody holds. The error says who holds the lease, or what is
// missing.
func (e *Engine) Arm(ctx context.Context, from string) error {
	if why := e.barred(); why != "" {
		return refuse("writing cannot be armed: %s", why)
	}
	if err := e.journal(ctx, Record{Kind: RecordArm, State: "asked", Exact: from != "", From: from}); err != nil {
		return refuse("writing cannot be armed: %v", err)
	}
	if err := e.acquire(ctx, from); err != nil {
		e.record(Record{Kind: RecordArm, State: "refused", From: from, Error: err.Error()}, false)
		return err
	}
	armed := e.call(func() {
		e.armed.Store(true)
		e.write.Armed, e.write.Lost, e.write.Since = true, "", e.cfg.Wall()
		e.leaseSeen()
		e.record(Record{Kind: RecordArm, State: "armed", Exact: from != "", From: from}, true)
	})
	if !armed {
		return refuse("Lockstep is leaving")
	}
	return nil
}

// acquire takes the operator lease. If the lease is still being given back, it waits for that first.
func (e *Engine) acquire(ctx context.Context, from string) error {
	if e.cfg.Lease == nil {
		return nil
	}
	var givenBack <-chan struct{}
	e.call(func() {
		givenBack = e.givenBack
		e.cfg.Lease.Tell(e.doing()) // the next renewal is some seconds away
	})
	if givenBack != nil {
		select {
		case <-givenBack:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.cfg.Lease.Acquire(ctx, from)
}

// LookAtLease has the operator lease looked up at once: who is about to take it over sees what its holder does now.
func (e *Engine) LookAtLease() {
	if e.cfg.Lease != nil {
		e.cfg.Lease.LookNow()
	}
}

// Disarm ends writing. Running operations are watched to their end; nothing new begins. It returns when the lease is given back, or
// when the server has not answered in time.
func (e *Engine) Disarm() {
	var givenBack <-chan struct{}
	e.call(func() {
		e.disarm("")
		givenBack = e.givenBack
	})
	if givenBack != nil {
		<-givenBack
	}
}

// releaseTimeout is how long giving the lease back may take. After that the lease is left to expire.
const releaseTimeout = 3 * time.Second

// disarm runs in the Engine's goroutine and gives the lease back in another one: the server may be slow, and the screen must not wait
// for it. The reason is empty when the operator asked for it.
func (e *Engine) disarm(reason string) {
	if !e.write.Armed {
		return
	}
	e.armed.Store(false)
	e.write.Armed, e.write.Lost, e.write.Since = false, reason, e.cfg.Wall()
	e.record(Record{Kind: RecordDisarm, Text: reason}, true)
	e.leaseSeen()
	if e.cfg.Lease == nil {
		return
	}
	givenBack := make(chan struct{})
	e.givenBack = givenBack
	go func() {
		defer close(givenBack)
		ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
		defer cancel()
		if err := e.cfg.Lease.Release(ctx); err != nil {
			e.cfg.Log.Warn("give the operator lease back", "error", err)
		}
		e.call(e.leaseSeen)
	}()
}

func (e *Engine) leaseSeen() {
	if e.cfg.Lease == nil {
		return
	}
	e.write.Mine = e.cfg.Lease.Held()
	e.write.Lease, e.write.Looked = e.cfg.Lease.Holder(), e.cfg.Lease.Looked()
	e.write.Other = e.cfg.Lease.Does()
	if e.write.Mine {
		e.cfg.Lease.Tell(e.doing())
	}
}

// What others are told of what we do: this many operations, and this much of each one's title, in bytes.
const (
	mostTold      = 4
	mostTitleTold = 100
)

// doing is what this run does right now.
func (e *Engine) doing() core.Doing {
	d := core.Doing{Said: true, As: wording.OneLine(e.identity.String(), mostTitleTold)}
	var now []string
	for _, op := range e.ops.list() {
		if op.Past || op.Elsewhere != "" {
			continue
		}
		title := wording.OneLine(op.Title, mostTitleTold)
		if d.Last == "" {
			d.Last, d.LastAt = title, op.Started.UTC()
		}
		if op.State.Ended() {
			continue
		}
		if len(op.Items) > 0 {
			title += " (" + wording.OneLine(op.Goes(), mostTitleTold) + ")"
		}
		now = append(now, title)
		d.Since = op.Started.UTC() // the newest comes first
	}
	d.Now = wording.Some(now, mostTold)
	return d
}

// watchLease disarms when the lease is lost: Lockstep goes on, read-only.
func (e *Engine) watchLease() {
	e.leaseSeen()
	if e.write.Armed && e.cfg.Lease != nil && !e.write.Mine {
		reason := "the operator lease was lost: it could not be renewed in time"
		if e.write.Lease != "" {
			reason = fmt.Sprintf("the operator lease was lost; %s holds it now", e.write.Lease)
		}
		e.disarm(reason)
	}
}

// barred is why nothing may be written by this run; empty when something may. The nodes may be those of another cluster than the one that
// the operator opened.
func (e *Engine) barred() string {
	s := e.Snapshot()
	if e.cfg.Barred == "" && s.Management != nil && s.Management.Elsewhere && s.Known(core.SourceNodes) {
		return fmt.Sprintf("the machines of the cluster %s on the management cluster are other nodes than these: one of the two is another "+
			"cluster; check the context of the cluster (in the list of clusters, that of the section clusters) and --management-cluster",
			wording.OneLine(s.Place.Cluster, 64))
	}
	return e.cfg.Barred
}

// watchBars disarms when writing is barred meanwhile.
func (e *Engine) watchBars() {
	if e.write.Barred = e.barred(); e.write.Barred != "" {
		e.disarm(e.write.Barred)
	}
}
