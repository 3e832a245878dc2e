package bubble

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// How Until waits, in virtual time. A state that lasts only a moment has to be followed, not polled.
const (
	look     = time.Second
	patience = 12 * time.Hour
	settle   = 10 * time.Millisecond // messages sent before holds became true have arrived by then, too
)

// Until waits until holds returns true, and fails the test if it never does.
func Until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(look) {
		if time.Since(began) > patience {
			t.Fatalf("it never came to be that %s", what)
		}
	}
	time.Sleep(settle)
}

// Follow reports to note, until the test ends, which objects exist and every change to them, however short-lived. It
// returns when note has seen all that exist now. One goroutine at a time calls note.
func Follow(t *testing.T, objects dynamic.ResourceInterface, note func(kind watch.EventType, object *unstructured.Unstructured)) {
	t.Helper()
	list, err := objects.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		note(watch.Added, &list.Items[i])
	}
	ctx, version := t.Context(), list.GetResourceVersion()
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for ; ctx.Err() == nil; time.Sleep(look) { // a server ends a watch after half an hour, or is unavailable for a while
			events, err := objects.Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
			if err != nil {
				continue
			}
			for event := range events.ResultChan() {
				if err := apierrors.FromObject(event.Object); event.Type == watch.Error && apierrors.IsResourceExpired(err) {
					t.Errorf("nobody knows what the test has missed: %v", err)
					return
				}
				object, ok := event.Object.(*unstructured.Unstructured)
				if !ok || event.Type == watch.Error {
					continue // the stream broke, and ends
				}
				version = object.GetResourceVersion()
				if event.Type != watch.Bookmark {
					note(event.Type, object)
				}
			}
		}
	}()
}

// Seen holds the current objects of one resource, kept up to date by a watch.
type Seen struct {
	mu     sync.Mutex
	byName map[string]*unstructured.Unstructured
}

// See follows the objects of a resource until the test ends; of one namespace if the resource is namespaced.
func See(t *testing.T, objects dynamic.ResourceInterface) *Seen {
	t.Helper()
	s := &Seen{byName: map[string]*unstructured.Unstructured{}}
	Follow(t, objects, func(kind watch.EventType, object *unstructured.Unstructured) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if kind == watch.Deleted {
			delete(s.byName, object.GetName())
			return
		}
		s.byName[object.GetName()] = object
	})
	return s
}

// All returns the objects sorted by name. They are shared: read only.
func (s *Seen) All() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*unstructured.Unstructured, 0, len(s.byName))
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		all = append(all, s.byName[name])
	}
	return all
}

// Named returns one object by name, or nil. It is shared: read only.
func (s *Seen) Named(name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}
