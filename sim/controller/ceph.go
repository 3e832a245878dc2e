package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ceph is the controller of the storage cluster (docs/mosk.md#ceph). It updates the daemons after OpenStack is updated
// and before the nodes are, and releases one storage node at a time, if the data is healthy.
type ceph struct {
	*env
	updating string    // what is being updated
	unwell   time.Time // since when the data is degraded during a maintenance; zero: not degraded

	shown   cephState // what Ceph's objects showed last
	shownAt time.Time
}

const (
	cephController  = "ceph"
	cephClusterLock = "ceph-clusterworkloadlock"
	// cephPatience is how long a maintenance may wait for healthy data before it counts as failing.
	cephPatience = 30 * time.Minute
)

func cephNodeLock(node string) string { return "ceph-" + node }

func (c *ceph) run(ctx context.Context, armed func()) {
	c.loop(ctx, "ceph", func(ctx context.Context) (time.Duration, error) {
		if err := c.keepLocks(ctx); err != nil {
			return 0, err
		}
		armed()
		if err := c.look(ctx); err != nil {
			return 0, err
		}
		if err := c.serveCluster(ctx); err != nil {
			return 0, err
		}
		if err := c.serveNodes(ctx); err != nil {
			return 0, err
		}
		return time.Minute, c.look(ctx)
	}, clusterRequests, nodeRequests, clusterLocks, nodeLocks, nodesResource, deployments)
}

// problem is what Ceph's health reports; empty when it is well.
func (c *ceph) problem() string {
	any := func(*trouble) bool { return true }
	switch {
	case c.troubles.are(TroubleCeph, any):
		return degradedText
	case c.troubles.are(TroubleSlow, any):
		return slowText
	}
	return ""
}

// look updates Ceph's objects to match the maintenance.
func (c *ceph) look(ctx context.Context) error {
	coming := map[string]bool{}
	for _, request := range c.view.objects(nodeRequests) {
		coming[requestNode(request)] = !deleting(request)
	}
	s := cephState{maintenance: maintenanceIdle, updating: c.updating}
	for _, lock := range c.view.objects(nodeLocks) {
		if lockController(lock) != cephController {
			continue
		}
		if lockState(lock) != stateActive {
			s.noout = true
		}
		if lockState(lock) != stateActive || coming[lockNode(lock)] {
			s.maintenance = maintenanceActing
		}
	}
	s.problem = c.problem()
	switch now := c.clock.Now(); {
	case s.problem == "" || s.maintenance == maintenanceIdle:
		c.unwell = time.Time{}
	case c.unwell.IsZero():
		c.unwell = now
	case now.Sub(c.unwell) >= cephPatience:
		s.maintenance = maintenanceFailing
	}
	if object := c.view.object(clusterLocks, cephClusterLock); object != nil {
		s.version = cephVersion(lockRelease(object))
	}
	if now := c.clock.Now(); s != c.shown || now.Sub(c.shownAt) >= time.Minute { // they may have been changed by others
		if err := c.show(ctx, s); err != nil {
			return err
		}
		c.shown, c.shownAt = s, now
	}
	return nil
}

// healthy tells whether the data allows releasing a lock. If not, it writes the reason to the lock.
func (c *ceph) healthy(ctx context.Context, l lock, object *unstructured.Unstructured) (bool, error) {
	problem := c.problem()
	if problem == "" {
		return true, nil
	}
	text := "Waiting for Ceph cluster health: HEALTH_WARN " + problem
	if lockMessage(object) == text {
		return false, nil
	}
	_, err := l.patchStatus(ctx, map[string]any{"errorMessage": text})
	return false, err
}

// deployedRelease is the release that the cluster runs, according to OpenStack's status: Ceph's own version follows it.
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
	if seen := c.view.object(clusterLocks, cephClusterLock); seen == nil || lockState(seen) == "" {
		if _, err := c.clusterLock(cephClusterLock).ensure(ctx, map[string]any{"controllerName": cephController}, nil, release); err != nil {
			return err
		}
	}
	nodes := c.view.nodes()
	wanted := map[string]bool{}
	for _, name := range sortedKeys(nodes) {
		if nodes[name].Labels[labelStorage] != storageValue {
			continue
		}
		wanted[cephNodeLock(name)] = true
		if seen := c.view.object(nodeLocks, cephNodeLock(name)); seen != nil && lockState(seen) != "" {
			continue
		}
		spec := map[string]any{"controllerName": cephController, "nodeName": name, "nodeDeletionRequestSupported": false}
		if _, err := c.nodeLock(cephNodeLock(name)).ensure(ctx, spec, nil, release); err != nil {
			return err
		}
	}
	return c.dropLocks(ctx, cephController, func(node string) bool { return wanted[cephNodeLock(node)] })
}

// serveCluster releases the cluster lock once OpenStack has released its lock and the daemons are updated. It takes the
// lock back when the maintenance is over.
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
		if lockState(object) == stateActive && lockMessage(object) == "" {
			return nil
		}
		return l.setState(ctx, stateActive, map[string]any{"errorMessage": nil}) // nothing is left to wait for
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
	if ok, err := c.healthy(ctx, l, object); err != nil || !ok {
		return err
	}
	if lockRelease(object) != release {
		if err := c.update(ctx); err != nil {
			return err
		}
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
	// Last, because it marks all earlier work as done: a controller that restarts before this repeats the work.
	return l.setState(ctx, stateInactive, map[string]any{"release": release, "errorMessage": nil})
}

// update updates Ceph's daemons on the whole cluster, one kind after the other.
func (c *ceph) update(ctx context.Context) error {
	kinds := []string{"mon", "mgr", "osd", "rgw"}
	defer func() { c.updating = "" }()
	for _, kind := range kinds {
		c.updating = "upgrading " + kind + " daemons"
		if err := c.look(ctx); err != nil {
			return err
		}
		if err := c.clock.Sleep(ctx, c.timing.CephUpdate/time.Duration(len(kinds))); err != nil {
			return err
		}
	}
	return nil
}

// serveNodes sets noout for one storage node during its maintenance, and takes nodes back when they are Ready again.
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
		request := c.view.requestFor(lockNode(&locks[i]))
		node := c.view.nodes()[lockNode(&locks[i])]
		over := request == nil || deleting(request)
		l := c.nodeLock(locks[i].GetName())
		if over && node != nil && nodeReady(node).Status == corev1.ConditionTrue {
			ok, err := c.healthy(ctx, l, &locks[i])
			if err != nil {
				return err
			}
			if ok {
				if err := c.clock.Sleep(ctx, c.timing.CephNode); err != nil {
					return err
				}
				if err := l.setState(ctx, stateActive, map[string]any{"errorMessage": nil}); err != nil {
					return err
				}
				continue
			}
		}
		busy++
	}
	for i := range locks {
		if busy > 0 || lockState(&locks[i]) != stateActive {
			continue
		}
		request := c.view.requestFor(lockNode(&locks[i]))
		l := c.nodeLock(locks[i].GetName())
		if request == nil || deleting(request) {
			if lockMessage(&locks[i]) != "" { // the request that it waited for is gone
				if _, err := l.patchStatus(ctx, map[string]any{"errorMessage": nil}); err != nil {
					return err
				}
			}
			continue
		}
		if ok, err := c.healthy(ctx, l, &locks[i]); err != nil || !ok {
			return err
		}
		if err := c.look(ctx); err != nil {
			return err
		}
		if err := c.clock.Sleep(ctx, c.timing.CephNode); err != nil {
			return err
		}
		if err := l.setState(ctx, stateInactive, map[string]any{"errorMessage": nil}); err != nil {
			return err
		}
		busy++
	}
	return nil
}
