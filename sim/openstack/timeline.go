package openstack

import (
	"container/heap"
	"time"
)

// timeline holds what will happen in the cloud, in the order of virtual time. Nothing runs on its own: run carries out
// what is due, so the state is a function of the clock and not of goroutines.
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

// cancel makes sure that the event does not happen; a nil event is fine.
func (e *event) cancel() {
	if e != nil {
		e.cancelled = true
	}
}

// at plans do for the virtual time t; do is told t.
func (l *timeline) at(t time.Time, do func(now time.Time)) *event {
	l.last++
	e := &event{at: t, number: l.last, do: do}
	heap.Push(&l.queue, e)
	return e
}

// run carries out everything that is due at now, each event at its own time, with what these events plan in turn.
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
