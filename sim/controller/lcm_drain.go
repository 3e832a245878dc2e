package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// evictionDeadline is the real time that one eviction may take. client-go waits out a refusal by a disruption budget by
// itself, many times; it is better to retry at the next look at the node's pods.
const evictionDeadline = 3 * time.Second

// drainWaits is how long one try of a drain waits for the pods that it has evicted, in the simulated time.
const drainWaits = 5 * time.Minute

// cordon cordons or uncordons the node.
func (l *lcm) cordon(ctx context.Context, name string, unschedulable bool) error {
	err := retry.RetryOnConflict(conflicts, func() error {
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

// drain evicts the node's pods, except those of DaemonSets, until none is left. It retries a pod that a disruption
// budget holds at the next look; the machine's LCMClusterState shows the budget's message.
func (l *lcm) drain(ctx context.Context, name string) error {
	m := l.management
	blocked := "drain/" + name
	defer m.block(blocked, "")
	for attempt := 1; ; attempt++ {
		if wanted, err := m.wantsDrain(ctx, name); err != nil || !wanted {
			return err
		}
		left, problem, err := l.evictAll(ctx, name)
		if err != nil {
			return err
		}
		done := "false"
		if left == 0 {
			done = "true"
		}
		if err := m.tellDrain(ctx, name, done, attempt, problem); err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
		if problem == "" {
			m.block(blocked, "")
		} else if err := m.setDrain(ctx, name, cordonDraining, problem); err != nil {
			return err
		} else if attempt >= failingAttempts {
			m.block(blocked, fmt.Sprintf("machine %s: drain failed %d times: %s", m.machineOf(name), attempt, problem))
		}
		if err := l.clock.Sleep(ctx, max(l.timing.Drain, time.Millisecond)); err != nil {
			return err
		}
	}
}

// evictAll requests the eviction of every pod that a drain ends, once. It returns how many pods are left and why the
// first of them may not go.
func (l *lcm) evictAll(ctx context.Context, name string) (left int, problem string, err error) {
	list, err := l.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
	if err != nil {
		return 0, "", fmt.Errorf("list the pods of node %s: %w", name, err)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		kind, _ := podOwner(pod)
		_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
		if kind == daemonSet || static || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		left++
		if pod.DeletionTimestamp != nil {
			if waited := l.clock.Now().Sub(pod.DeletionTimestamp.Time); waited > drainWaits && problem == "" {
				problem = fmt.Sprintf("error when waiting for pod %q in namespace %q to terminate: global timeout reached: %s", pod.Name,
					pod.Namespace, drainWaits)
			}
			continue
		}
		if err := l.evict(ctx, pod); err != nil {
			l.log.Info("not evicted", "node", name, "pod", pod.Namespace+"/"+pod.Name, "error", err)
			if problem == "" {
				problem = fmt.Sprintf("error when evicting pods/%q -n %q: %s", pod.Name, pod.Namespace, refusal(err))
			}
		}
	}
	return left, problem, nil
}

// refusal is an error's text with the causes that the API server gave.
func refusal(err error) string {
	text := err.Error()
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil {
		return text
	}
	for _, cause := range status.Status().Details.Causes {
		text += " " + cause.Message
	}
	return text
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
