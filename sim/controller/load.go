package controller

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Load puts objects into a cluster as they are, including the status, like a restored backup. Populate uses it for
// clusters of thousands of nodes: requests, two for each pod, would take a minute.
type Load func(objects ...runtime.Object) error

// Loaded remembers the pods of a cluster that Populate fills, so that nobody lists the pods of a fleet to know them: not within a call,
// and not in the next one that is given the same Loaded. Nobody else may create, change or delete pods in between. It also remembers which
// revisions the DaemonSets have. The zero value knows nothing.
type Loaded struct {
	pods      map[types.UID]*corev1.Pod // nil: not known
	revisions map[string]string         // the kubelet's
}

// those returns the pods that a rule selects, in the API's order; false if the pods are not known.
func (l *Loaded) those(selected func(*corev1.Pod) bool) ([]*corev1.Pod, bool) {
	if l == nil || l.pods == nil {
		return nil, false
	}
	var pods []*corev1.Pod
	for _, pod := range l.pods {
		if selected(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, byName)
	return pods, true
}

// know takes over the pods that were listed. A pod that has no node yet is still changed, so with one the pods are not known.
func (l *Loaded) know(pods []*corev1.Pod) {
	l.forget()
	if l == nil || slices.ContainsFunc(pods, unbound) {
		return
	}
	l.pods = make(map[types.UID]*corev1.Pod, len(pods))
	for _, pod := range pods {
		l.pods[pod.UID] = pod
	}
}

// add notes a pod that was loaded.
func (l *Loaded) add(pod *corev1.Pod) {
	switch {
	case l == nil || l.pods == nil:
	case unbound(pod):
		l.forget()
	default:
		l.pods[pod.UID] = pod
	}
}

// remove notes that a pod is gone.
func (l *Loaded) remove(uid types.UID) {
	if l != nil {
		delete(l.pods, uid)
	}
}

// forget notes that a pod has changed: the pods must be listed.
func (l *Loaded) forget() {
	if l != nil {
		l.pods = nil
	}
}

// unbound tells whether a pod has no node yet.
func unbound(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }

// put creates an object by Load, or by a request where there is none.
func put[O runtime.Object](ctx context.Context, load Load, create func(context.Context, O, metav1.CreateOptions) (O, error),
	object O) error {
	if load != nil {
		return load(object)
	}
	_, err := create(ctx, object, metav1.CreateOptions{})
	return err
}

// ofApps is a kind of the group that DaemonSets and their like belong to.
func ofApps(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: kind}
}

// putPod creates a pod: ready at once if pods are loaded, otherwise as the API server creates a new one.
func (k *kubelet) putPod(ctx context.Context, pod *corev1.Pod) error {
	var err error
	if k.load != nil {
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		if pod.Spec.NodeName != "" {
			markReady(pod, true, metav1.NewTime(k.clock.Now()))
		}
		// The server would do this; now nobody has to list the pods of a fleet to know them.
		pod.UID, pod.CreationTimestamp = types.UID(hashID("pod", pod.Namespace, pod.Name, k.clock.Now().String())), metav1.NewTime(k.clock.Now())
		if err = k.load(pod); err == nil {
			k.loaded.add(pod)
		}
	} else {
		_, err = k.kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
