package nova

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"lockstep/core"
)

const (
	recentMigrations = 1000 // records read at first and at each relist: the newest ones of the cloud
	hostMigrations   = 100  // and the newest ones of each focus host

	migrationsMissed = 2 // records that a full list did not show are asked for, each of another instance

	hostRecordsLimit = 5 * time.Second // how much of a turn one host may take

	// progressPerPoll is the most live migrations whose progress is read in one turn. Nova tells it of one instance at a time; when more
	// run, they take turns.
	progressPerPoll = 4
	reasonsPerPoll  = 3 // failed migrations whose reason is looked up in one turn
	reasonTries     = 3

	// reasonsReach is how old a failure may be, by Nova's clock, for its reason to be looked up.
	reasonsReach = 24 * time.Hour
)

// migrationPoll polls the migration records. When the cloud can list changes (2.59), one request per turn covers what runs and what
// ended, and now and then one more what has begun. Older clouds are asked for each running status, and for the focus hosts.
type migrationPoll struct {
	p       *Poller
	known   map[string]*core.Migration
	newest  time.Time // by Nova's clock
	reach   reach
	relist  time.Time
	reasons map[string]*reason // of failed migrations, by key
	late    map[string]bool    // focus hosts whose records could not be read last time
	asked   map[string]uint64  // of running migrations, by key: the count of all questions for progress when it was last asked for
	asks    uint64
}

// reason is Nova's text of why a migration failed, as far as it was found.
type reason struct {
	text  string
	done  bool
	tries int
}

func newMigrationPoll(p *Poller) *migrationPoll {
	return &migrationPoll{p: p, known: map[string]*core.Migration{}, reasons: map[string]*reason{}, late: map[string]bool{},
		asked: map[string]uint64{}}
}

func (l *migrationPoll) poll(ctx context.Context, nudged bool) (time.Duration, error) {
	s, err := l.p.c.session(ctx)
	if err != nil {
		return 0, err
	}
	full := !wallClock().Before(l.relist)
	var records []*core.Migration
	switch {
	case full:
		records, err = l.listAll(ctx, s)
	case s.versions.has(vMigrationPaging) && l.newest.IsZero(): // none so far
		records, err = l.p.c.listMigrations(ctx, migrationQuery{limit: recentMigrations})
	case s.versions.has(vMigrationPaging):
		records, err = l.listChanges(ctx, nudged)
	default:
		records, err = l.listOld(ctx)
	}
	if err != nil {
		return 0, err
	}
	answered := wallClock()
	before := l.known
	if full {
		l.known = make(map[string]*core.Migration, len(records))
		l.relist = answered.Add(l.p.scaled(relistEvery))
	}
	var upserts []core.Object
	ended := false
	for _, m := range records {
		old := before[m.Key()]
		if old != nil {
			m.Failure = old.Failure
			if old.Running() && m.Running() {
				m.Memory, m.Disk = old.Memory, old.Disk
			}
		}
		// One that is first seen at its end ran between two polls.
		ended = ended || !m.Running() && (old == nil && !full || old != nil && old.Running())
		if r := l.reasons[m.Key()]; r != nil {
			m.Failure = r.text
		}
		if m.Updated.After(l.newest) {
			l.newest = m.Updated
		}
		if old != nil && sameMigration(old, m) {
			l.known[m.Key()] = old
			continue
		}
		l.known[m.Key()] = m
		upserts = append(upserts, m)
	}
	d := core.Delta{Source: core.SourceMigrations, At: answered, State: core.SourceLive, Replace: full, Upserts: upserts}
	if full {
		d.Upserts = make([]core.Object, 0, len(l.known))
		for _, key := range slices.Sorted(maps.Keys(l.known)) {
			d.Upserts = append(d.Upserts, l.known[key])
		}
		for key := range l.reasons {
			if l.known[key] == nil {
				delete(l.reasons, key)
			}
		}
	}
	d.Touch = !full && len(upserts) == 0
	l.p.emit(d)
	if ended {
		wake(l.p.wakeInstances) // the instance has moved, or has not: its hosts' lists tell
	}
	// A failure of either does not make the source fail: the records are useful without them.
	l.readProgress(ctx)
	l.findReasons(ctx)
	return l.next(), nil
}

// next is short while something runs or moves.
func (l *migrationPoll) next() time.Duration {
	running := len(l.running()) > 0
	l.p.setMigrating(running)
	if _, moving := l.p.hosts(); moving {
		return l.p.scaled(migrationsMoving)
	}
	return l.p.scaled(migrationsQuiet)
}

// listAll reads the newest records of the cloud, whatever runs or waits for a decision, however old, and the newest records of the focus
// hosts.
func (l *migrationPoll) listAll(ctx context.Context, s *session) ([]*core.Migration, error) {
	if !s.versions.has(vMigrationPaging) {
		return l.listOld(ctx)
	}
	queries := []migrationQuery{{limit: recentMigrations}}
	for _, status := range runningStatuses {
		queries = append(queries, migrationQuery{status: status})
	}
	queries = append(queries, migrationQuery{status: undecided})
	records, err := l.withHosts(ctx, queries)
	if err != nil {
		return nil, err
	}
	return records, l.nothingMissed(ctx, records)
}

// nothingMissed asks for records that are known and that a full list should show, but does not. They are gone with their instances, unless
// Nova shows them when it is asked for those alone: then the list lacks a cell (missed.go), and must not replace what is known.
func (l *migrationPoll) nothingMissed(ctx context.Context, records []*core.Migration) error {
	var oldest time.Time
	if len(records) >= recentMigrations {
		oldest = records[recentMigrations-1].Created
	}
	listed := make(map[string]bool, len(records))
	for _, m := range records {
		listed[m.Key()] = true
	}
	var missed []*core.Migration
	for key, m := range l.known {
		if !listed[key] && m.Created.After(oldest) {
			missed = append(missed, m)
		}
	}
	newestFirst(missed)
	slices.SortStableFunc(missed, func(a, b *core.Migration) int { // what runs or waits matters most
		return cmp.Compare(ended(a), ended(b))
	})
	asked := map[string]bool{}
	for _, m := range missed {
		if asked[m.InstanceID] || len(asked) == migrationsMissed {
			continue
		}
		asked[m.InstanceID] = true
		own, err := l.p.c.listMigrations(ctx, migrationQuery{instance: m.InstanceID, limit: newestRecords})
		if err != nil {
			return err
		}
		for _, there := range own {
			if slices.ContainsFunc(missed, func(other *core.Migration) bool { return other.Key() == there.Key() }) {
				return cellAway(actionListMigrations.call, fmt.Sprintf("the list does not show migration %d of instance %s, which is there",
					there.ID, there.InstanceID))
			}
		}
	}
	return nil
}

// ended is 1 for a migration that is over, 0 for one that is not.
func ended(m *core.Migration) int {
	if m.Running() || m.Status == undecided {
		return 0
	}
	return 1
}

// listChanges reads the records that have changed. A record that has not changed since it was made has no time of a change in Nova, so it
// is not among them, however long the scheduler looks for a host: the newest records show it, which are read as well when the look reaches
// back far, and when something may just have been asked for.
func (l *migrationPoll) listChanges(ctx context.Context, nudged bool) ([]*core.Migration, error) {
	back := l.reach.next(l.p.scaled(changesEvery))
	records, err := l.p.c.listMigrations(ctx, migrationQuery{since: l.newest.Add(-back)})
	if err != nil || back != changesOverlap && !nudged {
		return records, err
	}
	newest, err := l.p.c.listMigrations(ctx, migrationQuery{limit: newestRecords})
	if err != nil {
		return nil, err
	}
	have := make(map[string]bool, len(records))
	for _, m := range records {
		have[m.Key()] = true
	}
	for _, m := range newest {
		if !have[m.Key()] {
			records = append(records, m)
		}
	}
	newestFirst(records)
	return records, nil
}

// listOld is for clouds that list the whole history or nothing.
func (l *migrationPoll) listOld(ctx context.Context) ([]*core.Migration, error) {
	var queries []migrationQuery
	for _, status := range runningStatuses {
		queries = append(queries, migrationQuery{status: status})
	}
	for _, key := range slices.Sorted(maps.Keys(l.known)) { // what ran a moment ago may have a new status now
		if m := l.known[key]; m.Running() {
			queries = append(queries, migrationQuery{instance: m.InstanceID, limit: newestRecords})
		}
	}
	return l.withHosts(ctx, queries)
}

// withHosts runs the queries, and reads the newest records of each focus host. When several return a record, the last answer
// counts. A host that cannot be read delays no other: its known records stay, and it is read last the next time.
func (l *migrationPoll) withHosts(ctx context.Context, queries []migrationQuery) ([]*core.Migration, error) {
	byKey := map[string]*core.Migration{}
	for _, q := range queries {
		list, err := l.p.c.listMigrations(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			byKey[m.Key()] = m
		}
	}
	focus, _ := l.p.hosts()
	late := func(h string) int {
		if l.late[h] {
			return 1
		}
		return 0
	}
	focus = slices.Clone(focus)
	slices.SortStableFunc(focus, func(a, b string) int { return late(a) - late(b) })
	clear(l.late)
	for _, h := range focus {
		list, err := l.hostRecords(ctx, h)
		if err != nil {
			l.p.log.Info("the migrations of a host are not told", "host", h, "err", err)
			l.late[h] = true
			for _, m := range l.known {
				if byKey[m.Key()] == nil && (m.SourceHost == h || m.DestHost == h) {
					kept := *m
					byKey[m.Key()] = &kept
				}
			}
			continue
		}
		for _, m := range list {
			byKey[m.Key()] = m
		}
	}
	all := make([]*core.Migration, 0, len(byKey))
	for _, m := range byKey {
		all = append(all, m)
	}
	newestFirst(all)
	return all, nil
}

// hostRecords are the newest records of a host. The request may take as long as a turn waits for one answer, and is not made when
// the turn has no time left.
func (l *migrationPoll) hostRecords(ctx context.Context, host string) ([]*core.Migration, error) {
	ctx, cancel := context.WithTimeout(ctx, l.p.scaled(hostRecordsLimit))
	defer cancel()
	return l.p.c.listMigrations(ctx, migrationQuery{host: host, limit: hostMigrations})
}

// running are the live migrations under way, those of the focus hosts first, then the oldest first.
func (l *migrationPoll) running() []*core.Migration {
	focus, _ := l.p.hosts()
	var all []*core.Migration
	for _, m := range l.known {
		if m.Running() {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *core.Migration) int {
		inA, inB := slices.Contains(focus, a.SourceHost), slices.Contains(focus, b.SourceHost)
		switch {
		case inA && !inB:
			return -1
		case inB && !inA:
			return 1
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// askNext are the running live migrations whose progress is asked for next: those for which it was asked longest ago.
func (l *migrationPoll) askNext() []*core.Migration {
	all := slices.DeleteFunc(l.running(), func(m *core.Migration) bool { return m.Type != core.MigrationLive && m.Type != "" })
	slices.SortStableFunc(all, func(a, b *core.Migration) int { return cmp.Compare(l.asked[a.Key()], l.asked[b.Key()]) })
	asked := make(map[string]uint64, len(all))
	for i, m := range all {
		if asked[m.Key()] = l.asked[m.Key()]; i < progressPerPoll {
			l.asks++
			asked[m.Key()] = l.asks
		}
	}
	l.asked = asked // without those that have ended
	return all[:min(len(all), progressPerPoll)]
}

// readProgress asks how far running live migrations are.
func (l *migrationPoll) readProgress(ctx context.Context) {
	var upserts []core.Object
	for _, m := range l.askNext() {
		list, err := l.p.c.liveProgress(ctx, m.InstanceID)
		if err != nil {
			l.p.log.Info("no progress of a live migration", "instance", m.InstanceID, "err", err)
			break
		}
		for _, now := range list {
			if now.ID != m.ID {
				continue
			}
			next := *m
			next.Status, next.Memory, next.Disk = cmp.Or(now.Status, m.Status), now.Memory, now.Disk
			next.DestHost = cmp.Or(now.DestHost, m.DestHost)
			if now.Updated.After(next.Updated) {
				next.Updated = now.Updated
			}
			if !sameMigration(m, &next) {
				l.known[next.Key()] = &next
				upserts = append(upserts, &next)
			}
		}
	}
	if len(upserts) > 0 {
		l.p.emit(core.Delta{Source: core.SourceMigrations, State: core.SourceLive, Upserts: upserts})
	}
}

// findReasons looks up Nova's own text of recent failures, newest first, a few in each turn. It tries each three times at most.
func (l *migrationPoll) findReasons(ctx context.Context) {
	var failed []*core.Migration
	for key, m := range l.known {
		r := l.reasons[key]
		if m.Failed() && m.Updated.After(l.newest.Add(-reasonsReach)) && (r == nil || !r.done && r.tries < reasonTries) {
			failed = append(failed, m)
		}
	}
	newestFirst(failed)
	var upserts []core.Object
	for _, m := range failed[:min(len(failed), reasonsPerPoll)] {
		r := l.reasons[m.Key()]
		if r == nil {
			r = &reason{}
			l.reasons[m.Key()] = r
		}
		r.tries++
		text, err := l.p.c.failureOf(ctx, m)
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			l.p.log.Info("no reason found for a failed migration", "instance", m.InstanceID, "err", err)
			continue
		}
		// The record may end a moment before its action does, so the text may come later.
		r.text, r.done = text, text != ""
		if text != "" {
			next := *m
			next.Failure = text
			l.known[m.Key()] = &next
			upserts = append(upserts, &next)
		}
	}
	if len(upserts) > 0 {
		l.p.emit(core.Delta{Source: core.SourceMigrations, State: core.SourceLive, Upserts: upserts})
	}
}

func sameMigration(a, b *core.Migration) bool {
	x, y := *a, *b
	if !sameProgress(x.Memory, y.Memory) || !sameProgress(x.Disk, y.Disk) || !x.Created.Equal(y.Created) || !x.Updated.Equal(y.Updated) {
		return false
	}
	x.Memory, x.Disk, y.Memory, y.Disk = nil, nil, nil, nil
	x.Created, x.Updated, y.Created, y.Updated = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return x == y
}

func sameProgress(a, b *core.Progress) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
