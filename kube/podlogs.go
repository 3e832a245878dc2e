package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/core"
)

// Looker reads what nobody watches: logs, events and objects. It is safe for concurrent use, and asks only while it is called.
type Looker struct {
	clients map[core.Server]*Client
}

// NewLooker makes a Looker for the clusters that are connected; either may be nil.
func NewLooker(kubernetes, management *Client) *Looker {
	l := &Looker{clients: make(map[core.Server]*Client)}
	for server, c := range map[core.Server]*Client{core.ServerKubernetes: kubernetes, core.ServerManagement: management} {
		if c != nil {
			l.clients[server] = c
		}
	}
	return l
}

// client is the client of a server; call is what was to be done.
func (l *Looker) client(server core.Server, call string) (*Client, error) {
	if c := l.clients[server]; c != nil {
		return c, nil
	}
	e := &core.APIError{Kind: core.ErrConfiguration, Server: server, Call: call, Message: "there is no usable kubeconfig for it"}
	if server == core.ServerManagement {
		e.Message, e.Remedy = "the management cluster is not connected", "Start Lockstep with --management-context."
	}
	return nil, e
}

// lookError describes a failed look. A right that is missing is in a manifest of its own cluster.
func lookError(err error, server core.Server, call string) *core.APIError {
	e := Describe(err, call)
	if e == nil {
		return nil
	}
	own := *e
	own.Server = server
	if own.Kind == core.ErrForbidden && server == core.ServerManagement {
		own.Remedy = strings.Replace(own.Remedy, "deploy/rbac-readonly.yaml", "deploy/rbac-management-readonly.yaml", 1)
	}
	return &own
}

const (
	// podsAgain is how often it is looked for new pods of a log that is followed.
	podsAgain = 15 * time.Second
	// logRate is how much of a log is read in a second, in bytes. What is written faster comes later.
	logRate = 1 << 20
	// The pause before a log that ended or broke off is read on doubles up to a limit.
	logPause, logPauseMax = 500 * time.Millisecond, 30 * time.Second
)

// Log implements core.Looker.
func (l *Looker) Log(ctx context.Context, r core.LogRequest, sink func(core.LogPart)) error {
	c, err := l.client(r.Server, "read the log of "+r.Label)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	f := &logReading{client: c, LogRequest: r, again: make(chan struct{}, 1), reading: map[string]bool{}, over: map[string]*core.APIError{},
		at:     map[string]*logPosition{},
		budget: newBudget(),
		sink: func(p core.LogPart) {
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil {
				sink(p)
			}
		}}
	err = f.run(ctx)
	cancel()
	f.streams.Wait()
	return err
}

// logReading is one call of Log.
type logReading struct {
	core.LogRequest
	client  *Client
	sink    func(core.LogPart)
	streams sync.WaitGroup
	again   chan struct{} // a stream has ended: look for pods
	budget  *budget

	mu      sync.Mutex
	reading map[string]bool           // UIDs of pods whose streams run
	at      map[string]*logPosition   // by UID: up to where pods were read
	over    map[string]*core.APIError // UIDs of pods that cannot be read, and why
	came    bool                      // a log was read
	told    []core.LogPod
}

// forget lets the pods that could not be read be tried again.
func (f *logReading) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.over)
}

// run looks for the pods, and reads each one's log by itself.
func (f *logReading) run(ctx context.Context) error {
	for failures := 0; ; {
		pods, err := f.find(ctx, "")
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && len(pods) == 0:
			err = f.none()
			if !f.Follow || f.Pod != "" {
				return err
			}
			fallthrough
		case err != nil:
			if !f.Follow || !passes(err) && err.Kind != core.ErrNotFound {
				return err
			}
			failures++
			f.sink(core.LogPart{Trouble: err})
			if sleep(ctx, pauseAfter(failures)) != nil {
				return nil
			}
			continue
		}
		failures = 0
		f.begin(ctx, pods)
		f.tell(pods)
		if !f.Follow {
			f.streams.Wait()
			if err := f.result(ctx, pods); err != nil {
				return err
			}
			return nil
		}
		if err := f.result(ctx, pods); err != nil {
			if !f.came {
				return err
			}
			// The log of a workload was read before: the pod that can be read may be about to come.
			f.sink(core.LogPart{Trouble: err})
			f.forget()
		}
		again := time.NewTimer(podsAgain)
		select {
		case <-ctx.Done():
		case <-f.again:
			_ = sleep(ctx, logPause) // its successor may need a moment
		case <-again.C:
		}
		again.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// result is why none of the pods can be read; nil when one can.
func (f *logReading) result(ctx context.Context, pods []foundPod) *core.APIError {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil || len(f.reading) > 0 {
		return nil
	}
	var first *core.APIError
	for _, p := range pods {
		why := f.over[p.uid]
		if why == nil && p.Read {
			return nil
		}
		if first == nil {
			first = why
		}
	}
	return first
}

// none says that no pod was found.
func (f *logReading) none() *core.APIError {
	e := &core.APIError{Kind: core.ErrNotFound, Server: f.Server, Call: "read the log of " + f.Label, Message: "no pod was found there"}
	switch {
	case f.Pod != "":
		e.Message = fmt.Sprintf("the pod %s/%s does not exist, and its log is gone with it", f.Namespace, f.Pod)
		e.Remedy = "What its containers wrote may still be in the cluster's log storage (StackLight)."
	case f.Part != "" && f.Node != "":
		e.Message = fmt.Sprintf("no pod of namespace %s with %q in its name runs on node %s", f.Namespace, f.Part, f.Node)
	case f.Node != "" && f.Selector == "":
		e.Message = fmt.Sprintf("no pod of namespace %s runs on node %s", f.Namespace, f.Node)
	case f.Part != "":
		e.Message = fmt.Sprintf("no pod of namespace %s has %q in its name", f.Namespace, f.Part)
	case f.Node != "":
		e.Message = fmt.Sprintf("no pod of namespace %s with %s runs on node %s", f.Namespace, f.Selector, f.Node)
	case f.Selector != "":
		e.Message = fmt.Sprintf("no pod of namespace %s has %s", f.Namespace, f.Selector)
	}
	return e
}

// tell passes on which pods there are, when that has changed.
func (f *logReading) tell(pods []foundPod) {
	out := make([]core.LogPod, len(pods))
	for i := range pods {
		out[i] = pods[i].LogPod
	}
	same := func(a, b core.LogPod) bool {
		return a.Name == b.Name && a.Phase == b.Phase && a.Read == b.Read && slices.Equal(a.Containers, b.Containers)
	}
	f.mu.Lock()
	changed := !slices.EqualFunc(f.told, out, same)
	f.told = out
	f.mu.Unlock()
	if changed {
		f.sink(core.LogPart{Pods: out})
	}
}

// begin reads the logs of the newest pods that are not read yet, as many as may be, and notes in pods which ones are.
func (f *logReading) begin(ctx context.Context, pods []foundPod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.over, func(uid string, _ *core.APIError) bool {
		return !slices.ContainsFunc(pods, func(p foundPod) bool { return p.uid == uid })
	})
	for i := range pods {
		p := &pods[i]
		if !f.reading[p.uid] && f.over[p.uid] == nil && len(f.reading) < core.MostLogPods {
			f.stream(ctx, *p, len(pods) > 1)
		}
		p.Read = f.reading[p.uid]
	}
}

// stream reads the log of a pod in a goroutine; others tells whether there are other pods. The caller holds the mutex.
func (f *logReading) stream(ctx context.Context, p foundPod, others bool) {
	f.reading[p.uid] = true
	f.streams.Go(func() {
		err := f.follow(ctx, p)
		if err != nil && others {
			f.notice(p.Name, "the log of "+p.Name+" cannot be read: "+err.Error())
		}
		f.mu.Lock()
		delete(f.reading, p.uid)
		if err != nil {
			f.over[p.uid] = err
		}
		f.mu.Unlock()
		select {
		case f.again <- struct{}{}:
		default:
		}
	})
}

// position is up to where a pod was read; restarts are those of its container now.
func (f *logReading) position(uid string, restarts int) *logPosition {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at[uid] == nil {
		f.at[uid] = &logPosition{restarts: restarts}
	}
	return f.at[uid]
}

// follow reads a pod's log to its end and, if that is wanted, on from there whenever it ends or breaks off.
func (f *logReading) follow(ctx context.Context, p foundPod) *core.APIError {
	container := p.pick(f.Container)
	if container.Name == "" {
		return &core.APIError{Kind: core.ErrNotFound, Server: f.Server, Call: "read the log of pod " + p.Name, Message: "it has no container"}
	}
	at := f.position(p.uid, container.Restarts)
	troubled := false
	for failures := 0; ; {
		n, err := f.read(ctx, p.Name, container.Name, f.Previous, f.Follow && !f.Previous, at)
		if err == nil {
			f.mu.Lock()
			f.came = true
			f.mu.Unlock()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && f.Follow && (passes(err) || startsSoon(err)):
			f.sink(core.LogPart{Trouble: err})
			troubled = true
		case err != nil && f.Follow && err.Kind == core.ErrNotFound:
			// The pod is gone, and the look below says so; or the answer came from a server that does not know it yet or any more.
			troubled = true
		case err != nil:
			return err
		case !f.Follow || f.Previous:
			return nil
		case troubled:
			f.sink(core.LogPart{Well: true})
			troubled = false
		}
		if failures++; n > 0 {
			failures = 1
		}
		if sleep(ctx, pauseAfter(failures)) != nil {
			return nil
		}
		// Whether the same container goes on: the last words of one that ended are read from its previous run.
		now, err := f.find(ctx, p.Name)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			continue // the next look at the log says more
		case len(now) == 0 || now[0].uid != p.uid:
			f.notice(p.Name, "the pod "+p.Name+" is gone: its log ends here")
			if f.Pod != "" {
				return f.none()
			}
			return nil
		}
		if again := now[0].pick(container.Name).Restarts; again > at.restarts {
			at.restarts = again
			if !at.time.IsZero() {
				_, _ = f.read(ctx, p.Name, container.Name, true, false, at) // not there any more: nothing can be done
			}
			f.notice(p.Name, fmt.Sprintf("the container %s of %s has started again: restart %d", container.Name, p.Name, again))
		}
	}
}

func (f *logReading) notice(pod, text string) {
	f.sink(core.LogPart{Lines: []core.LogLine{{Pod: pod, Text: text, Notice: true}}})
}

// passes tells whether an error may pass by itself.
func passes(e *core.APIError) bool {
	switch e.Kind {
	case core.ErrTimeout, core.ErrUnreachable, core.ErrServer, core.ErrTooManyRequests, core.ErrUnauthorized, core.ErrOther:
		return true
	}
	return false
}

// startsSoon tells whether the API server refused because the container does not run yet.
func startsSoon(e *core.APIError) bool {
	return e.Kind == core.ErrInvalid && strings.Contains(e.Message, "is waiting to start")
}

func pauseAfter(failures int) time.Duration {
	return min(logPause<<min(max(failures-1, 0), 10), logPauseMax)
}
