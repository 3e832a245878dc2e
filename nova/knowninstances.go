package nova

import (
	"context"
	"slices"
	"strings"
	"time"

	"lockstep/core"
)

// knownInstance is an instance, the step in which it was last seen, and the one in which the answer that showed it was asked for.
type knownInstance struct {
	*core.Instance
	learned, asked uint32
}

// learnAll handles the instances of a page.
func (l *instancePoll) learnAll(k *look, a answer) (upserts []core.Object, deletes []string) {
	for _, s := range a.servers {
		if s.Updated.After(l.newest) {
			l.newest = s.Updated
		}
		if k.query.host != "" && !s.deleted {
			k.present[s.ID] = true
		}
		old := l.known.At(s.ID)
		switch {
		case l.gone[s.ID] > a.step: // it was deleted since this was requested
			continue
		case old.Instance != nil && old.asked > a.step && !s.Updated.After(old.Updated): // what was asked for later came earlier
			continue
		case s.deleted:
			if old.Instance != nil && k == l.changes {
				l.forget(s.ID)
				deletes = append(deletes, s.ID)
			}
			continue
		}
		if same(old.Instance, s.Instance) {
			s.Instance, s.told = old.Instance, true
			l.known.Put(knownInstance{old.Instance, l.step, a.step})
			continue
		}
		if !s.told {
			l.shared.share(s.Instance)
			s.told = true
		}
		l.know(knownInstance{s.Instance, l.step, a.step})
		upserts = append(upserts, s.Instance)
	}
	return upserts, deletes
}

// changed ends a look at the changes.
func (l *instancePoll) changed(upserts []core.Object, deletes []string) {
	k := l.changes
	l.asOf = maxTime(l.asOf, k.since)
	l.covered = maxTime(l.covered, k.covers)
	k.due = wallClock().Add(l.changesPace())
	at := l.asOf
	if len(k.markers) == 0 {
		at = wallClock() // one page: all of it was true when it came
		l.asOf = at
	}
	l.tell(core.Delta{Upserts: upserts, Deletes: deletes, Touch: len(upserts)+len(deletes) == 0}, at)
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// complete ends a listing. Instances that were not seen since it began are gone, unless Nova shows one when it is asked for it.
func (l *instancePoll) complete(ctx context.Context) {
	k := l.listing
	all := make([]core.Object, 0, l.known.Len())
	var gone []string
	for id, one := range l.known.All() {
		if one.learned <= k.began {
			gone = append(gone, id)
			continue
		}
		all = append(all, one.Instance)
	}
	kept, err := l.keptMissed(ctx, gone)
	if err != nil {
		l.listed = time.Time{} // nobody knows what else it does not show
		l.failed(k, answer{look: k, size: l.size, err: err})
		return
	}
	if kept {
		all, gone = append(all, l.keep(gone)...), nil
	}
	for _, id := range gone {
		l.forget(id)
	}
	for id, step := range l.gone {
		if step <= k.began {
			delete(l.gone, id)
		}
	}
	l.covered = maxTime(l.covered, k.covers)
	l.gathered = nil // all are told now
	now := wallClock()
	first := !l.synced
	l.synced, l.listed, k.due = true, now, now.Add(l.p.scaled(relistEvery))
	if first {
		l.p.setListing(false)
		l.changes.due = now.Add(l.p.scaled(changesEvery))
	}
	at := maxTime(l.asOf, k.since)
	if len(k.markers) == 0 {
		at = now
	}
	l.asOf = at
	l.tell(core.Delta{Replace: true, Upserts: all}, at)
}

// hostRead ends a look at a host. It first looks for an instance that is no longer there among the changes, so that the instance
// appears on its new host before it leaves the old one, and is always somewhere.
func (l *instancePoll) hostRead(ctx context.Context, k *look, upserts []core.Object) {
	l.readAgain(k)
	began, present := k.began, k.present
	missing := func() (ids []string) {
		for _, i := range l.byHost[k.query.host] {
			if !present[i.ID] && l.known.At(i.ID).learned <= began {
				ids = append(ids, i.ID)
			}
		}
		return ids
	}
	some := len(missing()) > 0
	if some && l.synced && !l.changes.busy {
		l.read(ctx, l.changes)
	}
	left := missing()
	if len(left) > 0 {
		if err := l.emptied(ctx, k.query.host, left); err != nil {
			l.failed(k, answer{look: k, size: l.size, err: err})
			return
		}
	}
	for _, id := range left {
		// The next look at the changes shows where it went, or that it was deleted. Until then it is on no host.
		known := l.known.At(id)
		gone := *known.Instance
		gone.Host = ""
		l.know(knownInstance{&gone, known.learned, known.asked})
	}
	if len(upserts) == 0 && !some {
		l.tell(core.Delta{Touch: true}, l.asOf)
		return
	}
	d := core.Delta{Replace: true, Host: k.query.host}
	for _, i := range l.byHost[k.query.host] {
		d.Upserts = append(d.Upserts, i)
	}
	l.tell(d, l.asOf)
}

// know replaces what was known of an instance.
func (l *instancePoll) know(i knownInstance) {
	l.leave(i.ID)
	l.known.Put(i)
	at, _ := placeOf(l.byHost[i.Host], i.ID)
	l.byHost[i.Host] = slices.Insert(l.byHost[i.Host], at, i.Instance)
}

// placeOf is the place of an instance among those of its host.
func placeOf(list []*core.Instance, id string) (at int, there bool) {
	return slices.BinarySearchFunc(list, id, func(i *core.Instance, id string) int { return strings.Compare(i.ID, id) })
}

// leave takes an instance off its host.
func (l *instancePoll) leave(id string) {
	if old := l.known.At(id); old.Instance != nil {
		if at, there := placeOf(l.byHost[old.Host], id); there {
			l.byHost[old.Host] = slices.Delete(l.byHost[old.Host], at, at+1)
		}
	}
}

func (l *instancePoll) forget(id string) {
	l.leave(id)
	l.known.Remove(id)
	l.gone[id] = l.step
}
