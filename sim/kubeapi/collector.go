package kubeapi

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// place is where an object is.
type place struct {
	table *table
	key   string
}

// dependents holds the places of the objects with an ownerReference, by the owner's UID. The store's lock guards it.
type dependents map[types.UID]map[place]struct{}

// follow notes the owners of an object that was stored, or that is no longer stored.
func (d dependents) follow(t *table, o *object, stored bool) {
	for _, owner := range o.meta().GetOwnerReferences() {
		at := place{t, o.key}
		switch {
		case !stored:
			delete(d[owner.UID], at)
			if len(d[owner.UID]) == 0 {
				delete(d, owner.UID)
			}
		case d[owner.UID] == nil:
			d[owner.UID] = map[place]struct{}{at: {}}
		default:
			d[owner.UID][at] = struct{}{}
		}
	}
}

// owned returns the places of the objects with this owner, in order.
func (s *store) owned(owner types.UID) []place {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []place
	for at := range s.dependents[owner] {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.table.number, b.table.number), strings.Compare(a.key, b.key))
	})
	return all
}

// owns tells whether there are objects with this owner.
func (s *store) owns(owner types.UID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.dependents[owner]) > 0
}

// collect does the garbage collector's work after an object was deleted or marked for deletion: it deletes the object's
// dependents, or releases them if the object orphans them. Unlike the real collector, it does not look for objects with
// an owner that never existed.
func (s *Server) collect(r *resource, o *object) {
	object := o.meta()
	waits := object.GetFinalizers()
	switch {
	case slices.Contains(waits, metav1.FinalizerOrphanDependents):
		for _, at := range s.store.owned(object.GetUID()) {
			s.disown(at, object.GetUID())
		}
		s.dropFinalizer(r, o.key, object.GetUID(), metav1.FinalizerOrphanDependents)
	case slices.Contains(waits, metav1.FinalizerDeleteDependents):
		s.collectOwned(object.GetUID(), metav1.DeletePropagationForeground)
		s.freeOwner(r, o.key, object.GetUID())
	}
}

// collectOwned deletes the objects that have only this owner, and removes the owner from objects that have others, too.
func (s *Server) collectOwned(owner types.UID, policy metav1.DeletionPropagation) {
	for _, at := range s.store.owned(owner) {
		r, o := s.catalogue.byTable(at.table), at.table.get(at.key)
		if r == nil || o == nil {
			continue
		}
		if len(o.meta().GetOwnerReferences()) > 1 {
			s.disown(at, owner)
			continue
		}
		uid := o.meta().GetUID()
		// The object may be gone or replaced by now: then there is nothing to do.
		_, _, _ = s.deleteObject(r, at.key, o.meta().GetName(), &metav1.DeleteOptions{
			PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid}})
	}
}

// disown removes an owner from an object.
func (s *Server) disown(at place, owner types.UID) {
	for {
		o := at.table.get(at.key)
		if o == nil {
			return
		}
		content := o.copy()
		left := slices.DeleteFunc(accessor(content).GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == owner })
		accessor(content).SetOwnerReferences(left)
		if at.table.replace(o, content) != nil {
			return
		}
	}
}

// released notifies the owners of an object that is gone: an owner that is deleted in the foreground waits for this.
func (s *Server) released(o *object) {
	for _, ref := range o.meta().GetOwnerReferences() {
		r := s.catalogue.byKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
		if r == nil {
			continue
		}
		at := ref.Name
		if r.namespaced {
			at = key(o.meta().GetNamespace(), ref.Name)
		}
		s.freeOwner(r, at, ref.UID)
	}
}

// freeOwner completes the foreground deletion of an owner that has no dependents left.
func (s *Server) freeOwner(r *resource, at string, uid types.UID) {
	if !s.store.owns(uid) {
		s.dropFinalizer(r, at, uid, metav1.FinalizerDeleteDependents)
	}
}

// dropFinalizer removes a finalizer from an object that is being deleted; with the last finalizer the object is gone.
func (s *Server) dropFinalizer(r *resource, at string, uid types.UID, finalizer string) {
	for {
		o := r.table.get(at)
		if o == nil || o.meta().GetUID() != uid || o.meta().GetDeletionTimestamp() == nil ||
			!slices.Contains(o.meta().GetFinalizers(), finalizer) {
			return
		}
		content := o.copy()
		accessor(content).SetFinalizers(slices.DeleteFunc(accessor(content).GetFinalizers(), func(name string) bool { return name == finalizer }))
		if finished(content) {
			if r.table.remove(o, content) != nil {
				s.removed(r, o)
				return
			}
			continue
		}
		if r.table.replace(o, content) != nil {
			return
		}
	}
}
