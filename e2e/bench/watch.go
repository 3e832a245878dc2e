package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lockstep/e2e/terminal"
)

// watcher looks at the screens that a program shows, each that is still there when it looks, and tells those who wait for something when
// it came.
type watcher struct {
	term *terminal.Terminal
	read func(terminal.Screen) view

	mu      sync.Mutex
	now     view
	waiting map[*expected]bool
	stopped error // why no more screens come; nil while they do

	stop context.CancelFunc
	done chan struct{}
}

// expected is something that a screen is to show.
type expected struct {
	holds func(view) bool
	shown chan time.Time // gets when the first screen came on which it holds; closed when none will come
}

// watch begins to look at the terminal. The caller calls close.
func watch(ctx context.Context, term *terminal.Terminal, read func(terminal.Screen) view) *watcher {
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{term: term, read: read, waiting: map[*expected]bool{}, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		_, err := term.WaitFor(ctx, terminal.That("every screen", func(s terminal.Screen) bool {
			w.see(w.read(s), s.At)
			return false
		}))
		w.mu.Lock()
		defer w.mu.Unlock()
		w.stopped = err
		for e := range w.waiting {
			close(e.shown)
		}
		clear(w.waiting)
	}()
	return w
}

// see takes the view of a screen that came at a time.
func (w *watcher) see(v view, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = v
	for e := range w.waiting {
		if e.holds(v) {
			delete(w.waiting, e)
			e.shown <- at
		}
	}
}

// view is what the newest screen shows.
func (w *watcher) view() view {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// expect begins to wait for a screen on which the condition holds, the present one included.
func (w *watcher) expect(holds func(view) bool) *expected {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &expected{holds: holds, shown: make(chan time.Time, 1)}
	switch {
	case holds(w.now):
		e.shown <- time.Now()
	case w.stopped != nil:
		close(e.shown)
	default:
		w.waiting[e] = true
	}
	return e
}

// forget ends a wait in vain.
func (w *watcher) forget(e *expected) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, e)
}

// await returns when it was shown. It is an error if the patience or the screens end before.
func (w *watcher) await(ctx context.Context, e *expected, what string, patience time.Duration) (time.Time, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case at, ok := <-e.shown:
		if !ok {
			return time.Time{}, fmt.Errorf("wait until the screen shows %s: %w", what, w.reason())
		}
		return at, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	w.forget(e)
	if err := context.Cause(ctx); err != nil {
		return time.Time{}, err
	}
	return time.Time{}, fmt.Errorf("the screen has not shown %s within %s; it shows:\n%s", what, patience, w.term.Screen())
}

func (w *watcher) reason() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped
}

// close ends the watch.
func (w *watcher) close() {
	w.stop()
	<-w.done
}
