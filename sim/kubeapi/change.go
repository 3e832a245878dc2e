package kubeapi

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// Change is one change of an object, reported when it is stored.
type Change struct {
	Kind     watch.EventType // Added, Modified or Deleted
	Resource string          // plural
	At       time.Time       // of the simulated cluster
	// Before and Now are the object before and after the change. Before is nil for an added object; Now is the last
	// state of a deleted one. They are shared with the server: read only.
	Before, Now *unstructured.Unstructured
}

// Follow calls each for every change of the resources (plural names) from now on, in the order of storage and before
// the writer has its answer, until stop is called. The called function must not use the server: it would deadlock.
func (s *Server) Follow(each func(Change), resources ...string) (stop func()) {
	wanted := map[*table]string{}
	for _, name := range resources {
		for _, r := range s.catalogue.all() {
			if r.Resource == name && r.table != nil {
				wanted[r.table] = name
			}
		}
	}
	return s.store.follow(func(t *table, e event) {
		name, ok := wanted[t]
		if !ok {
			return
		}
		c := Change{Kind: e.kind, Resource: name, At: s.now(), Now: &unstructured.Unstructured{Object: e.now.content}}
		if e.before != nil {
			c.Before = &unstructured.Unstructured{Object: e.before.content}
		}
		each(c)
	})
}

// Objects returns the current objects of a resource (its plural name). They are shared with the server: read only.
func (s *Server) Objects(resource string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, r := range s.catalogue.all() {
		if r.Resource != resource || r.table == nil {
			continue
		}
		for _, o := range r.table.list().objects {
			all = append(all, &unstructured.Unstructured{Object: o.content})
		}
		break // events are served by two groups from one table
	}
	return all
}
