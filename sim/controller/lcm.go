package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// Update is the cluster update that LCM plays.
type Update struct {
	Cluster           string   // name of the ClusterMaintenanceRequest
	Release           string   // target, for example 21.0.0+25.2
	KubeletVersion    string   // of the target; a node that runs it is updated
	ControllerVersion string   // image tag of the target's OpenStack controller; empty: unchanged
	Masters           []string // Kubernetes names, in order; with a management cluster its Machines give them
	Workers           []string // Kubernetes names, in order; with a management cluster its UpdateGroups give them
	Concurrency       int      // workers at a time; default 1
	Scope             string   // of every NodeMaintenanceRequest: ScopeOS (the default) or ScopeDrain
}

func (u Update) withDefaults() Update {
	u.Concurrency = max(u.Concurrency, 1)
	if u.Scope == "" {
		u.Scope = ScopeOS
	}
	return u
}

// lcm is the life-cycle management of the management cluster (docs/mosk.md#lcm). Without a management cluster it plays
// the update once from beginning to end, as far as a MOSK cluster sees it.
type lcm struct {
	*env
	Update
	hosts      *hosts
	management *management // nil: none
	seed       uint64
	started    time.Time      // of this run
	tasks      sync.WaitGroup // its concurrent work
}

// run plays the update. Every step first checks whether it is already done, so a restarted LCM continues from the
// cluster's state.
func (l *lcm) run(ctx context.Context) {
	l.started = l.clock.Now()
	if l.management != nil {
		l.manage(ctx)
		return
	}
	l.through(ctx)
}

// through plays the whole update once; it does nothing if all nodes are updated and there is no request.
func (l *lcm) through(ctx context.Context) {
	steps := []func(context.Context) error{
		func(ctx context.Context) error { return l.request(ctx, l.Release, l.timing.StartDelay) },
		l.rollOut, l.waitClusterLocks,
		func(ctx context.Context) error { return l.each(ctx, l.Masters, 1) },
		func(ctx context.Context) error { return l.each(ctx, l.Workers, l.Concurrency) },
		func(ctx context.Context) error { return l.clock.Sleep(ctx, l.timing.Finalize) },
		l.endRequest,
	}
	over := false
	if l.insist(ctx, "look where the update stands", func(ctx context.Context) (err error) {
		over, err = l.over(ctx)
		return err
	}) != nil || over {
		return
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return // only when ctx is done
		}
	}
}

// over tells whether nothing is left to do.
func (l *lcm) over(ctx context.Context) (bool, error) {
	requests, err := l.requests(ctx, clusterRequests)
	if err != nil {
		return false, err
	}
	for i := range requests {
		if !deleting(&requests[i]) { // LCM ends a request last
			return false, nil
		}
	}
	nodes, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if (slices.Contains(l.Masters, node.Name) || slices.Contains(l.Workers, node.Name)) && !l.updated(node) {
			return false, nil
		}
	}
	return true, nil
}

// updated tells whether a node runs the target release.
func (l *lcm) updated(node *corev1.Node) bool {
	return node.Status.NodeInfo.KubeletVersion == l.KubeletVersion
}

// request creates the ClusterMaintenanceRequest after a while, unless it exists. A request that is being deleted is
// replaced when it is gone.
func (l *lcm) request(ctx context.Context, release string, delay time.Duration) error {
	there := false
	if err := l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		requests, err := l.requests(ctx, clusterRequests)
		there = len(requests) > 0
		return err == nil && (!there || !deleting(&requests[0])), err
	}, clusterRequests); err != nil || there {
		return err
	}
	if err := l.clock.Sleep(ctx, delay); err != nil {
		return err
	}
	return l.insist(ctx, "create the ClusterMaintenanceRequest", func(ctx context.Context) error {
		object := lcmObject("ClusterMaintenanceRequest", l.Cluster)
		object.Object["spec"] = map[string]any{"release": release}
		_, err := l.dyn.Resource(clusterRequests).Create(ctx, object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// endRequest ends the cluster's maintenance and waits until its request is gone.
func (l *lcm) endRequest(ctx context.Context) error {
	return l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		object, err := l.dyn.Resource(clusterRequests).Get(ctx, l.Cluster, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil || deleting(object) {
			return false, err
		}
		return false, l.requestDeletion(ctx, clusterRequests, l.Cluster, object.GetUID())
	}, clusterRequests)
}

// currentRelease is the release of the cluster's applications: the OpenStack controller's, or the target if there is no
// OpenStack.
func (l *lcm) currentRelease(ctx context.Context) (string, error) {
	d, err := l.kube.AppsV1().Deployments(rockoonNamespace).Get(ctx, rockoonDeployment, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return l.Release, nil // a cluster without OpenStack
	}
	if err != nil {
		return "", fmt.Errorf("read the OpenStack controller's deployment: %w", err)
	}
	return releaseOf(d.Spec.Template.Spec.Containers), nil
}

// rollOut installs the target's OpenStack controller, as the cluster's Helm bundle does.
func (l *lcm) rollOut(ctx context.Context) error {
	current := ""
	if err := l.insist(ctx, "look which OpenStack controller runs", func(ctx context.Context) (err error) {
		current, err = l.currentRelease(ctx)
		return err
	}); err != nil || current == l.Release {
		return err
	}
	if err := l.clock.Sleep(ctx, l.timing.RockoonRollout); err != nil {
		return err
	}
	return l.insist(ctx, "update the OpenStack controller", func(ctx context.Context) error {
		return retry.RetryOnConflict(conflicts, func() error {
			d, err := l.kube.AppsV1().Deployments(rockoonNamespace).Get(ctx, rockoonDeployment, metav1.GetOptions{})
			if err != nil {
				return err
			}
			containers := d.Spec.Template.Spec.Containers
			for i := range containers {
				for j := range containers[i].Env {
					if containers[i].Env[j].Name == releaseVariable {
						containers[i].Env[j].Value = l.Release
					}
				}
				if colon := strings.LastIndexByte(containers[i].Image, ':'); colon >= 0 && l.ControllerVersion != "" {
					containers[i].Image = containers[i].Image[:colon+1] + l.ControllerVersion
				}
			}
			_, err = l.kube.AppsV1().Deployments(rockoonNamespace).Update(ctx, d, metav1.UpdateOptions{})
			return err
		})
	})
}

func releaseOf(containers []corev1.Container) string { return variableOf(containers, releaseVariable) }

// waitClusterLocks waits until every application controller has released its ClusterWorkloadLock. Only the start of the
// nodes' phases depends on it: a lock that is armed again later does not stop a node in progress.
func (l *lcm) waitClusterLocks(ctx context.Context) error {
	return l.waitLocks(ctx, func(string) bool { return true })
}

// waitLocks waits until the selected application controllers have released their ClusterWorkloadLocks.
func (l *lcm) waitLocks(ctx context.Context, meant func(controllerName string) bool) error {
	return l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		locks, err := l.locksOf(ctx, clusterLocks, "")
		for i := range locks {
			if meant(lockController(&locks[i])) && lockState(&locks[i]) != stateInactive {
				return false, err
			}
		}
		return err == nil, err
	}, clusterLocks)
}

// betweenNodes is the pause before LCM begins with the next node: it asks for the nodes in order, and the application
// controllers must see them in that order.
const betweenNodes = 100 * time.Millisecond

// each updates nodes in order, n at a time; nodes whose maintenance an earlier run began come first.
func (l *lcm) each(ctx context.Context, nodes []string, n int) error {
	var begun, waiting []string
	if err := l.insist(ctx, "list the maintenance requests", func(ctx context.Context) error {
		requests, err := l.requests(ctx, nodeRequests)
		if err != nil {
			return err
		}
		begun, waiting = nil, nil
		for _, node := range nodes {
			has := false
			for i := range requests {
				has = has || requestNode(&requests[i]) == node
			}
			if has {
				begun = append(begun, node)
			} else {
				waiting = append(waiting, node)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	queue := append(begun, waiting...)
	var group sync.WaitGroup
	slots := make(chan struct{}, n)
	for _, node := range queue {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			group.Wait()
			return ctx.Err()
		}
		group.Go(func() {
			defer func() { <-slots }()
			l.maintain(named(ctx, node), node, l.updating(l.Scope))
		})
		if l.clock.Sleep(ctx, betweenNodes) != nil {
			break
		}
	}
	group.Wait()
	return ctx.Err()
}
