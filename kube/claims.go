package kube

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	selectors "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
)

var (
	gvrClaims  = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	gvrVolumes = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
)

// claimed are the resources that tell which volume claims are bound to a node. They are watched only where Lockstep plays the
// OpenStack controller, which deletes them after a node is gone (docs/mosk.md#volume-claims).
var claimed = []resource{
	{source: core.SourceClaims, gvr: gvrClaims, namespace: namespaceOpenStack, rights: maintenanceRights, translate: claimFrom},
	{source: core.SourceRedisClaims, gvr: gvrClaims, namespace: namespaceRedis, rights: maintenanceRights, translate: claimFrom},
	{source: core.SourceLocalVolumes, gvr: gvrVolumes, rights: maintenanceRights, translate: volumeFrom},
}

// maintenanceRights is the manifest for rights that are needed only where Lockstep plays a controller.
const maintenanceRights = "deploy/rbac-maintenance.yaml"

// ClaimSources are the sources that a Watcher feeds with WatchOptions.Claims, beside Sources.
func ClaimSources() []core.SourceID {
	var ids []core.SourceID
	for _, r := range claimed {
		ids = append(ids, r.source)
	}
	return ids
}

// claimPermissions are what looking at volume claims and deleting them needs.
func claimPermissions() []Permission {
	var needs []Permission
	for _, r := range claimed {
		needs = append(needs, r.permission("list"), r.permission("watch"))
		if r.namespace != "" {
			needs = append(needs, r.permission("delete"))
		}
	}
	return needs
}

// ClaimPermissions are what the steps that clean up after a node is gone need for volume claims, in OpenStack's namespace and in
// the other namespaces that have some: Redis has its own, and most clouds have no Redis.
func ClaimPermissions(namespaces ...string) []Permission {
	return slices.DeleteFunc(claimPermissions(), func(p Permission) bool {
		return p.Namespace != "" && p.Namespace != namespaceOpenStack && !slices.Contains(namespaces, p.Namespace)
	})
}

// claimFrom translates a PersistentVolumeClaim.
func claimFrom(u *unstructured.Unstructured) core.Object {
	return &core.VolumeClaim{Meta: metaFrom(u), Volume: fields(u.Object).at("spec").text("volumeName")}
}

// volumeFrom translates a PersistentVolume, with the nodes to which it is bound as Rockoon reads them (rockoon/kube.py,
// is_bound_to_node): the values of each expression on the hostname.
func volumeFrom(u *unstructured.Unstructured) core.Object {
	v := &core.PersistentVolume{Meta: metaFrom(u)}
	for _, term := range fields(u.Object).at("spec", "nodeAffinity", "required").objects("nodeSelectorTerms") {
		for _, e := range term.objects("matchExpressions") {
			if e.text("key") != "kubernetes.io/hostname" || e.text("operator") != "In" {
				continue
			}
			for _, value := range e.list("values") {
				if node, ok := value.(string); ok && !slices.Contains(v.Nodes, node) {
					v.Nodes = append(v.Nodes, node)
				}
			}
		}
	}
	return v
}

// claimsOf are the claims that the volumes of a pod name.
func claimsOf(pod fields) []string {
	var names []string
	for _, volume := range pod.at("spec").objects("volumes") {
		if name := volume.at("persistentVolumeClaim").text("claimName"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// VolumeClaims implements engine.KubernetesChecker.
func (c *Checker) VolumeClaims(ctx context.Context, namespace string) ([]*core.VolumeClaim, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.resource(gvrClaims, namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, Describe(err, "list persistentvolumeclaims in namespace "+namespace)
	}
	claims := make([]*core.VolumeClaim, len(list.Items))
	for i := range list.Items {
		claims[i] = claimFrom(&list.Items[i]).(*core.VolumeClaim)
	}
	return claims, nil
}

// PersistentVolume implements engine.KubernetesChecker. It lists by name, which is the right that a Watcher needs anyway.
func (c *Checker) PersistentVolume(ctx context.Context, name string) (*core.PersistentVolume, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.client.resource(gvrVolumes, "").List(ctx,
		metav1.ListOptions{FieldSelector: selectors.OneTermEqualSelector("metadata.name", name).String()})
	if err != nil {
		return nil, Describe(err, "list persistentvolume "+name)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return volumeFrom(&list.Items[0]).(*core.PersistentVolume), nil
}

// deleteClaim deletes a volume claim. The UID is a precondition of the deletion: a new claim of the same name is left alone.
func (s sender) deleteClaim(ctx context.Context, ref core.Ref) error {
	call := s.call("delete persistentvolumeclaim " + ref.Name + " in namespace " + ref.Namespace)
	uid := types.UID(ref.UID)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := s.client.resource(gvrClaims, ref.Namespace).Delete(ctx, ref.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, DryRun: s.dryRun()})
	if err != nil {
		return Describe(err, call)
	}
	return nil
}
