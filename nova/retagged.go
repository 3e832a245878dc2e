package nova

import (
	"slices"
	"sync"
	"time"
)

// retagged are the instances whose tags were written with this client and not read since. Nova keeps tags beside the instance: a change
// of them is not among the changes, and moves no time stamp. So the host of such an instance is read once more.
type retagged struct {
	mu  sync.Mutex
	ids []string
}

func (r *retagged) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, id)
}

func (r *retagged) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := r.ids
	r.ids = nil
	return ids
}

// noteRetagged has the hosts of instances whose tags were written read once more.
func (l *instancePoll) noteRetagged() {
	for _, id := range l.p.c.retagged.take() {
		known := l.known.At(id)
		if known.Instance == nil || known.Host == "" {
			continue // the list of all instances shows it
		}
		l.again[known.Host] = wallClock()
		if k := l.hosts[known.Host]; k != nil && !k.open {
			k.due = time.Time{}
		}
	}
}

// watched are the focus hosts and those to be read once more, and whether anything moves that has to be read often.
func (l *instancePoll) watched() (hosts []string, moving bool) {
	hosts, moving = l.p.hosts()
	if len(l.again) == 0 {
		return hosts, moving
	}
	hosts = slices.Clone(hosts)
	for h := range l.again {
		hosts = append(hosts, h)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), moving
}

// readAgain ends the wait for a host whose whole list was asked for since.
func (l *instancePoll) readAgain(k *look) {
	if at, waits := l.again[k.query.host]; waits && !k.since.Before(at) {
		delete(l.again, k.query.host)
	}
}
