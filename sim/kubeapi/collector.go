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

// dependents are the places of the objects that name an owner in their ownerReferences, by the owner's UID. The store's
// lock guards it.
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

// owned are the objects that name an owner, in the order of their places.
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

// collect does what the garbage collector does after an object was deleted, or marked for that: it deletes what the
// object owned, or lets it go free when the object leaves orphans. An object that was never there owns nothing: the real
// collector would delete what names it, this one does not look.
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

// collectOwned deletes what an owner owns alone, and takes the owner out of what others own, too.
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
		// It may be gone already, or be another object by now: then there is nothing to do.
		_, _, _ = s.deleteObject(r, at.key, o.meta().GetName(), &metav1.DeleteOptions{
			PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid}})
	}
}

// disown takes an owner out of an object.
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

// released tells the owners of an object that has gone: one that is deleted in the foreground waits for that.
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

// freeOwner lets an owner that is deleted in the foreground go when it owns nothing any more.
func (s *Server) freeOwner(r *resource, at string, uid types.UID) {
	if len(s.store.owned(uid)) == 0 {
		s.dropFinalizer(r, at, uid, metav1.FinalizerDeleteDependents)
	}
}

// dropFinalizer takes a finalizer from an object that is being deleted; the object goes when it was the last one.
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
