package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/kube"
)

// fleetEvery is how often the list of clusters is made anew at most; fleetIdle how often without news: ends and ages move with the time.
const (
	fleetEvery = 250 * time.Millisecond
	fleetIdle  = 2 * time.Second
)

// fleetWatch is one run against a management cluster: what it knows of all its clusters.
type fleetWatch struct {
	client    *kube.Client
	watcher   *kube.FleetWatcher
	collector *fleet.Collector
	clock     func() time.Time        // the clusters' time
	follows   *session.SimulatedClock // behind it, where the clusters are simulated ones with a clock of their own; nil otherwise
	pace      float64                 // how much faster than real time it runs; 0 means 1
	news      chan fleetNews

	mu     sync.Mutex
	latest *fleet.View
	ears   map[chan *fleet.View]bool
}

type fleetNews struct {
	project string
	delta   core.Delta
}

// openFleet loads the login of the management cluster: the one that is named as such, else the cluster of the flags. It asks no server.
func openFleet(ctx context.Context, p options, log *session.Log) (*fleetWatch, error) {
	options := p.KubeOptions()
	if p.Management.Configured() {
		options = p.ManagementOptions()
	}
	client, err := kube.Load(options)
	if err != nil {
		return nil, err
	}
	if err := p.GetCredentials(ctx, log, client, "the management cluster"); err != nil {
		return nil, err
	}
	follows, _ := p.FollowClock(ctx, log, client)
	f := &fleetWatch{client: client, collector: fleet.NewCollector(client.ContextName, p.config.knownClusters()...), clock: p.Clock,
		follows: follows, pace: p.Pace, news: make(chan fleetNews, 64), ears: map[chan *fleet.View]bool{}}
	if f.clock == nil {
		f.clock = time.Now
	}
	watch := kube.WatchOptions{Log: log.Logger}
	if p.Pace > 1 {
		watch = session.Hurried(watch)
	}
	o := kube.FleetOptions{WatchOptions: watch}
	if p.Pace > 1 {
		o.Look, o.EachDuration = 10*time.Second, 30*time.Second
	}
	for _, id := range p.config.knownClusters() {
		if id.Project != "" {
			o.Projects = append(o.Projects, id.Project)
		}
	}
	f.watcher = kube.NewFleetWatcher(client, f.take, o)
	return f, nil
}

// take passes news on to run; it waits for room.
func (f *fleetWatch) take(project string, d core.Delta) { f.news <- fleetNews{project, d} }

// run works until ctx is done, and returns when everything it started has ended.
func (f *fleetWatch) run(ctx context.Context) {
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		f.watcher.Run(ctx)
	}()
	if f.follows != nil {
		var following sync.WaitGroup
		following.Go(func() { f.follows.Run(ctx) })
		defer following.Wait()
	}
	due := time.NewTimer(fleetEvery)
	defer due.Stop()
	fresh, last := false, time.Time{}
	for {
		select {
		case n := <-f.news:
			f.collector.Apply(n.project, n.delta)
			if !fresh {
				fresh = true
				due.Reset(max(fleetEvery-time.Since(last), fleetEvery/10))
			}
		case <-due.C:
			fresh, last = false, time.Now()
			f.publish()
			due.Reset(fleetIdle)
		case <-watching:
			return
		}
	}
}

// publish makes the list and gives it to all who listen.
func (f *fleetWatch) publish() {
	v := f.collector.View(f.clock(), time.Now())
	f.watcher.SetMachines(v.Watched())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latest = v
	for ear := range f.ears {
		select {
		case <-ear: // nobody has taken the one before
		default:
		}
		ear <- v
	}
}

// seen is the latest list; nil before the first.
func (f *fleetWatch) seen() *fleet.View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.latest
}

// Subscribe returns a channel of lists; it holds one, the latest wins.
func (f *fleetWatch) Subscribe() (views <-chan *fleet.View, stop func()) {
	ear := make(chan *fleet.View, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ears[ear] = true
	if f.latest != nil {
		ear <- f.latest
	}
	return ear, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.ears, ear)
	}
}

// look waits until everything that there is to know has come, and no longer than wait. A failure that may pass is not the end.
func (f *fleetWatch) look(ctx context.Context, wait time.Duration) *fleet.View {
	views, stop := f.Subscribe()
	defer stop()
	deadline, until := time.After(wait), time.Now().Add(wait)
	yet := func(src core.Source) bool { return src.AnswersYet(until) }
	var last *fleet.View
	for {
		select {
		case last = <-views:
			if last.Complete && !slices.ContainsFunc(last.Sources, yet) {
				return last
			}
		case <-deadline:
			return last
		case <-ctx.Done():
			return last
		}
	}
}
