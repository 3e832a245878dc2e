package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keepLocks makes the locks that should be there, brings their release up to date and deletes those of nodes that are gone
// or have lost their roles. The lock of a node that went while a NodeDisableNotification named it stays (docs/mosk.md#deletion-requests).
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
	nodes := r.view.nodes()
	for _, name := range sortedKeys(nodes) {
		node := nodes[name]
		seen, now := r.view.object(nodeLocks, r.nodeLockName(name)), nodeEssence(node)
		switch fits := seen != nil && lockState(seen) != "" && lockRelease(seen) == r.release; {
		case len(r.roles.of(node.Labels)) == 0:
		case !fits && seen == nil && r.looked[name] == now:
			continue // a lock that went is made anew at the next change of the node, or for a request
		case !fits:
			if err := r.presentNode(ctx, node); err != nil {
				return err
			}
		}
		r.looked[name] = now
	}
	disabled := map[string]bool{}
	for _, notice := range r.view.objects(nodeNotices) {
		disabled[hostPart(requestNode(notice))] = true
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

// nodeEssence is what of a node kopf compares to see a change.
func nodeEssence(node *corev1.Node) string {
	return compactJSON([]any{node.Spec, node.Labels, foreign(node.Annotations)})
}

// presentNode ensures the lock of a node. A lock of another release is one that an older controller left: it is armed
// again, at ours.
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

// originalNode is what the clean-up after a node is to know of it.
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

// flapping is node_not_ready_flapping_timeout: a node that is not Ready for so long is down, not flapping.
const flapping = 120 * time.Second

// clearDeadNodes deletes the OpenStack pods of nodes that are down for good, without waiting for them to end; it returns
// when the next node is due.
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
			// What was made since waits for the node, and is left alone.
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

// deployed tells whether there is an OpenStackDeployment; without one the controller guards nothing.
func (r *rockoon) deployed(ctx context.Context) (bool, error) {
	list, err := r.dyn.Resource(osdplResource).Namespace(openstackNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("list OpenStackDeployments: %w", err)
	}
	return len(list.Items) > 0, nil
}

// checkRelease refuses a request that is for another release than ours, with text A of docs/mosk.md#texts on the lock.
func (r *rockoon) checkRelease(ctx context.Context, l lock, request *unstructured.Unstructured) error {
	wanted := requestRelease(request)
	if wanted == "" || wanted == r.release {
		return nil
	}
	return r.refuse(ctx, l, "Current maintenancerequest %s release does not match ours %s. Skipping handling.", wanted, r.release) // A
}

// refuse writes a text to a lock and lets the handler be retried.
func (r *rockoon) refuse(ctx context.Context, l lock, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if err := r.tell(ctx, l, text); err != nil {
		return err
	}
	return errLater{text}
}
