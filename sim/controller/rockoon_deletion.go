package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deletionRequested is the handler of a NodeDeletionRequest: every service gives the node up, in reverse order, and the
// lock is released (docs/mosk.md#removal).
func (r *rockoon) deletionRequested(ctx context.Context, request *unstructured.Unstructured) error {
	v, err := r.visit(ctx, request)
	if err != nil {
		return err
	}
	deployed, err := r.deployed(ctx)
	if err != nil {
		return err
	}
	if deployed && v.node != nil {
		for _, s := range slices.Backward(r.enabledServices()) {
			if s.surrender == nil {
				continue
			}
			r.log.Info("Handling node deletion for " + v.name + " by service " + s.name)
			if err := s.surrender(v, ctx); err != nil {
				return err
			}
			r.log.Info("The node " + v.name + " is ready for deletion by " + s.name)
		}
	}
	r.log.Info("The node " + v.name + " is ready for deletion.")
	return v.lock.setState(ctx, stateInactive, map[string]any{"errorMessage": nil})
}

// lockDeleted is the handler of a NodeWorkloadLock's deletion: OpenStack's data about the node is removed. It waits
// until the node is gone, since services that still run would register again.
func (r *rockoon) lockDeleted(ctx context.Context, object *unstructured.Unstructured) error {
	if lockController(object) != openstackController {
		return nil
	}
	if ok, err := r.deployed(ctx); err != nil || !ok {
		return err
	}
	v, err := r.visit(ctx, object)
	if err != nil {
		return err
	}
	if v.node != nil { // the braces are the controller's own mistake
		return later("The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.") // V
	}
	for _, s := range slices.Backward(r.enabledServices()) {
		if s.forget == nil {
			continue
		}
		r.log.Info("Cleaning metadata for " + s.name + " on node " + v.name)
		if err := s.forget(v, ctx); err != nil {
			return err
		}
	}
	r.log.Info("The nodeworkloadlock for node " + v.name + " is ready for deletion.")
	return nil
}

// noticeDeleted is the handler of a NodeDisableNotification's deletion: it deletes the lock that was kept for a node
// that is gone.
func (r *rockoon) noticeDeleted(ctx context.Context, object *unstructured.Unstructured) error {
	v, err := r.visit(ctx, object)
	if err != nil || v.node != nil {
		return err
	}
	r.log.Info("Removing nodeworkloadlock for node " + v.name + " as node was disabled and was just removed.")
	return v.lock.delete(ctx)
}
