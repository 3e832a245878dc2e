package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fabric is the operator of Tungsten Fabric, now OpenSDN (docs/mosk.md#tungsten-fabric). It releases one vRouter node at a time,
// and reports the progress of the nodes on its cluster lock.
type fabric struct {
	*env
	operator string // name of the TFOperator
}

const (
	fabricController = "tungstenfabric"
	fabricNamespace  = "tf"
	vRouters         = "tf-vrouter-agent"
)

// What the TFOperator says it is doing.
const (
	fabricIdle        = "Applied"
	fabricMaintenance = "Maintenance"
)

// fabricOperators is the kind of the TFOperator.
var fabricOperators = schema.GroupVersionResource{Group: "tf.mirantis.com", Version: "v2", Resource: "tfoperators"}

// show writes the current state to the TFOperator.
func (f *fabric) show(ctx context.Context, healthy bool, doing string) error {
	health := "Ready"
	if !healthy {
		health = "NotReady"
	}
	return f.showObject(ctx, fabricOperators, "TFOperator", fabricNamespace, f.operator, "", "",
		map[string]any{"health": health, "status": doing})
}

func (f *fabric) clusterLockName() string         { return "tf-" + f.operator }
func (f *fabric) nodeLockName(node string) string { return "tf-" + node }

func (f *fabric) run(ctx context.Context, armed func()) {
	f.loop(ctx, "tungstenfabric", func(ctx context.Context) (time.Duration, error) {
		nodes, err := f.keepLocks(ctx)
		if err != nil {
			return 0, err
		}
		armed()
		if err := f.serveCluster(ctx, nodes); err != nil {
			return 0, err
		}
		return time.Minute, f.serveNodes(ctx)
	}, clusterRequests, nodeRequests, clusterLocks, nodeLocks, nodesResource, podsResource)
}

func (f *fabric) keepLocks(ctx context.Context) ([]corev1.Node, error) {
	release, _, err := f.deployedRelease(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := f.clusterLock(f.clusterLockName()).ensure(ctx, map[string]any{"controllerName": fabricController}, nil, release); err != nil {
		return nil, err
	}
	list, err := f.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: labelVRouter + "=" + enabled})
	if err != nil {
		return nil, fmt.Errorf("list vRouter nodes: %w", err)
	}
	for i := range list.Items {
		spec := map[string]any{"controllerName": fabricController, "nodeName": list.Items[i].Name}
		if _, err := f.nodeLock(f.nodeLockName(list.Items[i].Name)).ensure(ctx, spec, nil, release); err != nil {
			return nil, err
		}
	}
	on := map[string]bool{}
	for i := range list.Items {
		on[list.Items[i].Name] = true
	}
	return list.Items, f.dropLocks(ctx, fabricController, func(node string) bool { return on[node] })
}

// healthy tells whether the vRouters of all nodes are ready.
func (f *fabric) healthy(ctx context.Context, nodes []corev1.Node) (bool, error) {
	list, err := f.kube.CoreV1().Pods(fabricNamespace).List(ctx, metav1.ListOptions{LabelSelector: "component=vrouter"})
	if err != nil {
		return false, fmt.Errorf("list the vRouter pods: %w", err)
	}
	ready := map[string]bool{}
	for i := range list.Items {
		if podReady(&list.Items[i]) {
			ready[list.Items[i].Spec.NodeName] = true
		}
	}
	for i := range nodes {
		if !ready[nodes[i].Name] {
			return false, nil
		}
	}
	return true, nil
}

// vRouterReady tells whether the vRouter pod of a node runs with all its containers ready.
func (f *fabric) vRouterReady(ctx context.Context, node string) (bool, error) {
	list, err := f.kube.CoreV1().Pods(fabricNamespace).List(ctx,
		metav1.ListOptions{FieldSelector: "spec.nodeName=" + node, LabelSelector: "component=vrouter"})
	if err != nil {
		return false, fmt.Errorf("list the vRouter pods of node %s: %w", node, err)
	}
	for i := range list.Items {
		if !podReady(&list.Items[i]) {
			return false, nil
		}
	}
	return len(list.Items) > 0, nil
}

// serveCluster releases the cluster lock when the fabric is healthy, and updates its progress.
func (f *fabric) serveCluster(ctx context.Context, nodes []corev1.Node) error {
	requests, err := f.requests(ctx, clusterRequests)
	if err != nil {
		return err
	}
	l := f.clusterLock(f.clusterLockName())
	object, err := l.get(ctx)
	if err != nil {
		return fmt.Errorf("read cluster lock %s: %w", l.name, err)
	}
	healthy, err := f.healthy(ctx, nodes)
	if err != nil {
		return err
	}
	doing := fabricIdle
	if len(requests) > 0 && !deleting(&requests[0]) {
		doing = fabricMaintenance
	}
	if err := f.show(ctx, healthy, doing); err != nil {
		return err
	}
	if len(requests) == 0 || deleting(&requests[0]) {
		if lockState(object) == stateActive || !healthy {
			return nil
		}
		return f.endCluster(ctx, l, len(nodes))
	}
	release := requestRelease(&requests[0])
	if lockState(object) == stateActive {
		if !healthy {
			return nil
		}
		if err := f.clock.Sleep(ctx, f.timing.FabricReact); err != nil {
			return err
		}
		return l.setState(ctx, stateInactive, map[string]any{"inactivationProgress": f.progress(0, len(nodes))})
	}
	done, _, err := f.nodesAt(ctx, release)
	if err != nil {
		return err
	}
	if done == len(nodes) {
		if err := f.updateVRouters(ctx, release); err != nil {
			return err
		}
	}
	progress := f.progress(done, len(nodes))
	if text(object, "status", "inactivationProgress", "description") == progress["description"] {
		return nil
	}
	_, err = l.patchStatus(ctx, map[string]any{"inactivationProgress": progress})
	return err
}

// endCluster takes the cluster lock back when all node locks are back. First it finishes the work on the last node: the
// request may have ended before this controller saw that node return.
func (f *fabric) endCluster(ctx context.Context, l lock, nodes int) error {
	release, _, err := f.deployedRelease(ctx)
	if err != nil {
		return err
	}
	done, away, err := f.nodesAt(ctx, release)
	if err != nil || away > 0 {
		return err
	}
	if done == nodes {
		if err := f.updateVRouters(ctx, release); err != nil {
			return err
		}
	}
	return l.setState(ctx, stateActive, map[string]any{"inactivationProgress": nil, "release": release})
}

// nodesAt counts the nodes whose lock is armed at a release, and those whose lock is not armed.
func (f *fabric) nodesAt(ctx context.Context, release string) (done, away int, err error) {
	locks, err := f.locksOf(ctx, nodeLocks, fabricController)
	if err != nil {
		return 0, 0, err
	}
	for i := range locks {
		switch {
		case lockState(&locks[i]) != stateActive:
			away++
		case lockRelease(&locks[i]) == release:
			done++
		}
	}
	return done, away, nil
}

// updateVRouters moves the vRouters' template to the release when all nodes have it. Pods are replaced only when they
// are deleted: the restart cuts the node's network, so the operator chooses the time (docs/mosk.md#tungsten-fabric).
func (f *fabric) updateVRouters(ctx context.Context, release string) error {
	set, err := f.kube.AppsV1().DaemonSets(fabricNamespace).Get(ctx, vRouters, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && set.Spec.Template.Annotations[releaseAnnotation] == release {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read DaemonSet %s/%s: %w", fabricNamespace, vRouters, err)
	}
	return f.rollOut(ctx, fabricNamespace, release, nil)
}

// percentDone is a NodeWorkloadLock's progress.
func percentDone(percentage int, description string) map[string]any {
	return map[string]any{"inactivationProgress": map[string]any{"description": description, "percentage": percentage}}
}

func (f *fabric) progress(done, total int) map[string]any {
	percentage := 0
	if total > 0 {
		percentage = 100 * done / total
	}
	return map[string]any{"description": fmt.Sprintf("%d out of %d nodes updated", done, total), "percentage": percentage}
}

// serveNodes releases the lock of a node whose vRouter is ready, unless another node is away. It takes the lock back
// when the node's maintenance is over and its vRouter is ready again.
func (f *fabric) serveNodes(ctx context.Context) error {
	locks, err := f.locksOf(ctx, nodeLocks, fabricController)
	if err != nil {
		return err
	}
	away := 0
	for i := range locks {
		if lockState(&locks[i]) == stateActive {
			continue
		}
		request, err := f.requestFor(ctx, lockNode(&locks[i]))
		if err != nil {
			return err
		}
		ready, err := f.vRouterReady(ctx, lockNode(&locks[i]))
		if err != nil {
			return err
		}
		if request != nil && !deleting(request) || !ready {
			away++
			continue
		}
		if err := f.clock.Sleep(ctx, f.timing.FabricReact); err != nil {
			return err
		}
		release, _, err := f.deployedRelease(ctx)
		if err != nil {
			return err
		}
		if err := f.nodeLock(locks[i].GetName()).setState(ctx, stateActive,
			map[string]any{"release": release, "inactivationProgress": nil}); err != nil {
			return err
		}
	}
	for i := range locks {
		if away > 0 || lockState(&locks[i]) != stateActive {
			continue
		}
		request, err := f.requestFor(ctx, lockNode(&locks[i]))
		if err != nil {
			return err
		}
		if request == nil || deleting(request) {
			continue
		}
		l := f.nodeLock(locks[i].GetName())
		ready, err := f.vRouterReady(ctx, lockNode(&locks[i]))
		if err != nil {
			return err
		}
		if !ready {
			const waiting = "Waiting for the vRouter pods to be ready"
			if text(&locks[i], "status", "inactivationProgress", "description") != waiting {
				if _, err := l.patchStatus(ctx, percentDone(0, waiting)); err != nil {
					return err
				}
			}
			continue
		}
		if err := f.clock.Sleep(ctx, f.timing.FabricReact); err != nil {
			return err
		}
		if err := l.setState(ctx, stateInactive, percentDone(100, "The vRouter pods are ready")); err != nil {
			return err
		}
		away++
	}
	return nil
}
