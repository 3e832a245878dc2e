package kubeapi

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/sim/intern"
)

// firstRevision is the revision of a new store: not zero, because a client reads "0" as "any".
const firstRevision = 1000

// errCompacted means that the history no longer reaches back to the requested revision.
var errCompacted = errors.New("the requested revision has been compacted")

// object is one stored version of an API object. It never changes after it was stored; a write stores a new one.
type object struct {
	key      string // namespace/name, or name in the cluster scope
	revision uint64
	content  map[string]any

	encode  sync.Once
	encoded []byte
}

// meta returns the object's metadata. Its setters must not be called.
func (o *object) meta() metav1.Object { return &unstructured.Unstructured{Object: o.content} }

// copy returns a deep copy of the content, for writers.
func (o *object) copy() map[string]any {
	return (&unstructured.Unstructured{Object: o.content}).DeepCopy().Object
}

// json returns the object's encoding. The first reader creates it, so that no write waits for it.
func (o *object) json() []byte {
	o.encode.Do(func() {
		encoded, err := json.Marshal(o.content)
		if err != nil {
			// Content comes from a JSON or protobuf decoder, so a client cannot cause this.
			encoded = []byte("null")
		}
		o.encoded = encoded
	})
	return o.encoded
}

// event is one change of a table.
type event struct {
	kind     watch.EventType
	revision uint64
	now      *object // after the change; for a deletion the last state, at the revision of the deletion
	before   *object // before the change; nil for an addition
}

// table holds the objects of one resource, and its latest events, as far back as the history reaches.
type table struct {
	store   *store
	number  int // in the order in which tables were added
	objects map[string]*object
	history []event
	// dropped counts the dropped events; it is the sequence number of history[0].
	dropped int
	// compacted is the newest revision that the history no longer contains.
	compacted uint64
	// changed is closed at the next change, and replaced.
	changed chan struct{}
	// closed means that the resource is no longer served.
	closed bool

	sorted atomic.Pointer[listing] // the last one that was asked for
}

// listing is a table's objects in order, for all who list the same state of it: a large table is listed in pages, and node by node.
type listing struct {
	objects  []*object // sorted by key
	sequence int       // of the first event after it

	once   sync.Once
	byNode map[string][]*object
}

// onNode returns the objects whose spec.nodeName is that, in order.
func (l *listing) onNode(name string) []*object {
	l.once.Do(func() {
		l.byNode = map[string][]*object{}
		for _, o := range l.objects {
			node := objectFields{o.content}.Get(nodeNameField)
			l.byNode[node] = append(l.byNode[node], o)
		}
	})
	return l.byNode[name]
}

// store is the shared state of all resources under one revision counter, as in etcd.
type store struct {
	mu       sync.RWMutex
	revision uint64
	keep     int // the least number of events in the history of a table
	tables   map[*table]struct{}
	added    int // tables added so far

	dependents dependents
	texts      intern.Table // what objects share

	followers map[int]func(*table, event) // by number; they get every event
	followed  int                         // followers added so far
}

// follow calls each for every event, while it is stored, until stop is called.
func (s *store) follow(each func(*table, event)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followers == nil {
		s.followers = map[int]func(*table, event){}
	}
	s.followed++
	number := s.followed
	s.followers[number] = each
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.followers, number)
	}
}

func newStore(keep int) *store {
	return &store{revision: firstRevision, keep: keep, tables: map[*table]struct{}{}, dependents: dependents{}}
}

// key is the key of an object in its table; lists are ordered by it, as in etcd.
func key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func (s *store) addTable() *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added++
	t := &table{store: s, number: s.added, objects: map[string]*object{}, compacted: s.revision, changed: make(chan struct{})}
	s.tables[t] = struct{}{}
	return t
}

// removeTable removes the table and ends its watchers.
func (s *store) removeTable(t *table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, t)
	for _, o := range t.objects {
		s.dependents.follow(t, o, false)
	}
	t.closed = true
	close(t.changed)
	t.changed = make(chan struct{})
}

// current is the store's revision.
func (s *store) current() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.revision
}

// compact drops all history: a request for a revision before the current one is answered with 410 Gone.
func (s *store) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.tables {
		t.dropped += len(t.history)
		t.history = nil
		t.compacted = s.revision
	}
}

func (t *table) get(key string) *object {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	return t.objects[key]
}

// create stores content under key; it returns nil if the key exists.
func (t *table) create(key string, content map[string]any) *object {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.objects[key] != nil {
		return nil
	}
	t.store.texts.Frozen(content) // an update keeps what it does not change
	now := t.next(key, content)
	t.objects[key] = now
	t.store.dependents.follow(t, now, true)
	t.record(event{kind: watch.Added, revision: now.revision, now: now})
	return now
}

// replace stores content in place of old; it returns nil if old is no longer the stored object.
func (t *table) replace(old *object, content map[string]any) *object {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.objects[old.key] != old {
		return nil
	}
	now := t.next(old.key, content)
	t.objects[old.key] = now
	t.store.dependents.follow(t, old, false)
	t.store.dependents.follow(t, now, true)
	t.record(event{kind: watch.Modified, revision: now.revision, now: now, before: old})
	return now
}

// remove deletes old; it returns nil if old is no longer the stored object. Otherwise it returns the last state: last,
// or old itself if last is nil.
func (t *table) remove(old *object, last map[string]any) *object {
	if last == nil {
		last = old.copy()
	}
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	if t.objects[old.key] != old {
		return nil
	}
	now := t.next(old.key, last)
	delete(t.objects, old.key)
	t.store.dependents.follow(t, old, false)
	t.record(event{kind: watch.Deleted, revision: now.revision, now: now, before: old})
	return now
}

// next takes the next revision for content; from now on content belongs to the store.
func (t *table) next(key string, content map[string]any) *object {
	t.store.revision++
	(&unstructured.Unstructured{Object: content}).SetResourceVersion(strconv.FormatUint(t.store.revision, 10))
	return &object{key: key, revision: t.store.revision, content: content}
}

func (t *table) record(e event) {
	t.history = append(t.history, e)
	if excess := len(t.history) - t.store.keep; excess >= t.store.keep {
		t.compacted = t.history[excess-1].revision
		t.dropped += excess
		t.history = append([]event(nil), t.history[excess:]...)
	}
	close(t.changed)
	t.changed = make(chan struct{})
	for _, each := range t.store.followers {
		each(t, e)
	}
}

// snapshot is a table at one revision.
type snapshot struct {
	*listing // shared with others: read only
	revision uint64
}

// list returns the current table.
func (t *table) list() snapshot {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	return snapshot{t.listing(), t.store.revision}
}

// listing returns the current objects; the caller holds the store's lock.
func (t *table) listing() *listing {
	sequence := t.dropped + len(t.history)
	if known := t.sorted.Load(); known != nil && known.sequence == sequence {
		return known
	}
	l := &listing{objects: slices.Collect(maps.Values(t.objects)), sequence: sequence}
	sortObjects(l.objects)
	t.sorted.Store(l)
	return l
}

// listAt returns the table at a revision, which the history must still reach.
func (t *table) listAt(revision uint64) (snapshot, error) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if revision < t.compacted {
		return snapshot{}, errCompacted
	}
	last := len(t.history)
	if last == 0 || t.history[last-1].revision <= revision {
		return snapshot{t.listing(), revision}, nil
	}
	objects := maps.Clone(t.objects)
	sequence := t.dropped + last
	for i := last - 1; i >= 0 && t.history[i].revision > revision; i-- {
		e := t.history[i]
		if e.before == nil {
			delete(objects, e.now.key)
		} else {
			objects[e.now.key] = e.before
		}
		sequence--
	}
	l := &listing{objects: slices.Collect(maps.Values(objects)), sequence: sequence}
	sortObjects(l.objects)
	return snapshot{l, revision}, nil
}

func sortObjects(objects []*object) {
	slices.SortFunc(objects, func(a, b *object) int { return strings.Compare(a.key, b.key) })
}

// after is the sequence number of the first event after a revision.
func (t *table) after(revision uint64) (int, error) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if revision < t.compacted {
		return 0, errCompacted
	}
	i := sort.Search(len(t.history), func(i int) bool { return t.history[i].revision > revision })
	return t.dropped + i, nil
}

// batch is what a watcher reads in one call.
type batch struct {
	events   []event
	next     int             // the sequence number to read from next
	revision uint64          // the store's revision after these events; only if there are no more events
	more     bool            // there are more events to read now
	changed  <-chan struct{} // closed when there is more to read
	closed   bool            // the resource is no longer served
}

// sequence is the number of the table's next event; it changes with every change of the table.
func (t *table) sequence() int {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	return t.dropped + len(t.history)
}

// read returns up to limit events from a sequence number on, or errCompacted if the reader was too slow.
func (t *table) read(sequence, limit int) (batch, error) {
	t.store.mu.RLock()
	defer t.store.mu.RUnlock()
	if sequence < t.dropped {
		return batch{}, errCompacted
	}
	pending := t.history[sequence-t.dropped:]
	b := batch{revision: t.store.revision, changed: t.changed, closed: t.closed}
	if len(pending) > limit {
		pending, b.more = pending[:limit], true
	}
	b.events = append(b.events, pending...)
	b.next = sequence + len(pending)
	return b, nil
}

// accessor returns content as an object with metadata.
func accessor(content map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: content}
}
