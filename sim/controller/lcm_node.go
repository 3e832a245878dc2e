package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
)

// evictionDeadline is the real time that one eviction may take: client-go waits out a refusal by a disruption budget on its
// own, many times; the next look at the node's pods is the better retry.
const evictionDeadline = 3 * time.Second

// maintainOnce does what is left of a node's maintenance: request, wait for all locks, cordon, drain, update, reboot,
// uncordon, end the request and wait until it is gone. A node that was gone or updated before needs nothing of it.
func (l *lcm) maintainOnce(ctx context.Context, name string) error {
	node, err := l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read node %s: %w", name, err)
	}
	request, err := l.requestFor(ctx, name)
	if err != nil {
		return err
	}
	if request == nil && l.updated(node) {
		return l.cordon(ctx, name, false)
	}
	locks, err := l.locksOfNode(ctx, name)
	if err != nil {
		return err
	}
	// A node that no application holds, a master without other roles, is updated without a request.
	if request == nil && len(locks) > 0 {
		if request, err = l.createRequest(ctx, name); err != nil {
			return err
		}
	}
	if !l.updated(node) && (request == nil || !deleting(request)) {
		if err := l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
			locks, err := l.locksOfNode(ctx, name)
			return err == nil && allInactive(locks), err
		}, nodeLocks); err != nil {
			return err
		}
		if err := l.cordon(ctx, name, true); err != nil {
			return err
		}
		if err := l.drain(ctx, name); err != nil {
			return err
		}
		if err := l.update(ctx, name); err != nil {
			return err
		}
	}
	if err := l.cordon(ctx, name, false); err != nil {
		return err
	}
	if request == nil {
		return nil
	}
	return l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		request, err := l.requestFor(ctx, name)
		if err != nil || request == nil {
			return err == nil, err
		}
		if deleting(request) {
			return false, nil
		}
		return false, l.requestDeletion(ctx, nodeRequests, request.GetName(), request.GetUID())
	}, nodeRequests)
}

func (l *lcm) createRequest(ctx context.Context, node string) (*unstructured.Unstructured, error) {
	object := lcmObject("NodeMaintenanceRequest", node)
	object.Object["spec"] = map[string]any{"nodeName": node, "release": l.Release, "scope": l.Scope}
	created, err := l.dyn.Resource(nodeRequests).Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create NodeMaintenanceRequest %s: %w", node, err)
	}
	return created, nil
}

func (l *lcm) locksOfNode(ctx context.Context, node string) ([]unstructured.Unstructured, error) {
	all, err := l.locksOf(ctx, nodeLocks, "")
	if err != nil {
		return nil, err
	}
	var mine []unstructured.Unstructured
	for _, object := range all {
		if lockNode(&object) == node {
			mine = append(mine, object)
		}
	}
	return mine, nil
}

func allInactive(locks []unstructured.Unstructured) bool {
	for i := range locks {
		if lockState(&locks[i]) != stateInactive {
			return false
		}
	}
	return true
}

// cordon takes the node out of scheduling, or brings it back.
func (l *lcm) cordon(ctx context.Context, name string, unschedulable bool) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var taints []corev1.Taint
		tainted := false
		for _, taint := range node.Spec.Taints {
			if taint.Key != corev1.TaintNodeUnschedulable {
				taints = append(taints, taint)
				continue
			}
			tainted = true
		}
		if node.Spec.Unschedulable == unschedulable && tainted == unschedulable {
			return nil
		}
		if unschedulable {
			now := metav1.NewTime(l.clock.Now())
			taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &now})
		}
		node.Spec.Unschedulable, node.Spec.Taints = unschedulable, taints
		_, err = l.kube.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("cordon node %s: %w", name, err)
	}
	return nil
}

// drain evicts the node's pods but those of DaemonSets, until none is left. A disruption budget that says no is asked
// again at the next look.
func (l *lcm) drain(ctx context.Context, name string) error {
	for {
		list, err := l.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
		if err != nil {
			return fmt.Errorf("list the pods of node %s: %w", name, err)
		}
		left := 0
		for i := range list.Items {
			pod := &list.Items[i]
			kind, _ := podOwner(pod)
			_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
			if kind == daemonSet || static || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
				continue
			}
			left++
			if pod.DeletionTimestamp != nil {
				continue
			}
			if err := l.evict(ctx, pod); err != nil {
				l.log.Info("not evicted", "node", name, "pod", pod.Namespace+"/"+pod.Name, "error", err)
			}
		}
		if left == 0 {
			return nil
		}
		if err := l.clock.Sleep(ctx, max(l.timing.Drain, time.Millisecond)); err != nil {
			return err
		}
	}
}

func (l *lcm) evict(ctx context.Context, pod *corev1.Pod) error {
	ctx, cancel := context.WithTimeout(ctx, evictionDeadline)
	defer cancel()
	err := l.kube.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// update runs the states of the LCM agent and, where the scope allows it, reboots the machine. The node runs the target
// when it is over.
func (l *lcm) update(ctx context.Context, name string) error {
	if err := l.clock.Sleep(ctx, l.timing.Update); err != nil {
		return err
	}
	l.hosts.install(name, l.KubeletVersion)
	bootID := ""
	if l.Scope == ScopeOS {
		l.hosts.powerOff(name)
		err := l.clock.Sleep(ctx, l.timing.Reboot)
		bootID = l.hosts.powerOn(name) // also on the way out: a stopped simulation must not leave hosts off
		if err != nil {
			return err
		}
	} else {
		l.hosts.restartKubelet(name)
	}
	return l.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		node, err := l.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return l.updated(node) && nodeReady(node).Status == corev1.ConditionTrue &&
			(bootID == "" || node.Status.NodeInfo.BootID == bootID), nil
	}, nodesResource)
}
