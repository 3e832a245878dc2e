package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// set is a workload's object in the API server.
type set struct {
	daemon    *appsv1.DaemonSet
	stateful  *appsv1.StatefulSet
	stateless *appsv1.Deployment
}

// key names a workload's object.
func (w workload) key() string { return w.kind + "/" + w.namespace + "/" + w.name }

// template is the pods' template; nil if there is no object.
func (s set) template() *corev1.PodTemplateSpec {
	switch {
	case s.daemon != nil:
		return &s.daemon.Spec.Template
	case s.stateful != nil:
		return &s.stateful.Spec.Template
	case s.stateless != nil:
		return &s.stateless.Spec.Template
	}
	return nil
}

// generation is the generation of a DaemonSet's template; 0 if there is no object.
func (s set) generation() int64 {
	if s.daemon == nil {
		return 0
	}
	number, _ := strconv.ParseInt(s.daemon.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64) // the server's own
	return number
}

// replicas is the number that the object requests, or the workload's usual number.
func (s set) replicas(w workload) int {
	switch {
	case s.stateful != nil && s.stateful.Spec.Replicas != nil:
		return int(*s.stateful.Spec.Replicas)
	case s.stateless != nil && s.stateless.Spec.Replicas != nil:
		return int(*s.stateless.Spec.Replicas)
	}
	return w.replicas
}

// sets returns the objects of all workloads, from the watch if the pods are watched.
func (k *kubelet) sets(ctx context.Context) (map[string]set, error) {
	if k.watched {
		return k.view.sets(), nil
	}
	if known := k.found; known != nil && !k.creates {
		k.found = nil
		return known, nil // only pods were made since
	}
	all := map[string]set{}
	if k.creates {
		k.found = all
	}
	daemons, err := k.kube.AppsV1().DaemonSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list DaemonSets: %w", err)
	}
	for i := range daemons.Items {
		d := &daemons.Items[i]
		all[workload{kind: daemonSet, namespace: d.Namespace, name: d.Name}.key()] = set{daemon: d}
	}
	stateful, err := k.kube.AppsV1().StatefulSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	for i := range stateful.Items {
		s := &stateful.Items[i]
		all[workload{kind: statefulSet, namespace: s.Namespace, name: s.Name}.key()] = set{stateful: s}
	}
	stateless, err := k.kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list Deployments: %w", err)
	}
	for i := range stateless.Items {
		d := &stateless.Items[i]
		all[workload{kind: deployment, namespace: d.Namespace, name: d.Name}.key()] = set{stateless: d}
	}
	return all, nil
}

// count holds the numbers of a workload's status.
type count struct{ desired, current, ready, updated int32 }

// countPods counts a workload's pods. desired is how many there should be; hash is the current revision of a DaemonSet.
func countPods(pods []*corev1.Pod, desired int, hash string) count {
	c := count{desired: int32(desired)}
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			continue
		}
		c.current++
		if podReady(pod) {
			c.ready++
		}
		if hash == "" || pod.Labels[revisionLabel] == hash {
			c.updated++
		}
	}
	return c
}

// standing are the numbers of a workload all of whose pods are ready and at its newest template.
func standing(pods int32) count {
	return count{desired: pods, current: pods, ready: pods, updated: pods}
}

func daemonStatus(generation int64, c count) appsv1.DaemonSetStatus {
	return appsv1.DaemonSetStatus{ObservedGeneration: generation, DesiredNumberScheduled: c.desired, CurrentNumberScheduled: c.current,
		NumberReady: c.ready, NumberAvailable: c.ready, NumberUnavailable: max(c.desired-c.ready, 0), UpdatedNumberScheduled: c.updated}
}

func statefulStatus(generation int64, c count) appsv1.StatefulSetStatus {
	return appsv1.StatefulSetStatus{ObservedGeneration: generation, Replicas: c.current, ReadyReplicas: c.ready, AvailableReplicas: c.ready,
		CurrentReplicas: c.current, UpdatedReplicas: c.updated}
}

func statelessStatus(generation int64, c count, conditions []appsv1.DeploymentCondition) appsv1.DeploymentStatus {
	return appsv1.DeploymentStatus{ObservedGeneration: generation, Replicas: c.current, ReadyReplicas: c.ready, AvailableReplicas: c.ready,
		UpdatedReplicas: c.updated, UnavailableReplicas: max(c.desired-c.ready, 0), Conditions: conditions}
}

// report writes the status of a workload if it differs; it returns when to look again at a workload that has changed
// since it was seen.
func (k *kubelet) report(ctx context.Context, w workload, s set, hash string, pods []*corev1.Pod, eligible int) (time.Time, error) {
	apps := k.kube.AppsV1()
	var err error
	switch {
	case s.daemon != nil:
		status := daemonStatus(s.daemon.Generation, countPods(pods, eligible, hash))
		was := s.daemon.Status
		was.Conditions, was.CollisionCount = nil, nil
		if equality.Semantic.DeepEqual(was, status) {
			return time.Time{}, nil
		}
		changed := s.daemon.DeepCopy()
		changed.Status = status
		_, err = apps.DaemonSets(w.namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	case s.stateful != nil:
		status := statefulStatus(s.stateful.Generation, countPods(pods, s.replicas(w), ""))
		was := s.stateful.Status
		was.Conditions, was.CollisionCount = nil, nil
		if equality.Semantic.DeepEqual(was, status) {
			return time.Time{}, nil
		}
		changed := s.stateful.DeepCopy()
		changed.Status = status
		_, err = apps.StatefulSets(w.namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	case s.stateless != nil:
		c := countPods(pods, s.replicas(w), "")
		status := statelessStatus(s.stateless.Generation, c, availability(s.stateless.Status.Conditions, c, k.clock.Now()))
		if equality.Semantic.DeepEqual(s.stateless.Status, status) {
			return time.Time{}, nil
		}
		changed := s.stateless.DeepCopy()
		changed.Status = status
		_, err = apps.Deployments(w.namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	}
	switch {
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return k.clock.Now().Add(time.Second), nil
	case err != nil:
		return time.Time{}, fmt.Errorf("set the status of %s: %w", w.key(), err)
	}
	return time.Time{}, nil
}

// availability returns a Deployment's conditions after its pods were counted. It is available while at most a quarter
// of them, rounded down, is missing: the API's default for a rolling update. The condition's time is that of the last
// change.
func availability(was []appsv1.DeploymentCondition, c count, now time.Time) []appsv1.DeploymentCondition {
	is := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable",
		Message: "Deployment has minimum availability.", LastUpdateTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now)}
	if c.ready < c.desired-c.desired/4 {
		is.Status, is.Reason, is.Message = corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
	}
	for i, old := range was {
		if old.Type != is.Type {
			continue
		}
		if old.Status == is.Status {
			return was
		}
		all := slices.Clone(was)
		all[i] = is
		return all
	}
	return append(slices.Clone(was), is)
}

// members is how many replicas of a StatefulSet fit the cluster: one on each node of the role, or as many as were
// found.
func (w workload) members(nodes map[string]*corev1.Node) int32 {
	if w.places != nil {
		return int32(w.replicas)
	}
	return min(int32(w.replicas), w.eligible(nodes))
}

// eligible is how many nodes a workload's pods may run on.
func (w workload) eligible(nodes map[string]*corev1.Node) int32 {
	room := int32(0)
	for _, node := range nodes {
		if w.runsOn(node) {
			room++
		}
	}
	return room
}
