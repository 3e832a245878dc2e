package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// lock is a ClusterWorkloadLock or NodeWorkloadLock as its owner sees it. Only the owner writes the status, so patches of single
// fields need no comparison.
type lock struct {
	env      *env
	resource schema.GroupVersionResource
	name     string
	served   bool // a new lock is created as kopf leaves it once the OpenStack controller has handled it
}

func (e *env) clusterLock(name string) lock { return lock{env: e, resource: clusterLocks, name: name} }
func (e *env) nodeLock(name string) lock    { return lock{env: e, resource: nodeLocks, name: name} }

// ensure creates the lock when it is missing, active and at release. An existing lock keeps its state.
func (l lock) ensure(ctx context.Context, spec map[string]any, annotations map[string]string, release string) (*unstructured.Unstructured,
	error) {
	if l.env.load != nil {
		if object, err := l.loaded(spec, annotations, release); !apierrors.IsAlreadyExists(err) {
			return object, err
		}
	}
	object, err := l.get(ctx)
	if apierrors.IsNotFound(err) {
		object = l.newObject(spec, annotations)
		object, err = l.env.dyn.Resource(l.resource).Create(ctx, object, metav1.CreateOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("ensure %s %s: %w", l.resource.Resource, l.name, err)
	}
	if lockState(object) != "" {
		return object, nil
	}
	// The API server drops the status of a new object: status is a subresource.
	return l.patchStatus(ctx, map[string]any{"state": stateActive, "release": release})
}

// newObject is a new lock, without a status.
func (l lock) newObject(spec map[string]any, annotations map[string]string) *unstructured.Unstructured {
	kind := "NodeWorkloadLock"
	if l.resource == clusterLocks {
		kind = "ClusterWorkloadLock"
	}
	object := lcmObject(kind, l.name)
	object.SetAnnotations(annotations)
	object.Object["spec"] = spec
	if l.served {
		object.SetFinalizers([]string{rockoonFinalizer})
		Handled(object)
	}
	return object
}

// loaded is a new lock in a cluster that is being filled.
func (l lock) loaded(spec map[string]any, annotations map[string]string, release string) (*unstructured.Unstructured, error) {
	object := l.newObject(spec, annotations)
	object.Object["status"] = map[string]any{"state": stateActive, "release": release}
	if err := l.env.load(object); err != nil {
		return nil, fmt.Errorf("ensure %s %s: %w", l.resource.Resource, l.name, err)
	}
	return object, nil
}

func (l lock) get(ctx context.Context) (*unstructured.Unstructured, error) {
	return l.env.dyn.Resource(l.resource).Get(ctx, l.name, metav1.GetOptions{})
}

// patchStatus sets fields of the status; a nil value removes the field.
func (l lock) patchStatus(ctx context.Context, fields map[string]any) (*unstructured.Unstructured, error) {
	return l.patch(ctx, map[string]any{"status": fields}, "status")
}

// annotate sets one annotation.
func (l lock) annotate(ctx context.Context, key, value string) error {
	_, err := l.patch(ctx, map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	return err
}

func (l lock) patch(ctx context.Context, body map[string]any, subresources ...string) (*unstructured.Unstructured, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode a patch of %s %s: %w", l.resource.Resource, l.name, err)
	}
	object, err := l.env.dyn.Resource(l.resource).Patch(ctx, l.name, types.MergePatchType, raw, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return nil, fmt.Errorf("patch %s %s: %w", l.resource.Resource, l.name, err)
	}
	return object, nil
}

// setState sets the lock's state and updates the other fields of its status.
func (l lock) setState(ctx context.Context, state string, more map[string]any) error {
	fields := map[string]any{"state": state}
	maps.Copy(fields, more)
	_, err := l.patchStatus(ctx, fields)
	return err
}

// delete removes the lock; a lock that is gone is not an error.
func (l lock) delete(ctx context.Context) error {
	err := l.env.dyn.Resource(l.resource).Delete(ctx, l.name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", l.resource.Resource, l.name, err)
	}
	return nil
}

// locksOf lists the locks of one controller, or of all when controllerName is empty, in the API's order (by name).
func (e *env) locksOf(ctx context.Context, resource schema.GroupVersionResource, controllerName string) ([]unstructured.Unstructured,
	error) {
	list, err := e.dyn.Resource(resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
	}
	var mine []unstructured.Unstructured
	for _, object := range list.Items {
		if controllerName == "" || lockController(&object) == controllerName {
			mine = append(mine, object)
		}
	}
	return mine, nil
}

func lockState(object *unstructured.Unstructured) string { return text(object, "status", "state") }
func lockMessage(object *unstructured.Unstructured) string {
	return text(object, "status", "errorMessage")
}
func lockController(object *unstructured.Unstructured) string {
	return text(object, "spec", "controllerName")
}
func lockNode(object *unstructured.Unstructured) string    { return text(object, "spec", "nodeName") }
func lockRelease(object *unstructured.Unstructured) string { return text(object, "status", "release") }
func lockInner(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[annotationInner]
}

// text is a string field of an object; empty if it is missing or of another type.
func text(object *unstructured.Unstructured, fields ...string) string {
	value, _, _ := unstructured.NestedString(object.Object, fields...)
	return value
}
