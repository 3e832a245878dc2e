package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// errLater is kopf's TemporaryError: the handler runs again after Timing.Retry. Its text is logged and kept in the
// object's annotation; the lock's text was written before. Any other error is an exception, which kopf retries after
// the same time.
type errLater struct{ text string }

func (e errLater) Error() string { return e.text }

func later(format string, args ...any) error { return errLater{fmt.Sprintf(format, args...)} }

// handler is a named function that kopf calls for an object.
type handler struct {
	name string
	do   func(context.Context, *unstructured.Unstructured) error
}

func (h handler) there() bool { return h.do != nil }

// service is what the controller does with the objects of a kind. A kind with a deletion handler gets the controller's
// finalizer (docs/mosk.md#finalizers).
type service struct {
	resource schema.GroupVersionResource
	changed  handler // of creation, update and resume
	deleted  handler // of deletion; none: no finalizer
}

// serve runs a goroutine for each object that needs work.
func (r *rockoon) serve(ctx context.Context, s service) {
	var mu sync.Mutex
	serving := map[types.UID]bool{}
	known := map[types.UID]string{} // the version that was acknowledged
	var group sync.WaitGroup
	r.loop(ctx, "rockoon "+s.resource.Resource, func(ctx context.Context) (time.Duration, error) {
		objects := slices.Clone(r.view.objects(s.resource))
		slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
			return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
		})
		again := time.Minute
		for _, object := range objects {
			if !s.changed.there() && !deleting(object) {
				if known[object.GetUID()] == object.GetResourceVersion() {
					continue
				}
				if err := r.acknowledge(ctx, s, object); apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
					again = time.Second // a newer version is coming
				} else if err != nil {
					return 0, err
				} else {
					known[object.GetUID()] = object.GetResourceVersion()
				}
				continue
			}
			if !s.changed.there() && !held(object) {
				continue // finished
			}
			uid, name := object.GetUID(), object.GetName()
			mu.Lock()
			busy := serving[uid]
			serving[uid] = true
			mu.Unlock()
			if busy {
				continue
			}
			group.Go(func() {
				r.serveOne(named(ctx, s.resource.Resource+"/"+name), s, name, uid)
				mu.Lock()
				delete(serving, uid)
				mu.Unlock()
			})
		}
		return again, nil
	}, s.resource)
	group.Wait()
}

// serveOne handles one object until it is gone.
func (r *rockoon) serveOne(ctx context.Context, s service, name string, uid types.UID) {
	changed, stop := r.view.subscribe(s.resource)
	defer stop()
	resumed := false // whether this run of the controller has handled it
	for ctx.Err() == nil {
		object, err := r.dyn.Resource(s.resource).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && object.GetUID() != uid {
			return
		}
		if err != nil {
			if r.clock.Sleep(ctx, max(r.timing.Backoff, time.Millisecond)) != nil {
				return
			}
			continue
		}
		h := s.changed
		if deleting(object) {
			if h = s.deleted; !h.there() || !held(object) {
				return // it never had our finalizer, or another finalizer keeps it
			}
		}
		if !deleting(object) && s.deleted.there() && !held(object) {
			if r.finalize(ctx, s.resource, object, r.hold) != nil {
				return
			}
			continue
		}
		kept := progressOf(object, h.name)
		purpose := purposeOf(object, kept, resumed)
		if purpose == "" {
			r.pause(ctx, 0, changed)
			continue
		}
		if kept != nil && r.clock.Now().Before(kept.due()) {
			r.waitRetry(ctx, s.resource, object, kept.due())
			continue
		}
		if kept == nil {
			kept = &progress{Started: kopfStamp(r.clock.Now())}
		}
		kept.Purpose = purpose
		err = h.do(ctx, object)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.failed(h, name, err)
			kept.Retries, kept.Message = kept.Retries+1, raised(err)
			kept.Delayed = kopfStamp(r.clock.Now().Add(r.timing.Retry))
			changes := map[string]any{kopfPrefix + h.name: compactJSON(kept)}
			s.superseded(object, h, changes)
			err = r.keep(ctx, s.resource, object, changes)
		case purpose == purposeDelete:
			r.succeeded(h, name)
			_ = r.finalize(ctx, s.resource, object, r.env.release) // fails with ctx only
			return
		default:
			r.succeeded(h, name)
			resumed = true
			err = r.keep(ctx, s.resource, object, s.handled(object))
		}
		if err != nil {
			return
		}
	}
}

// failed and succeeded log the end of a handler in kopf's words.
func (r *rockoon) failed(h handler, object string, err error) {
	text := fmt.Sprintf("[%s] Handler %s failed with an exception. Will retry: %v", object, pyString(h.name), err)
	if temporary(err) {
		text = fmt.Sprintf("[%s] Handler %s failed temporarily: %v", object, pyString(h.name), err)
	}
	r.log.Error(text, loggerKey, "kopf.objects")
}

func (r *rockoon) succeeded(h handler, object string) {
	r.log.Info(fmt.Sprintf("[%s] Handler %s succeeded.", object, pyString(h.name)), loggerKey, "kopf.objects")
}

// purposeOf is why the handler of an object must be called; empty if it must not. The stored progress of a failed
// handler says why it was called.
func purposeOf(object *unstructured.Unstructured, kept *progress, resumed bool) string {
	handled, ever := object.GetAnnotations()[annotationHandled]
	switch {
	case deleting(object):
		return purposeDelete
	case kept != nil && kept.Purpose != "":
		return kept.Purpose
	case !ever:
		return purposeCreate
	case handled != essence(object):
		return purposeUpdate
	case !resumed:
		return purposeResume
	}
	return ""
}

// handled is kopf's change of its annotations on an object that was handled in its current form: no progress is left.
func (s service) handled(object *unstructured.Unstructured) map[string]any {
	changes := map[string]any{}
	for _, h := range []handler{s.changed, s.deleted} {
		if _, there := object.GetAnnotations()[kopfPrefix+h.name]; there && h.there() {
			changes[kopfPrefix+h.name] = nil
		}
	}
	if now := essence(object); object.GetAnnotations()[annotationHandled] != now {
		changes[annotationHandled] = now
	}
	return changes
}

// acknowledge is all that kopf does with a live object that has only a deletion handler.
func (r *rockoon) acknowledge(ctx context.Context, s service, object *unstructured.Unstructured) error {
	if held(object) {
		return r.annotate(ctx, s.resource, object, s.handled(object))
	}
	return r.setFinalizers(ctx, s.resource, object, append(slices.Clone(object.GetFinalizers()), rockoonFinalizer), s.handled(object))
}

// keep changes annotations of an object and retries until that succeeds or the object is gone.
func (r *rockoon) keep(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured,
	annotations map[string]any) error {
	return r.insist(ctx, "change the annotations of "+object.GetName(), func(ctx context.Context) error {
		err := r.annotate(ctx, resource, object, annotations)
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	})
}

// finalize adds the finalizer to an object or removes it, and retries until that succeeds or the object is gone, as
// kopf does with its patches.
func (r *rockoon) finalize(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured,
	change func(context.Context, schema.GroupVersionResource, *unstructured.Unstructured) error) error {
	return r.insist(ctx, "change the finalizers of "+object.GetName(), func(ctx context.Context) error {
		current, err := r.dyn.Resource(resource).Get(ctx, object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && current.GetUID() != object.GetUID() {
			return nil
		}
		if err != nil {
			return err
		}
		return change(ctx, resource, current)
	})
}

// held tells whether an object has our finalizer.
func held(object *unstructured.Unstructured) bool {
	return slices.Contains(object.GetFinalizers(), rockoonFinalizer)
}

// waitRetry waits until the handler is due again. A deletion in the meantime belongs to another handler, which runs at
// once.
func (r *rockoon) waitRetry(ctx context.Context, resource schema.GroupVersionResource, waiting *unstructured.Unstructured, due time.Time) {
	changed, stop := r.view.subscribe(resource)
	defer stop()
	for ctx.Err() == nil {
		left := due.Sub(r.clock.Now())
		if left <= 0 {
			return
		}
		object := r.view.object(resource, waiting.GetName())
		if !deleting(waiting) && (object == nil || object.GetUID() != waiting.GetUID() || deleting(object)) {
			return
		}
		r.pause(ctx, left, changed)
	}
}
