package kube

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"lockstep/core"
)

// WatchOptions are the Watcher's times. A zero field means its default.
type WatchOptions struct {
	Log *slog.Logger // nil logs nothing

	SyncDeadline time.Duration // after this long without a complete list a source says why (15 s)
	ListTimeout  time.Duration // one page of a list (30 s)
	AbsentRetry  time.Duration // how often a missing or forbidden resource is looked at again (60 s)
	// how long a resource that was seen may be missing or forbidden before that counts (30 s)
	RefusalGrace   time.Duration
	BackoffMin     time.Duration              // the first pause after a failure; it doubles (1 s)
	BackoffMax     time.Duration              // the longest pause after failures (30 s)
	ProbeInterval  time.Duration              // how often the server is probed (15 s)
	ProbeTimeout   time.Duration              // how long the probe may take (10 s)
	WatchDuration  time.Duration              // how long the server is asked to keep one watch open (35 s)
	SilenceAllowed time.Duration              // how much longer than WatchDuration a watch may be silent (15 s)
	TouchInterval  time.Duration              // at most one Touch per source and interval (5 s)
	Claims         bool                       // watch volume claims and volumes, too
	Selectors      map[string]labels.Selector // selectors of the nodes that the played controllers hold, by controller
}

func (o WatchOptions) withDefaults() WatchOptions {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	orDuration(&o.SyncDeadline, 15*time.Second)
	orDuration(&o.ListTimeout, 30*time.Second)
	orDuration(&o.AbsentRetry, 60*time.Second)
	orDuration(&o.RefusalGrace, 30*time.Second)
	orDuration(&o.BackoffMin, time.Second)
	orDuration(&o.BackoffMax, 30*time.Second)
	orDuration(&o.ProbeInterval, 15*time.Second)
	orDuration(&o.ProbeTimeout, callTimeout)
	orDuration(&o.WatchDuration, 35*time.Second)
	orDuration(&o.SilenceAllowed, 15*time.Second)
	orDuration(&o.TouchInterval, 5*time.Second)
	return o
}

// Watcher keeps core informed of what Kubernetes knows of the update: one watch for each resource, and one for the pods of each
// node in maintenance. It stores no objects: the Engine owns the world, and a new list replaces the objects there.
//
// A source is live while its watch is trusted. The API server is asked to end each watch after WatchDuration; it sends a bookmark
// just before it does, and the watch is opened again where it ended. So a quiet source is confirmed about every 35 s, a watch that
// died silently (behind NAT, for example) is noticed, and the resource version never gets too old. The price is one small request
// for each source in that time.
type Watcher struct {
	opts    WatchOptions
	client  *Client
	out     *outbox
	streams []*stream
	pods    *podWatches // nil on the management cluster
}

// apart is the delay between lists that are due at the same time, so that no two start at one moment.
const apart = 1019 * time.Microsecond

// NewWatcher makes a Watcher that passes its Deltas to sink, in order, from one goroutine. A sink may block; Deltas of the same
// source are then merged.
func NewWatcher(client *Client, sink func(core.Delta), opts WatchOptions) *Watcher {
	resources := slices.Concat(watched, workloads)
	if opts.Claims {
		resources = append(resources, claimed...)
	}
	w := newWatcher(client, resources, sink, opts)
	w.pods = newPodWatches(time.Duration(len(w.streams))*apart, client, w.out, w.opts)
	return w
}

// NewManagementWatcher makes a Watcher of what the management cluster knows of the clusters in a namespace (a project), or in all
// projects when it is empty. The client is the management cluster's.
func NewManagementWatcher(client *Client, namespace string, sink func(core.Delta), opts WatchOptions) *Watcher {
	return newWatcher(client, watchedManagement(namespace), sink, opts)
}

func newWatcher(client *Client, resources []resource, sink func(core.Delta), opts WatchOptions) *Watcher {
	opts = opts.withDefaults()
	w := &Watcher{opts: opts, client: client, out: newOutbox(sink)}
	for i, r := range resources {
		if r.source == core.SourceNodes {
			r.translate = playedBy(opts.Selectors)
		}
		w.streams = append(w.streams, newStream(r, time.Duration(i)*apart, client, w.out, opts))
	}
	return w
}

// Run watches until ctx is done, and returns when everything it started has ended. Failures become states of the sources; none ends
// Run.
func (w *Watcher) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { w.out.run(ctx) })
	for _, s := range w.streams {
		wg.Go(func() { s.run(ctx) })
	}
	if w.pods != nil {
		wg.Go(func() { w.pods.run(ctx) })
	}
	wg.Go(func() { w.guard(ctx) })
	wg.Wait()
}

// SetPodNodes names the nodes whose pods are wanted: those in maintenance. It replaces the nodes named before; the pods of other
// nodes are forgotten. A node that has gone down or come back since is listed at once.
func (w *Watcher) SetPodNodes(nodes []core.PodsOf) {
	if w.pods != nil {
		w.pods.set(nodes)
	}
}

// Refresh retries every source that is waiting for its next try at once.
func (w *Watcher) Refresh() {
	for _, s := range w.all() {
		s.again()
	}
}

// all are the watches of everything, of pods too.
func (w *Watcher) all() []*stream {
	if w.pods == nil {
		return w.streams
	}
	return slices.Concat(w.streams, w.pods.streams())
}
