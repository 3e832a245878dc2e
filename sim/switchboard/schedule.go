package switchboard

import (
	"context"
	"log/slog"
	"time"

	"lockstep/sim/fault"
)

// Play switches faults on and off when their time comes. It returns at once; failures are logged, because the scenario
// continues.
func (b *Switchboard) Play(start time.Time, plan []fault.Planned, log *slog.Logger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return
	}
	for _, p := range plan {
		b.ended.Go(func() { b.play(b.ctx, start, p, log) })
	}
}

func (b *Switchboard) play(ctx context.Context, start time.Time, p fault.Planned, log *slog.Logger) {
	if b.cloud.Clock.SleepUntil(ctx, start.Add(p.From)) != nil {
		return
	}
	p.For = 0
	if err := b.On(p.Setting); err != nil {
		log.Error("a fault of the scenario", "fault", p.String(), "error", err)
		return
	}
	if p.Until <= 0 || b.cloud.Clock.SleepUntil(ctx, start.Add(p.Until)) != nil {
		return
	}
	if err := b.Off(p.Server, p.Kind); err != nil {
		log.Error("the end of a fault of the scenario", "fault", p.String(), "error", err)
	}
}
