package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// keepLocks creates missing locks, updates their release, and deletes the locks of nodes that are gone or have lost
// their roles. If a NodeDisableNotification named the node, its lock stays (docs/mosk.md#deletion-requests).
func (r *rockoon) keepLocks(ctx context.Context) error {
	if seen := r.view.object(clusterLocks, r.clusterLockName()); seen == nil || lockState(seen) == "" {
		if _, err := r.myClusterLock().ensure(ctx, map[string]any{"controllerName": openstackController},
			map[string]string{annotationInner: stateInactive}, r.release); err != nil {
			return err
		}
	}
	if r.looked == nil {
		r.looked = map[string]string{}
	}
	disabled := map[string]bool{}
	for _, notice := range r.view.objects(nodeNotices) {
		disabled[hostPart(requestNode(notice))] = true
	}
	nodes := r.view.nodes()
	for _, name := range sortedKeys(nodes) {
		node := nodes[name]
		if err := r.keepNode(ctx, node, disabled[name]); err != nil {
			return err
		}
		if node.DeletionTimestamp != nil {
			continue
		}
		seen, now := r.view.object(nodeLocks, r.nodeLockName(name)), nodeEssence(node)
		switch fits := seen != nil && lockState(seen) != "" && lockRelease(seen) == r.release; {
		case len(r.roles.of(node.Labels)) == 0:
		case !fits && seen == nil && r.looked[name] == now:
			continue // a deleted lock is recreated at the next change of the node, or for a request
		case !fits:
			if err := r.presentNode(ctx, node); err != nil {
				return err
			}
		}
		r.looked[name] = now
	}
	for _, object := range r.view.objects(nodeLocks) {
		if lockController(object) != openstackController || deleting(object) {
			continue
		}
		node := nodes[lockNode(object)]
		if node != nil && len(r.roles.of(node.Labels)) > 0 || node == nil && disabled[lockNode(object)] {
			continue
		}
		if err := r.nodeLock(object.GetName()).delete(ctx); err != nil {
			return err
		}
	}
	return nil
}

// keepNode puts the finalizer on a node, and takes it off one that was deleted, once the node's lock is deleted: kopf does so around the
// handler of a node's deletion (docs/mosk.md#while-it-is-away). A lock of a node whose machine is disabled stays.
func (r *rockoon) keepNode(ctx context.Context, node *corev1.Node, disabled bool) error {
	has, deleted := slices.Contains(node.Finalizers, nodeFinalizer), node.DeletionTimestamp != nil
	if has != deleted {
		return nil
	}
	finalizers := append(slices.Clone(node.Finalizers), nodeFinalizer)
	if deleted {
		finalizers = slices.DeleteFunc(slices.Clone(node.Finalizers), func(f string) bool { return f == nodeFinalizer })
		if seen := r.view.object(nodeLocks, r.nodeLockName(node.Name)); seen != nil && !deleting(seen) && !disabled {
			if err := r.myNodeLock(node.Name).delete(ctx); err != nil {
				return err
			}
		}
	}
	patch := compactJSON(map[string]any{"metadata": map[string]any{"finalizers": finalizers, "resourceVersion": node.ResourceVersion,
		"uid": node.UID}})
	_, err := r.kube.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("set the finalizers of node %s: %w", node.Name, err)
	}
	return nil
}

// nodeEssence is the part of a node that kopf compares to detect a change.
func nodeEssence(node *corev1.Node) string {
	return compactJSON([]any{node.Spec, node.Labels, foreign(node.Annotations)})
}

// presentNode ensures the lock of a node. A lock of another release was left by an older controller: it is armed again,
// at our release.
func (r *rockoon) presentNode(ctx context.Context, node *corev1.Node) error {
	l := r.myNodeLock(node.Name)
	l.served = true
	object, err := l.ensure(ctx,
		map[string]any{"controllerName": openstackController, "nodeName": node.Name, "nodeDeletionRequestSupported": true},
		map[string]string{annotationInner: stateInactive, annotationOriginal: originalNode(node)}, r.release)
	if err != nil || lockRelease(object) == r.release {
		return err
	}
	return l.setState(ctx, stateActive, map[string]any{"release": r.release})
}

// originalNode is what the clean-up after a node needs to know about it.
func originalNode(node *corev1.Node) string {
	type metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	}
	return pyJSON(struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Spec       corev1.NodeSpec `json:"spec"`
		Metadata   metadata        `json:"metadata"`
	}{"v1", "Node", node.Spec, metadata{node.Name, node.Labels}})
}

// presentCluster gives the cluster lock our release; a lock of another release is armed again.
func (r *rockoon) presentCluster(ctx context.Context) error {
	l := r.myClusterLock()
	object, err := l.ensure(ctx, map[string]any{"controllerName": openstackController}, map[string]string{annotationInner: stateInactive},
		r.release)
	if err != nil || lockRelease(object) == r.release {
		return err
	}
	return l.setState(ctx, stateActive, map[string]any{"release": r.release})
}

// flapping is node_not_ready_flapping_timeout: a node that is not Ready for longer is down, not flapping.
const flapping = 120 * time.Second

// clearDeadNodes force-deletes the OpenStack pods of nodes that are down for good; it returns when the next node is
// due.
func (r *rockoon) clearDeadNodes(ctx context.Context) (time.Duration, error) {
	now := r.clock.Now()
	var due dueTime
	nodes := r.view.nodes()
	for _, name := range sortedKeys(nodes) {
		ready := nodeReady(nodes[name])
		if ready.Status == corev1.ConditionTrue || ready.Status == "" {
			continue
		}
		if down := ready.LastTransitionTime.Add(flapping); now.Before(down) {
			due.add(down)
			continue
		}
		pods, err := r.podsOn(ctx, openstackNamespace, name)
		if err != nil {
			return 0, err
		}
		for i := range pods {
			// Newer pods wait for the node and stay.
			if pods[i].CreationTimestamp.Time.After(ready.LastTransitionTime.Time) {
				continue
			}
			if err := r.endPod(ctx, &pods[i], 0); err != nil {
				return 0, err
			}
		}
	}
	return due.in(now), nil
}

// deployed tells whether there is exactly one OpenStackDeployment; two count as none. Without one the controller keeps no locks
// (docs/mosk.md#node-request).
func (r *rockoon) deployed(ctx context.Context) (bool, error) {
	list, err := r.dyn.Resource(osdplResource).Namespace(openstackNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("list OpenStackDeployments: %w", err)
	}
	return len(list.Items) == 1, nil
}

// checkRelease refuses a request for a release other than ours, with text A of docs/mosk.md#texts on the lock.
func (r *rockoon) checkRelease(ctx context.Context, l lock, request *unstructured.Unstructured) error {
	wanted := requestRelease(request)
	if wanted == "" || wanted == r.release {
		return nil
	}
	return r.refuse(ctx, l, "Current maintenancerequest %s release does not match ours %s. Skipping handling.", wanted, r.release) // A
}

// refuse writes a text to a lock and makes the handler retry.
func (r *rockoon) refuse(ctx context.Context, l lock, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if err := r.tell(ctx, l, text); err != nil {
		return err
	}
	return errLater{text}
}
