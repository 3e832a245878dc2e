package openstack

import (
	"container/heap"
	"time"
)

// timeline holds the future events of the cloud, in the order of virtual time. It has no goroutine: run carries out the
// due events, so the state is a function of the clock.
type timeline struct {
	queue eventQueue
	last  int
}

type event struct {
	at        time.Time
	number    int // breaks ties: first planned, first done
	do        func(now time.Time)
	cancelled bool
}

// cancel cancels the event; the event may be nil.
func (e *event) cancel() {
	if e != nil {
		e.cancelled = true
	}
}

// at schedules do for the virtual time t; do gets t.
func (l *timeline) at(t time.Time, do func(now time.Time)) *event {
	l.last++
	e := &event{at: t, number: l.last, do: do}
	heap.Push(&l.queue, e)
	return e
}

// run carries out all events that are due at now, each at its own time, including events that these events schedule.
func (l *timeline) run(now time.Time) {
	for len(l.queue) > 0 && !l.queue[0].at.After(now) {
		e := heap.Pop(&l.queue).(*event)
		if !e.cancelled {
			e.do(e.at)
		}
	}
}

type eventQueue []*event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].number < q[j].number
	}
	return q[i].at.Before(q[j].at)
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *eventQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return e
}
