package kube

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	selectors "k8s.io/apimachinery/pkg/fields"

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
	// mostLogPods is how many pods are read at the same time, the newest first.
	mostLogPods = 8
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
	f := &logReading{client: c, LogRequest: r, again: make(chan struct{}, 1), reading: map[string]bool{}, over: map[string]bool{},
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
	reading map[string]bool // UIDs of pods whose streams run
	over    map[string]bool // UIDs of pods that cannot be read
	failed  error           // of the first stream that failed for good
	told    []core.LogPod
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
		f.tell(pods)
		for _, p := range pods[:min(len(pods), mostLogPods)] {
			f.begin(ctx, p)
		}
		if !f.Follow {
			f.streams.Wait()
			return f.result(ctx)
		}
		again := time.NewTimer(podsAgain)
		select {
		case <-ctx.Done():
		case <-f.again:
			if err := f.result(ctx); err != nil {
				again.Stop()
				return err
			}
			_ = sleep(ctx, logPause) // its successor may need a moment
		case <-again.C:
		}
		again.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// result is why nothing can be read any more; nil when something can.
func (f *logReading) result(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil || len(f.reading) > 0 {
		return nil
	}
	return f.failed
}

// none says that no pod was found.
func (f *logReading) none() *core.APIError {
	e := &core.APIError{Kind: core.ErrNotFound, Server: f.Server, Call: "read the log of " + f.Label, Message: "no pod was found there"}
	switch {
	case f.Pod != "":
		e.Message = fmt.Sprintf("the pod %s/%s does not exist, and its log is gone with it", f.Namespace, f.Pod)
		e.Remedy = "What its containers wrote may still be in the cluster's log storage (StackLight)."
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
		return a.Name == b.Name && a.Phase == b.Phase && slices.Equal(a.Containers, b.Containers)
	}
	f.mu.Lock()
	changed := !slices.EqualFunc(f.told, out, same)
	f.told = out
	f.mu.Unlock()
	if changed {
		f.sink(core.LogPart{Pods: out})
	}
}

// begin reads a pod's log, unless that is done already.
func (f *logReading) begin(ctx context.Context, p foundPod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reading[p.uid] || f.over[p.uid] {
		return
	}
	f.reading[p.uid] = true
	f.streams.Go(func() {
		err := f.follow(ctx, p)
		f.mu.Lock()
		delete(f.reading, p.uid)
		if f.over[p.uid] = err != nil; err != nil && f.failed == nil {
			f.failed = err
		}
		f.mu.Unlock()
		select {
		case f.again <- struct{}{}:
		default:
		}
	})
}

// follow reads a pod's log to its end and, if that is wanted, on from there whenever it ends or breaks off.
func (f *logReading) follow(ctx context.Context, p foundPod) error {
	container := p.pick(f.Container)
	if container.Name == "" {
		return &core.APIError{Kind: core.ErrNotFound, Server: f.Server, Call: "read the log of pod " + p.Name, Message: "it has no container"}
	}
	restarts := container.Restarts
	var at logPosition
	troubled := false
	for failures := 0; ; {
		n, err := f.read(ctx, p.Name, container.Name, f.Previous, f.Follow && !f.Previous, &at)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && f.Follow && (passes(err) || startsSoon(err)):
			f.sink(core.LogPart{Trouble: err})
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
		if again := now[0].pick(container.Name).Restarts; again > restarts {
			restarts = again
			if !at.time.IsZero() {
				_, _ = f.read(ctx, p.Name, container.Name, true, false, &at) // not there any more: nothing can be done
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

// logPosition is up to where a log was read: the time of its last line, and how many lines had that time. The API takes times to the
// second only.
type logPosition struct {
	time time.Time
	same int
}

// read reads a container's log once, from the position on, and returns how many new lines came. A log that is followed ends with an
// error, or when the server ends it.
func (f *logReading) read(ctx context.Context, pod, container string, previous, follow bool, at *logPosition) (int, *core.APIError) {
	call := fmt.Sprintf("read the log of %s/%s, container %s", f.Namespace, pod, container)
	if previous {
		call += ", previous run"
	}
	r := f.client.session.Load().rest.Get().AbsPath("/api/v1").Namespace(f.Namespace).Resource("pods").Name(pod).SubResource("log").
		Param("container", container).Param("timestamps", "true")
	if follow {
		r = r.Param("follow", "true")
	}
	if previous {
		r = r.Param("previous", "true")
	}
	from := *at
	if !from.time.IsZero() {
		r = r.Param("sinceTime", from.time.UTC().Truncate(time.Second).Format(time.RFC3339))
	} else {
		if f.Since > 0 {
			r = r.Param("sinceSeconds", strconv.Itoa(int(max(f.Since.Seconds(), 1))))
		}
		if f.Tail > 0 {
			r = r.Param("tailLines", strconv.Itoa(f.Tail))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !follow { // of one that is followed nothing may come for hours
		ctx, cancel = context.WithTimeout(ctx, logRead)
		defer cancel()
	}
	body, err := r.Stream(ctx)
	if err != nil {
		e := lookError(err, f.Server, call)
		if e.Kind == core.ErrUnauthorized {
			f.client.renew()
		}
		if e.Kind == core.ErrInvalid && strings.Contains(e.Message, "previous terminated container") {
			e.Remedy = "This container has not been started again in this pod: there is no earlier run."
		}
		return 0, e
	}
	defer body.Close()
	stop := context.AfterFunc(ctx, func() { body.Close() })
	defer stop()
	f.sink(core.LogPart{Well: true})
	n, err := f.lines(ctx, pod, body, follow, from, at)
	if err != nil && ctx.Err() == nil {
		return n, lookError(err, f.Server, call)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return n, lookError(ctx.Err(), f.Server, call)
	}
	return n, nil
}

// logRead is how long reading a log may take that is not followed: what is kept of it is a few MiB.
const logRead = 2 * time.Minute

// lines passes on the lines of a stream that are not from before the position.
func (f *logReading) lines(ctx context.Context, pod string, body io.Reader, follow bool, from logPosition, at *logPosition) (int, error) {
	in := bufio.NewReaderSize(body, 32<<10)
	var batch []core.LogLine
	n, skip, catching := 0, from.same, !from.time.IsZero()
	flush := func() {
		if len(batch) > 0 {
			f.sink(core.LogPart{Lines: batch})
			batch = nil
		}
	}
	defer flush()
	for {
		raw, length, whole, err := logLine(in)
		if length > 0 && (whole || !follow) { // the rest of a line that broke off comes when the log is read on
			line := newLogLine(pod, raw, length)
			if line.At.IsZero() {
				line.At = at.time
			}
			if catching {
				switch {
				case line.At.Before(from.time):
					goto next
				case line.At.Equal(from.time) && skip > 0:
					skip--
					goto next
				}
				catching = line.At.Equal(from.time)
			}
			switch {
			case line.At.Equal(at.time):
				at.same++
			case line.At.After(at.time):
				at.time, at.same = line.At, 1
			}
			n++
			batch = append(batch, line)
		}
	next:
		if len(batch) >= 500 || in.Buffered() == 0 || err != nil {
			flush()
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if f.budget.spend(ctx, length) != nil {
			return n, nil
		}
	}
}

// logLine reads one line, of which it keeps the beginning; length is the whole line's, without its end. whole tells whether the
// line's end was there.
func logLine(in *bufio.Reader) (line []byte, length int, whole bool, err error) {
	const stamp = 64 // bytes of the time before the text
	for {
		part, err := in.ReadSlice('\n')
		whole = err == nil
		if whole {
			part = part[:len(part)-1]
		}
		length += len(part)
		if room := core.MaxLogLine + stamp - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return line, length, whole, err
	}
}

// newLogLine reads a line that begins with the time at which it was written.
func newLogLine(pod string, raw []byte, length int) core.LogLine {
	stamp, text, found := strings.Cut(string(raw), " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil { // not as the API writes it: the line is shown as it is
		at, text, found = time.Time{}, string(raw), false
	}
	if found {
		length -= len(stamp) + 1
	}
	line := core.LogLine{Pod: pod, At: at}
	if len(text) > core.MaxLogLine || length > len(text) {
		line.Length = length
		text = strings.ToValidUTF8(text[:min(len(text), core.MaxLogLine)], "\uFFFD")
	}
	line.Text = core.Redact(strings.TrimSuffix(text, "\r"))
	return line
}

// budget holds the reading of a log to logRate.
type budget struct {
	turn  turn
	since time.Time
	spent int
}

func newBudget() *budget { return &budget{turn: newTurn()} }

// spend waits until n more bytes may have been read.
func (b *budget) spend(ctx context.Context, n int) error {
	if err := b.turn.take(ctx); err != nil {
		return err
	}
	defer b.turn.give()
	now := time.Now()
	if now.Sub(b.since) >= time.Second {
		b.since, b.spent = now, 0
	}
	if b.spent += n; b.spent < logRate {
		return nil
	}
	return sleep(ctx, time.Second-now.Sub(b.since))
}

// foundPod is a pod whose log can be read.
type foundPod struct {
	core.LogPod
	uid     string
	created string
}

// pick is the container of that name, or else the first.
func (p foundPod) pick(name string) core.LogContainer {
	if i := slices.IndexFunc(p.Containers, func(c core.LogContainer) bool { return c.Name == name }); i >= 0 {
		return p.Containers[i]
	}
	if len(p.Containers) > 0 {
		return p.Containers[0]
	}
	return core.LogContainer{}
}

// find lists the pods that are meant, the newest first; name asks for one of them.
func (f *logReading) find(ctx context.Context, name string) ([]foundPod, *core.APIError) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r := f.client.session.Load().rest.Get().AbsPath("/api/v1").Namespace(f.Namespace).Resource("pods")
	var terms []selectors.Selector
	if name = cmp.Or(name, f.Pod); name != "" {
		terms = append(terms, selectors.OneTermEqualSelector("metadata.name", name))
	}
	if f.Node != "" {
		terms = append(terms, selectors.OneTermEqualSelector("spec.nodeName", f.Node))
	}
	if len(terms) > 0 {
		r = r.Param("fieldSelector", selectors.AndSelectors(terms...).String())
	}
	if f.Selector != "" {
		r = r.Param("labelSelector", f.Selector)
	}
	call := "list pods in namespace " + f.Namespace
	answer := r.Do(ctx)
	if err := answer.Error(); err != nil {
		return nil, lookError(err, f.Server, call)
	}
	body, err := answer.Raw()
	if err != nil {
		return nil, lookError(err, f.Server, call)
	}
	pods, err := readLogPods(body)
	if err != nil {
		return nil, lookError(err, f.Server, call)
	}
	pods = slices.DeleteFunc(pods, func(p foundPod) bool { return !strings.Contains(p.Name, f.Part) })
	slices.SortFunc(pods, func(a, b foundPod) int { return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(a.Name, b.Name)) })
	return pods, nil
}

// readLogPods reads a list of pods.
func readLogPods(body []byte) ([]foundPod, error) {
	type container struct {
		Name     string
		Restarts int `json:"restartCount"`
		State    struct {
			Running    *struct{}
			Waiting    *struct{ Reason string }
			Terminated *struct{ Reason string }
		}
	}
	var list struct {
		Items []struct {
			Metadata struct {
				Name    string
				UID     string
				Created string `json:"creationTimestamp"`
			}
			Spec struct {
				NodeName   string
				Containers []struct{ Name string }
				Init       []struct{ Name string } `json:"initContainers"`
			}
			Status struct {
				Phase      string
				Containers []container `json:"containerStatuses"`
				Init       []container `json:"initContainerStatuses"`
			}
		}
	}
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &list); err != nil && !errors.As(err, &odd) {
		return nil, fmt.Errorf("read the list of pods: %w", err)
	}
	var out []foundPod
	for _, item := range list.Items {
		p := foundPod{uid: item.Metadata.UID, created: item.Metadata.Created,
			LogPod: core.LogPod{Name: item.Metadata.Name, Node: item.Spec.NodeName, Phase: item.Status.Phase}}
		states := slices.Concat(item.Status.Containers, item.Status.Init)
		for _, c := range slices.Concat(item.Spec.Containers, item.Spec.Init) {
			own := core.LogContainer{Name: c.Name}
			if i := slices.IndexFunc(states, func(s container) bool { return s.Name == c.Name }); i >= 0 {
				own.Restarts = states[i].Restarts
				switch st := states[i].State; {
				case st.Running != nil:
					own.State = "running"
				case st.Waiting != nil:
					own.State = st.Waiting.Reason
				case st.Terminated != nil:
					own.State = st.Terminated.Reason
				}
			}
			p.Containers = append(p.Containers, own)
		}
		out = append(out, p)
	}
	return out, nil
}
