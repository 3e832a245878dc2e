package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// listPods returns all pods by namespace and name from the watch, plus created pods that it has not shown yet: listing
// the pods of a large fleet at every change costs too much. They are shared: read only. Without a watch, it lists them, unless
// it has loaded them itself.
func (k *kubelet) listPods(ctx context.Context) ([]*corev1.Pod, error) {
	if !k.watched {
		if pods, known := k.loaded.those(func(*corev1.Pod) bool { return true }); known {
			return pods, nil
		}
		list, err := k.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list pods: %w", err)
		}
		pods := make([]*corev1.Pod, len(list.Items))
		for i := range list.Items {
			pods[i] = &list.Items[i]
		}
		k.loaded.know(pods)
		return pods, nil
	}
	store := k.view.mirrors[podsResource]
	all := store.List()
	pods := make([]*corev1.Pod, 0, len(all)+len(k.unseen))
	for _, object := range all {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	for at := range k.unseen {
		if _, seen, _ := store.GetByKey(at.String()); seen {
			delete(k.unseen, at)
			continue
		}
		pod, err := k.kube.CoreV1().Pods(at.Namespace).Get(ctx, at.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			delete(k.unseen, at)
		case err != nil:
			return nil, fmt.Errorf("get pod %s: %w", at, err)
		default:
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, byName)
	return pods, nil
}

// byName is the API's order of pods.
func byName(a, b *corev1.Pod) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// expect notes a created pod that the watch has yet to show.
func (k *kubelet) expect(namespace, name string) {
	if k.watched {
		k.unseen[cache.ObjectName{Namespace: namespace, Name: name}] = true
	}
}
