package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func requestNode(object *unstructured.Unstructured) string    { return text(object, "spec", "nodeName") }
func requestRelease(object *unstructured.Unstructured) string { return text(object, "spec", "release") }
func requestScope(object *unstructured.Unstructured) string   { return text(object, "spec", "scope") }

func deleting(object *unstructured.Unstructured) bool { return object.GetDeletionTimestamp() != nil }

// requests lists the maintenance requests of a kind.
func (e *env) requests(ctx context.Context, resource schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	list, err := e.dyn.Resource(resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
	}
	return list.Items, nil
}

// requestFor returns the NodeMaintenanceRequest of a node, nil if there is none.
func (e *env) requestFor(ctx context.Context, node string) (*unstructured.Unstructured, error) {
	all, err := e.requests(ctx, nodeRequests)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if requestNode(&all[i]) == node {
			return &all[i], nil
		}
	}
	return nil, nil
}

// hold adds our finalizer, so that the object stays until our part of its deletion is done.
func (e *env) hold(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	if deleting(object) || slices.Contains(object.GetFinalizers(), rockoonFinalizer) {
		return nil
	}
	return e.setFinalizers(ctx, resource, object, append(slices.Clone(object.GetFinalizers()), rockoonFinalizer), nil)
}

// release takes our finalizer off; an object that is gone is not an error.
func (e *env) release(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	left := slices.DeleteFunc(slices.Clone(object.GetFinalizers()), func(f string) bool { return f == rockoonFinalizer })
	if len(left) == len(object.GetFinalizers()) {
		return nil
	}
	err := e.setFinalizers(ctx, resource, object, left, nil)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// setFinalizers replaces the list that was read, and changes annotations in the same write: the resourceVersion turns a
// concurrent change into a conflict.
func (e *env) setFinalizers(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured,
	finalizers []string, annotations map[string]any) error {
	metadata := map[string]any{"finalizers": finalizers, "resourceVersion": object.GetResourceVersion(), "uid": object.GetUID()}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	raw, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("encode the finalizers of %s %s: %w", resource.Resource, object.GetName(), err)
	}
	if _, err := e.dyn.Resource(resource).Patch(ctx, object.GetName(), types.MergePatchType, raw, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("set the finalizers of %s %s: %w", resource.Resource, object.GetName(), err)
	}
	return nil
}

// annotate changes annotations of exactly this object; a nil value removes one.
func (e *env) annotate(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured,
	annotations map[string]any) error {
	if len(annotations) == 0 {
		return nil
	}
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": object.GetUID(), "annotations": annotations}})
	if err != nil {
		return fmt.Errorf("encode the annotations of %s %s: %w", resource.Resource, object.GetName(), err)
	}
	if _, err := e.dyn.Resource(resource).Patch(ctx, object.GetName(), types.MergePatchType, raw, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("annotate %s %s: %w", resource.Resource, object.GetName(), err)
	}
	return nil
}

// rebootPossible tells whether the host may reboot in the maintenance of a request. A request without a scope is a
// KeyError.
func rebootPossible(request *unstructured.Unstructured) (bool, error) {
	if requestScope(request) == "" {
		return false, exception{"KeyError", pyString("scope")}
	}
	return requestScope(request) == ScopeOS, nil
}

// requestDeletion deletes a maintenance request that still has the given UID.
func (e *env) requestDeletion(ctx context.Context, resource schema.GroupVersionResource, name string, uid types.UID) error {
	err := e.dyn.Resource(resource).Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete %s %s: %w", resource.Resource, name, err)
	}
	return nil
}
