package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubewatch "k8s.io/apimachinery/pkg/watch"
)

// lockWatch is a watch of the locks of nodes that does nothing but note when a state comes: how long that takes is what the server and the
// machine have in the time from a lock's change to the screen.
type lockWatch struct {
	events kubewatch.Interface
	done   chan struct{}

	mu      sync.Mutex
	waiting map[string]awaitedState // by the lock's name
	stopped error                   // why no more events come; nil while they do
}

type awaitedState struct {
	state string
	came  chan time.Time // gets when the first event came that has the state; closed when none will come
}

// watchLocks begins to watch. The caller calls close.
func (k kubernetesAPI) watchLocks(ctx context.Context) (*lockWatch, error) {
	locks := k.dyn.Resource(nodeLocks)
	some, err := locks.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("watch the locks: %w", err)
	}
	events, err := locks.Watch(ctx, metav1.ListOptions{ResourceVersion: some.GetResourceVersion()})
	if err != nil {
		return nil, fmt.Errorf("watch the locks: %w", err)
	}
	w := &lockWatch{events: events, done: make(chan struct{}), waiting: map[string]awaitedState{}}
	go func() {
		defer close(w.done)
		for e := range events.ResultChan() {
			w.see(e, time.Now())
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.stopped = errors.New("the watch of the locks has ended")
		for _, a := range w.waiting {
			close(a.came)
		}
		clear(w.waiting)
	}()
	return w, nil
}

func (w *lockWatch) see(e kubewatch.Event, at time.Time) {
	lock, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	state, _, _ := unstructured.NestedString(lock.Object, "status", "state")
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, waits := w.waiting[lock.GetName()]; waits && a.state == state {
		delete(w.waiting, lock.GetName())
		a.came <- at
	}
}

// expect begins to wait for a lock's next event that has the state.
func (w *lockWatch) expect(lock, state string) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := awaitedState{state: state, came: make(chan time.Time, 1)}
	if w.stopped != nil {
		close(a.came)
	} else {
		w.waiting[lock] = a
	}
	return a.came
}

// await returns when the event came. It is an error if the patience or the events end before.
func (w *lockWatch) await(ctx context.Context, came <-chan time.Time, patience time.Duration) (time.Time, error) {
	select {
	case at, ok := <-came:
		if !ok {
			w.mu.Lock()
			defer w.mu.Unlock()
			return time.Time{}, w.stopped
		}
		return at, nil
	case <-time.After(patience):
		return time.Time{}, fmt.Errorf("no event of a changed lock came within %s", patience)
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

// close ends the watch.
func (w *lockWatch) close() {
	w.events.Stop()
	<-w.done
}
