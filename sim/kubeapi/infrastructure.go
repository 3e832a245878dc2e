package kubeapi

import (
	"fmt"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// infrastructureKinds are the kinds that workloads depend on. A MOSK update does not touch them; tools list them.
func infrastructureKinds() []*resource {
	core := func(name string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: name}
	}
	return []*resource{
		{GroupVersionResource: core("services"), kind: "Service", shortNames: []string{"svc"}, categories: []string{"all"}, namespaced: true,
			status: true, unconditional: true, fields: []string{"spec.clusterIP", "spec.type"}, defaults: defaultService, columns: serviceColumns},
		{GroupVersionResource: core("serviceaccounts"), kind: "ServiceAccount", shortNames: []string{"sa"}, namespaced: true, unconditional: true,
			columns: []column{text("Secrets", func(_ *Server, content map[string]any) any { return len(entries(content, "secrets")) }), ageColumn}},
		{GroupVersionResource: core("persistentvolumeclaims"), kind: "PersistentVolumeClaim", shortNames: []string{"pvc"}, namespaced: true,
			status: true, unconditional: true, columns: []column{at("Status", "", "status", "phase"), at("Volume", "", "spec", "volumeName"),
				at("Capacity", "", "status", "capacity", "storage"), at("StorageClass", "", "spec", "storageClassName"), ageColumn}},
		{GroupVersionResource: core("persistentvolumes"), kind: "PersistentVolume", shortNames: []string{"pv"}, status: true, unconditional: true,
			columns: []column{at("Capacity", "", "spec", "capacity", "storage"), at("Reclaim Policy", "", "spec", "persistentVolumeReclaimPolicy"),
				at("Status", "", "status", "phase"), at("StorageClass", "", "spec", "storageClassName"), ageColumn}},
	}
}

func defaultService(content map[string]any) {
	setDefault(content, "ClusterIP", "spec", "type")
	setDefault(content, "None", "spec", "sessionAffinity")
	setDefault(content, map[string]any{"loadBalancer": map[string]any{}}, "status")
}

var serviceColumns = []column{
	at("Type", "", "spec", "type"),
	at("Cluster-IP", "<none>", "spec", "clusterIP"),
	text("External-IP", func(_ *Server, content map[string]any) any {
		var all []string
		for _, ingress := range entries(content, "status", "loadBalancer", "ingress") {
			all = append(all, fmt.Sprint(ingress["ip"]))
		}
		if len(all) == 0 {
			return "<none>"
		}
		return strings.Join(all, ",")
	}),
	text("Port(s)", func(_ *Server, content map[string]any) any {
		var all []string
		for _, port := range entries(content, "spec", "ports") {
			protocol, _ := port["protocol"].(string)
			if protocol == "" {
				protocol = "TCP"
			}
			all = append(all, fmt.Sprintf("%v/%s", port["port"], protocol))
		}
		return strings.Join(all, ",")
	}),
	ageColumn,
	wide(text("Selector", func(_ *Server, content map[string]any) any {
		value, _, _ := nested(content, "spec", "selector")
		selector, _ := value.(map[string]any)
		return pairs(selector)
	})),
}

// pairs shows the entries of a map as kubectl shows a selector.
func pairs(labels map[string]any) string {
	if len(labels) == 0 {
		return "<none>"
	}
	var all []string
	for name, value := range labels {
		all = append(all, fmt.Sprintf("%s=%v", name, value))
	}
	sort.Strings(all)
	return strings.Join(all, ",")
}
