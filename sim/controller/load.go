package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Load puts objects into a cluster as they are, including the status, like a restored backup. Populate uses it for
// clusters of thousands of nodes: requests, two for each pod, would take a minute.
type Load func(objects ...runtime.Object) error

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
		if err = k.load(pod); err == nil && k.loaded != nil {
			k.loaded = append(k.loaded, pod)
		}
	} else {
		_, err = k.kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
