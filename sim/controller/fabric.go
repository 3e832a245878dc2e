package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fabric is the operator of Tungsten Fabric, now OpenSDN (mosk-facts 4.3). It lets one vRouter node at a time go and tells
// on its cluster lock how far the nodes have come.
type fabric struct {
	*env
	operator string // name of the TFOperator
}

const fabricController = "tungstenfabric"

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
	return list.Items, nil
}

// vRouterReady tells whether the vRouter pod of a node runs with all its containers ready.
func (f *fabric) vRouterReady(ctx context.Context, node string) (bool, error) {
	list, err := f.kube.CoreV1().Pods("tf").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node, LabelSelector: "component=vrouter"})
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

// serveCluster releases the cluster lock when the fabric is healthy, and keeps its progress.
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
	healthy := true
	for i := range nodes {
		ready, err := f.vRouterReady(ctx, nodes[i].Name)
		if err != nil {
			return err
		}
		healthy = healthy && ready
	}
	if len(requests) == 0 || deleting(&requests[0]) {
		if lockState(object) == stateActive || !healthy {
			return nil
		}
		release, _, err := f.deployedRelease(ctx)
		if err != nil {
			return err
		}
		return l.setState(ctx, stateActive, map[string]any{"inactivationProgress": nil, "release": release})
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
	locks, err := f.locksOf(ctx, nodeLocks, fabricController)
	if err != nil {
		return err
	}
	done := 0
	for i := range locks {
		if lockState(&locks[i]) == stateActive && lockRelease(&locks[i]) == release {
			done++
		}
	}
	progress := f.progress(done, len(nodes))
	if text(object, "status", "inactivationProgress", "description") == progress["description"] {
		return nil
	}
	_, err = l.patchStatus(ctx, map[string]any{"inactivationProgress": progress})
	return err
}

func (f *fabric) progress(done, total int) map[string]any {
	percentage := 0
	if total > 0 {
		percentage = 100 * done / total
	}
	return map[string]any{"description": fmt.Sprintf("%d out of %d nodes updated", done, total), "percentage": percentage}
}

// serveNodes releases the lock of a node whose vRouter is ready, unless another node is away; and takes back the lock of a
// node whose maintenance is over when its vRouter is ready again.
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
		if err := f.nodeLock(locks[i].GetName()).setState(ctx, stateActive, map[string]any{"release": release}); err != nil {
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
		if ready, err := f.vRouterReady(ctx, lockNode(&locks[i])); err != nil || !ready {
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			continue
		}
		if err := f.clock.Sleep(ctx, f.timing.FabricReact); err != nil {
			return err
		}
		if err := f.nodeLock(locks[i].GetName()).setState(ctx, stateInactive, nil); err != nil {
			return err
		}
		away++
	}
	return nil
}
