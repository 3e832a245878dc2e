package controller

import (
	"cmp"
	"context"
	"encoding/json"
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

// errLater is kopf's TemporaryError: the handler runs again after Timing.Retry. Its text is only logged; what operators
// see was written to the lock before. Any other error is an exception, which kopf retries after the same time.
type errLater struct{ text string }

func (e errLater) Error() string { return e.text }

func later(format string, args ...any) error { return errLater{fmt.Sprintf(format, args...)} }

type handler func(context.Context, *unstructured.Unstructured) error

// service is what the controller does with the objects of a kind. A kind with a handler of its deletion gets the
// controller's finalizer (docs/mosk.md#finalizers).
type service struct {
	resource schema.GroupVersionResource
	changed  handler // of creation, update and resume; nil: none
	deleted  handler // of deletion; nil: none, and no finalizer
}

// serve runs a goroutine for each object that has something to be done.
func (r *rockoon) serve(ctx context.Context, s service) {
	var mu sync.Mutex
	serving := map[types.UID]bool{}
	var group sync.WaitGroup
	r.loop(ctx, "rockoon "+s.resource.Resource, func(ctx context.Context) (time.Duration, error) {
		objects := slices.Clone(r.view.objects(s.resource))
		slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
			return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
		})
		again := time.Minute
		for _, object := range objects {
			if s.changed == nil && !deleting(object) {
				if err := r.hold(ctx, s.resource, object); apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
					again = time.Second // a newer one is on its way
				} else if err != nil {
					return 0, err
				}
				continue
			}
			if s.changed == nil && !held(object) {
				continue // done with it
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
	handled := ""
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
		what, do := "changed", s.changed
		if deleting(object) {
			what, do = "deleted", s.deleted
			if do == nil || !held(object) {
				return
			}
		}
		if due := r.retries.at(uid, what); r.clock.Now().Before(due) {
			r.waitRetry(ctx, s.resource, object, due)
			continue
		}
		if what == "changed" && handled == essence(object) {
			r.pause(ctx, 0, changed)
			continue
		}
		if err = r.handle(ctx, s, object, do); err != nil && ctx.Err() == nil {
			r.log.Info("handler will be retried", "resource", s.resource.Resource, "name", name, "error", err)
			r.retries.set(uid, what, r.clock.Now().Add(r.timing.Retry))
			continue
		}
		if err != nil {
			return
		}
		r.retries.set(uid, what, time.Time{})
		if handled = essence(object); what == "deleted" {
			return
		}
	}
}

// handle runs one handler between the finalizer's coming and going.
func (r *rockoon) handle(ctx context.Context, s service, object *unstructured.Unstructured, do handler) error {
	if !deleting(object) && s.deleted != nil {
		if err := r.finalize(ctx, s.resource, object, r.hold); err != nil {
			return err
		}
	}
	if err := do(ctx, object); err != nil || !deleting(object) {
		return err
	}
	return r.finalize(ctx, s.resource, object, r.env.release)
}

// finalize puts the finalizer on an object or takes it off, again and again until that succeeds, as kopf does with its
// patches. An object that is gone is done with.
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

// held tells whether our finalizer is on an object.
func held(object *unstructured.Unstructured) bool {
	return slices.Contains(object.GetFinalizers(), rockoonFinalizer)
}

// essence is what of an object kopf compares to see a change: not its status.
func essence(object *unstructured.Unstructured) string {
	raw, err := json.Marshal([]any{object.Object["spec"], object.GetLabels(), object.GetAnnotations()})
	if err != nil {
		return object.GetResourceVersion() // what came from JSON can be written as JSON
	}
	return string(raw)
}

// waitRetry waits until the handler is due again. A deletion that was asked for meanwhile is another handler's, which runs
// at once.
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
