package nova

import (
	"context"
	"net/http"
	"slices"
	"time"

	"lockstep/core"
)

const (
	// changesOverlap is how far a look at the changes reaches back before the newest change seen: Nova's hosts stamp their
	// own changes, and their clocks differ.
	changesOverlap = 5 * time.Minute

	// hostsPerPoll is how many focus hosts are read in one turn; with more of them in maintenance they take turns.
	hostsPerPoll = 6

	maxRestarts = 3 // of one listing
)

// pagesPerLook is how many pages of the first list are read between two looks at the hosts that matter most.
const pagesPerLook = 20

// instancePoll polls the instances of the whole cloud: all of them by pages at first and every ten minutes, between that
// those that changed, and the focus hosts often and in full. It runs in one goroutine, so answers are applied in the
// order in which they were asked for.
//
// "Changed since" is asked from the newest change that Nova itself reported, never from this machine's clock: the two may
// differ by any amount.
type instancePoll struct {
	p      *Poller
	known  map[string]*core.Instance
	byHost map[string]map[string]*core.Instance // the known ones; with 100,000 of them, a host must not be looked for among all
	heard  map[string]uint64                    // the turn in which each was last seen
	turn   uint64

	newest  time.Time // the newest change seen, by Nova's clock
	synced  bool      // the first listing is complete
	changes time.Time // when the changes are due
	listing *listing  // under way, one page per turn; nil otherwise
	relist  time.Time // when the next listing is due

	hostDue map[string]time.Time
}

type listing struct {
	started  uint64 // the turn
	marker   string
	pages    int
	restarts int
}

func newInstancePoll(p *Poller) *instancePoll {
	return &instancePoll{p: p, known: map[string]*core.Instance{}, byHost: map[string]map[string]*core.Instance{}, heard: map[string]uint64{}, hostDue: map[string]time.Time{}}
}

func (l *instancePoll) poll(ctx context.Context, nudged bool) (time.Duration, error) {
	now := wallClock()
	focus, moving := l.p.hosts()
	// The first list of a large cloud would never end, if all hosts that are being emptied were asked between its pages.
	if l.synced || l.listing == nil || l.listing.pages%pagesPerLook == 0 {
		if err := l.pollHosts(ctx, focus, moving, nudged); err != nil {
			return 0, err
		}
	}
	changesPace := l.p.scaled(changesEvery)
	if moving {
		changesPace = l.p.scaled(hostMovingEvery) // one request that sees everything arrive
	}
	if l.synced && (nudged || !now.Before(l.changes)) {
		if err := l.pollChanges(ctx); err != nil {
			return 0, err
		}
	}
	// Computed anew each turn, so that a change of pace counts at once.
	l.changes = minTime(l.changes, now.Add(changesPace))
	if l.changes.Before(now) {
		l.changes = now.Add(changesPace)
	}
	if l.listing == nil && !now.Before(l.relist) {
		l.listing = &listing{started: l.turn + 1}
	}
	if l.listing != nil {
		if err := l.page(ctx); err != nil {
			return 0, err
		}
	}
	return l.next(focus), nil
}

// next is the time until something is due.
func (l *instancePoll) next(focus []string) time.Duration {
	if l.listing != nil {
		return 0
	}
	due := minTime(l.changes, l.relist)
	for _, h := range focus {
		due = minTime(due, l.hostDue[h])
	}
	return max(due.Sub(wallClock()), l.p.floor)
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (l *instancePoll) pollHosts(ctx context.Context, focus []string, moving, nudged bool) error {
	now := wallClock()
	every := l.p.scaled(hostQuietEvery)
	if moving {
		every = l.p.scaled(hostMovingEvery)
	}
	for h := range l.hostDue {
		if !slices.Contains(focus, h) {
			delete(l.hostDue, h)
		}
	}
	var due []string
	for _, h := range focus {
		if latest := now.Add(every); l.hostDue[h].After(latest) {
			l.hostDue[h] = latest // something began to move
		}
		if nudged || !now.Before(l.hostDue[h]) {
			due = append(due, h)
		}
	}
	slices.SortStableFunc(due, func(a, b string) int { return l.hostDue[a].Compare(l.hostDue[b]) })
	for _, h := range due[:min(len(due), hostsPerPoll)] {
		l.hostDue[h] = now.Add(every) // whatever comes: a host that fails must not be the first one each time
		if err := l.pollHost(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// pollHost reads the whole list of one host. An instance that is no longer on it is looked for among the changes first,
// so that it moves to its new host before it leaves the old one, and is at no moment nowhere.
func (l *instancePoll) pollHost(ctx context.Context, host string) error {
	records, err := l.p.c.listServers(ctx, serverQuery{host: host})
	if err != nil {
		return err
	}
	answered := wallClock()
	l.turn++
	listed := l.turn
	present := map[string]bool{}
	changed := false
	for i := range records {
		if records[i].deleted() {
			continue
		}
		present[records[i].ID] = true
		_, isNew := l.learn(&records[i])
		changed = changed || isNew
	}
	missing := false
	for id := range l.byHost[host] {
		missing = missing || !present[id]
	}
	if !changed && !missing {
		l.p.emit(core.Delta{Source: core.SourceInstances, At: answered, State: l.state(), Touch: true})
		return nil
	}
	if missing && l.synced {
		if err := l.pollChanges(ctx); err != nil {
			return err
		}
	}
	d := core.Delta{Source: core.SourceInstances, At: answered, State: l.state(), Replace: true, Host: host}
	for id, i := range l.byHost[host] {
		if present[id] || l.heard[id] > listed { // heard later: it came back meanwhile
			d.Upserts = append(d.Upserts, i)
			continue
		}
		// Where it went the next look at the changes tells, or that it was deleted. Until then it is on no host.
		gone := *i
		gone.Host = ""
		l.know(&gone)
	}
	l.p.emit(d)
	return nil
}

// pollChanges reads what changed or was deleted.
func (l *instancePoll) pollChanges(ctx context.Context) error {
	if l.newest.IsZero() {
		l.relist = time.Time{} // an empty cloud: the whole list is as cheap
		return nil
	}
	records, err := l.p.c.listServers(ctx, serverQuery{since: l.newest.Add(-changesOverlap)})
	if err != nil {
		return err
	}
	l.turn++
	d := core.Delta{Source: core.SourceInstances, State: l.state()}
	for i := range records {
		r := &records[i]
		if r.deleted() {
			l.clock(parseTime(r.Updated))
			if l.known[r.ID] != nil {
				l.forget(r.ID)
				d.Deletes = append(d.Deletes, r.ID)
			}
			continue
		}
		if instance, isNew := l.learn(r); isNew {
			d.Upserts = append(d.Upserts, instance)
		}
	}
	d.Touch = len(d.Upserts) == 0 && len(d.Deletes) == 0
	l.p.emit(d)
	_, moving := l.p.hosts()
	pace := l.p.scaled(changesEvery)
	if moving {
		pace = l.p.scaled(hostMovingEvery)
	}
	l.changes = wallClock().Add(pace)
	return nil
}

// page reads the next page of the listing that is under way. What nobody has seen since the listing began is gone.
func (l *instancePoll) page(ctx context.Context) error {
	records, next, err := l.p.c.serversPage(ctx, serverQuery{}, l.listing.marker)
	if err != nil {
		if apiStatus(err) == http.StatusBadRequest && l.listing.marker != "" && l.listing.restarts < maxRestarts {
			// The instance that marks the page was deleted meanwhile: begin again.
			l.listing = &listing{started: l.turn + 1, restarts: l.listing.restarts + 1}
			return nil
		}
		return err
	}
	l.turn++
	var upserts []core.Object
	for i := range records {
		if records[i].deleted() {
			continue
		}
		if instance, isNew := l.learn(&records[i]); isNew {
			upserts = append(upserts, instance)
		}
	}
	l.listing.pages++
	if next != "" && l.listing.pages < maxPages {
		l.listing.marker = next
		if len(upserts) > 0 {
			l.p.emit(core.Delta{Source: core.SourceInstances, State: l.state(), Upserts: upserts})
		}
		return nil
	}
	for id := range l.known {
		if l.heard[id] < l.listing.started {
			l.forget(id)
		}
	}
	all := make([]core.Object, 0, len(l.known))
	for _, instance := range l.known {
		all = append(all, instance)
	}
	l.listing, l.synced = nil, true
	now := wallClock()
	l.relist = now.Add(l.p.scaled(relistEvery))
	l.changes = now.Add(l.p.scaled(changesEvery))
	l.p.emit(core.Delta{Source: core.SourceInstances, State: core.SourceLive, Replace: true, Upserts: all})
	return nil
}

// learn notes what a record says; isNew tells whether that differs from what was known.
func (l *instancePoll) learn(r *serverRecord) (i *core.Instance, isNew bool) {
	i = r.instance()
	l.clock(i.Updated)
	l.heard[i.ID] = l.turn
	if old := l.known[i.ID]; same(old, i) {
		return old, false
	}
	l.know(i)
	return i, true
}

// know puts an instance in the place of what was known of it.
func (l *instancePoll) know(i *core.Instance) {
	l.leave(i.ID)
	l.known[i.ID] = i
	if l.byHost[i.Host] == nil {
		l.byHost[i.Host] = map[string]*core.Instance{}
	}
	l.byHost[i.Host][i.ID] = i
}

// leave takes an instance off its host.
func (l *instancePoll) leave(id string) {
	if old := l.known[id]; old != nil {
		delete(l.byHost[old.Host], id)
	}
}

func (l *instancePoll) forget(id string) {
	l.leave(id)
	delete(l.known, id)
	delete(l.heard, id)
}

func (l *instancePoll) clock(updated time.Time) {
	if updated.After(l.newest) {
		l.newest = updated
	}
}

// state is live once the whole cloud was seen: until then a host's list says nothing about the others.
func (l *instancePoll) state() core.SourceState {
	if l.synced {
		return core.SourceLive
	}
	return ""
}
