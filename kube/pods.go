package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	selectors "k8s.io/apimachinery/pkg/fields"

	"lockstep/core"
)

// podPoller lists the pods of the nodes in maintenance, and of no others: a MOSK cluster has thousands.
type podPoller struct {
	client *Client
	out    *outbox
	opts   WatchOptions
	behind time.Duration // delay after the watches that are due at once
	kick   chan struct{}

	listed bool // at least once; only the polling goroutine uses it

	mu    sync.Mutex
	nodes []core.PodsOf // by name
}

func newPodPoller(behind time.Duration, client *Client, out *outbox, opts WatchOptions) *podPoller {
	return &podPoller{behind: behind, client: client, out: out, opts: opts, kick: make(chan struct{}, 1)}
}

func (p *podPoller) set(nodes []core.PodsOf) {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b core.PodsOf) int { return cmp.Compare(a.Node, b.Node) })
	nodes = slices.CompactFunc(nodes, func(a, b core.PodsOf) bool { return a.Node == b.Node })
	p.mu.Lock()
	same := slices.EqualFunc(p.nodes, nodes, func(a, b core.PodsOf) bool {
		return a.Node == b.Node && a.NodeReadySince.Equal(b.NodeReadySince)
	})
	p.nodes = nodes
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
	byTurns(ctx, p.kick, func(ctx context.Context) time.Duration {
		if sleep(ctx, p.behind) != nil {
			return p.opts.PodInterval
		}
		return p.poll(ctx)
	})
}

// poll looks at every node once, and returns when to look again.
func (p *podPoller) poll(ctx context.Context) time.Duration {
	p.mu.Lock()
	nodes := p.nodes
	p.mu.Unlock()
	wait := p.opts.PodInterval
	all, err := p.listAll(ctx, nodes)
	if ctx.Err() != nil {
		return wait
	}
	if err != nil {
		state := core.SourceFailed
		switch err.Kind {
		case core.ErrForbidden:
			state = core.SourceForbidden
			if !p.listed { // a server that has just started may not know its roles yet
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
	d := core.Delta{Source: core.SourceNodePods, State: core.SourceLive, Replace: true}
	for _, pods := range all {
		d.Upserts = append(d.Upserts, pods)
	}
	p.listed = true
	d.At = time.Now()
	p.out.put(d)
	return wait
}

// podListsAtOnce is how many lists of pods are asked for at once. Answers that come together are read together: with a dozen lists one
// after another, a dashboard of 500 nodes took a fifth more of a processor at rest. Sixteen at once saved no more than eight.
const podListsAtOnce = 8

// requestsApart is the time between requests that are made side by side: where they have to wait for their turn, it is in their order.
const requestsApart = 50 * time.Microsecond

// listAll lists the pods of all nodes, in their order. After an error no further list is asked for, and the error is the first node's
// that had one.
func (p *podPoller) listAll(ctx context.Context, nodes []core.PodsOf) ([]*core.NodePods, *core.APIError) {
	lists, errs := make([]*core.NodePods, len(nodes)), make([]*core.APIError, len(nodes))
	var next atomic.Int64
	var failed atomic.Bool
	var working sync.WaitGroup
	for worker := range min(podListsAtOnce, len(nodes)) {
		if worker > 0 && sleep(ctx, requestsApart) != nil {
			break
		}
		working.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= len(nodes) {
					return
				}
				if lists[i], errs[i] = p.list(ctx, nodes[i]); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	working.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return lists, nil
}

func (p *podPoller) list(ctx context.Context, of core.PodsOf) (*core.NodePods, *core.APIError) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.ListTimeout)
	defer cancel()
	// The server's cache is good enough for counting, and spares etcd.
	items, err := p.client.pods(ctx, "", of.Node, "0")
	if err != nil {
		return nil, p.client.describe(err, "list pods of node "+of.Node)
	}
	pods := podsFrom(of.Node, items)
	pods.AsOf, pods.NodeReadySince = time.Now(), of.NodeReadySince
	return pods, nil
}

// pod has the fields of a pod that are counted. A list of pods is by far the largest answer that is requested again and again, and
// most of it does not matter here. It is decoded straight into this type.
type pod struct {
	Metadata struct {
		Namespace   string
		Name        string
		UID         string
		Created     string `json:"creationTimestamp"`
		Deleting    string `json:"deletionTimestamp"`
		Annotations struct {
			// Mirror marks the mirror pod of a static pod, which nothing evicts.
			Mirror json.RawMessage `json:"kubernetes.io/config.mirror"`
		}
		OwnerReferences []struct {
			Kind       string
			Controller bool
		}
		Labels struct { // any value, also an empty one
			Job    json.RawMessage `json:"job-name"`
			JobNew json.RawMessage `json:"batch.kubernetes.io/job-name"`
		}
	}
	Status struct {
		Phase      string
		Reason     string
		Started    string `json:"startTime"`
		Conditions []struct{ Type, Status string }
		Containers json.RawMessage `json:"containerStatuses"`
	}
}

// pods lists the pods in a namespace (empty: all namespaces) on a node (empty: all nodes), at least as new as a resourceVersion
// (empty: as the server has them; "0": as its cache has them).
func (c *Client) pods(ctx context.Context, namespace, node, version string) ([]pod, error) {
	selector := ""
	if node != "" {
		selector = selectors.OneTermEqualSelector("spec.nodeName", node).String()
	}
	return c.podsSelected(ctx, namespace, selector, version)
}

// podsSelected lists the pods that a field selector names.
func (c *Client) podsSelected(ctx context.Context, namespace, selector, version string) ([]pod, error) {
	r := c.session.Load().rest.Get().AbsPath("/api/v1")
	if namespace != "" {
		r = r.Namespace(namespace)
	}
	r = r.Resource("pods")
	if selector != "" {
		r = r.Param("fieldSelector", selector)
	}
	if version != "" {
		r = r.Param("resourceVersion", version)
	}
	answer := r.Do(ctx)
	if err := answer.Error(); err != nil { // Raw's error does not have the server's message
		return nil, err
	}
	body, err := answer.Raw()
	if err != nil {
		return nil, err
	}
	return readPods(body)
}

// readPods reads a list of pods. A field of an unexpected type counts as empty, as everywhere.
func readPods(body []byte) ([]pod, error) {
	var list struct {
		Kind  string
		Items []pod
	}
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &list); err != nil && !errors.As(err, &odd) {
		return nil, fmt.Errorf("read the list of pods: %w", err)
	}
	if list.Kind != "PodList" {
		return nil, fmt.Errorf("read the list of pods: the answer is of kind %q", list.Kind)
	}
	return list.Items, nil
}

// podsFrom counts a node's pods. A pod in deletion is still there, so it still counts as one to be moved.
func podsFrom(node string, items []pod) *core.NodePods {
	p := &core.NodePods{Node: node, Total: len(items)}
	for i := range items {
		m, phase, owner := &items[i].Metadata, items[i].Status.Phase, items[i].owner()
		over := phase == "Succeeded" || phase == "Failed"
		if !over && owner != "DaemonSet" && m.Annotations.Mirror == nil {
			p.Evictable++
		}
		// Rockoon silently waits for these when the node comes back (docs/mosk.md#pods-on-return), also for pods that have ended,
		// such as evicted ones, which are never ready again.
		if m.Namespace == namespaceOpenStack && !items[i].ofJob() && !items[i].ready() {
			p.NotReady = append(p.NotReady, core.PodName{Namespace: m.Namespace, Name: m.Name})
			if over {
				p.Ended = append(p.Ended, items[i].ended())
			}
		}
	}
	slices.SortFunc(p.NotReady, func(a, b core.PodName) int { return strings.Compare(a.String(), b.String()) })
	slices.SortFunc(p.Ended, func(a, b core.EndedPod) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// ended is what is known of a pod that has ended. It ended with its last container; of a pod that never ran only the start is
// known.
func (p *pod) ended() core.EndedPod {
	m := &p.Metadata
	e := core.EndedPod{Namespace: m.Namespace, Name: m.Name, UID: m.UID, Phase: p.Status.Phase, Reason: p.Status.Reason, Owner: p.owner(),
		Deleting: podTime(m.Deleting)}
	var containers []struct {
		State struct {
			Terminated struct {
				Reason   string
				Finished string `json:"finishedAt"`
			}
		}
	}
	_ = json.Unmarshal(p.Status.Containers, &containers) // unreadable: not known
	for _, c := range containers {
		if at := podTime(c.State.Terminated.Finished); at.After(e.Since.At) {
			e.Since = core.Since{At: at, Exact: true}
		}
		e.Reason = cmp.Or(e.Reason, c.State.Terminated.Reason)
	}
	for _, begun := range []string{p.Status.Started, m.Created} {
		if e.Since.At.IsZero() {
			e.Since.At = podTime(begun)
		}
	}
	return e
}

// podTime reads a time of the API; zero where there is none.
func podTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// owner is the kind of the pod's controller; empty when it has none.
func (p *pod) owner() string {
	for _, owner := range p.Metadata.OwnerReferences {
		if owner.Controller {
			return owner.Kind
		}
	}
	return ""
}

// ofJob tells whether the pod is a Job's, by Rockoon's rule (docs/mosk.md#pods-on-return): a Job is one of its owners, or it has a
// label that Jobs set, whatever owns it.
func (p *pod) ofJob() bool {
	m := &p.Metadata
	for _, owner := range m.OwnerReferences {
		if owner.Kind == "Job" {
			return true
		}
	}
	return m.Labels.Job != nil || m.Labels.JobNew != nil
}

func (p *pod) ready() bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}
