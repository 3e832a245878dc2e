package kube

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	selectors "k8s.io/apimachinery/pkg/fields"

	"lockstep/core"
)

// annotationMirror marks the API's image of a static pod, which nothing evicts.
const annotationMirror = "kubernetes.io/config.mirror"

// podPoller lists the pods of the nodes in maintenance, and of no others: a MOSK cluster has thousands.
type podPoller struct {
	client *Client
	out    *outbox
	opts   WatchOptions
	kick   chan struct{}

	listed bool // at least once; only the polling goroutine uses it

	mu    sync.Mutex
	nodes []string
}

func newPodPoller(client *Client, out *outbox, opts WatchOptions) *podPoller {
	return &podPoller{client: client, out: out, opts: opts, kick: make(chan struct{}, 1)}
}

func (p *podPoller) set(names []string) {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	p.mu.Lock()
	same := slices.Equal(p.nodes, names)
	p.nodes = names
	p.mu.Unlock()
	if !same {
		p.again()
	}
}

func (p *podPoller) again() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

func (p *podPoller) run(ctx context.Context) {
	byTurns(ctx, p.kick, p.poll)
}

// poll looks at every node once, and answers when to look again.
func (p *podPoller) poll(ctx context.Context) time.Duration {
	p.mu.Lock()
	nodes := p.nodes
	p.mu.Unlock()
	wait := p.opts.PodInterval
	d := core.Delta{Source: core.SourceNodePods, State: core.SourceLive, Replace: true}
	for _, node := range nodes {
		pods, err := p.list(ctx, node)
		if ctx.Err() != nil {
			return wait
		}
		if err != nil {
			state := core.SourceFailed
			switch err.Kind {
			case core.ErrForbidden:
				state = core.SourceForbidden
				if !p.listed { // else a server that has just started may not know its roles yet
					wait = p.opts.AbsentRetry
				}
			case core.ErrUnauthorized:
				p.client.renew()
			case core.ErrTimeout, core.ErrUnreachable, core.ErrServer, core.ErrTooManyRequests:
				if p.listed {
					state = core.SourceStale
				}
			}
			now := time.Now()
			p.out.put(core.Delta{Source: core.SourceNodePods, At: now, State: state, Err: err, Next: now.Add(wait)})
			return wait
		}
		d.Upserts = append(d.Upserts, pods)
	}
	p.listed = true
	d.At = time.Now()
	p.out.put(d)
	return wait
}

func (p *podPoller) list(ctx context.Context, node string) (*core.NodePods, *core.APIError) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.ListTimeout)
	defer cancel()
	list, err := p.client.resource(gvrPods, "").List(ctx, metav1.ListOptions{
		FieldSelector: selectors.OneTermEqualSelector("spec.nodeName", node).String(),
		// What the server has in its cache is good enough to count, and spares etcd.
		ResourceVersion: "0",
	})
	if err != nil {
		return nil, Describe(err, "list pods of node "+node)
	}
	pods := podsFrom(node, list.Items)
	pods.AsOf = time.Now()
	return pods, nil
}

// podsFrom counts a node's pods. A pod that is being deleted is still there, so it still counts as one to be moved.
func podsFrom(node string, items []unstructured.Unstructured) *core.NodePods {
	p := &core.NodePods{Node: node, Total: len(items)}
	for i := range items {
		o := fields(items[i].Object)
		phase := o.at("status").text("phase")
		if phase == "Succeeded" || phase == "Failed" {
			continue
		}
		owner := podOwner(o)
		_, mirror := o.at("metadata", "annotations")[annotationMirror]
		if owner != "DaemonSet" && !mirror {
			p.Evictable++
		}
		m := o.at("metadata")
		// Rockoon waits for these when the node comes back, without a word (mosk-facts 4.1, NMR delete).
		if m.text("namespace") == namespaceOpenStack && owner != "Job" && !podReady(o) {
			p.NotReady = append(p.NotReady, m.text("namespace")+"/"+m.text("name"))
		}
	}
	slices.Sort(p.NotReady)
	return p
}

// podOwner is the kind of the pod's controller; empty when it has none.
func podOwner(o fields) string {
	for _, owner := range o.at("metadata").objects("ownerReferences") {
		if owner.truth("controller") {
			return owner.text("kind")
		}
	}
	return ""
}

func podReady(o fields) bool {
	for _, c := range o.at("status").objects("conditions") {
		if c.text("type") == "Ready" {
			return c.text("status") == "True"
		}
	}
	return false
}
