package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	selectors "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"lockstep/core"
)

// stream is the watch of one resource and the state of its source. It is the reflector's list-and-watch and its store at
// once, and stores nothing: what the reflector brings goes on to core at once, translated. That is half of an informer; the
// other half, the cache, is core's.
type stream struct {
	res    resource
	client *Client
	out    deltas
	opts   WatchOptions
	behind time.Duration  // delay after the first of those that are due at once
	kick   chan time.Time // look again at once; the value is when that was requested

	mu        sync.Mutex
	state     core.SourceState
	err       *core.APIError
	populated bool            // a complete list was handed on since the resource was last absent
	listed    bool            // the list of this attempt is complete
	unwatched bool            // the last attempt failed at the watch: a list alone does not make the source live
	relist    bool            // what the watch has shown is not reliable
	watch     watch.Interface // the open watch; nil while there is none
	cancel    func()          // gives up the watch that is open or being opened
	heard     time.Time       // the server's last word
	touched   time.Time       // when the last Delta with a state was sent
	recycled  time.Time       // when a silent watch was closed last
	pages     pageProgress    // of the list that is being read
	refused   time.Time       // since when a resource that was seen has been missing or forbidden; zero while it is not
}

// deltas takes what a stream brings. It owns a Delta's slices from then on, and never blocks.
type deltas interface{ put(core.Delta) }

func newStream(r resource, behind time.Duration, client *Client, out deltas, opts WatchOptions) *stream {
	return &stream{res: r, behind: behind, client: client, out: out, opts: opts, kick: make(chan time.Time, 1)}
}

// run keeps the watch going until ctx is done.
func (s *stream) run(ctx context.Context) {
	s.mu.Lock()
	s.setState(core.SourceConnecting, nil, time.Time{})
	s.mu.Unlock()
	reflector := cache.NewReflectorWithOptions(s, &unstructured.Unstructured{}, s, cache.ReflectorOptions{
		Name:            s.res.key(),
		TypeDescription: s.res.gvr.GroupResource().String(),
	})
	for failures := 0; ctx.Err() == nil; {
		if sleep(ctx, s.behind) != nil {
			return
		}
		began := time.Now()
		deadline := s.begin()
		err := reflector.ListAndWatchWithContext(ctx)
		deadline.Stop()
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > s.opts.BackoffMax {
			failures = 0
		}
		pause := s.ended(err, failures)
		failures++
		if s.rest(ctx, pause, began) {
			failures = 1 // as after a broken watch, which may come at the same moment
		}
	}
}

// rest waits, and tells whether a request ended the wait. A request from before the last attempt was answered by that attempt.
func (s *stream) rest(ctx context.Context, pause time.Duration, began time.Time) (kicked bool) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		case asked := <-s.kick:
			if asked.After(began) {
				return true
			}
		}
	}
}

// begin starts an attempt, and reports when its list is late.
func (s *stream) begin() *time.Timer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.relist = false, false
	s.pages = pageProgress{size: s.pages.size}
	return time.AfterFunc(s.opts.SyncDeadline, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.listed || s.state == core.SourceAbsent || s.state == core.SourceForbidden || s.state == core.SourceOff {
			return
		}
		s.pages.overdue = true
		s.tellOverdue()
	})
}

// ended handles the end of an attempt, and returns how long to wait before the next.
func (s *stream) ended(err error, failures int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = nil
	pause := s.backoff(failures)
	if s.relist || errors.Is(err, errMistrusted) {
		return pause // the state already says why
	}
	var unopened *openError
	if errors.As(err, &unopened) {
		err = unopened.cause
	}
	cause := s.client.describe(err, s.res.call("list"))
	if cause == nil {
		// The reflector says so when the watch broke off or its resource version is too old.
		cause = &core.APIError{
			Kind: core.ErrOther, Server: core.ServerKubernetes, Call: s.res.call("watch"),
			Message: "the watch broke off; listing again",
		}
		if failures == 0 {
			pause = 0
		}
	}
	if cause.Kind == core.ErrTimeout {
		cause.Remedy = "The server is slow, or accepts connections and does not answer: see whether `kubectl get --raw /readyz` does. " +
			"Lockstep keeps trying."
	}
	pause = max(pause, cause.After)
	state := s.downState()
	if !s.believed(cause.Kind) {
		s.setState(state, cause, time.Now().Add(pause))
		return pause
	}
	switch {
	case notOfAPI(cause):
		cause.Remedy = "A proxy or a load balancer answered in the API server's place: `kubectl get --raw /readyz` shows it, too."
	case cause.Kind == core.ErrNotFound && s.res.builtIn():
		cause.Remedy = "Every Kubernetes has this resource: what answers is no API server, or not at this path. Check the server's address in " +
			"the kubeconfig, and the proxies or load balancers before it."
	case cause.Kind == core.ErrNotFound:
		// The resource itself is unknown: all its objects are gone too.
		pause, state = s.opts.AbsentRetry, core.SourceAbsent
		cause.Remedy = "The cluster does not know this resource. Where it should (an older MOSK may lack some), its CRD is missing. It is " +
			"looked at again every minute."
		if s.populated {
			s.populated = false
			s.out.put(core.Delta{Source: s.res.source, At: time.Now(), Replace: true})
		}
	case cause.Kind == core.ErrForbidden:
		pause, state = s.opts.AbsentRetry, core.SourceForbidden
		if s.res.rights != "" {
			cause.Remedy = s.res.rights + " gives the right."
		}
		if s.res.optional {
			state, cause.Remedy = core.SourceOff, "It is for operators only: deploy/rbac-operator.yaml gives the right."
		}
	case cause.Kind == core.ErrConfiguration: // the kubeconfig may have the server's new CA, or its new name
		if s.client.renew() {
			pause = 0
		}
	case cause.Kind == core.ErrUnauthorized:
		state = core.SourceFailed
		if s.client.renew() {
			pause = 0
		}
	}
	s.setState(state, cause, time.Now().Add(pause))
	return pause
}

// believed tells whether a refusal counts. An API server that has just started does not know its custom resources and its
// roles yet, and answers 404 and 403 for some seconds: what was seen before is not taken for gone at once. The caller holds
// mu.
func (s *stream) believed(kind core.ErrorKind) bool {
	if kind != core.ErrNotFound && kind != core.ErrForbidden || !s.populated {
		s.refused = time.Time{}
		return true
	}
	if s.refused.IsZero() {
		s.refused = time.Now()
	}
	return time.Since(s.refused) >= s.opts.RefusalGrace
}

// backoff doubles from BackoffMin to BackoffMax, plus up to a fifth, so that sources do not retry in step.
func (s *stream) backoff(failures int) time.Duration {
	d := s.opts.BackoffMin
	for range min(failures, 16) {
		d = min(2*d, s.opts.BackoffMax)
	}
	return d + s.client.opts.Jitter(s.res.key(), d/5)
}

// downState is the state of a source that does not work: stale when it has objects to show, else failed.
func (s *stream) downState() core.SourceState {
	if s.populated {
		return core.SourceStale
	}
	return core.SourceFailed
}

// setState tells core of a new state. The caller holds mu.
func (s *stream) setState(state core.SourceState, err *core.APIError, next time.Time) {
	if err != nil {
		own := *err
		own.Server = s.res.source.Server()
		err = &own
	}
	if s.state != state || errKind(s.err) != errKind(err) {
		s.opts.Log.Info("source", "source", s.res.key(), "state", state, "err", errText(err))
	}
	s.state, s.err = state, err
	s.out.put(core.Delta{Source: s.res.source, At: time.Now(), State: state, Err: err, Next: next})
}

func errKind(err *core.APIError) core.ErrorKind {
	if err == nil {
		return ""
	}
	return err.Kind
}

func errText(err *core.APIError) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// again ends the pause after a failure at once.
func (s *stream) again() {
	select {
	case <-s.kick: // an older one
	default:
	}
	select {
	case s.kick <- time.Now():
	default:
	}
}

// errMistrusted ends an attempt whose watch is no longer reliable.
var errMistrusted = errors.New("the watch is not relied on any more")

// openError is why a watch could not be opened. It hides its cause from the reflector, which would otherwise retry silently when
// the connection was refused.
type openError struct{ cause *core.APIError }

func (e *openError) Error() string { return e.cause.Error() }

// IsWatchListSemanticsUnSupported keeps the reflector from streaming its first list: if a server or proxy never sends the
// end-of-list bookmark, that hangs forever.
func (s *stream) IsWatchListSemanticsUnSupported() bool { return true }

// Watch implements cache.ListerWatcher; the reflector calls WatchWithContext.
func (s *stream) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

// WatchWithContext implements cache.ListerWatcherWithContext. Unlike a bare watch it fails for good when it cannot be opened: after
// an outage only a new list shows for sure what is there.
func (s *stream) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	if s.cancel != nil {
		s.cancel()
	}
	s.cancel = cancel
	s.watch = nil
	mistrusted := s.relist
	s.mu.Unlock()
	if mistrusted {
		return nil, errMistrusted
	}
	s.choose(&options)
	// All watches last equally long, so those that began together end together, and a program at rest is woken once for all of them.
	seconds := max(int64(s.opts.WatchDuration.Seconds()), 1)
	options.TimeoutSeconds = &seconds
	// The server answers with the first event or bookmark at the latest. Who stands between and swallows the answer holds a source up that is
	// not live: nothing else gives its watch up.
	late := time.AfterFunc(s.opts.WatchDuration+s.opts.SilenceAllowed, cancel)
	w, err := s.client.resource(s.res.gvr, s.res.namespace).Watch(ctx, options)
	late.Stop()
	if _, opened := w.(*watch.StreamWatcher); err == nil && !opened {
		err = io.ErrUnexpectedEOF // the connection ended as it opened: client-go makes a watch without events of that
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.relist:
		if err == nil {
			w.Stop()
		}
		return nil, errMistrusted
	case err != nil:
		s.unwatched = true
		return nil, &openError{s.client.describe(err, s.res.call("watch"))}
	}
	s.watch, s.unwatched, s.refused = w, false, time.Time{}
	if !s.recycled.After(s.heard) {
		s.confirm()
	} // the last watch was silent: that this one opens says nothing about its events
	if s.state != core.SourceLive {
		s.setState(core.SourceLive, nil, time.Time{})
	}
	return w, nil
}

// close ends the open watch cleanly, so that the reflector opens it again where it was; it gives up one that is still being opened.
// The caller holds mu.
func (s *stream) close() {
	switch {
	case s.watch != nil:
		s.watch.Stop()
	case s.cancel != nil:
		s.cancel()
	}
}

// choose narrows a list or watch to the wanted objects.
func (s *stream) choose(options *metav1.ListOptions) {
	switch {
	case s.res.name != "":
		options.FieldSelector = selectors.OneTermEqualSelector("metadata.name", s.res.name).String()
	case s.res.node != "":
		options.FieldSelector = onNode(s.res.node)
	}
	options.LabelSelector = s.res.labels
}

// Replace implements cache.ReflectorStore: a complete list has arrived.
func (s *stream) Replace(items []any, _ string) error {
	objects := make([]core.Object, 0, len(items))
	for _, item := range items {
		if l, ok := item.(*listed); ok {
			objects = append(objects, l.object)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.populated = true, true
	now := time.Now()
	s.heard, s.touched = now, now
	d := core.Delta{Source: s.res.source, At: now, Replace: true, Upserts: objects}
	if !s.unwatched {
		s.state, s.err = core.SourceLive, nil
		d.State = core.SourceLive
	}
	s.out.put(d)
	return nil
}

// Add implements cache.ReflectorStore.
func (s *stream) Add(obj any) error { return s.upsert(obj) }

// Update implements cache.ReflectorStore.
func (s *stream) Update(obj any) error { return s.upsert(obj) }

func (s *stream) upsert(obj any) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("%s: unexpected %T", s.res.call("watch"), obj)
	}
	s.event(core.Delta{Upserts: []core.Object{s.res.translate(u)}})
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *stream) Delete(obj any) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("%s: unexpected %T", s.res.call("watch"), obj)
	}
	s.event(core.Delta{Deletes: []string{s.res.translate(u).Key()}})
	return nil
}

func (s *stream) event(d core.Delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Source, d.At = s.res.source, time.Now()
	s.heard, s.touched = d.At, d.At
	s.out.put(d)
}

// Resync implements cache.ReflectorStore; nothing needs a resync.
func (s *stream) Resync() error { return nil }

// Bookmark implements cache.ReflectorBookmarkStore: nothing has changed up to this version.
func (s *stream) Bookmark(string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.confirm()
	return nil
}

// confirm notes that the server has confirmed the known objects. The caller holds mu.
func (s *stream) confirm() {
	now := time.Now()
	s.heard = now
	if now.Sub(s.touched) >= s.opts.TouchInterval {
		s.touched = now
		s.out.put(core.Delta{Source: s.res.source, At: now, Touch: true})
	}
}
