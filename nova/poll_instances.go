package nova

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"lockstep/core"
)

const (
	// hostsPerPoll is how many focus hosts are read in one turn; when more are in maintenance, they take turns.
	hostsPerPoll = 6

	// smallestPage is the smallest page that is requested when the server is slow.
	smallestPage = 25

	// answerPatience is how long a turn waits for one answer. Then the turn goes on, and the answer is handled when it arrives.
	answerPatience = 2 * time.Second

	maxRestarts = 3 // of one list, before there is a pause
)

// instancePoll polls the instances of the whole cloud: all of them by pages at first and every ten minutes, between that
// those that changed, and the focus hosts often and in full.
//
// Each of these looks reads one page at a time, with a deadline of its own, beside the others: one that hangs or fails delays the
// others by answerPatience at most. An answer counts, except where something newer than its request is known. A page that takes too
// long is requested again in smaller ones, and a look that failed goes on where it was.
//
// "Changed since" starts from the newest change that Nova itself reported, never from this machine's clock: the two may differ by
// any amount.
type instancePoll struct {
	p      *Poller
	known  core.ByKey[knownInstance]
	byHost map[string][]*core.Instance // the known ones, by ID; with 100,000 of them, finding those of a host must not go through all
	shared shared                      // what they share

	step uint32            // counts the pages that were asked for, and those that were taken in
	gone map[string]uint32 // the step in which each was forgotten, since the last listing

	newest  time.Time // the newest change seen, by Nova's clock
	covered time.Time // all changes up to here have been seen
	reach   reach
	asOf    time.Time // when the server last confirmed the whole cloud
	synced  bool      // the first listing is complete
	listed  time.Time // when the last listing was complete

	gathered []string  // IDs on pages of the first list that nobody was told of yet
	told     time.Time // when the pages of the first list were told last

	seen    *seenServers         // of the hosts and the changes
	size    int                  // of the next page
	hosts   map[string]*look     // of the focus hosts, and of those to be read again
	again   map[string]time.Time // hosts to be read once more, and since when
	changes *look
	listing *look

	answers chan answer    // of the pages that are being read
	asking  sync.WaitGroup // for the goroutines that read them
}

// look is a list that is read page by page, again and again.
type look struct {
	query serverQuery

	// Of the one under way.
	open     bool
	busy     bool // a page is being read
	asked    int  // how many pages were requested
	began    uint32
	since    time.Time       // when it began
	covers   time.Time       // once it is complete, all changes up to here have been seen
	marker   string          // after which the next page begins
	before   []string        // the IDs before the marker, for when that is refused
	markers  map[string]bool // so far
	present  map[string]bool // instances of the host
	restarts int
	length   int // of the last page's answer in bytes: the next one has room before it comes

	due      time.Time // when the next one, or the next page of this one, is due
	failures int       // in a row
}

// answer is a page, or the reason why there is none.
type answer struct {
	look    *look
	step    uint32 // in which it was asked for: no two in the same
	newest  time.Time
	size    int
	length  int // in bytes
	took    time.Duration
	servers []*listedServer
	next    string
	err     error
}

func newInstancePoll(p *Poller) *instancePoll {
	return &instancePoll{
		p: p, byHost: map[string][]*core.Instance{}, gone: map[string]uint32{},
		size: pageSize, seen: newSeenServers(), hosts: map[string]*look{}, again: map[string]time.Time{}, changes: &look{}, listing: &look{},
		answers: make(chan answer),
	}
}

// run polls until ctx is done. It starts after the given delay, which spaces polls that are due at the same time.
func (l *instancePoll) run(ctx context.Context, behind time.Duration, nudge <-chan struct{}) {
	defer l.asking.Wait()
	l.p.emit(core.Delta{Source: core.SourceInstances, State: core.SourceConnecting})
	l.p.setListing(true)
	if sleep(ctx, behind) != nil {
		return
	}
	for nudged := false; ; {
		l.turn(ctx, nudged)
		if ctx.Err() != nil {
			return
		}
		timer := time.NewTimer(l.next() + behind)
		nudged = false
		select {
		case <-timer.C:
		case a := <-l.answers:
			l.take(ctx, a)
		case <-nudge:
			nudged = true
			if sleep(ctx, l.p.floor/4+behind) != nil { // several nudges at once count as one; up to three Snapshots come within a floor
				timer.Stop()
				return
			}
			select { // those that came meanwhile are handled too
			case <-nudge:
			default:
			}
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// turn reads a page of each look that is due.
func (l *instancePoll) turn(ctx context.Context, nudged bool) {
	l.noteRetagged()
	for _, host := range l.focus(nudged) {
		l.read(ctx, host)
	}
	now := wallClock()
	if len(l.gathered) > 0 && now.Sub(l.told) >= gatherFor {
		l.tellGathered()
	}
	if l.synced && !l.changes.busy && (nudged || !now.Before(l.changesDue())) {
		l.read(ctx, l.changes)
	}
	if !l.listing.busy && !wallClock().Before(l.listing.due) {
		l.read(ctx, l.listing)
	}
}

// focus are the hosts that are due, the least recently read first. The first list of a large cloud would never end if all hosts
// that are being emptied were read between its pages.
func (l *instancePoll) focus(nudged bool) []*look {
	now := wallClock()
	hosts, moving := l.watched()
	every := l.p.scaled(hostQuietEvery)
	if moving {
		every = l.p.scaled(hostMovingEvery)
	}
	for h, k := range l.hosts {
		if !slices.Contains(hosts, h) && !k.busy {
			delete(l.hosts, h)
		}
	}
	var due []*look
	busy := 0
	for _, h := range hosts {
		k := l.hosts[h]
		if k == nil {
			k = &look{query: serverQuery{host: h}}
			l.hosts[h] = k
		}
		if latest := now.Add(every); k.failures == 0 && k.due.After(latest) {
			k.due = latest // something began to move
		}
		switch {
		case k.busy:
			busy++
		case nudged || !now.Before(k.due):
			due = append(due, k)
		}
	}
	most := hostsPerPoll
	if !l.synced {
		most = 1
	}
	slices.SortStableFunc(due, func(a, b *look) int { return a.due.Compare(b.due) })
	due = due[:min(len(due), max(most-busy, 0))]
	for _, k := range due {
		k.due = now.Add(every)
	}
	return due
}

func (l *instancePoll) changesPace() time.Duration {
	if _, moving := l.p.hosts(); moving {
		return l.p.scaled(changesMoving)
	}
	return l.p.scaled(changesEvery)
}

// changesDue is computed anew each time, so that a change of pace counts at once.
func (l *instancePoll) changesDue() time.Time {
	if l.changes.open {
		return l.changes.due
	}
	return minTime(l.changes.due, wallClock().Add(l.changesPace()))
}

// next is the time until a look is due that is not under way.
func (l *instancePoll) next() time.Duration {
	now := wallClock()
	wait := l.p.scaled(hostQuietEvery)
	if len(l.gathered) > 0 {
		wait = min(wait, max(l.told.Add(gatherFor).Sub(now), 0))
	}
	at := func(k *look, due time.Time) {
		switch {
		case k.busy:
		case k.open && k.failures == 0: // in the middle
			wait = 0
		default:
			wait = min(wait, max(due.Sub(now), l.p.floor))
		}
	}
	if l.synced {
		at(l.changes, l.changesDue())
	}
	at(l.listing, l.listing.due)
	if !l.synced && !l.listing.busy && !now.Before(l.listing.due) {
		return 0
	}
	hosts, _ := l.watched()
	busy := 0
	for _, h := range hosts {
		if k := l.hosts[h]; k != nil && k.busy {
			busy++
		}
	}
	if most := hostsPerPoll; busy < most {
		for _, h := range hosts {
			if k := l.hosts[h]; k != nil {
				at(k, k.due)
			}
		}
	}
	return wait
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// read requests the next page of a look, and waits a while for the answer. It handles the others that arrive meanwhile.
func (l *instancePoll) read(ctx context.Context, k *look) {
	if k.busy || ctx.Err() != nil || !l.begin(k) {
		return
	}
	l.ask(ctx, k)
	patience := time.NewTimer(l.p.scaled(answerPatience))
	defer patience.Stop()
	for page := k.asked; k.busy && k.asked == page; {
		select {
		case a := <-l.answers:
			l.take(ctx, a)
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// ask requests the next page of a look.
func (l *instancePoll) ask(ctx context.Context, k *look) {
	k.busy = true
	k.asked++
	l.step++
	asked := answer{look: k, step: l.step, newest: l.newest, size: l.size}
	query, marker, page := k.query, k.marker, serverPage{polled: true, expect: k.length}
	if k != l.listing { // which would have every server be kept
		page.seen = l.seen
	}
	l.asking.Go(func() {
		began := wallClock()
		pageCtx, cancel := context.WithTimeout(ctx, l.p.c.times.try)
		defer cancel()
		asked.next, asked.err = l.p.c.readServers(pageCtx, query, marker, asked.size, &page)
		asked.servers, asked.length = page.listed, page.length
		asked.took = wallClock().Sub(began)
		select {
		case l.answers <- asked:
		case <-ctx.Done():
		}
	})
}

// begin starts a look that is not under way. It does not look at the changes of a cloud that has never shown an instance: the whole
// list is as cheap.
func (l *instancePoll) begin(k *look) bool {
	if k.open {
		return true
	}
	if k == l.changes {
		if l.covered.IsZero() {
			k.due, l.listing.due = wallClock().Add(l.changesPace()), time.Time{}
			return false
		}
		k.query = serverQuery{since: l.covered.Add(-l.reach.next(l.p.scaled(changesEvery)))}
	}
	l.restart(k)
	return true
}

// restart makes a look begin with its first page.
func (l *instancePoll) restart(k *look) {
	*k = look{
		query: k.query, open: true, began: l.step, since: wallClock(), markers: map[string]bool{}, present: map[string]bool{},
		busy: k.busy, asked: k.asked, restarts: k.restarts, length: k.length, due: k.due, failures: k.failures,
	}
}

// take handles a page.
func (l *instancePoll) take(ctx context.Context, a answer) {
	k := a.look
	k.busy = false
	if ctx.Err() != nil {
		return
	}
	if a.err == nil && k.markers[a.next] {
		a.err = l.p.c.fail(k.query.action(), errShape("a list of servers: it has no end"))
		l.restart(k)
	}
	if a.err != nil {
		l.failed(k, a)
		return
	}
	k.failures, k.length = 0, a.length
	switch try := l.p.c.times.try; {
	case a.took > try/2:
		l.size = max(min(l.size, a.size/2), smallestPage)
	case a.took < try/4 && a.next != "": // twice as many will not take too long either
		l.size = min(max(l.size, a.size*2), pageSize)
	}
	if k.marker == "" {
		k.covers = a.newest // a change that is not on the first page, or those after it, has a later stamp than any that were known then
		for _, s := range a.servers {
			k.covers = maxTime(s.Updated, k.covers)
		}
	}
	l.step++
	if a.next != "" {
		k.due = wallClock() // the next page
		k.markers[a.next] = true
		k.marker, k.before = a.next, idsOf(a.servers)
		if k == l.listing {
			l.ask(ctx, k) // the server works on it while this one is handled
		}
	}
	upserts, deletes := l.learnAll(k, a)
	if a.next != "" {
		if k == l.listing && !l.synced {
			l.gather(upserts)
		} else if len(upserts)+len(deletes) > 0 {
			l.tell(core.Delta{Upserts: upserts, Deletes: deletes}, l.asOf)
		}
		return
	}
	k.open, k.restarts = false, 0
	switch k {
	case l.changes:
		l.changed(upserts, deletes)
	case l.listing:
		l.complete(ctx)
	default:
		l.hostRead(ctx, k, upserts)
	}
}

func idsOf(servers []*listedServer) []string {
	ids := make([]string, 0, len(servers))
	for _, s := range servers[:max(len(servers)-1, 0)] {
		ids = append(ids, s.id)
	}
	return ids
}

// failed delays a look, which then goes on where it was, and says why the source is not live if the failure means that.
func (l *instancePoll) failed(k *look, a answer) {
	status := apiStatus(a.err)
	if status == http.StatusBadRequest && k.marker != "" {
		// The instance that marks the page was deleted meanwhile. One of those before it can mark it as well. Otherwise the look
		// begins again: at once the first time, later after a pause.
		k.due = wallClock()
		if n := len(k.before); n > 0 {
			k.marker, k.before = k.before[n-1], k.before[:n/2]
			return
		}
		l.restart(k)
		if k.restarts++; k.restarts <= maxRestarts {
			return
		}
		k.restarts = 0
	}
	if e, ok := a.err.(*core.APIError); ok && (e.Kind == core.ErrTimeout || e.Kind == core.ErrUnreachable) {
		l.size = max(min(l.size, a.size/4), smallestPage)
	}
	if len(l.gathered) > 0 {
		l.tellGathered() // the next page may be long in coming
	}
	pause := l.p.failurePause(k.failures)
	k.failures++
	l.p.setListing(false) // what moves does not wait for a list that may never come
	if k.query.host != "" {
		// The changes still show its instances.
		l.p.log.Info("the instances of a host are not told", "host", k.query.host, "err", a.err, "next", pause)
		k.due = wallClock().Add(pause)
		return
	}
	if !l.healthy() {
		l.p.report(core.SourceInstances, a.err, l.synced, &pause)
	} else {
		l.p.log.Info("the list of all instances has to wait", "err", a.err, "next", pause)
	}
	k.due = wallClock().Add(pause)
}

// healthy tells whether everything that happens is seen: the changes are read, and the whole list was read within about half an
// hour.
func (l *instancePoll) healthy() bool {
	overdue := l.listing.failures > 0 && wallClock().Sub(l.listed) > l.p.scaled(3*relistEvery)
	return l.synced && l.changes.failures == 0 && !overdue
}

// tell passes on what is new. Only a complete look at the whole cloud makes the known instances fresher: at is when it began.
func (l *instancePoll) tell(d core.Delta, at time.Time) {
	d.Source, d.At = core.SourceInstances, at
	if l.healthy() { // until the whole cloud was seen, a host's list says nothing about other hosts
		d.State = core.SourceLive
	}
	l.p.emit(d)
}
