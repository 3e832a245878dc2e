package nova

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"lockstep/core"
)

// wallClock is the time of sources and Deltas, which is never the simulated cloud's.
func wallClock() time.Time { return time.Now() }

// limiter spaces requests: at most one per interval, after a burst. It serves waiting callers in their order.
type limiter struct {
	mu    sync.Mutex
	every time.Duration
	burst int
	next  time.Time // when the next request may go
}

func newLimiter(perSecond float64, burst int) *limiter {
	l := &limiter{burst: burst}
	l.setRate(perSecond)
	return l
}

func (l *limiter) setRate(perSecond float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.every = time.Duration(float64(time.Second) / perSecond)
}

// take books the next slot and returns the time until then.
func (l *limiter) take(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if idle := now.Add(-time.Duration(l.burst) * l.every); l.next.Before(idle) {
		l.next = idle
	}
	l.next = l.next.Add(l.every)
	return l.next.Sub(now)
}

func (l *limiter) wait(ctx context.Context) error { return sleep(ctx, l.take(wallClock())) }

// sleep waits, or gives up with the context.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transport limits the rate of all requests to the cloud, logins and retries among them. Writes count, but never wait: the operator
// waits for them.
type transport struct {
	base  http.RoundTripper
	limit *limiter
	log   *slog.Logger

	secrets *core.Secrets // learn the tokens
}

// loginLimit is how long Keystone may take for a token.
const loginLimit = 30 * time.Second

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		t.limit.take(wallClock())
	case r.URL.Query().Has("marker"):
		// It comes when the page before it has been answered: the server itself sets the pace of a list.
	default:
		if err := t.limit.wait(r.Context()); err != nil {
			return nil, err
		}
	}
	t.secrets.Sent(r.Header.Get("X-Auth-Token"))
	start := wallClock()
	resp, err := t.roundTrip(r)
	if t.log != nil {
		status := 0
		if resp != nil {
			status = resp.StatusCode
		}
		t.log.Debug("openstack request", "method", r.Method, "host", r.URL.Host, "path", r.URL.Path,
			"status", status, "took", wallClock().Sub(start), "failed", err != nil)
	}
	return resp, err
}

// roundTrip gives Keystone's answer a deadline of its own: gophercloud requests a new token in the middle of a call, with the
// deadline of that call, which may be half an hour.
func (t *transport) roundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/auth/tokens") {
		return t.base.RoundTrip(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), loginLimit)
	resp, err := t.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &lastRead{resp.Body, cancel}
	return resp, nil
}

// lastRead ends a request's context when its answer has been read.
type lastRead struct {
	io.ReadCloser
	done context.CancelFunc
}

// Close implements io.Closer.
func (b *lastRead) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
