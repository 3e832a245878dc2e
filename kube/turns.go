package kube

import (
	"context"
	"time"
)

// byTurns calls turn at once, after each kick, and after the time that the last call returned, until ctx is done.
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

// orDuration is the default for a duration that was left out.
func orDuration(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// turn lets one caller through at a time. A waiting caller gives up with its context, which a mutex does not allow.
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

// sleep waits, or ends early with the context.
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
