package kubeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// minWatch is the least duration of a watch if the client sets no timeout.
	minWatch = 30 * time.Minute
	// partingBookmark is how long before its end a watch gets a bookmark, so that the client can continue from there.
	partingBookmark = 2 * time.Second
	// watchBatch is how many events are written between two looks at the clock and the client.
	watchBatch = 256
)

// watches holds the running watches, so that they can be cut.
type watches struct {
	mu      sync.Mutex
	next    int
	running map[int]runningWatch
}

type runningWatch struct {
	resource string
	cancel   context.CancelFunc
}

func (w *watches) add(resource string, cancel context.CancelFunc) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == nil {
		w.running = map[int]runningWatch{}
	}
	id := w.next
	w.next++
	w.running[id] = runningWatch{resource: resource, cancel: cancel}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, id)
	}
}

func (w *watches) cut(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.running {
		if resource == "" || one.resource == resource {
			one.cancel()
		}
	}
}

func (w *watches) count(resource string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, one := range w.running {
		if resource == "" || one.resource == resource {
			n++
		}
	}
	return n
}

// stream is one watch on its way to its client. No write waits for it: it reads the table's history at its own pace. It
// is cut off when it falls behind the history, or when the client stops reading.
type stream struct {
	server  *Server
	call    *call
	query   *listQuery
	out     *http.ResponseController
	headers bool // the next Table carries the column definitions
	include metav1.IncludeObjectPolicy
}

// watch answers a watch. Once it has started, an error is sent as an event of the type ERROR, as in the real server.
func (s *Server) watch(c *call, r *resource) error {
	q, err := readListQuery(c, r)
	if err != nil {
		return err
	}
	include, err := includeObject(c.query)
	if err != nil {
		return err
	}
	if q.ResourceVersion != "" {
		if _, err := parseRevision(q.ResourceVersion); err != nil {
			return err
		}
	}
	timeout := minWatch + time.Duration(s.now().UnixNano()%int64(minWatch)) // spread, so that not all end at once
	if q.TimeoutSeconds != nil && *q.TimeoutSeconds > 0 {
		timeout = time.Duration(*q.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(c.Context(), timeout)
	defer cancel()
	defer s.watches.add(r.Resource, cancel)()

	st := &stream{server: s, call: c, query: q, out: http.NewResponseController(c.w), headers: true, include: include}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	if st.write(nil) != nil {
		return nil
	}
	sequence, err := st.begin()
	if err == nil {
		err = st.follow(ctx, sequence)
	}
	if err != nil && ctx.Err() == nil {
		raw, _ := json.Marshal(statusOf(err)) // a Status is always encodable
		_ = st.write(frame("ERROR", raw))     // the stream ends either way
	}
	return nil
}

// begin sends the initial events of the watch, and returns the sequence number of the next event.
func (st *stream) begin() (int, error) {
	table, q := st.query.resource.table, st.query
	initial := q.SendInitialEvents
	legacy := initial == nil && (q.ResourceVersion == "" || q.ResourceVersion == "0")
	if !legacy && (initial == nil || !*initial) {
		if q.ResourceVersion == "" || q.ResourceVersion == "0" {
			return table.list().sequence, nil
		}
		revision, err := parseRevision(q.ResourceVersion)
		if err != nil {
			return 0, err
		}
		if now := st.server.store.current(); revision > now {
			return 0, tooLarge(revision, now)
		}
		sequence, err := table.after(revision)
		if err != nil {
			return 0, st.tooOld(revision)
		}
		return sequence, nil
	}
	if q.ResourceVersion != "" {
		if err := st.server.reached(q.ResourceVersion); err != nil {
			return 0, err
		}
	}
	snap := table.list()
	var frames []byte
	for _, o := range snap.objects {
		if q.matches(o) {
			frames = append(frames, st.frame(watch.Added, o)...)
		}
	}
	if !legacy && q.AllowWatchBookmarks {
		frames = append(frames, st.bookmark(snap.revision, true)...)
	}
	if err := st.write(frames); err != nil {
		return 0, err
	}
	return snap.sequence, nil
}

// tooOld is the answer to a revision that the history no longer reaches back to.
func (st *stream) tooOld(revision uint64) error {
	table := st.query.resource.table
	st.server.store.mu.RLock()
	oldest := table.compacted
	st.server.store.mu.RUnlock()
	return apierrors.NewResourceExpired("too old resource version: " + strconv.FormatUint(revision, 10) + " (" +
		strconv.FormatUint(oldest, 10) + ")")
}

// follow sends events from a sequence number on until the watch is over. A nil error is an ordinary end.
func (st *stream) follow(ctx context.Context, sequence int) error {
	ticker := time.NewTicker(st.server.options.BookmarkInterval)
	defer ticker.Stop()
	parting := make(<-chan time.Time) // none: the end is too close
	end, ends := ctx.Deadline()
	if ends && time.Until(end) > partingBookmark {
		timer := time.NewTimer(time.Until(end) - partingBookmark)
		defer timer.Stop()
		parting = timer.C
	}
	last := uint64(0)
	for {
		// The end comes before all else that happens at its moment: a select would take one of them at random.
		if ends && !time.Now().Before(end) {
			return nil
		}
		got, err := st.query.resource.table.read(sequence, watchBatch)
		if err != nil {
			return st.tooOld(last)
		}
		var frames []byte
		for _, e := range got.events {
			frames = append(frames, st.event(e)...)
			last = e.revision
		}
		if len(frames) > 0 {
			if err := st.write(frames); err != nil {
				return err
			}
		}
		sequence = got.next
		if got.more {
			continue
		}
		if got.closed {
			return nil
		}
		last = got.revision
		select {
		case <-ctx.Done():
			return nil
		case <-got.changed:
			continue
		case <-ticker.C:
		case <-parting:
		}
		if ends && !time.Now().Before(end) {
			return nil
		}
		if st.query.AllowWatchBookmarks {
			if err := st.write(st.bookmark(got.revision, false)); err != nil {
				return err
			}
		}
	}
}

// event is the frame for one change, as the watcher's selectors see it: an object that starts to match is added, one
// that stops matching is deleted.
func (st *stream) event(e event) []byte {
	now := e.kind != watch.Deleted && st.query.matches(e.now)
	before := e.before != nil && st.query.matches(e.before)
	switch {
	case now && before:
		return st.frame(watch.Modified, e.now)
	case now:
		return st.frame(watch.Added, e.now)
	case before && e.kind == watch.Deleted:
		return st.frame(watch.Deleted, e.now)
	case before:
		// The last matching state, at the revision at which it stopped matching.
		gone := &object{key: e.before.key, revision: e.revision, content: e.before.copy()}
		accessor(gone.content).SetResourceVersion(strconv.FormatUint(e.revision, 10))
		return st.frame(watch.Deleted, gone)
	}
	return nil
}

// frame encodes one event in the form that the client requested.
func (st *stream) frame(kind watch.EventType, o *object) []byte {
	switch st.call.form {
	case formTable:
		table := st.server.table(st.query.resource, []*object{o}, st.include, st.headers)
		table.ResourceVersion = o.meta().GetResourceVersion()
		st.headers = false
		raw, err := json.Marshal(table)
		if err != nil {
			return nil // cannot fail: cells are strings and numbers
		}
		return frame(kind, raw)
	case formMetadata:
		return frame(kind, partial(o))
	}
	return frame(kind, st.query.resource.shown(o).json())
}

func frame(kind watch.EventType, object []byte) []byte {
	raw := make([]byte, 0, len(object)+40)
	raw = append(raw, `{"type":"`...)
	raw = append(raw, kind...)
	raw = append(raw, `","object":`...)
	raw = append(raw, object...)
	return append(raw, '}', '\n')
}

// bookmark tells the client its current revision and, after the initial events, that they are complete.
func (st *stream) bookmark(revision uint64, initialEnd bool) []byte {
	r := st.query.resource
	if st.call.form == formObject && !initialEnd && r.view == nil {
		return fmt.Appendf(nil, `{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d"}}}`+"\n",
			r.GroupVersion().String(), r.kind, revision)
	}
	content := map[string]any{"metadata": map[string]any{"resourceVersion": strconv.FormatUint(revision, 10)}}
	accessor(content).SetGroupVersionKind(r.kindOf())
	if initialEnd {
		accessor(content).SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return st.frame(watch.Bookmark, &object{revision: revision, content: content})
}

// write sends bytes to the client, which must read them within the write timeout.
func (st *stream) write(p []byte) error {
	// A connection without deadlines (in a handler test) does not block either.
	_ = st.out.SetWriteDeadline(time.Now().Add(st.server.options.WriteTimeout))
	if len(p) > 0 {
		if _, err := st.call.w.Write(p); err != nil {
			return err
		}
	}
	if err := st.out.Flush(); err != nil {
		return err
	}
	_ = st.out.SetWriteDeadline(time.Time{})
	return nil
}
