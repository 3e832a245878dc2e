package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/core"
)

// Config is what an Engine needs.
type Config struct {
	Cluster  string // the cluster's name for people
	Operator string // "user@host" of who runs Lockstep
	Version  string // Lockstep's, for the journal

	Clock func() time.Time // the cluster's time; nil means the wall clock
	Wall  func() time.Time // nil means time.Now

	Settings core.Settings
	Sources  []core.SourceID // those that are configured; each is connecting until its first Delta
	Barred   string          // why writing can never be armed in this run; empty when it can

	Journal    *Journal                                  // nil bars writing
	Past       []Record                                  // what the journal held at the start, as far as it still counts
	Lives      func(run string) (who string, lives bool) // whether another run on the journal lives; nil: by the journal's locks
	Kubernetes KubernetesChecker
	OpenStack  OpenStackChecker
	Writers    Writers
	Lease      OperatorLease    // nil: no lease is kept
	Evacuation EvacuationReader // nil: no plan of an evacuation can be made

	Place      core.ManagementPlace // which management cluster, and which of its clusters
	Management ManagementChecker    // nil: nothing is written there

	OnFocus func(node string) // told which node the operator looks at; may be nil
	OnWrite func()            // told after every write, so that pollers look at once; may be nil
	OnStage func()            // told when nodes came into other stages: what a source is asked for now and then is asked at once; may be nil

	// NewID makes up the ID of a confirmation, which no other ever has; nil: by chance.
	NewID    func() string
	GrantFor time.Duration // how long a grant is good; grantLifetime when zero

	// PollEvery is how often the result of a write is looked for; 2 s when zero. Settle is how long an instance that Nova
	// took an action for may show no sign of it before the action counts as failed; 20 s when zero.
	PollEvery time.Duration
	Settle    time.Duration

	Log *slog.Logger // nil discards
}

// Engine owns the world: it takes Deltas in, publishes Snapshots, keeps the journal, and is the one gate through which
// anything is changed.
type Engine struct {
	cfg   Config
	inbox chan core.Delta
	do    chan request
	done  chan struct{} // closed when Run has returned
	ctx   context.Context
	stop  context.CancelFunc

	latest atomic.Pointer[core.Snapshot]
	armed  atomic.Bool // write.Armed, for the goroutines of running operations

	subMu sync.Mutex
	subs  map[int]chan *core.Snapshot
	subID int

	// Owned by the goroutine of Run.
	world     *world
	history   core.History
	write     core.WriteMode
	givenBack <-chan struct{} // closed when the lease is, that was given back last; nil before
	seen      []Record        // transitions that the Snapshot in the making shows
	followed  <-chan struct{} // closed when other runs are not followed any more
	revision  uint64
	dirty     bool

	updateSeen string // UID of the update's request that this run has seen

	scribe scribe
	ops    *operations
	tasks  sync.WaitGroup // running operations
	begun  atomic.Int64   // how many of them, and of their items, there have been

	unkept atomic.Bool // the last record could not be written

	grants sync.Map // grant ID → granted: those given in this run and not used yet
}

// publishEvery is the shortest time between two Snapshots that new facts cause, together how long the first of them waits for
// others that come at once, so that none shows half of them; tickEvery is the longest time between two Snapshots, for rules that
// judge by the clock.
const (
	publishEvery = 100 * time.Millisecond
	together     = 2 * time.Millisecond
	tickEvery    = time.Second
)

// New makes an Engine. Nothing happens before Run.
func New(cfg Config) *Engine {
	if cfg.Wall == nil {
		cfg.Wall = time.Now
	}
	if cfg.Clock == nil {
		cfg.Clock = cfg.Wall
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.NewID == nil {
		cfg.NewID = newID
	}
	if cfg.GrantFor == 0 {
		cfg.GrantFor = grantLifetime
	}
	if cfg.PollEvery <= 0 {
		cfg.PollEvery = 2 * time.Second
	}
	if cfg.Settle <= 0 {
		cfg.Settle = 20 * time.Second
	}
	if cfg.Settings.StaleAfter == 0 {
		cfg.Settings = core.DefaultSettings()
	}
	if cfg.Journal == nil && cfg.Barred == "" {
		cfg.Barred = "there is no journal to keep the record in"
	}
	e := &Engine{
		cfg:   cfg,
		inbox: make(chan core.Delta, 64),
		do:    make(chan request),
		done:  make(chan struct{}),
		subs:  map[int]chan *core.Snapshot{},
		world: newWorld(cfg.Sources, cfg.Wall()),
		write: core.WriteMode{Barred: cfg.Barred, Since: cfg.Wall()},
		ops:   newOperations(),
	}
	e.scribe.journal = cfg.Journal
	e.world.place = cfg.Place
	e.ctx, e.stop = context.WithCancel(context.Background())
	if cfg.Lives == nil && cfg.Journal != nil {
		e.cfg.Lives = func(run string) (string, bool) { return RunLives(cfg.Journal.Path(), run) }
	}
	e.startFrom(cfg.Past)
	e.cfg.Past = nil
	e.publish()
	return e
}

// Run works until ctx is done. Then nothing new is begun, the lease is given back, the last record is written, and Run
// returns nil. It returns an error only when it was called twice.
func (e *Engine) Run(ctx context.Context) error {
	select {
	case <-e.done:
		return errors.New("the engine has already run")
	default:
	}
	defer close(e.done)
	e.record(Record{Kind: RecordStart, Cluster: e.cfg.Cluster, Version: e.cfg.Version}, false)
	if e.cfg.Journal != nil {
		followed := make(chan struct{})
		e.followed = followed
		go func() {
			defer close(followed)
			e.followOthers(ctx)
		}()
	}
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	var soon <-chan time.Time
	last, pause := time.Now(), publishEvery
	publish := func() {
		began := time.Now()
		e.publish()
		last, soon = time.Now(), nil
		// What a Snapshot of thousands of nodes costs must stay a part of one core, whatever the cluster does.
		pause = max(publishEvery, 4*last.Sub(began))
	}
	for {
		select {
		case <-ctx.Done():
			e.leave()
			return nil
		case d := <-e.inbox:
			e.take(d)
			e.drain()
		case r := <-e.do:
			r.do()
			publish() // the operator waits for it, and the next Snapshot shows it
			close(r.done)
		case <-soon:
			publish()
		case <-tick.C:
			e.watchLease()
			publish()
		}
		if e.dirty && soon == nil {
			soon = time.After(max(pause-time.Since(last), together))
		}
	}
}

// drain takes what else has arrived already, so that a burst makes one Snapshot.
func (e *Engine) drain() {
	for range cap(e.inbox) {
		select {
		case d := <-e.inbox:
			e.take(d)
		default:
			return
		}
	}
}

// wallTime is a time without its monotonic reading, which stands still while a machine sleeps: what is known is as old as the wall clock
// says.
func wallTime(t time.Time) time.Time { return t.Round(0) }

func (e *Engine) take(d core.Delta) {
	if d.At.IsZero() {
		d.At = e.cfg.Wall()
	}
	d.At, d.Next = wallTime(d.At), wallTime(d.Next)
	if e.world.apply(d) {
		e.dirty = true
	}
}

// leave ends the run in good order: no operation begins anything more, the lease goes back, the journal gets its last
// line.
func (e *Engine) leave() {
	e.stop()
	wait := make(chan struct{})
	go func() { e.tasks.Wait(); close(wait) }()
	e.serve(wait)
	e.disarm("")
	for _, ended := range []<-chan struct{}{e.givenBack, e.followed} {
		if ended != nil {
			e.serve(ended)
		}
	}
	e.publish() // what it saw last is recorded before the end of the record
	e.record(Record{Kind: RecordStop, Cluster: e.cfg.Cluster}, true)
	select {
	case <-e.scribe.written():
	case <-time.After(leaveTimeout):
		e.cfg.Log.Error("the last records are not written: the disk does not answer")
	}
}

// serve does what is asked for until something has ended that tells so.
func (e *Engine) serve(ended <-chan struct{}) {
	for {
		select {
		case r := <-e.do:
			r.do()
			close(r.done)
		case <-ended:
			return
		}
	}
}

// Apply hands the Engine news from a source. It blocks while the Engine is busy with earlier news, and drops the news
// once the Engine has ended.
func (e *Engine) Apply(d core.Delta) {
	select {
	case e.inbox <- d:
	case <-e.ctx.Done():
	}
}

// request is something to be done in the Engine's goroutine; done is closed when a Snapshot shows it.
type request struct {
	do   func()
	done chan struct{}
}

// call runs f in the Engine's goroutine and returns when a Snapshot shows what it did, or at once when the Engine has
// ended.
func (e *Engine) call(f func()) bool {
	r := request{do: f, done: make(chan struct{})}
	select {
	case e.do <- r:
		<-r.done
		return true
	case <-e.done:
		return false
	}
}

// Snapshot is the latest one; never nil.
func (e *Engine) Snapshot() *core.Snapshot { return e.latest.Load() }

// Subscribe returns a channel of Snapshots that always holds the latest one not yet received; older ones are dropped.
// stop ends the subscription.
func (e *Engine) Subscribe() (snapshots <-chan *core.Snapshot, stop func()) {
	ch := make(chan *core.Snapshot, 1)
	e.subMu.Lock()
	defer e.subMu.Unlock()
	id := e.subID
	e.subID++
	e.subs[id] = ch
	ch <- e.Snapshot()
	return ch, func() {
		e.subMu.Lock()
		defer e.subMu.Unlock()
		delete(e.subs, id)
	}
}

// Focus says which node the operator looks at; "" for none.
func (e *Engine) Focus(node string) {
	if e.cfg.OnFocus != nil {
		e.cfg.OnFocus(node)
	}
}

// publish makes a Snapshot of what is known, records what has changed since the last one, and hands it to everybody.
func (e *Engine) publish() {
	e.dirty = false
	prev := e.latest.Load()
	s := &core.Snapshot{Facts: core.Facts{
		Now:        wallTime(e.cfg.Clock()),
		Wall:       wallTime(e.cfg.Wall()),
		Cluster:    e.cfg.Cluster,
		Place:      e.cfg.Place,
		Operator:   e.cfg.Operator,
		Settings:   e.cfg.Settings,
		History:    e.history,
		Operations: e.ops.list(),
		Write:      e.write,
	}}
	e.revision++
	s.Revision = e.revision
	e.world.project(s, prev)
	e.history = e.observe(s)
	if e.lookUpPast(s) {
		s.Operations = e.ops.list()
	}
	e.latest.Store(s)
	e.subMu.Lock()
	defer e.subMu.Unlock()
	for _, ch := range e.subs {
		select {
		case <-ch: // not yet received: the newer one takes its place
		default:
		}
		ch <- s // cannot block: this is the only sender, and the channel is empty now
	}
}

// record has the journal keep what no write depends on, and does not wait for it: it may be called in the Engine's goroutine. What cannot
// be written now is kept and written later; until then nothing is written to a cluster. Without a journal (a single look) there is no
// record.
func (e *Engine) record(r Record, durable bool) {
	e.keep(durable, e.stamped(r))
}

func (e *Engine) keep(durable bool, records ...Record) {
	if e.cfg.Journal != nil && len(records) > 0 {
		e.scribe.put(durable, e.kept, records...)
	}
}

// journal has the journal keep what a write depends on, durably, and waits for it: never in the Engine's goroutine. Once ctx is done, or
// the Engine has ended, it is written all the same, and not waited for.
func (e *Engine) journal(ctx context.Context, r Record) error {
	if e.cfg.Journal == nil {
		return errors.New("there is no journal to keep the record in")
	}
	done := make(chan error, 1)
	e.scribe.demand(e.stamped(r), func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return errors.New("the disk has not taken the record in time")
		}
	case <-e.done:
	}
	return errLeaving
}

// errLeaving is why a record is not waited for.
var errLeaving = errors.New("not waited for the record: Lockstep is leaving")

// kept notes how it went to keep the record: a trouble is logged when it begins, and when it is over.
func (e *Engine) kept(err error) {
	if errors.Is(err, errLeaving) {
		return
	}
	switch failed := e.unkept.Swap(err != nil); {
	case err != nil && !failed:
		e.cfg.Log.Error("the record cannot be kept; it is written as soon as it can be", "error", err)
	case err == nil && failed:
		e.cfg.Log.Info("the record is kept again")
	}
}

// stamped is the record with who and when.
func (e *Engine) stamped(r Record) Record {
	r.Wall = e.cfg.Wall().UTC()
	if r.At.IsZero() {
		r.At = e.cfg.Clock().UTC()
	}
	if r.By == "" {
		r.By = e.cfg.Operator
	}
	return r
}
