package controller

import (
	"context"
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// loop calls step again and again until ctx is done: when one of the resources changed, when the time that step returned
// has passed (zero: no time), and after Backoff when it failed.
func (e *env) loop(ctx context.Context, name string, step func(context.Context) (time.Duration, error),
	resources ...schema.GroupVersionResource) {
	changed, stop := e.view.subscribe(resources...)
	defer stop()
	ctx = named(ctx, name)
	for ctx.Err() == nil {
		again, err := step(ctx)
		if err != nil && ctx.Err() == nil {
			e.log.Warn("will try again", "controller", name, "error", err)
			again = max(e.timing.Backoff, time.Millisecond)
		}
		e.pause(ctx, again, changed)
	}
}

// conflicts is how a write is retried after a conflict: like client-go, but without random jitter.
var conflicts = wait.Backoff{Steps: retry.DefaultRetry.Steps, Duration: retry.DefaultRetry.Duration, Factor: retry.DefaultRetry.Factor}

// together is the delay between a change or a pause and a controller's look, so that it sees all changes of one moment,
// not by chance half of them.
const together = time.Millisecond

// named names one of several workers that wait for the same thing. No worker may act, or hear of another's work, at the
// moment at which it looks itself.
func named(ctx context.Context, name string) context.Context {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return context.WithValue(ctx, worker{}, time.Duration(1+h.Sum64()%1000)*time.Microsecond)
}

// worker is the key of a worker's delay after the first one.
type worker struct{}

func behind(ctx context.Context) time.Duration {
	d, _ := ctx.Value(worker{}).(time.Duration)
	return d
}

// pause waits until d of virtual time has passed (zero: no limit), changed fires, or ctx is done. Changes before its
// end are not signalled again: the next look sees them.
func (e *env) pause(ctx context.Context, d time.Duration, changed <-chan struct{}) {
	if d <= 0 {
		select {
		case <-ctx.Done():
		case <-changed:
		}
	} else {
		sleep, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = e.clock.Sleep(sleep, d)
		}()
		select {
		case <-done:
		case <-changed:
		}
		cancel()
		<-done
	}
	_ = e.clock.Sleep(ctx, together+behind(ctx))
	select {
	case <-changed:
	default:
	}
}

// until waits until holds returns true. It looks again when one of the resources changed, every poll of virtual time
// (zero: never), and after Backoff when the look failed. The error is ctx's.
func (e *env) until(ctx context.Context, poll time.Duration, holds func(context.Context) (bool, error),
	resources ...schema.GroupVersionResource) error {
	if len(resources) == 0 {
		poll = max(poll, time.Millisecond)
	}
	changed, stop := e.view.subscribe(resources...)
	defer stop()
	for {
		ok, err := holds(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && ok {
			return nil
		}
		wait := poll
		if err != nil {
			e.log.Debug("will look again", "error", err)
			wait = max(e.timing.Backoff, time.Millisecond)
		}
		e.pause(ctx, wait, changed)
	}
}

// insist calls do until it succeeds or ctx is done.
func (e *env) insist(ctx context.Context, what string, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		e.log.Warn("will try again", "what", what, "error", err)
		if err := e.clock.Sleep(ctx, max(e.timing.Backoff, time.Millisecond)); err != nil {
			return err
		}
	}
}
