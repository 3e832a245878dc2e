package nova

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lockstep/core"
)

// The cadence of each list at Pace 1 (engineering-notes 5).
const (
	servicesEvery    = 15 * time.Second
	hostMovingEvery  = 15 * time.Second // instances of a focus host while something moves: what the changes do not tell
	hostQuietEvery   = 30 * time.Second // and otherwise
	changesMoving    = 5 * time.Second  // instances of the whole cloud that changed, while something moves: one request for all hosts
	changesEvery     = 30 * time.Second // and otherwise
	relistEvery      = 10 * time.Minute // the whole lists, as a cross-check of the changes
	migrationsMoving = 3 * time.Second
	migrationsQuiet  = 15 * time.Second
	agentsEvery      = 15 * time.Second
	agentsAtRest     = 45 * time.Second // some in turn, while no host is in focus: within the time after which a source is stale
	projectsEvery    = 10 * time.Minute

	// floor is the shortest interval at any Pace, so that a fast clock does not make polling flood the API.
	floor = 300 * time.Millisecond

	failurePause, failurePauseMax = 2 * time.Second, time.Minute
)

// PollOptions tune a Poller.
type PollOptions struct {
	// Pace divides all intervals; 0 means 1. The demo's clock runs faster than the wall's, and so must its polling. No
	// interval gets shorter than 300 ms.
	Pace float64
	Log  *slog.Logger // nil means none
}

// pollsApart is the delay between lists that are due at the same time. No other interval is a multiple of it, so that no two become
// due at one moment.
const pollsApart = 1013 * time.Microsecond

// Poller reads the cloud again and again and passes what is new to its sink. Nova has no watch, so the cadence follows what
// happens: the hosts in focus and running migrations are read often, the rest of the cloud by its changes.
//
// Each list has a poll of its own, so one that fails or hangs delays no other.
type Poller struct {
	c     *Client
	log   *slog.Logger
	pace  float64
	floor time.Duration

	telling chan struct{} // holds a value while a Delta is handed to sink: one at a time
	sink    func(core.Delta)

	mu        sync.Mutex
	focus     []string
	moving    bool // as the caller says: a run or a maintenance is under way
	migrating bool // as the cloud says: a migration runs
	listing   bool // the first list of all instances is being read

	volumeHosts []string // whose own volumes are read
	routerHosts []string // whose L3 and DHCP agents are asked what they serve

	wakeInstances, wakeMigrations, wakeServices, wakeAgents, wakeVolumeServices, wakeVolumes chan struct{}
}

// NewPoller makes a Poller on the client. The sink is called from one goroutine at a time and should not block.
func NewPoller(c *Client, sink func(core.Delta), o PollOptions) *Poller {
	if o.Pace <= 0 {
		o.Pace = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Poller{
		c: c, sink: sink, telling: make(chan struct{}, 1), pace: o.Pace, floor: floor, log: o.Log,
		wakeInstances: make(chan struct{}, 1), wakeMigrations: make(chan struct{}, 1), wakeServices: make(chan struct{}, 1),
		wakeAgents:         make(chan struct{}, 1),
		wakeVolumeServices: make(chan struct{}, 1), wakeVolumes: make(chan struct{}, 1),
	}
}

// Run polls until the context ends.
func (p *Poller) Run(ctx context.Context) {
	loops := []struct {
		source core.SourceID
		nudge  <-chan struct{}
		poll   pollFunc
	}{
		{core.SourceComputeServices, p.wakeServices, p.computeServices()},
		{core.SourceInstances, p.wakeInstances, nil}, // has a loop of its own
		{core.SourceMigrations, p.wakeMigrations, newMigrationPoll(p).poll},
		{core.SourceNetworkAgents, p.wakeAgents, newAgentPoll(p).poll},
		{core.SourceProjects, nil, p.projects()},
		{core.SourceVolumeServices, p.wakeVolumeServices, p.volumeServices()},
		{core.SourceVolumes, p.wakeVolumes, p.volumes()},
	}
	var wg sync.WaitGroup
	for i, l := range loops {
		// Those that are due at the same time go in this order, so that the most important ones get the limiter's first slots.
		behind := time.Duration(i) * pollsApart
		if l.source == core.SourceInstances {
			wg.Go(func() { newInstancePoll(p).run(ctx, behind, l.nudge) })
			continue
		}
		wg.Go(func() { p.loop(ctx, behind, l.source, l.nudge, l.poll) })
	}
	wg.Wait()
}

// SetHosts says which hosts matter now, those in maintenance and the selected one, by the names of their nodes; moving
// says that a run or a maintenance is under way. It does not block.
func (p *Poller) SetHosts(focus []string, moving bool) {
	focus = slices.DeleteFunc(slices.Clone(focus), func(h string) bool { return h == "" })
	slices.Sort(focus)
	focus = slices.Compact(focus)
	p.mu.Lock()
	changed := !slices.Equal(p.focus, focus) || (moving && !p.moving)
	p.focus, p.moving = focus, moving
	p.mu.Unlock()
	if changed {
		p.Nudge()
		wake(p.wakeAgents)
	}
}

// SetVolumeHosts names the hosts on whose own disks volumes matter now; those of other hosts are not read. It does not block.
func (p *Poller) SetVolumeHosts(hosts []string) {
	p.mu.Lock()
	changed := !slices.Equal(p.volumeHosts, hosts)
	p.volumeHosts = slices.Clone(hosts)
	p.mu.Unlock()
	if changed {
		wake(p.wakeVolumes)
	}
}

// SetRouterHosts names the hosts whose L3 and DHCP agents are asked what they serve. It does not block.
func (p *Poller) SetRouterHosts(hosts []string) {
	p.mu.Lock()
	changed := !slices.Equal(p.routerHosts, hosts)
	p.routerHosts = slices.Clone(hosts)
	p.mu.Unlock()
	if changed {
		wake(p.wakeAgents)
	}
}

func (p *Poller) routersOn() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.routerHosts
}

// Nudge polls the focus hosts, the migrations and the services at once, as after a write. It does not block.
func (p *Poller) Nudge() {
	wake(p.wakeInstances)
	wake(p.wakeMigrations)
	wake(p.wakeServices)
	wake(p.wakeVolumeServices)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// hosts is the focus, and whether anything moves that has to be read often. Nothing has until the first list of all instances is in: in
// a large cloud, twenty nodes that move alone need more requests than the limiter allows, and the list would take minutes.
func (p *Poller) hosts() (focus []string, moving bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.focus, (p.moving || p.migrating) && !p.listing
}

func (p *Poller) setListing(yes bool) {
	p.mu.Lock()
	ended := p.listing && !yes
	p.listing = yes
	p.mu.Unlock()
	if ended {
		wake(p.wakeMigrations)
	}
}

func (p *Poller) setMigrating(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.migrating = yes
}

// scaled is an interval at the poller's pace.
func (p *Poller) scaled(d time.Duration) time.Duration {
	return max(time.Duration(float64(d)/p.pace), p.floor)
}

func (p *Poller) emit(d core.Delta) {
	if d.At.IsZero() {
		d.At = wallClock()
	}
	p.telling <- struct{}{}
	defer func() { <-p.telling }()
	p.sink(d)
}

// pollFunc polls one list once, passes on what is new, and returns when to call it again. nudged is true after a Nudge.
type pollFunc func(ctx context.Context, nudged bool) (next time.Duration, err error)

// loop calls a poll for as long as the program runs, and reports the state of its source to the engine. It starts after the given
// delay, which spaces polls that are due at the same time.
func (p *Poller) loop(ctx context.Context, behind time.Duration, id core.SourceID, nudge <-chan struct{}, poll pollFunc) {
	p.emit(core.Delta{Source: id, State: core.SourceConnecting})
	failures, known, nudged := 0, false, false
	if sleep(ctx, behind) != nil {
		return
	}
	for {
		next, err := p.once(ctx, poll, nudged)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			failures, known = 0, true
		} else {
			next = p.failurePause(failures)
			failures++
			p.report(id, err, known, &next)
		}
		timer := time.NewTimer(next + behind)
		nudged = false
		select {
		case <-timer.C:
		case <-nudge:
			nudged = true
			timer.Stop()
			if sleep(ctx, p.floor/4+behind) != nil { // several nudges at once count as one; up to three Snapshots come within a floor
				return
			}
			select { // those that came meanwhile are handled too
			case <-nudge:
			default:
			}
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (p *Poller) once(ctx context.Context, poll pollFunc, nudged bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, p.c.times.poll)
	defer cancel()
	return poll(ctx, nudged)
}

// failurePause doubles with each failure in a row.
func (p *Poller) failurePause(failures int) time.Duration {
	return p.scaled(min(failurePause<<min(failures, 10), failurePauseMax))
}

// report says why a source is not live. next becomes the time of the next login if the login failed.
func (p *Poller) report(id core.SourceID, err error, known bool, next *time.Duration) {
	var api *core.APIError
	if !errors.As(err, &api) {
		api = p.c.fail(action{call: "poll " + string(id)}, err)
	}
	now := wallClock()
	*next = max(*next, api.After)
	if again := p.c.retryAt(); again.After(now) {
		*next = max(again.Sub(now), p.floor)
	}
	state := core.SourceFailed
	switch {
	case api.Kind == core.ErrForbidden:
		state = core.SourceForbidden
	case errors.Is(err, errNoNeutron), errors.Is(err, errNoCinder):
		state = core.SourceAbsent
	case known:
		state = core.SourceStale
	}
	p.log.Warn("openstack poll failed", "source", string(id), "state", string(state), "err", api.Error(), "next", *next)
	p.emit(core.Delta{Source: id, At: now, State: state, Err: api, Next: now.Add(*next)})
}
