package kube

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"lockstep/core"
)

// guard notices what the watches themselves do not: a server that is gone although connections seem open, and a watch that died
// silently.
func (w *Watcher) guard(ctx context.Context) {
	probe := time.NewTimer(w.opts.ProbeInterval)
	defer probe.Stop()
	silence := time.NewTicker(max(w.opts.SilenceAllowed/5, time.Millisecond))
	defer silence.Stop()
	failures := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-silence.C:
			for _, s := range w.all() {
				s.checkSilence(time.Now())
			}
		case <-probe.C:
			asked := time.Now()
			err := w.probe(ctx)
			if ctx.Err() != nil {
				return
			}
			wait := w.opts.ProbeInterval
			switch {
			case err == nil || w.heardSince(asked):
				if failures > 0 {
					w.Refresh()
				}
				failures = 0
			case failures == 0:
				// Ignore a single failure: API servers answer 50x for a moment while their nodes are updated.
				failures, wait = 1, w.opts.ProbeInterval/5
			default:
				failures++
				wait = w.opts.ProbeInterval / 5
				for _, s := range w.all() {
					s.mistrust(err)
				}
			}
			probe.Reset(wait)
		}
	}
}

// probe asks whether the server is there. Any answer counts, even a refusal, except one that says that the server is in trouble.
func (w *Watcher) probe(ctx context.Context) *core.APIError {
	ctx, cancel := context.WithTimeout(ctx, w.opts.ProbeTimeout)
	defer cancel()
	_, status, err := w.client.get(ctx, "/readyz")
	if err == nil || status > 0 && status < http.StatusInternalServerError {
		return nil
	}
	return w.client.describe(err, "get /readyz")
}

// heardSince tells whether any watch has delivered something since t.
func (w *Watcher) heardSince(t time.Time) bool {
	for _, s := range w.all() {
		s.mu.Lock()
		heard := s.heard.After(t)
		s.mu.Unlock()
		if heard {
			return true
		}
	}
	return false
}

// mistrust turns a live source stale because the server is away, and lists again as soon as it is back.
func (s *stream) mistrust(err *core.APIError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != core.SourceLive {
		return
	}
	s.setState(core.SourceStale, err, time.Time{})
	s.relist = true
	s.close()
}

// checkSilence closes a watch that has been silent for longer than a live one can be. The reflector opens it again where it was. If
// that delivers nothing either, the source is stale.
func (s *stream) checkSilence(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	silent := elapsed(now, s.heard)
	if s.state != core.SourceLive || silent <= s.opts.WatchDuration+s.opts.SilenceAllowed {
		return
	}
	if s.recycled.Before(s.heard) {
		s.recycled = now
		s.opts.Log.Info("a silent watch is opened again", "source", s.res.key(), "silent", silent)
		s.close()
		return
	}
	allowed := s.opts.SilenceAllowed
	if s.watch != nil {
		allowed += s.opts.WatchDuration // it is open again: its bookmark is due by then
	}
	if elapsed(now, s.recycled) <= allowed {
		return
	}
	s.setState(core.SourceStale, &core.APIError{
		Kind: core.ErrTimeout, Server: core.ServerKubernetes, Call: s.res.call("watch"),
		Message: fmt.Sprintf("nothing heard for %s", silent.Round(time.Second)),
		Remedy:  "The connection may have died on the way. Lockstep keeps trying.",
	}, time.Time{})
	s.relist = true
	s.close()
}
