package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var claimsResource = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}

const (
	// selectedNode names the node on whose disk a claim's volume is.
	selectedNode = "volume.kubernetes.io/selected-node"
	localClass   = "openstack-operator-bind-mounts"
)

// claim is the name of the PersistentVolumeClaim of a StatefulSet's pod.
func (w workload) claim(pod string) string { return w.volume + "-" + pod }

// claimedNode is the node on whose disk the volume of a StatefulSet's pod is; empty when it has no claim yet.
func (e *env) claimedNode(w workload, pod string) string {
	object, _, _ := e.view.mirrors[claimsResource].GetByKey(w.namespace + "/" + w.claim(pod))
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok || w.volume == "" {
		return ""
	}
	return claim.Annotations[selectedNode]
}

// makeClaim makes the volume of a pod on the disk of its node, and the claim that is bound to it, where it has none.
func (k *kubelet) makeClaim(ctx context.Context, w workload, pod, node string) error {
	name := w.claim(pod)
	volume := "local-pv-" + hashID(w.namespace, name, node)[:8]
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}
	class, modes := localClass, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	local := &corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: volume},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, StorageClassName: class, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/local-volumes/" + volume}},
			ClaimRef:               &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: w.namespace, Name: name},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
				},
			}}}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace, Labels: w.labels(),
			Annotations: map[string]string{selectedNode: node, "pv.kubernetes.io/bind-completed": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes, StorageClassName: &class, VolumeName: volume,
			Resources: corev1.VolumeResourceRequirements{Requests: size}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: modes, Capacity: size},
	}
	if k.load != nil {
		if err := k.load(local, claim); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make the volume of %s/%s: %w", w.namespace, pod, err)
		}
		return nil
	}
	core := k.kube.CoreV1()
	if _, err := core.PersistentVolumes().Create(ctx, local, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the volume of %s/%s: %w", w.namespace, pod, err)
	}
	made, err := core.PersistentVolumeClaims(w.namespace).Create(ctx, claim, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		made.Status = claim.Status
		_, err = core.PersistentVolumeClaims(w.namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("make the claim of %s/%s: %w", w.namespace, pod, err)
	}
	return nil
}

// memberPlace is the node on which a StatefulSet's pod is made anew: where its volume is, or else, since it gets a new one, where none
// of the others is; false when it cannot be made now.
func (k *kubelet) memberPlace(w workload, name string, i int, nodes map[string]*corev1.Node, eligible []*corev1.Node,
	placed map[string]int) (string, bool) {
	if claimed := k.claimedNode(w, name); claimed != "" {
		node := nodes[claimed]
		return claimed, node != nil && schedulable(node)
	}
	place, ok := w.placeOf(name, i, nodes, eligible)
	if w.volume == "" || ok && placed[place] == 0 {
		return place, ok
	}
	free := slices.IndexFunc(eligible, func(node *corev1.Node) bool { return schedulable(node) && placed[node.Name] == 0 })
	if free < 0 {
		return "", false
	}
	return eligible[free].Name, true
}

// releaseClaims deletes the claims whose volumes are on the disk of a node that is gone: the pods may go to another one then.
func (c clustered) releaseClaims(v visit, ctx context.Context) error {
	claims := v.kube.CoreV1().PersistentVolumeClaims(c.namespace)
	list, err := claims.List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + c.set})
	if err != nil {
		return fmt.Errorf("list the claims of %s/%s: %w", c.namespace, c.set, err)
	}
	for i := range list.Items {
		claim := &list.Items[i]
		if claim.Annotations[selectedNode] != v.name {
			continue
		}
		err := claims.Delete(ctx, claim.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &claim.UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete claim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
	}
	return nil
}
