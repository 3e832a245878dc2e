package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
)

// Tempest is a service that exists while spec.features.services lists it. With it comes a Job that runs the tests once
// and is deleted with the service (Rockoon's docs/ops/openstack/tempest.md). The whole deployment being APPLYING
// meanwhile is not simulated.
const (
	tempestService = "tempest"
	tempestJob     = "openstack-tempest-run-tests"
)

// tempestLabels are the labels of the Job's pod, used to find its logs.
var tempestLabels = map[string]string{"application": tempestService, "component": "run-tests"}

// serveTempest brings Tempest to what the OpenStackDeployment requests, and returns when to look next.
func (r *rockoon) serveTempest(ctx context.Context) (time.Duration, error) {
	object, err := r.dyn.Resource(osdplResource).Namespace(openstackNamespace).Get(ctx, r.Deployment, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return time.Minute, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read OpenStackDeployment %s: %w", r.Deployment, err)
	}
	services, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "features", "services")
	status, err := r.deploymentStatus(ctx)
	if err != nil || status == nil {
		return time.Minute, err
	}
	state := text(status, "status", "services", tempestService, "state")
	job, err := r.kube.BatchV1().Jobs(openstackNamespace).Get(ctx, tempestJob, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		job, err = nil, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read job %s: %w", tempestJob, err)
	}
	asked := slices.Contains(services, tempestService)
	switch {
	case !asked && job != nil:
		return time.Second, r.removeTempest(ctx)
	case !asked && state != "":
		return time.Minute, r.patchDeployment(ctx, map[string]any{"services": map[string]any{tempestService: nil}})
	case !asked:
		return time.Minute, nil
	case state != deploymentApplied:
		if err := r.tempestStatus(ctx, deploymentApplying); err != nil {
			return 0, err
		}
		if err := r.clock.Sleep(ctx, r.timing.ServiceUpdate); err != nil {
			return 0, err
		}
		return time.Second, r.tempestStatus(ctx, deploymentApplied)
	case job == nil || job.Status.StartTime == nil: // an earlier run of the controller may have ended halfway
		return time.Second, r.startTempest(ctx, job)
	}
	return r.runTempest(ctx, job)
}

func (r *rockoon) tempestStatus(ctx context.Context, state string) error {
	return r.patchDeployment(ctx, map[string]any{"services": map[string]any{
		tempestService: serviceStatus(r.OpenStack, tempestService, state, "update", r.release, r.version, pyTime(r.clock.Now())),
	}})
}

// startTempest creates the Job, if job is nil, and its pod, on the first node with the control plane role.
func (r *rockoon) startTempest(ctx context.Context, job *batchv1.Job) error {
	container := corev1.Container{Name: "tempest-run-tests", Image: "registry.local/tempest:sim"}
	stamp := metav1.NewTime(r.clock.Now())
	if job == nil {
		backoff := int32(0)
		made, err := r.kube.BatchV1().Jobs(openstackNamespace).Create(ctx, &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: tempestJob, Namespace: openstackNamespace, Labels: tempestLabels},
			Spec: batchv1.JobSpec{BackoffLimit: &backoff, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: tempestLabels},
				Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{container}}}},
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("make job %s: %w", tempestJob, err)
		}
		job = made
	}
	nodes := r.view.nodes()
	for _, name := range sortedKeys(nodes) {
		if !r.roles.has(nodes[name].Labels, roleController) {
			continue
		}
		owner := metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
		_, err := r.kube.CoreV1().Pods(openstackNamespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: tempestJob + "-" + hashID(string(job.UID))[:5], Namespace: openstackNamespace, Labels: tempestLabels,
				OwnerReferences: []metav1.OwnerReference{*owner}},
			Spec: corev1.PodSpec{NodeName: name, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{container}},
		}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make the pod of job %s: %w", tempestJob, err)
		}
		break
	}
	// Last, because it marks the run as started.
	return r.tempestJobStatus(ctx, batchv1.JobStatus{Active: 1, StartTime: &stamp})
}

// tempestJobStatus sets the status of the Job. The status always includes the start time.
func (r *rockoon) tempestJobStatus(ctx context.Context, status batchv1.JobStatus) error {
	return retry.RetryOnConflict(conflicts, func() error {
		job, err := r.kube.BatchV1().Jobs(openstackNamespace).Get(ctx, tempestJob, metav1.GetOptions{})
		if err != nil {
			return err
		}
		job.Status = status
		_, err = r.kube.BatchV1().Jobs(openstackNamespace).UpdateStatus(ctx, job, metav1.UpdateOptions{})
		return err
	})
}

// runTempest ends the Job when its time has come: successfully, or with a failure while a trouble requires it.
func (r *rockoon) runTempest(ctx context.Context, job *batchv1.Job) (time.Duration, error) {
	started := job.Status.StartTime
	if started == nil || len(job.Status.Conditions) > 0 {
		return time.Minute, nil
	}
	now := r.clock.Now()
	if left := started.Add(r.timing.Tempest).Sub(now); left > 0 {
		return left, nil
	}
	failed := r.troubles.are(TroubleTempest, func(*trouble) bool { return true })
	stamp := metav1.NewTime(now)
	phase, code := corev1.PodSucceeded, int32(0)
	done := func(kind batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
		return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastProbeTime: stamp,
			LastTransitionTime: stamp}
	}
	status := batchv1.JobStatus{StartTime: started, Succeeded: 1, CompletionTime: &stamp, Conditions: []batchv1.JobCondition{
		done(batchv1.JobSuccessCriteriaMet, "CompletionsReached", "Reached expected number of succeeded pods"),
		done(batchv1.JobComplete, "CompletionsReached", "Reached expected number of succeeded pods")}}
	if failed {
		phase, code = corev1.PodFailed, 1
		status = batchv1.JobStatus{StartTime: started, Failed: 1, Conditions: []batchv1.JobCondition{
			done(batchv1.JobFailureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit"),
			done(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")}}
	}
	pods, err := r.tempestPods(ctx)
	if err != nil {
		return 0, err
	}
	for i := range pods {
		pod := &pods[i]
		pod.Status.Phase = phase
		pod.Status.Conditions = nil
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: *started, FinishedAt: stamp}}}}
		if _, err := r.kube.CoreV1().Pods(openstackNamespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil &&
			!apierrors.IsNotFound(err) {
			return 0, fmt.Errorf("set the status of pod %s: %w", pod.Name, err)
		}
	}
	if err := r.tempestJobStatus(ctx, status); err != nil {
		return 0, fmt.Errorf("set the status of job %s: %w", tempestJob, err)
	}
	return time.Minute, nil
}

func (r *rockoon) tempestPods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := r.kube.CoreV1().Pods(openstackNamespace).List(ctx,
		metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: tempestLabels})})
	if err != nil {
		return nil, fmt.Errorf("list the pods of job %s: %w", tempestJob, err)
	}
	return list.Items, nil
}

// removeTempest deletes the Job and its pods; the Job last, because without it nothing looks for the pods.
func (r *rockoon) removeTempest(ctx context.Context) error {
	pods, err := r.tempestPods(ctx)
	if err != nil {
		return err
	}
	for i := range pods {
		if err := r.endPod(ctx, &pods[i], 0); err != nil {
			return err
		}
	}
	background := metav1.DeletePropagationBackground
	err = r.kube.BatchV1().Jobs(openstackNamespace).Delete(ctx, tempestJob, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove job %s: %w", tempestJob, err)
	}
	return nil
}
