package kube

import (
	"context"
	"log/slog"
	"time"

	"lockstep/core"
)

// AlertOptions are an AlertPoller's times. A zero field means its default.
type AlertOptions struct {
	Log        *slog.Logger  // nil logs nothing
	Interval   time.Duration // how often Alertmanager is asked (30 s)
	AbsentWait time.Duration // how often a Service that is not there, or may not be read, is looked for again (2 min)
}

// AlertPoller keeps core informed of what Alertmanager has. It asks twice at a time, for alerts and for silences, and once for the
// Service.
type AlertPoller struct {
	from alertAPI
	sink func(core.Delta)
	opts AlertOptions
	kick chan struct{}

	known bool // it has answered once; only the polling goroutine uses it
	tries int  // failures that may pass, before anything was known
	place core.AlertmanagerPlace
}

// NewAlertPoller makes an AlertPoller that passes its Deltas to sink.
func NewAlertPoller(client *Client, place core.AlertmanagerPlace, sink func(core.Delta), opts AlertOptions) *AlertPoller {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	orDuration(&opts.Interval, 30*time.Second)
	orDuration(&opts.AbsentWait, 2*time.Minute)
	return &AlertPoller{from: alertAPI{client, place}, sink: sink, opts: opts, kick: make(chan struct{}, 1), place: place}
}

// alertsAgain is how long after the first failure that may pass Alertmanager is asked again; twice as long after each further one.
const alertsAgain = 2 * time.Second

// alertsBehind is how long the first look waits for the watches, which matter more. No interval is a multiple of it.
const alertsBehind = 61 * time.Millisecond

// Run polls until ctx is done.
func (p *AlertPoller) Run(ctx context.Context) {
	p.sink(core.Delta{Source: core.SourceAlertmanager, At: time.Now(), State: core.SourceConnecting})
	byTurns(ctx, p.kick, func(ctx context.Context) time.Duration {
		if sleep(ctx, alertsBehind) != nil {
			return p.opts.Interval
		}
		return p.poll(ctx)
	})
}

// Nudge polls at once, as after a write. It does not block.
func (p *AlertPoller) Nudge() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// poll asks once, and returns when to ask again. The port of the Service is read again after a failure: it may have changed.
func (p *AlertPoller) poll(ctx context.Context) time.Duration {
	from := p.from
	from.place = p.place
	found, err := from.read(ctx)
	if ctx.Err() != nil {
		return p.opts.Interval
	}
	d := core.Delta{Source: core.SourceAlertmanager, At: time.Now(), State: core.SourceLive, Replace: true}
	if err == nil {
		p.known, p.place = true, found.Place
		d.Upserts = []core.Object{found}
		p.sink(d)
		return p.opts.Interval
	}
	p.place = p.from.place
	e, wait := alertError(err, ""), p.opts.Interval
	if e.MayPass() && !p.known { // a single look waits for it
		p.tries++
		wait = min(alertsAgain<<min(p.tries-1, 10), wait)
	}
	d.State, d.Replace, d.Err = core.SourceFailed, false, e
	switch e.Kind {
	case core.ErrNotFound:
		d.State, d.Replace, wait = core.SourceAbsent, true, p.opts.AbsentWait // what was known of it is gone, too
	case core.ErrForbidden:
		d.State, wait = core.SourceOff, p.opts.AbsentWait // a right of its own, that not everybody is given
		if p.known {
			d.State = core.SourceForbidden
		}
	case core.ErrUnauthorized:
		p.from.client.renew()
	default:
		if p.known {
			d.State = core.SourceStale
		}
	}
	d.Next = d.At.Add(wait)
	p.opts.Log.Warn("alertmanager was not read", "state", string(d.State), "err", e.Error(), "next", wait)
	p.sink(d)
	return wait
}
