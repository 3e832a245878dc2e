package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// revisionLabel names, on a pod of a DaemonSet, the ControllerRevision of its template.
const revisionLabel = appsv1.ControllerRevisionHashLabelKey

// revision is the hash of a DaemonSet's current template. It creates the ControllerRevision if it is missing, and makes
// it the newest again if the template was rolled back to it, as the DaemonSet controller does
// (pkg/controller/daemon/update.go).
func (k *kubelet) revision(ctx context.Context, set *appsv1.DaemonSet) (string, error) {
	if set == nil {
		return "", nil
	}
	key := fmt.Sprintf("%s/%d", set.UID, set.Generation)
	if hash, known := k.revisions[key]; known {
		return hash, nil
	}
	data, err := templateData(set)
	if err != nil {
		return "", fmt.Errorf("encode the template of DaemonSet %s/%s: %w", set.Namespace, set.Name, err)
	}
	hash := strings.ReplaceAll(hashID(set.Namespace, set.Name, string(data)), "-", "")[:10]
	client := k.kube.AppsV1().ControllerRevisions(set.Namespace)
	list := &appsv1.ControllerRevisionList{}
	if !k.unrevised[workload{kind: daemonSet, namespace: set.Namespace, name: set.Name}.key()] {
		list, err = client.List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(set.Spec.Selector)})
	}
	if err != nil {
		return "", fmt.Errorf("list the revisions of DaemonSet %s/%s: %w", set.Namespace, set.Name, err)
	}
	newest := int64(0)
	var found *appsv1.ControllerRevision
	for i := range list.Items {
		r := &list.Items[i]
		if owner := metav1.GetControllerOf(r); owner == nil || owner.UID != set.UID {
			continue
		}
		newest = max(newest, r.Revision)
		if r.Labels[revisionLabel] == hash {
			found = r
		}
	}
	switch {
	case found == nil:
		labels := maps.Clone(set.Spec.Template.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		labels[revisionLabel] = hash
		owner := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind(daemonSet))
		err = put(ctx, k.load, client.Create, &appsv1.ControllerRevision{TypeMeta: ofApps("ControllerRevision"),
			ObjectMeta: metav1.ObjectMeta{Name: set.Name + "-" + hash, Namespace: set.Namespace, Labels: labels,
				OwnerReferences: []metav1.OwnerReference{*owner}},
			Data: runtime.RawExtension{Raw: data}, Revision: newest + 1,
		})
	case found.Revision < newest:
		patch := []byte(fmt.Sprintf(`{"revision":%d}`, newest+1))
		_, err = client.Patch(ctx, found.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("keep the revision of DaemonSet %s/%s: %w", set.Namespace, set.Name, err)
	}
	k.revisions[key] = hash
	return hash, nil
}

// templateData is the data of a ControllerRevision: the patch that restores the template.
func templateData(set *appsv1.DaemonSet) ([]byte, error) {
	raw, err := json.Marshal(set.Spec.Template)
	if err != nil {
		return nil, err
	}
	template := map[string]any{}
	if err := json.Unmarshal(raw, &template); err != nil {
		return nil, err
	}
	template["$patch"] = "replace"
	return json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
}

// replaceOld deletes one pod of an older revision, for a DaemonSet with RollingUpdate, when all its pods are ready: as
// with maxUnavailable 1, the default.
func (k *kubelet) replaceOld(ctx context.Context, set *appsv1.DaemonSet, pods []*corev1.Pod, hash string) error {
	if set == nil || set.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return nil
	}
	var old *corev1.Pod
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil || !podReady(pod) {
			return nil
		}
		if label, ok := pod.Labels[revisionLabel]; old == nil && ok && label != hash {
			old = pod
		}
	}
	if old == nil {
		return nil
	}
	return k.endPod(ctx, old, -1)
}
