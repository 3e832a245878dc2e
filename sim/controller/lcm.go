package controller

import (
	"context"
	"errors"
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
	KubeletVersion    string   // of the target; a node that runs it counts as updated
	ControllerVersion string   // of the target's OpenStack controller, its image tag; empty: as it is
	Masters           []string // Kubernetes names, in order
	Workers           []string // Kubernetes names, in order
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

// lcm is the life-cycle management of the management cluster, as much of it as a MOSK cluster sees (mosk-facts 4.4).
type lcm struct {
	*env
	Update
	hosts *hosts
}

// run plays the update once. Every step looks first whether it is done already, so that a restarted LCM goes on where the
// cluster stands; a cluster whose nodes are all updated and that has no request needs nothing.
func (l *lcm) run(ctx context.Context) {
	steps := []func(context.Context) error{l.request, l.rollOut, l.waitClusterLocks, l.masters, l.workers, l.finish}
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
		if !deleting(&requests[i]) { // one that ends is the last thing that LCM did
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

// request creates the ClusterMaintenanceRequest. One that somebody is deleting is replaced when it is gone.
func (l *lcm) request(ctx context.Context) error {
	there := false
	if err := l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		requests, err := l.requests(ctx, clusterRequests)
		there = len(requests) > 0
		return err == nil && (!there || !deleting(&requests[0])), err
	}, clusterRequests); err != nil || there {
		return err
	}
	if err := l.clock.Sleep(ctx, l.timing.StartDelay); err != nil {
		return err
	}
	return l.insist(ctx, "create the ClusterMaintenanceRequest", func(ctx context.Context) error {
		object := lcmObject("ClusterMaintenanceRequest", l.Cluster)
		object.Object["spec"] = map[string]any{"release": l.Release}
		_, err := l.dyn.Resource(clusterRequests).Create(ctx, object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// rollOut brings the target's OpenStack controller, as the cluster's Helm bundle does.
func (l *lcm) rollOut(ctx context.Context) error {
	current := ""
	if err := l.insist(ctx, "read the OpenStack controller's deployment", func(ctx context.Context) error {
		d, err := l.kube.AppsV1().Deployments(rockoonNamespace).Get(ctx, rockoonDeployment, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			current = l.Release // a cluster without OpenStack
			return nil
		}
		if err != nil {
			return err
		}
		current = releaseOf(d.Spec.Template.Spec.Containers)
		return nil
	}); err != nil || current == l.Release {
		return err
	}
	if err := l.clock.Sleep(ctx, l.timing.RockoonRollout); err != nil {
		return err
	}
	return l.insist(ctx, "update the OpenStack controller", func(ctx context.Context) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
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

func releaseOf(containers []corev1.Container) string {
	for _, container := range containers {
		for _, variable := range container.Env {
			if variable.Name == releaseVariable {
				return variable.Value
			}
		}
	}
	return ""
}

// waitClusterLocks waits until every application controller has released its ClusterWorkloadLock. Only the start of the
// nodes' phases depends on it: a lock that is armed again later does not stop a node that is under way.
func (l *lcm) waitClusterLocks(ctx context.Context) error {
	return l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		locks, err := l.locksOf(ctx, clusterLocks, "")
		return err == nil && allInactive(locks), err
	}, clusterLocks)
}

// masters updates the masters one by one.
func (l *lcm) masters(ctx context.Context) error {
	return l.each(ctx, l.Masters, 1)
}

// workers updates the workers, as many at a time as the update allows.
func (l *lcm) workers(ctx context.Context) error {
	return l.each(ctx, l.Workers, l.Concurrency)
}

// each updates nodes in their order, n at a time; those whose maintenance an earlier run began come first.
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
			l.maintain(ctx, node)
		})
	}
	group.Wait()
	return ctx.Err()
}

// finish lets the other applications be updated and ends the cluster's maintenance.
func (l *lcm) finish(ctx context.Context) error {
	if err := l.clock.Sleep(ctx, l.timing.Finalize); err != nil {
		return err
	}
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

// maintain takes one node through its maintenance; it returns when the node is done or ctx is.
func (l *lcm) maintain(ctx context.Context, node string) {
	for ctx.Err() == nil {
		err := l.maintainOnce(ctx, node)
		if err == nil {
			return
		}
		if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			l.log.Warn("will try again", "controller", "lcm", "node", node, "error", err)
		}
		if l.clock.Sleep(ctx, max(l.timing.Backoff, time.Millisecond)) != nil {
			return
		}
	}
}
