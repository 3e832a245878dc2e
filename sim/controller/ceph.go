package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ceph is the controller of the storage cluster (mosk-facts 4.2). It updates its daemons after OpenStack is done and before
// the nodes are touched, and lets one storage node at a time go.
type ceph struct{ *env }

const (
	cephController  = "ceph"
	cephClusterLock = "ceph-clusterworkloadlock"
)

func cephNodeLock(node string) string { return "ceph-" + node }

func (c *ceph) run(ctx context.Context, armed func()) {
	c.loop(ctx, "ceph", func(ctx context.Context) (time.Duration, error) {
		if err := c.keepLocks(ctx); err != nil {
			return 0, err
		}
		armed()
		if err := c.serveCluster(ctx); err != nil {
			return 0, err
		}
		return time.Minute, c.serveNodes(ctx)
	}, clusterRequests, nodeRequests, clusterLocks, nodeLocks, nodesResource, deployments)
}

// release is what the cluster runs, as OpenStack's status tells it: Ceph's own version follows it.
func (e *env) deployedRelease(ctx context.Context) (release string, applied bool, err error) {
	list, err := e.dyn.Resource(deployments).Namespace(openstackNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", false, fmt.Errorf("list the status of OpenStackDeployments: %w", err)
	}
	if len(list.Items) == 0 {
		return "", false, nil
	}
	object := &list.Items[0]
	return text(object, "status", "osdpl", "release"), text(object, "status", "osdpl", "state") == deploymentApplied, nil
}

func (c *ceph) keepLocks(ctx context.Context) error {
	release, _, err := c.deployedRelease(ctx)
	if err != nil {
		return err
	}
	if _, err := c.clusterLock(cephClusterLock).ensure(ctx, map[string]any{"controllerName": cephController}, nil, release); err != nil {
		return err
	}
	nodes, err := c.storageNodes(ctx)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, node := range nodes {
		wanted[cephNodeLock(node.Name)] = true
		spec := map[string]any{"controllerName": cephController, "nodeName": node.Name, "nodeDeletionRequestSupported": false}
		if _, err := c.nodeLock(cephNodeLock(node.Name)).ensure(ctx, spec, nil, release); err != nil {
			return err
		}
	}
	locks, err := c.locksOf(ctx, nodeLocks, cephController)
	if err != nil {
		return err
	}
	for i := range locks {
		if name := locks[i].GetName(); !wanted[name] {
			if err := c.nodeLock(name).delete(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *ceph) storageNodes(ctx context.Context) ([]corev1.Node, error) {
	list, err := c.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: labelStorage + "=" + storageValue})
	if err != nil {
		return nil, fmt.Errorf("list storage nodes: %w", err)
	}
	return list.Items, nil
}

// serveCluster releases the cluster lock once OpenStack has released its own and the daemons are updated, and takes it back
// when the maintenance is over.
func (c *ceph) serveCluster(ctx context.Context) error {
	requests, err := c.requests(ctx, clusterRequests)
	if err != nil {
		return err
	}
	l := c.clusterLock(cephClusterLock)
	object, err := l.get(ctx)
	if err != nil {
		return fmt.Errorf("read cluster lock %s: %w", l.name, err)
	}
	if len(requests) == 0 || deleting(&requests[0]) {
		if lockState(object) == stateActive {
			return nil
		}
		return l.setState(ctx, stateActive, nil)
	}
	if lockState(object) == stateInactive {
		return nil
	}
	others, err := c.locksOf(ctx, clusterLocks, openstackController)
	if err != nil {
		return err
	}
	for i := range others {
		if lockState(&others[i]) != stateInactive {
			return nil
		}
	}
	release, applied, err := c.deployedRelease(ctx)
	if err != nil || !applied {
		return err
	}
	if lockRelease(object) != release {
		if err := c.clock.Sleep(ctx, c.timing.CephUpdate); err != nil {
			return err
		}
	}
	if err := l.setState(ctx, stateInactive, map[string]any{"release": release}); err != nil {
		return err
	}
	locks, err := c.locksOf(ctx, nodeLocks, cephController)
	if err != nil {
		return err
	}
	for i := range locks {
		if _, err := c.nodeLock(locks[i].GetName()).patchStatus(ctx, map[string]any{"release": release}); err != nil {
			return err
		}
	}
	return nil
}

// serveNodes puts one storage node to noout for its maintenance, and takes nodes back that are Ready again.
func (c *ceph) serveNodes(ctx context.Context) error {
	locks, err := c.locksOf(ctx, nodeLocks, cephController)
	if err != nil {
		return err
	}
	busy := 0
	for i := range locks {
		if lockState(&locks[i]) == stateActive {
			continue
		}
		request, err := c.requestFor(ctx, lockNode(&locks[i]))
		if err != nil {
			return err
		}
		node := c.view.nodes()[lockNode(&locks[i])]
		over := request == nil || deleting(request)
		if over && node != nil && nodeReady(node).Status == corev1.ConditionTrue {
			if err := c.clock.Sleep(ctx, c.timing.CephNode); err != nil {
				return err
			}
			if err := c.nodeLock(locks[i].GetName()).setState(ctx, stateActive, nil); err != nil {
				return err
			}
			continue
		}
		busy++
	}
	for i := range locks {
		if busy > 0 || lockState(&locks[i]) != stateActive {
			continue
		}
		request, err := c.requestFor(ctx, lockNode(&locks[i]))
		if err != nil {
			return err
		}
		if request == nil || deleting(request) {
			continue
		}
		if err := c.clock.Sleep(ctx, c.timing.CephNode); err != nil {
			return err
		}
		if err := c.nodeLock(locks[i].GetName()).setState(ctx, stateInactive, nil); err != nil {
			return err
		}
		busy++
	}
	return nil
}
