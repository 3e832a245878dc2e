package kube

import (
	"context"
	"time"
)

// byTurns calls turn at once, whenever there is a kick, and after the time that its last call asked for, until ctx is done.
func byTurns(ctx context.Context, kick <-chan struct{}, turn func(context.Context) time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-kick:
		}
		timer.Reset(turn(ctx))
	}
}

// orDuration sets a duration that was left out.
func orDuration(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// turn lets one through at a time. Who waits for it gives up with its context, which a mutex would not let it do.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) give() { <-t }

// sleep waits, or gives up with the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
