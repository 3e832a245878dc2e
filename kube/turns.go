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
