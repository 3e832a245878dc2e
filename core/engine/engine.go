package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/core"
	"lockstep/core/recording"
	"lockstep/core/wording"
)

// Config is what an Engine needs. Zero fields have the default that their comment gives.
type Config struct {
	Cluster  string // the cluster's name for people
	Operator string // who runs Lockstep: a core.Operator in one line
	Version  string // Lockstep's, for the journal

	Clock func() time.Time // the cluster's time; nil means the wall clock
	Wall  func() time.Time // nil means time.Now

	Settings core.Settings
	Sources  []core.SourceID // those that are configured; each is connecting until its first Delta
	Barred   string          // why writing can never be armed in this run; empty when it can

	Simulated bool // the cluster is a rehearsal's, by the name of the real one

	Journal    *Journal                                  // nil bars writing
	Past       []Record                                  // those records of the journal at the start that still count
	Follower   *Follower                                 // reads on in a journal that this run does not write; nil: the Journal is read on
	Lives      func(run string) (who string, lives bool) // whether another run on the journal lives; nil: by the journal's locks
	Kubernetes KubernetesChecker
	OpenStack  OpenStackChecker
	Alerts     AlertChecker // nil: nothing is written to Alertmanager
	Writers    Writers
	Lease      OperatorLease    // nil: no lease is kept
	Evacuation EvacuationReader // nil: no forecast can be made

	Place      core.ManagementPlace // which management cluster, and which of its clusters
	Own        core.ClusterPlace    // what commands must name to reach the cluster and its cloud
	Management ManagementChecker    // nil: nothing is written there

	// Stages reads when the machines of a project of the management cluster came to the stages of their maintenance; nil: that is not known.
	// Its errors are *APIErrors.
	Stages func(ctx context.Context, project string) ([]core.MachineStage, error)
	// LockTimes reads when each workload lock came into its state at the latest, by UID; nil: that is not known. It is called at most once
	// for each time in which nobody looked, while no fact waits for it.
	LockTimes func(ctx context.Context) (map[string]time.Time, error)

	Stops *core.StopFinder // what stops an update besides what core/step looks at; nil: nothing

	// Recorder takes what each Snapshot has that the one before had not. It must not wait; nil: nothing is recorded.
	Recorder func(recording.Frame)

	Announce Announce // what confirmed operations came to; zero: nobody is told

	OnFocus func(node string) // told which node the operator looks at; may be nil
	OnWrite func()            // told after every write, so that pollers look at once; may be nil
	OnStage func()            // told when nodes have changed their stage, so that slow sources look at once; may be nil

	// NewID makes the ID of a grant, which must be unique; nil: it is random.
	NewID    func() string
	GrantFor time.Duration // how long a grant is good; grantLifetime when zero

	// PollEvery is how often Lockstep looks for the result of a write; 2 s when zero. Settle is how long the server may show no sign of
	// an accepted write before it counts as failed; 20 s when zero.
	PollEvery time.Duration
	Settle    time.Duration

	// Trouble is told when the journal cannot be written, and when it is written again. It must not wait; nil: nobody is told.
	Trouble func(text string)

	Log *slog.Logger // nil discards
}

// Engine owns the world: it takes Deltas in, publishes Snapshots, keeps the journal, and is the only way to a write. Its methods are
// safe for use by several goroutines.
type Engine struct {
	cfg   Config
	inbox chan core.Delta
	do    chan request
	done  chan struct{} // closed when Run has returned

	oneClock bool // the cluster's time is the wall clock's
	ctx      context.Context
	stop     context.CancelFunc

	latest atomic.Pointer[core.Snapshot]
	armed  atomic.Bool // write.Armed, for the goroutines of running operations

	subMu sync.Mutex
	subs  map[int]chan *core.Snapshot
	subID int

	// Owned by the goroutine of Run.
	world     *world
	history   core.History
	observed  core.History // as the last Snapshot left it
	write     core.WriteMode
	givenBack <-chan struct{} // closed when the lease is given back; nil before the first time
	seen      []Record        // transitions that the Snapshot being made shows
	followed  <-chan struct{} // closed when the Engine has stopped following other runs
	revision  uint64
	settled   bool                        // the last Snapshot was: what it had is observed
	lookedAt  time.Time                   // the time of the cluster in the last Snapshot that was observed
	glance    core.Glance                 // at the last Snapshot in which something could be observed
	staged    core.ByNode[*core.NodeView] // whose stages were observed last
	dirty     bool
	rhythm    rhythm // of Snapshots, while it runs

	updateSeen string // UID of the update's request that this run has seen

	entries  entryBook
	others   otherRuns
	moves    moveBook
	plan     planBook
	past     pastBook
	identity core.Identity
	knownAs  string // whom Kubernetes has known last

	clusterUID string
	notes      []core.Note // by the time at which they were written; never changed in place

	scribe scribe
	ops    *operations
	tasks  sync.WaitGroup // running operations
	begun  atomic.Int64   // how many of them, and of their items, there have been

	records recorded // since the last Snapshot, for a recording

	unkept atomic.Bool // the last record could not be written

	published func(*core.Snapshot) // for tests: told of each Snapshot

	grants sync.Map // grant ID → granted: those given in this run and not used yet
}

// New makes an Engine. It does nothing before Run.
func New(cfg Config) *Engine {
	if cfg.Wall == nil {
		cfg.Wall = time.Now
	}
	oneClock := cfg.Clock == nil
	if oneClock {
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

		oneClock: oneClock,
		write:    core.WriteMode{Barred: cfg.Barred, Since: cfg.Wall()},
		ops:      newOperations(),
	}
	e.scribe.journal = cfg.Journal
	e.world.place, e.world.noting, e.world.wall = cfg.Place, cfg.Recorder != nil, cfg.Wall
	e.ctx, e.stop = context.WithCancel(context.Background())
	if cfg.Lives == nil && cfg.Journal != nil {
		e.cfg.Lives = func(run string) (string, bool) { return RunLives(cfg.Journal.Path(), run) }
	}
	e.startFrom(cfg.Past)
	e.cfg.Past = nil
	e.publish()
	return e
}

// Run works until ctx is done. Then it begins nothing new, gives the lease back, writes the last record, and returns nil. It returns an
// error only when it was called twice.
func (e *Engine) Run(ctx context.Context) error {
	select {
	case <-e.done:
		return errors.New("the engine has already run")
	default:
	}
	defer close(e.done)
	e.record(Record{Kind: RecordStart, Cluster: e.cfg.Cluster, Simulated: e.cfg.Simulated, Version: e.cfg.Version}, false)
	look := make(chan struct{}) // at what other runs do
	if e.cfg.Journal != nil || e.cfg.Follower != nil {
		followed := make(chan struct{})
		e.followed = followed
		go func() {
			defer close(followed)
			e.followOthers(ctx, look)
		}()
	}
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	e.rhythm = newRhythm()
	publish := func() {
		begun := time.Now()
		e.publish()
		e.rhythm.made(begun)
	}
	for {
		select {
		case <-ctx.Done():
			e.leave()
			return nil
		case d := <-e.inbox:
			e.take(d)
			e.drain()
			e.rhythm.facts()
		case r := <-e.do:
			r.do()
			publish() // the caller waits for the Snapshot that shows it
			close(r.done)
		case <-e.rhythm.soon:
			runtime.Gosched() // who has read something hands it on first
			if e.drain(); !e.rhythm.waits() {
				publish()
			}
		case <-tick.C:
			e.watchLease()
			e.watchBars()
			if e.dirty = true; e.rhythm.tick() {
				publish()
			}
			select { // after it: with a clock of its own, either could come first
			case look <- struct{}{}:
			default: // it still looks, or nobody does
			}
		}
		if e.dirty && e.rhythm.soon == nil {
			e.rhythm.plan()
		}
	}
}

// drain takes in what else has already arrived, so that a burst makes one Snapshot.
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

// wallTime strips the monotonic reading from a time. That clock stands still while a machine sleeps, and facts are as old as the wall
// clock says.
func wallTime(t time.Time) time.Time { return t.Round(0) }

// elapsed is the time from t to now by the clock that has gone further: the wall clock can be set back.
func elapsed(now, t time.Time) time.Duration { return max(now.Sub(t), wallTime(now).Sub(wallTime(t))) }

func (e *Engine) take(d core.Delta) {
	e.rhythm.came = time.Now()
	if d.At.IsZero() {
		d.At = e.cfg.Wall()
	}
	d.At, d.Next = wallTime(d.At), wallTime(d.Next)
	if e.world.apply(d) {
		e.dirty = true
	}
}

// leave ends the run in good order: operations begin nothing more, the lease is given back, and the journal gets its last line.
func (e *Engine) leave() {
	e.stop()
	wait := make(chan struct{})
	go func() { e.tasks.Wait(); close(wait) }()
	e.serve(wait)
	e.disarm("")
	if e.givenBack != nil {
		e.serve(e.givenBack)
	}
	if e.followed != nil {
		e.serve(within(leaveTimeout, e.followed))
	}
	e.publish() // records what was seen last, before the record of the stop
	e.record(Record{Kind: RecordStop, Cluster: e.cfg.Cluster}, true)
	select {
	case <-e.scribe.written():
	case <-time.After(leaveTimeout):
		e.cfg.Log.Error("the last records are not written: the disk does not answer")
	}
}

// within is closed with done, or after so long: a disk that hangs must not keep the program from ending.
func within(most time.Duration, done <-chan struct{}) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-done:
		case <-time.After(most):
		}
	}()
	return over
}

// serve runs requests until ended is closed.
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

// Apply hands the Engine a Delta. It blocks while the Engine is busy with earlier ones, and drops the Delta once the Engine has ended.
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

// call runs f in the Engine's goroutine and returns true when a Snapshot shows what f did. Once the Engine has ended it returns false
// at once.
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

// Identify tells the Engine which cluster it is, by its UID, and as whom the servers know who runs Lockstep; what is not known is empty.
// From now on the identity is recorded with what they confirm. Where Kubernetes knows them as somebody else than before, writing is
// disarmed: who armed it is not who would write.
func (e *Engine) Identify(cluster string, is core.Identity) {
	e.call(func() {
		if cluster == e.clusterUID && reflect.DeepEqual(is, e.identity) {
			return
		}
		e.clusterUID, e.identity = cluster, is
		if was := e.knownAs; was != "" && is.KubernetesUser != "" && is.KubernetesUser != was {
			e.disarm(fmt.Sprintf("the login of the cluster is now %s's, and was %s's: arm again as %[1]s", wording.OneLine(is.KubernetesUser, 64),
				wording.OneLine(was, 64)))
		}
		e.knownAs = cmp.Or(is.KubernetesUser, e.knownAs)
		r := Record{Kind: RecordIdentity, Cluster: e.cfg.Cluster, UID: cluster}
		if !is.IsZero() {
			r.As = &is
		}
		e.record(r, false)
	})
}

// Unidentified tells the Engine that Kubernetes does not say whose the login is, and why not. Where it said so before, the login is a new
// one: writing is disarmed, as it may be somebody else's.
func (e *Engine) Unidentified(why error) {
	e.call(func() {
		if e.knownAs == "" {
			return // no login has a name here
		}
		e.disarm(fmt.Sprintf("the login of the cluster is a new one, and nobody knows whether it is still %s's (%s): arm again",
			wording.OneLine(e.knownAs, 64), wording.OneLine(why.Error(), 200)))
	})
}

// Snapshot returns the latest Snapshot; it is never nil.
func (e *Engine) Snapshot() *core.Snapshot { return e.latest.Load() }

// Subscribe returns a channel that holds the latest Snapshot until it is received; older ones are dropped. stop ends the subscription.
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

// Focus tells the Engine which node the operator looks at; "" for none.
func (e *Engine) Focus(node string) {
	if e.cfg.OnFocus != nil {
		e.cfg.OnFocus(node)
	}
}

// publish makes a Snapshot, records what has changed since the last one, and hands it to all subscribers.
func (e *Engine) publish() {
	e.dirty = false
	prev := e.latest.Load()
	wall := wallTime(e.cfg.Wall())
	now := wall // read once where both are one clock, so that they do not differ by the time between two looks
	if !e.oneClock {
		now = wallTime(e.cfg.Clock())
	}
	s := &core.Snapshot{Facts: core.Facts{
		Now:        now,
		Wall:       wall,
		Cluster:    e.cfg.Cluster,
		Simulated:  e.cfg.Simulated,
		Place:      e.cfg.Place,
		Own:        e.cfg.Own,
		Operator:   e.cfg.Operator,
		Identity:   e.identity,
		Settings:   e.cfg.Settings,
		History:    e.history,
		Notes:      e.notes,
		Operations: e.ops.list(),
		Write:      e.write,
		MoreStops:  e.cfg.Stops,
	}}
	e.revision++
	s.Revision = e.revision
	e.world.project(s, prev)
	e.stampSnapshot(s, prev)
	if prev != nil {
		s.Follow(prev)
	}
	e.history = e.observe(s)
	e.observed = e.history
	if !sameHistory(&s.History, &e.history, true) {
		e.world.touched.everything()
	}
	next := e.world.touched // s has the History before it
	e.world.touched = touches{}
	if e.lookUpPast(s) {
		before := s.Operations
		s.Operations = e.ops.list()
		e.touchOperations(before, s.Operations)
		e.stamp(s)
		e.glance = core.Glance{} // it was at other operations
	}
	e.world.touched = next
	e.observePlan(s)
	e.observeMoves(s)
	e.observeEntries(s) // the last look at it before others see it: what was made of it until now would be of older operations
	e.keep(false, e.seen...)
	e.seen = nil
	e.recordFrame(s)
	if e.published != nil {
		e.published(s)
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
