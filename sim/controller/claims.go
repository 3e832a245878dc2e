package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	// claimProtection keeps a claim that is being deleted as long as a pod on a node uses it.
	claimProtection = "kubernetes.io/pvc-protection"
)

// claim is the name of the PersistentVolumeClaim of a StatefulSet's pod.
func (w workload) claim(pod string) string { return w.volume + "-" + pod }

// claimOf is the claim of a StatefulSet's pod; nil if it has none.
func (e *env) claimOf(w workload, pod string) *corev1.PersistentVolumeClaim {
	object, _, _ := e.view.mirrors[claimsResource].GetByKey(w.namespace + "/" + w.claim(pod))
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok || w.volume == "" {
		return nil
	}
	return claim
}

// claimedNode is the node whose disk holds the volume of a StatefulSet's pod; empty if the pod has no volume yet.
func (e *env) claimedNode(w workload, pod string) string {
	claim := e.claimOf(w, pod)
	if claim == nil || claim.Spec.VolumeName == "" {
		return ""
	}
	return claim.Annotations[selectedNode]
}

// newClaim is a claim as the StatefulSet creates it: it waits for its pod's node.
func (w workload) newClaim(pod string) *corev1.PersistentVolumeClaim {
	class := localClass
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: w.claim(pod), Namespace: w.namespace, Labels: w.labels(), Finalizers: []string{claimProtection}},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: claimSize()}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
}

func claimSize() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}
}

// putClaim creates a claim and tells whether the name was free.
func (k *kubelet) putClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	k.given[claim.Namespace+"/"+claim.Name] = true
	made, err := k.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).Create(ctx, claim, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	}
	if err == nil {
		made.Status = claim.Status
		_, err = k.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	}
	if err != nil {
		return false, fmt.Errorf("make the claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	return true, nil
}

// makeClaim creates the volume of a pod on its node's disk and the claim bound to it, unless the pod has one.
func (k *kubelet) makeClaim(ctx context.Context, w workload, pod, node string) error {
	name := w.claim(pod)
	if k.claimedNode(w, pod) != "" {
		return nil
	}
	volume := "local-pv-" + hashID(w.namespace, name, node)[:8]
	class, modes := localClass, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	local := &corev1.PersistentVolume{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: volume},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: claimSize(), AccessModes: modes, StorageClassName: class, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
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
	claim := w.newClaim(pod)
	bind := func(claim *corev1.PersistentVolumeClaim) {
		claim.Annotations = map[string]string{selectedNode: node, "pv.kubernetes.io/bind-completed": "yes"}
		claim.Spec.VolumeName = volume
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: modes, Capacity: claimSize()}
	}
	bind(claim)
	k.given[w.namespace+"/"+name] = true
	if k.load != nil {
		if err := k.load(local, claim); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("make the volume of %s/%s: %w", w.namespace, pod, err)
		}
		return nil
	}
	if _, err := k.kube.CoreV1().PersistentVolumes().Create(ctx, local, metav1.CreateOptions{}); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the volume of %s/%s: %w", w.namespace, pod, err)
	}
	if made, err := k.putClaim(ctx, claim); made || err != nil {
		return err
	}
	claims := k.kube.CoreV1().PersistentVolumeClaims(w.namespace)
	had, err := claims.Get(ctx, name, metav1.GetOptions{})
	if err != nil || had.Spec.VolumeName != "" && had.Status.Phase == corev1.ClaimBound {
		return ignoreGone(err, "read the claim of "+w.namespace+"/"+pod)
	}
	bind(had)
	bound, err := claims.Update(ctx, had, metav1.UpdateOptions{})
	if err == nil {
		bind(bound)
		_, err = claims.UpdateStatus(ctx, bound, metav1.UpdateOptions{})
	}
	return ignoreGone(err, "bind the claim of "+w.namespace+"/"+pod)
}

// ignoreGone drops an error that says that an object is gone or newer: the next look sees it.
func ignoreGone(err error, doing string) error {
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// memberPlace is the node on which a StatefulSet's pod may run now: the node with its volume or, if it gets a new
// volume, a node without another member; false if there is none. A pod does not start while its claim is being deleted.
func (k *kubelet) memberPlace(w workload, name string, i int, nodes map[string]*corev1.Node, eligible []*corev1.Node,
	placed map[string]int) (string, bool) {
	if claim := k.claimOf(w, name); claim != nil && claim.DeletionTimestamp != nil {
		return "", false
	}
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

// stranded tells whether no node can ever take the pod as things are: its volume is on a node that is gone, or it has
// no volume and every node has another member. The other members come back with their nodes.
func (k *kubelet) stranded(w workload, name string, nodes map[string]*corev1.Node) bool {
	if w.volume == "" {
		return false
	}
	claim := k.claimOf(w, name)
	if claim == nil || claim.DeletionTimestamp != nil || claim.Spec.VolumeName == "" {
		return k.given[w.namespace+"/"+w.claim(name)]
	}
	return nodes[claim.Annotations[selectedNode]] == nil
}

// placeMember continues with a pod that was created Pending: the pod gets its missing claim, and a node as soon as
// there is one for it.
func (k *kubelet) placeMember(ctx context.Context, w workload, pod *corev1.Pod, i int, nodes map[string]*corev1.Node,
	eligible []*corev1.Node,
	placed map[string]int) error {
	if at, found := w.places[pod.Name]; w.volume == "" || found && at == "" {
		return nil // it was found like this
	}
	if k.claimOf(w, pod.Name) == nil {
		if _, err := k.putClaim(ctx, w.newClaim(pod.Name)); err != nil {
			return err
		}
	}
	place, ok := k.memberPlace(w, pod.Name, i, nodes, eligible, placed)
	if !ok {
		return nil
	}
	if err := k.makeClaim(ctx, w, pod.Name, place); err != nil {
		return err
	}
	placed[place]++
	bound := pod.DeepCopy()
	bound.Spec.NodeName = place
	k.loaded.forget()
	bound, err := k.kube.CoreV1().Pods(pod.Namespace).Update(ctx, bound, metav1.UpdateOptions{})
	if err == nil {
		bound.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(k.clock.Now())}}
		_, err = k.kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, bound, metav1.UpdateOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // a newer pod comes with the next look
		return fmt.Errorf("bind pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// setPodPending reports, as the scheduler does, that no node can take a pod.
func (k *kubelet) setPodPending(ctx context.Context, pod *corev1.Pod, nodes int) error {
	if pod.Status.Phase == corev1.PodPending && len(pod.Status.Conditions) > 0 {
		return nil
	}
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason:             corev1.PodReasonUnschedulable,
		LastTransitionTime: metav1.NewTime(k.clock.Now()),
		Message:            fmt.Sprintf("0/%d nodes are available: no node has its volume or has room for another.", nodes)}}
	k.loaded.forget()
	_, err := k.kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("set the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// protectClaims releases the claims that are being deleted once no pod on a node uses them. A pod that has no node yet
// does not hold its claim.
func (k *kubelet) protectClaims(ctx context.Context, pods []*corev1.Pod) error {
	used := map[string]bool{}
	for _, pod := range pods {
		for _, volume := range pod.Spec.Volumes {
			if source := volume.PersistentVolumeClaim; source != nil && pod.Spec.NodeName != "" {
				used[pod.Namespace+"/"+source.ClaimName] = true
			}
		}
	}
	all := k.view.mirrors[claimsResource].List()
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(keyOf(a), keyOf(b)) })
	for _, object := range all {
		claim, ok := object.(*corev1.PersistentVolumeClaim)
		if !ok || claim.DeletionTimestamp == nil || !slices.Contains(claim.Finalizers, claimProtection) || used[keyOf(claim)] {
			continue
		}
		free := claim.DeepCopy()
		free.Finalizers = slices.DeleteFunc(free.Finalizers, func(f string) bool { return f == claimProtection })
		_, err := k.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, free, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("let claim %s/%s go: %w", claim.Namespace, claim.Name, err)
		}
	}
	return nil
}

func keyOf(object any) string {
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return ""
	}
	return claim.Namespace + "/" + claim.Name
}

// releaseClaims deletes the claims of the set's pods whose volumes are bound to a node that is gone, so that the pods
// may go to another node. It finds them as the controller does: by the pods' volumes (docs/mosk.md#volume-claims).
func (c clustered) releaseClaims(v visit, ctx context.Context) error {
	list, err := v.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + c.set})
	if err != nil {
		return fmt.Errorf("list the pods of %s/%s: %w", c.namespace, c.set, err)
	}
	claims := v.kube.CoreV1().PersistentVolumeClaims(c.namespace)
	for i := range list.Items {
		for _, volume := range list.Items[i].Spec.Volumes {
			if volume.PersistentVolumeClaim == nil {
				continue
			}
			claim, err := claims.Get(ctx, volume.PersistentVolumeClaim.ClaimName, metav1.GetOptions{})
			if err != nil {
				return exception{"ObjectDoesNotExist", fmt.Sprintf("get() returned zero objects (%v)", err)}
			}
			if claim.Spec.VolumeName == "" {
				v.log.Error("No volume is associated with " + claim.Name)
				continue
			}
			local, err := v.kube.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
			if err != nil {
				return exception{"ObjectDoesNotExist", fmt.Sprintf("get() returned zero objects (%v)", err)}
			}
			if !boundTo(local, v.name) {
				continue
			}
			v.log.Info("Deleting PVC " + claim.Name + " tied to node " + v.name)
			err = claims.Delete(ctx, claim.Name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete claim %s/%s: %w", claim.Namespace, claim.Name, err)
			}
		}
	}
	return nil
}

// boundTo is the controller's is_bound_to_node.
func boundTo(volume *corev1.PersistentVolume, node string) bool {
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return false
	}
	for _, term := range volume.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if e.Key == corev1.LabelHostname && e.Operator == corev1.NodeSelectorOpIn && slices.Contains(e.Values, node) {
				return true
			}
		}
	}
	return false
}
