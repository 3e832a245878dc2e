package kube

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"lockstep/core"
)

// podWatches watches the pods of the nodes in maintenance, and of no others: a MOSK cluster has thousands. Each of the nodes has a watch of
// its own, as its kubelet has one. Together they are one source, which is as good as the worst of them.
type podWatches struct {
	client *Client
	out    *outbox
	opts   WatchOptions
	behind time.Duration // delay after the watches that are due at once
	kick   chan struct{} // other nodes are wanted

	mu     sync.Mutex
	wanted []core.PodsOf        // by node
	nodes  map[string]*podWatch // those that are watched, by node
	state  core.SourceState     // as it was told last
	err    *core.APIError
	next   time.Time
	asOf   time.Time // as of then the server has confirmed all nodes; zero before it has for the first time
	listed bool      // the pods of some node have been
}

// podWatch is the watch of one node's pods. What follows stop is podWatches.mu's.
type podWatch struct {
	of     core.PodsOf
	all    *podWatches
	stream *stream
	stop   context.CancelFunc

	pods  map[string]*pod // nil before the first list
	heard time.Time       // the server's last word
	state core.SourceState
	err   *core.APIError
	next  time.Time
}

func newPodWatches(behind time.Duration, client *Client, out *outbox, opts WatchOptions) *podWatches {
	return &podWatches{behind: behind, client: client, out: out, opts: opts, kick: make(chan struct{}, 1), nodes: map[string]*podWatch{}}
}

// set names the nodes that are wanted.
func (p *podWatches) set(nodes []core.PodsOf) {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b core.PodsOf) int { return cmp.Compare(a.Node, b.Node) })
	nodes = slices.CompactFunc(nodes, func(a, b core.PodsOf) bool { return a.Node == b.Node })
	p.mu.Lock()
	same := slices.EqualFunc(p.wanted, nodes, samePodsOf)
	p.wanted = nodes
	p.mu.Unlock()
	if same {
		return
	}
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func samePodsOf(a, b core.PodsOf) bool {
	return a.Node == b.Node && a.NodeReadySince.Equal(b.NodeReadySince)
}

// run watches until ctx is done, and returns when every watch has ended.
func (p *podWatches) run(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	confirm := time.NewTicker(p.opts.WatchDuration)
	defer confirm.Stop()
	for {
		for i, w := range p.follow() {
			var own context.Context
			own, w.stop = context.WithCancel(ctx)
			w.stream.behind = p.behind + time.Duration(i)*apart
			watching.Go(func() { w.stream.run(own) })
		}
		select {
		case <-ctx.Done():
			return
		case <-p.kick:
		case <-confirm.C:
		}
	}
}

// follow forgets the nodes that are not wanted any more, and returns the watches that have to start. A node that went down or came back has
// to be listed anew: its watch is another one.
func (p *podWatches) follow() []*podWatch {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := core.Delta{Source: core.SourceNodePods, At: time.Now()}
	for name, w := range p.nodes {
		of, wanted := p.find(name)
		if wanted && samePodsOf(of, w.of) {
			continue
		}
		w.stop()
		if !wanted {
			delete(p.nodes, name)
			d.Deletes = append(d.Deletes, name)
		}
	}
	slices.Sort(d.Deletes)
	var begin []*podWatch
	for _, of := range p.wanted {
		old := p.nodes[of.Node]
		if old != nil && samePodsOf(of, old.of) {
			continue
		}
		w := &podWatch{of: of, all: p, state: core.SourceConnecting}
		w.stream = newStream(resource{source: core.SourceNodePods, gvr: gvrPods, node: of.Node, translate: podFrom}, 0, p.client, w, p.opts)
		// Once pods were listed a refusal is not believed at once, but where it was believed already.
		w.stream.populated = p.listed && (old == nil || old.state != core.SourceForbidden)
		if old != nil && old.state != core.SourceLive && old.state != core.SourceConnecting {
			// What was wrong is so until the new watch is open: that it can be listed may have been so all the time.
			w.state, w.err, w.next, w.stream.unwatched = old.state, old.err, old.next, true
		}
		p.nodes[of.Node] = w
		begin = append(begin, w)
	}
	p.tell(d)
	return begin
}

func (p *podWatches) find(node string) (core.PodsOf, bool) {
	i, found := slices.BinarySearchFunc(p.wanted, node, func(of core.PodsOf, name string) int { return cmp.Compare(of.Node, name) })
	if !found {
		return core.PodsOf{}, false
	}
	return p.wanted[i], true
}

// put takes what the watch of one node has brought.
func (w *podWatch) put(d core.Delta) {
	p := w.all
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes[w.of.Node] != w {
		return // another watch has taken its place, or nobody wants the node any more
	}
	if d.State != "" && d.State != core.SourceConnecting {
		w.state, w.err, w.next = d.State, d.Err, d.Next
	}
	if d.Replace {
		w.pods, p.listed = make(map[string]*pod, len(d.Upserts)), true
	}
	for _, o := range d.Upserts {
		w.pods[o.Key()] = o.(*pod)
	}
	for _, key := range d.Deletes {
		delete(w.pods, key)
	}
	if d.Hears() {
		w.heard = d.At
	}
	out := core.Delta{Source: core.SourceNodePods, At: d.At}
	if d.Replace || len(d.Upserts)+len(d.Deletes) > 0 {
		out.Upserts = []core.Object{podsOn(w.of, w.pods)}
	}
	p.tell(out)
}

// tell passes facts on, with the state of the source when it has changed. All nodes were confirmed as of the time at which the one was that
// has been silent longest. The caller holds mu.
func (p *podWatches) tell(d core.Delta) {
	now, first := d.At, p.asOf.IsZero()
	state, err, next := p.worst()
	at := p.confirmed(now)
	if first {
		d.Touch = !at.IsZero() && state == core.SourceLive // it begins when all are live
	} else {
		d.Touch = elapsed(at, p.asOf) >= p.opts.TouchInterval
	}
	if d.Touch {
		p.asOf = at
	} else if first && state == core.SourceLive {
		state = core.SourceConnecting
	}
	if !p.asOf.IsZero() {
		d.At = p.asOf
	}
	told := core.Delta{Source: core.SourceNodePods, At: now, State: state, Err: err, Next: next}
	same := state == p.state && err == p.err && next == p.next
	p.state, p.err, p.next = state, err, next
	switch {
	case same && d.Hears():
		p.out.put(d)
	case same:
	case first: // the facts begin with the state
		d.State, d.Err, d.Next = state, err, next
		p.out.put(d)
	case d.Hears(): // two, as each has a time of its own
		p.out.put(d)
		p.out.put(told)
	default:
		p.out.put(told)
	}
}

// confirmed is as of when the server has confirmed all that is wanted; while the first list of a node is awaited that does not change. It
// is now when nothing is wanted. The caller holds mu.
func (p *podWatches) confirmed(now time.Time) time.Time {
	at := now
	for _, of := range p.wanted {
		w := p.nodes[of.Node]
		if w == nil || w.pods == nil {
			return p.asOf
		}
		if w.heard.Before(at) {
			at = w.heard
		}
	}
	return at
}

// badness orders the states of nodes in trouble. A refused login or a missing right is everybody's, and is told before the rest.
var badness = []core.SourceState{core.SourceStale, core.SourceFailed, core.SourceAbsent, core.SourceForbidden}

// worst is the state of the first of the nodes that are in the worst one. The caller holds mu.
func (p *podWatches) worst() (core.SourceState, *core.APIError, time.Time) {
	bad, worst := -1, &podWatch{state: core.SourceLive}
	for _, of := range p.wanted {
		w := p.nodes[of.Node]
		if w == nil {
			continue
		}
		if n := slices.Index(badness, w.state); n > bad {
			bad, worst = n, w
		}
	}
	return worst.state, worst.err, worst.next
}

// streams are the watches that run now.
func (p *podWatches) streams() []*stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	streams := make([]*stream, 0, len(p.nodes))
	for _, of := range p.wanted {
		if w := p.nodes[of.Node]; w != nil {
			streams = append(streams, w.stream)
		}
	}
	return streams
}
