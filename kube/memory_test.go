package kube

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"lockstep/core"
)

// nodesPage is a page of a list of nodes, with what kubelets post.
func nodesPage(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"metadata": {"name": "kaas-node-%04d", "uid": "5a6b1c0e-4d1b-4c33-9a51-%012d", "resourceVersion": "%d",
			"creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"kubernetes.io/hostname": "kaas-node-%04d", "kubernetes.io/os": "linux",
			"openstack-compute-node": "enabled", "kaas.mirantis.com/machine-name": "compute-%04d"}, "annotations": {"projectcalico.org/IPv4Address":
			"10.0.0.1/24", "openstack.lcm.mirantis.com/instance_migration_mode": "live"}, "managedFields": [{"manager": "kubelet", "operation":
			"Update", "fieldsV1": {"f:status": {"f:conditions": {}}}}]}, "spec": {"podCIDR": "10.1.0.0/24", "taints": []}, "status": {"capacity":
			{"cpu": "64", "memory": "512Gi"}, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
			"lastTransitionTime": "2026-01-01T00:10:00Z"}], "nodeInfo": {"bootID": "9168b536-cd40-4630-b43f-%012d", "kubeletVersion": "v1.30.4",
			"osImage": "Ubuntu 22.04.5 LTS"}, "images": [{"names": ["registry.local/nova:1"], "sizeBytes": 1}]}}`, i, i, i, i, i, i)
	}
	return `{"kind": "NodeList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [` + strings.Join(items, ",") + `]}`
}

// locksPage is a page of a list of NodeWorkloadLocks.
func locksPage(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": "NodeWorkloadLock", "metadata": {"name":
			"openstack-kaas-node-%04d", "uid": "5a6b1c0e-4d1b-4c33-9a51-%012d", "resourceVersion": "%d", "creationTimestamp":
			"2026-01-01T00:00:00Z", "annotations": {"inner_state": "active", "openstack.lcm.mirantis.com/original-node": "{}"}, "finalizers":
			["lcm.mirantis.com/openstack"], "managedFields": [{"manager": "kopf", "operation": "Update", "fieldsV1": {"f:status": {}}}]}, "spec":
			{"controllerName": "openstack", "nodeName": "kaas-node-%04d"}, "status": {"state": "active", "release": "21.0.0+25.2",
			"errorMessage": ""}}`, i, i, i, i)
	}
	return `{"kind": "NodeWorkloadLockList", "apiVersion": "lcm.mirantis.com/v1alpha1", "metadata": {"resourceVersion": "1"}, "items": [` +
		strings.Join(items, ",") + `]}`
}

// The measure of what is kept of an object: nothing of the API's object, whose managed fields and images are most of it.
func TestObjectsKeepFewBytes(t *testing.T) {
	const count = 2000
	for _, tt := range []struct {
		of        string
		page      string
		translate translate
		budget    int // 1303 and 535 measured, and a fifth more
	}{
		{"node", nodesPage(count), nodeFrom, 1560},
		{"lock", locksPage(count), lockFrom(core.KindNodeWorkloadLock), 640},
	} {
		objects := make([]core.Object, 0, count)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&before)
		for _, item := range listOf([]byte(tt.page), true).Items {
			objects = append(objects, tt.translate(&item))
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		got := (int(after.HeapAlloc) - int(before.HeapAlloc)) / count
		runtime.KeepAlive(objects)
		runtime.KeepAlive(tt.page)
		t.Logf("%d bytes a %s", got, tt.of)
		if got > tt.budget {
			t.Errorf("a %s keeps %d bytes, and %d are allowed", tt.of, got, tt.budget)
		}
	}
}
