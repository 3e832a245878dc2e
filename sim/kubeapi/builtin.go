package kubeapi

import (
	"encoding/base64"
	"hash/fnv"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// storageVersionHash tells versions of a kind apart in discovery; any stable text will do.
func storageVersionHash(gvk schema.GroupVersionKind) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(gvk.String()))
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"
	sum, text := h.Sum64(), strings.Builder{}
	for range 8 {
		text.WriteByte(digits[sum%uint64(len(digits))])
		sum /= uint64(len(digits))
	}
	return text.String()
}

// crdResource is the resource that defines others.
var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// builtins are the kinds that are served without a definition, with the strategies that the real server's registry has
// for them.
func builtins() []*resource {
	core := func(name string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: name}
	}
	apps := func(name string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: name}
	}
	all := []string{"all"}
	kinds := []*resource{
		{GroupVersionResource: core("namespaces"), kind: "Namespace", shortNames: []string{"ns"}, status: true, unconditional: true,
			oneByOne: true, fields: []string{"status.phase"}, defaults: defaultNamespace, columns: namespaceColumns},
		{GroupVersionResource: core("nodes"), kind: "Node", shortNames: []string{"no"}, status: true, unconditional: true,
			statusOnCreate: true, metadataOnStatus: true, fields: []string{"spec.unschedulable"}, columns: nodeColumns},
		{GroupVersionResource: core("pods"), kind: "Pod", shortNames: []string{"po"}, categories: all, namespaced: true, status: true,
			unconditional: true, generation: true, metadataOnStatus: true, defaults: defaultPod, columns: podColumns,
			fields: []string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
				"spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"}},
		{GroupVersionResource: core("secrets"), kind: "Secret", namespaced: true, unconditional: true, fields: []string{"type"},
			defaults: defaultSecret, columns: secretColumns},
		{GroupVersionResource: core("configmaps"), kind: "ConfigMap", shortNames: []string{"cm"}, namespaced: true, unconditional: true,
			columns: configMapColumns},
		{GroupVersionResource: core("events"), kind: "Event", shortNames: []string{"ev"}, namespaced: true, unconditional: true,
			createOnUpdate: true, columns: eventColumns,
			fields: []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
				"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
				"reportingComponent", "source", "type"}},
		{GroupVersionResource: apps("deployments"), kind: "Deployment", shortNames: []string{"deploy"}, categories: all,
			namespaced: true, status: true, scale: true, unconditional: true, generation: true, defaults: defaultDeployment,
			columns: deploymentColumns},
		{GroupVersionResource: apps("daemonsets"), kind: "DaemonSet", shortNames: []string{"ds"}, categories: all,
			namespaced: true, status: true, unconditional: true, generation: true, defaults: defaultDaemonSet, count: countTemplates,
			columns: daemonSetColumns},
		{GroupVersionResource: apps("statefulsets"), kind: "StatefulSet", shortNames: []string{"sts"}, categories: all,
			namespaced: true, status: true, scale: true, unconditional: true, generation: true, defaults: defaultStatefulSet,
			columns: statefulSetColumns},
		{GroupVersionResource: schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
			kind: "PodDisruptionBudget", shortNames: []string{"pdb"}, namespaced: true, status: true, generation: true, columns: budgetColumns},
		{GroupVersionResource: schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
			kind: "Lease", namespaced: true, createOnUpdate: true, columns: leaseColumns},
	}
	kinds = slices.Concat(kinds, workloadKinds(), infrastructureKinds(), rbacKinds())
	for _, r := range kinds {
		r.typed = true
	}
	kinds = append(kinds, &resource{GroupVersionResource: crdResource, kind: "CustomResourceDefinition", status: true, generation: true,
		shortNames: []string{"crd", "crds"}, categories: []string{"api-extensions"}, columns: definitionColumns})
	for _, r := range kinds {
		r.singular, r.listKind = strings.ToLower(r.kind), r.kind+"List"
	}
	return kinds
}

func namespaceObject(name string) *unstructured.Unstructured {
	return accessor(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
}

// setDefault sets a missing field.
func setDefault(content map[string]any, value any, path ...string) {
	if _, found, err := unstructured.NestedFieldNoCopy(content, path...); err == nil && !found {
		_ = unstructured.SetNestedField(content, value, path...) // fails only where a parent is not an object, which a decoder has checked
	}
}

func defaultNamespace(content map[string]any) {
	setDefault(content, []any{"kubernetes"}, "spec", "finalizers")
	setDefault(content, "Active", "status", "phase")
	labels := accessor(content).GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels["kubernetes.io/metadata.name"] = accessor(content).GetName()
	accessor(content).SetLabels(labels)
}

// defaultSecret also encodes stringData, which is write-only.
func defaultSecret(content map[string]any) {
	setDefault(content, "Opaque", "type")
	plain, _ := content["stringData"].(map[string]any)
	delete(content, "stringData")
	for name, value := range plain {
		text, _ := value.(string)
		_ = unstructured.SetNestedField(content, base64.StdEncoding.EncodeToString([]byte(text)), "data", name) // a decoder has checked data
	}
}
