package kubeapi

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/sim/clock"
)

const (
	// eventsKept is how long an Event is kept after it was last written, whoever wrote it: the real server's --event-ttl.
	eventsKept = time.Hour

	// expireEvery is how often is looked which Events' time is over. It is no round time: nothing else happens at the same moment.
	expireEvery = time.Minute + 7*time.Millisecond + 311*time.Microsecond
)

// expiry are the writes of Events in their order, as far as their time is not over.
type expiry struct {
	events *table

	mu     sync.Mutex
	writes []eventWrite
}

type eventWrite struct {
	key      string
	revision uint64
	at       time.Time
}

// keepEvents notes each write of an Event from now on.
func (s *Server) keepEvents() {
	s.expiry.events = s.catalogue.find(schema.GroupVersionResource{Version: "v1", Resource: "events"}).table
	s.store.follow(func(t *table, e event) {
		if t != s.expiry.events || e.kind == watch.Deleted {
			return
		}
		s.expiry.mu.Lock()
		defer s.expiry.mu.Unlock()
		s.expiry.writes = append(s.expiry.writes, eventWrite{e.now.key, e.now.revision, s.now()})
	})
}

// expire removes Events when their time is over, until ctx is done.
func (s *Server) expire(ctx context.Context) {
	c := s.options.Clock
	if c == nil {
		c = clock.New(time.Now(), 1)
	}
	for c.Sleep(ctx, expireEvery) == nil {
		for _, w := range s.over() {
			if o := s.expiry.events.get(w.key); o != nil && o.revision == w.revision { // it was not written again
				s.expiry.events.remove(o, nil)
			}
		}
	}
}

// over takes the writes whose time is over.
func (s *Server) over() []eventWrite {
	s.expiry.mu.Lock()
	defer s.expiry.mu.Unlock()
	n, now := 0, s.now()
	for n < len(s.expiry.writes) && !now.Before(s.expiry.writes[n].at.Add(eventsKept)) {
		n++
	}
	over := s.expiry.writes[:n:n]
	s.expiry.writes = s.expiry.writes[n:]
	return over
}
