package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// culpritOf is the job that fails when a service cannot be applied.
func culpritOf(service string) string {
	if service == "dns" {
		return "designate-zone-setup"
	}
	return service + "-bootstrap"
}

// makeCulprit creates the pod that shows a trouble.
func (t *trouble) makeCulprit(ctx context.Context, namespace, name, kind string) error {
	pod := name + "-" + hashID(namespace, name, t.Node)[:5]
	yes := true
	owner := metav1.OwnerReference{APIVersion: "batch/v1", Kind: kind, Name: name, UID: types.UID(hashID(kind, namespace, name)),
		Controller: &yes}
	if kind == deployment {
		owner.APIVersion, owner.Kind = "apps/v1", "ReplicaSet"
	}
	made, err := t.kube.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: namespace, OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{"app.kubernetes.io/name": name}},
		Spec: corev1.PodSpec{NodeName: t.Node, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: name, Image: "registry.local/" + name + ":sim"}}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		made, err = t.kube.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	}
	if err != nil {
		return fmt.Errorf("make pod %s/%s: %w", namespace, pod, err)
	}
	t.says(name)
	stamp := metav1.NewTime(t.clock.Now())
	made.Status.Phase = corev1.PodFailed
	if t.Kind == TroubleEvicted {
		made.Status.Reason = "Evicted"
		made.Status.Message = "The node was low on resource: ephemeral-storage."
	}
	made.Status.StartTime = &stamp
	made.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: name, Image: "registry.local/" + name + ":sim",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: stamp}}}}
	if _, err := t.kube.CoreV1().Pods(namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("set the status of pod %s/%s: %w", namespace, pod, err)
	}
	t.mu.Lock()
	t.culprit = namespace + "/" + pod
	t.mu.Unlock()
	return nil
}

// unapply moves a fully applied deployment back to applying the service.
func (t *trouble) unapply(ctx context.Context) error {
	list, err := t.dyn.Resource(deployments).Namespace(openstackNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the status of OpenStackDeployments: %w", err)
	}
	for i := range list.Items {
		object := &list.Items[i]
		if text(object, "status", "osdpl", "state") != deploymentApplied {
			continue
		}
		patch := fmt.Sprintf(`{"status":{"osdpl":{"state":%q},"services":{%q:{"state":%q}}}}`, deploymentApplying, t.Service, deploymentApplying)
		_, err := t.dyn.Resource(deployments).Namespace(openstackNamespace).Patch(ctx, object.GetName(), types.MergePatchType, []byte(patch),
			metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("patch the status of OpenStackDeployment %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// untilGone waits until the culprit is deleted or the trouble's time is over; afterwards the culprit is gone.
func (t *trouble) untilGone(ctx context.Context) error {
	limit := t.clock.Now().Add(t.For)
	return t.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		namespace, name, _ := strings.Cut(t.culprit, "/")
		pod, err := t.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil || t.For <= 0 || t.clock.Now().Before(limit) {
			return false, err
		}
		return true, t.endPod(ctx, pod, 0)
	}, podsResource)
}

// untilRestarted waits until a pod of the workload on the node is younger than the trouble, or its time is over. Then
// the node's services report again.
func (t *trouble) untilRestarted(ctx context.Context, name string, start func(agentSwitch, string) error) {
	hosts, ok := t.machines.(agentSwitch)
	if !ok {
		return
	}
	if t.OnReturn && t.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		request, err := t.requestFor(ctx, t.Node)
		return request != nil && deleting(request), err
	}, nodeRequests) != nil {
		return
	}
	limit := t.clock.Now().Add(t.For)
	var old []types.UID
	first := true
	if t.until(ctx, time.Minute, func(ctx context.Context) (bool, error) {
		pods, err := t.podsOn(ctx, openstackNamespace, t.Node)
		if err != nil {
			return false, err
		}
		renewed := false
		for i := range pods {
			if _, owner := podOwner(&pods[i]); owner != name {
				continue
			}
			if first {
				old = append(old, pods[i].UID)
			}
			renewed = renewed || podReady(&pods[i]) && !slices.Contains(old, pods[i].UID)
		}
		first = false
		return renewed || t.For > 0 && !t.clock.Now().Before(limit), nil
	}, podsResource) != nil {
		return
	}
	if err := start(hosts, t.Node); err != nil {
		t.log.Warn("not started again", "node", t.Node, "error", err)
	}
	t.end()
}
