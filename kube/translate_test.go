package kube

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"lockstep/core"
)

func object(t testing.TB, manifest string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func date(y int, m time.Month, d, h, min, s int) time.Time {
	return time.Date(y, m, d, h, min, s, 0, time.UTC)
}

func TestTranslation(t *testing.T) {
	tests := map[string]struct {
		translate translate
		manifest  string
		want      core.Object
	}{
		"a compute node in manual mode": {nodeFrom, `
metadata:
  name: kaas-node-1
  uid: u1
  resourceVersion: "7"
  creationTimestamp: "2026-01-02T03:04:05Z"
  labels:
    kaas.mirantis.com/machine-name: cmp-1
    openstack-compute-node: enabled
    role: ceph-osd-node
  annotations:
    openstack.lcm.mirantis.com/instance_migration_mode: manual
    node.alpha.kubernetes.io/ttl: "0"
spec:
  unschedulable: true
  taints:
  - {key: other, effect: NoSchedule, timeAdded: "2026-01-02T03:30:00Z"}
  - {key: node.kubernetes.io/unschedulable, effect: NoSchedule, timeAdded: "2026-01-02T03:50:00Z"}
status:
  conditions:
  - {type: MemoryPressure, status: "False"}
  - {type: Ready, status: "False", reason: KubeletNotReady, lastTransitionTime: "2026-01-02T04:00:00Z"}
  nodeInfo: {kubeletVersion: v1.31.9, bootID: b1}
`, &core.Node{
			Meta:      core.Meta{Name: "kaas-node-1", UID: "u1", ResourceVersion: "7", Created: date(2026, 1, 2, 3, 4, 5)},
			ShortName: "cmp-1", Roles: []core.Role{core.RoleCompute, core.RoleStorage},
			Ready: "False", ReadyReason: "KubeletNotReady", ReadySince: date(2026, 1, 2, 4, 0, 0), Cordoned: true,
			CordonedSince:  date(2026, 1, 2, 3, 50, 0),
			Labels:         map[string]string{"openstack-compute-node": "enabled", "role": "ceph-osd-node"},
			Annotations:    map[string]string{core.AnnotationMigrationMode: "manual"},
			KubeletVersion: "v1.31.9", BootID: "b1",
		}},
		"an unknown migration mode is kept as it stands": {nodeFrom, `
metadata: {name: n1, annotations: {openstack.lcm.mirantis.com/instance_migration_mode: "live+cold"}}
`, &core.Node{Meta: core.Meta{Name: "n1"}, Annotations: map[string]string{core.AnnotationMigrationMode: "live+cold"}}},
		"a master by both labels is a master once": {nodeFrom, `
metadata: {name: m, labels: {node-role.kubernetes.io/control-plane: "", node-role.kubernetes.io/master: "",
  openstack-control-plane: enabled}}
`, &core.Node{Meta: core.Meta{Name: "m"}, Roles: []core.Role{core.RoleController, core.RoleMaster},
			Labels: map[string]string{"openstack-control-plane": "enabled"}}},
		"a role label that is not enabled is no role": {nodeFrom, `
metadata: {name: n1, labels: {openstack-compute-node: disabled, role: worker}}
`, &core.Node{Meta: core.Meta{Name: "n1"}, Labels: map[string]string{"openstack-compute-node": "disabled", "role": "worker"}}},
		"Kubernetes' own labels are not kept": {nodeFrom, `
metadata: {name: n1, labels: {kubernetes.io/os: linux, topology.kubernetes.io/zone: a, node.k8s.io/x: y, nova: "yes",
  example.org/edge: "on"}}
`, &core.Node{Meta: core.Meta{Name: "n1"}, Labels: map[string]string{"nova": "yes", "example.org/edge": "on"}}},
		"a node of nothing but a name": {nodeFrom, `metadata: {name: n1}`, &core.Node{Meta: core.Meta{Name: "n1"}}},

		"a node lock in deletion tells what the node was": {lockFrom(core.KindNodeWorkloadLock), `
metadata:
  name: openstack-n1
  deletionTimestamp: "2026-01-02T03:04:05Z"
  annotations: {openstack.lcm.mirantis.com/original-node: '{"apiVersion": "v1", "kind": "Node", "metadata":
    {"name": "n1", "labels": {"openstack-compute-node": "enabled", "kubernetes.io/os": "linux"}}}'}
spec: {controllerName: openstack, nodeName: n1}
`, &core.WorkloadLock{Meta: core.Meta{Name: "openstack-n1", Deleting: date(2026, 1, 2, 3, 4, 5)}, Kind: core.KindNodeWorkloadLock,
			Controller: "openstack", Node: "n1",
			Original: map[string]string{"openstack-compute-node": "enabled"}}},
		"a node lock that Rockoon works on": {lockFrom(core.KindNodeWorkloadLock), `
metadata: {name: openstack-n1, uid: l1, annotations: {inner_state: active}, finalizers: [f1]}
spec: {controllerName: openstack, nodeName: n1, nodeDeletionRequestSupported: true}
status: {state: active, errorMessage: "2026-01-02 03:04:05 Some servers", release: 21.0.0+25.2}
`, &core.WorkloadLock{
			Meta: core.Meta{Name: "openstack-n1", UID: "l1", Finalizers: []string{"f1"}}, Kind: core.KindNodeWorkloadLock,
			Controller: "openstack", Node: "n1", NodeDeletionRequestSupported: true, RawState: core.LockActive,
			Message: "2026-01-02 03:04:05 Some servers", Release: "21.0.0+25.2", InnerState: core.InnerActive,
		}},
		"a lock without a status": {lockFrom(core.KindClusterWorkloadLock), `
metadata: {name: ceph}
spec: {controllerName: ceph}
`, &core.WorkloadLock{Meta: core.Meta{Name: "ceph"}, Kind: core.KindClusterWorkloadLock, Controller: "ceph"}},
		"an unknown state, an unknown controller and an odd progress": {lockFrom(core.KindNodeWorkloadLock), `
metadata: {name: x, deletionTimestamp: "2026-01-02T03:04:05Z"}
spec: {controllerName: my-app}
status: {state: paused, inactivationProgress: {description: moving, percentage: 250}}
`, &core.WorkloadLock{
			Meta: core.Meta{Name: "x", Deleting: date(2026, 1, 2, 3, 4, 5)}, Kind: core.KindNodeWorkloadLock,
			Controller: "my-app", RawState: "paused", Progress: &core.InactivationProgress{Description: "moving", Percentage: 100},
		}},
		"fields of the wrong type": {lockFrom(core.KindNodeWorkloadLock), `
metadata: {name: x, labels: [a], annotations: 7, finalizers: {a: b}, creationTimestamp: [1]}
spec: {controllerName: {a: b}, nodeName: 12, nodeDeletionRequestSupported: "yes"}
status: {state: [active], errorMessage: 1.5, inactivationProgress: done}
`, &core.WorkloadLock{Meta: core.Meta{Name: "x"}, Kind: core.KindNodeWorkloadLock, Node: "12", Message: "1.5"}},

		"a node maintenance request": {requestFrom(core.KindNodeMaintenanceRequest), `
metadata: {name: n1}
spec: {nodeName: n1, release: 21.1.0, scope: os}
`, &core.MaintenanceRequest{Meta: core.Meta{Name: "n1"}, Kind: core.KindNodeMaintenanceRequest, Node: "n1", Release: "21.1.0",
			Scope: core.ScopeOS}},
		"a cluster maintenance request without a spec": {requestFrom(core.KindClusterMaintenanceRequest), `metadata: {name: mos}`,
			&core.MaintenanceRequest{Meta: core.Meta{Name: "mos"}, Kind: core.KindClusterMaintenanceRequest}},
		"a node deletion request": {noticeFrom(core.KindNodeDeletionRequest), `
metadata: {name: d}
spec: {nodeName: n1}
`, &core.NodeNotice{Meta: core.Meta{Name: "d"}, Kind: core.KindNodeDeletionRequest, Node: "n1"}},

		"an OpenStackDeploymentStatus": {openStackStatusFrom, `
metadata: {name: osh-dev, namespace: openstack}
status:
  osdpl:
    state: APPLYING
    openstack_version: antelope
    controller_version: 0.16.1
    release: 21.0.0+25.2
    health: 21/22
    lcm_progress: 18/20
    cause: update
    timestamp: "2021-09-08 17:01:45.633143"
  services:
    networking: {state: APPLYING, release: 21.0.0+25.2, timestamp: "2021-09-08 17:00:00.000001"}
    compute: {state: APPLIED, timestamp: yesterday}
    odd: 3
  health:
    nova: {api: {generation: 3, status: Ready}, compute: {generation: 3, status: Unhealthy}}
    cinder: {volume: {status: Progressing}}
    odd: Ready
`, &core.OpenStackStatus{
			Meta: core.Meta{Name: "osh-dev", Namespace: "openstack"}, State: "APPLYING", OpenStackVersion: "antelope",
			ControllerVersion: "0.16.1", Release: "21.0.0+25.2", Health: "21/22", LCMProgress: "18/20", Cause: "update",
			Timestamp: time.Date(2021, 9, 8, 17, 1, 45, 633143000, time.UTC),
			Services: []core.OpenStackService{
				{Name: "compute", State: "APPLIED"},
				{Name: "networking", State: "APPLYING", Release: "21.0.0+25.2", Since: time.Date(2021, 9, 8, 17, 0, 0, 1000, time.UTC)},
			},
			Unhealthy: []string{"cinder/volume", "nova/compute"},
		}},
		"an OpenStackDeploymentStatus without a status": {openStackStatusFrom, `metadata: {name: o, namespace: openstack}`,
			&core.OpenStackStatus{Meta: core.Meta{Name: "o", Namespace: "openstack"}}},

		"Rockoon's deployment": {deploymentFrom, `
metadata: {name: rockoon, namespace: osh-system}
spec: {replicas: 1, template: {spec: {containers: [{name: osdpl, image: "rockoon:1.0"}, {name: node, image: other}]}}}
status: {readyReplicas: 1}
`, &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1, Ready: 1, Image: "rockoon:1.0"}},
		"Rockoon's deployment with labels of its own for the roles": {deploymentFrom, `
metadata: {name: rockoon}
spec: {template: {spec: {containers: [{name: osdpl}, {name: node,
  env: [{name: OSCTL_OPENSTACK_NODE_LABELS, value: '{"compute": {"nova": "yes"}}'}]}]}}}
`, &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: 1, RoleLabels: `{"compute": {"nova": "yes"}}`}},
		"a deployment that is available": {deploymentFrom, `
metadata: {name: rockoon}
status: {readyReplicas: 1, conditions: [{type: Available, status: "True", lastTransitionTime: "2026-01-02T04:00:00Z"}]}
`, &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: 1, Ready: 1}},
		"a deployment that is not available": {deploymentFrom, `
metadata: {name: rockoon}
status:
  conditions:
  - {type: Progressing, status: "False", lastTransitionTime: "2026-01-02T04:10:00Z"}
  - {type: Available, status: "False", lastTransitionTime: "2026-01-02T04:00:00Z"}
`, &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: 1, AwaySince: time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)}},
		"a deployment scaled to nothing": {deploymentFrom, `
metadata: {name: rockoon}
spec: {replicas: 0}
`, &core.Deployment{Meta: core.Meta{Name: "rockoon"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.translate(object(t, tt.manifest))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("translation differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeysAreNamespaceAndName(t *testing.T) {
	for manifest, want := range map[string]string{
		"metadata: {name: n1}":                        "n1",
		"metadata: {name: osh, namespace: openstack}": "openstack/osh",
	} {
		for _, r := range slices.Concat(watched, workloads) {
			if got := r.translate(object(t, manifest)).Key(); got != want {
				t.Errorf("%s: key of %q = %q, want %q", r.source, manifest, got, want)
			}
		}
	}
}

func TestPods(t *testing.T) {
	const ready = `conditions: [{type: Ready, status: "True"}]`
	pods := []string{
		`{metadata: {name: web, namespace: default}, status: {phase: Running, ` + ready + `}}`,
		`{metadata: {name: agent, namespace: openstack, ownerReferences: [{kind: DaemonSet, controller: true}]}, status: {phase: Running}}`,
		`{metadata: {name: api, namespace: openstack, deletionTimestamp: "2026-01-02T03:04:05Z", ownerReferences: [{kind: ReplicaSet, ` +
			`controller: true}]}, status: {phase: Running, conditions: [{type: Ready, status: "False"}]}}`,
		`{metadata: {name: sync, namespace: openstack, ownerReferences: [{kind: Job, controller: true}]}, status: {phase: Running}}`,
		`{metadata: {name: done, namespace: openstack, ownerReferences: [{kind: Job, controller: true}]}, status: {phase: Succeeded}}`,
		`{metadata: {name: evicted, namespace: openstack, uid: u1, creationTimestamp: "2026-01-02T01:00:00Z", ownerReferences: [{kind: ` +
			`ReplicaSet, controller: true}]}, status: {phase: Failed, reason: Evicted, startTime: "2026-01-02T01:00:05Z"}}`,
		`{metadata: {name: ran, namespace: openstack, uid: u2, deletionTimestamp: "2026-01-02T05:00:00Z"}, status: {phase: Succeeded, ` +
			`containerStatuses: [{state: {terminated: {reason: Completed, finishedAt: "2026-01-02T03:00:00Z"}}}, {state: {terminated: ` +
			`{finishedAt: "2026-01-02T04:00:00Z"}}}]}}`,
		`{metadata: {name: odd, namespace: openstack, creationTimestamp: 3}, status: {phase: Failed, containerStatuses: none}}`,
		`{metadata: {name: by-hand, namespace: openstack, labels: {job-name: by-hand}}, status: {phase: Failed}}`,
		`{metadata: {name: by-cron, namespace: openstack, labels: {batch.kubernetes.io/job-name: by-cron}}, status: {phase: Succeeded}}`,
		`{metadata: {name: owned, namespace: openstack, labels: {job-name: owned}, ownerReferences: [{kind: ReplicaSet, controller: true}]}, ` +
			`status: {phase: Succeeded}}`,
		`{metadata: {name: not-controlled, namespace: openstack, ownerReferences: [{kind: Job}]}, status: {phase: Running}}`,
		`{metadata: {name: unnamed, namespace: openstack, labels: {job-name: ""}}, status: {phase: Failed}}`,
		`{metadata: {name: elsewhere, namespace: default}, status: {phase: Failed}}`,
		`{metadata: {name: etcd-m1, namespace: kube-system, annotations: {kubernetes.io/config.mirror: abc}}, status: {phase: Running, ` + ready +
			`}}`,
		`{metadata: 3, status: none}`,
	}
	on := map[string]*pod{}
	for _, manifest := range pods {
		p := podOf(object(t, manifest))
		on[p.Key()] = p
	}
	got := podsOn(core.PodsOf{Node: "n1"}, on)
	want := &core.NodePods{
		Node: "n1", Total: 16,
		Evictable: 5, // web, the terminating api, the two running pods of Jobs, and the one of which nothing is known
		NotReady: []core.PodName{{Namespace: "openstack", Name: "agent"}, {Namespace: "openstack", Name: "api"},
			{Namespace: "openstack", Name: "evicted"}, {Namespace: "openstack", Name: "odd"}, {Namespace: "openstack", Name: "ran"}},
		Ended: []core.EndedPod{
			{Namespace: "openstack", Name: "evicted", UID: "u1", Phase: "Failed", Reason: "Evicted", Owner: "ReplicaSet",
				Since: core.Since{At: date(2026, 1, 2, 1, 0, 5)}},
			{Namespace: "openstack", Name: "odd", Phase: "Failed"},
			{Namespace: "openstack", Name: "ran", UID: "u2", Phase: "Succeeded", Reason: "Completed",
				Since: core.Since{At: date(2026, 1, 2, 4, 0, 0), Exact: true}, Deleting: date(2026, 1, 2, 5, 0, 0)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods differ (-want +got):\n%s", diff)
	}
}

// FuzzTranslation feeds JSON of any shape to every translation: none may panic, and the key is always the object's own.
func FuzzTranslation(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"metadata":null,"spec":[],"status":"x"}`, `{"metadata":{"name":1e99,"finalizers":[null,{}]}}`,
		`{"metadata":{"labels":{"role":{}},"annotations":{"openstack.lcm.mirantis.com/x":[1]}}}`,
		`{"status":{"conditions":[1,null,{"type":"Ready"},{"type":{}}],"inactivationProgress":{"percentage":-1e300}}}`,
		`{"status":{"osdpl":[],"services":{"a":{"timestamp":5}},"health":{"a":{"b":null}}}}`,
		`{"spec":{"replicas":"x","template":{"spec":{"containers":[7]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, &u.Object); err != nil {
			return // not an answer of a server
		}
		want := fields(u.Object).at("metadata").text("name")
		if namespace := fields(u.Object).at("metadata").text("namespace"); namespace != "" {
			want = namespace + "/" + want
		}
		for _, r := range slices.Concat(watched, workloads) {
			if got := r.translate(u).Key(); got != want {
				t.Errorf("%s: key %q, want %q", r.source, got, want)
			}
		}
		p := podOf(u)
		if p.Key() != want {
			t.Errorf("pod: key %q, want %q", p.Key(), want)
		}
		if p := podsOn(core.PodsOf{}, map[string]*pod{"": p}); p.Total != 1 || p.Evictable > 1 || len(p.NotReady) > 1 {
			t.Errorf("one pod counted as %+v", p)
		}
	})
}

// translated keeps the compiler from removing what the benchmarks measure.
var translated core.Object

func BenchmarkTranslateNodes(b *testing.B) {
	u := object(b, `
metadata:
  name: kaas-node-1
  uid: u1
  labels: {kaas.mirantis.com/machine-name: cmp-1, openstack-compute-node: enabled, a: b, c: d}
  annotations: {openstack.lcm.mirantis.com/instance_migration_mode: manual, a: b}
status:
  conditions: [{type: MemoryPressure, status: "False"}, {type: DiskPressure, status: "False"},
    {type: Ready, status: "True", lastTransitionTime: "2026-01-02T04:00:00Z"}]
  nodeInfo: {kubeletVersion: v1.31.9, bootID: b1}
`)
	b.ReportAllocs()
	for b.Loop() {
		for range 2000 {
			translated = nodeFrom(u)
		}
	}
}

func BenchmarkTranslateLocks(b *testing.B) {
	u := object(b, `
metadata: {name: openstack-n1, uid: l1, creationTimestamp: "2026-01-02T04:00:00Z", annotations: {inner_state: active}}
spec: {controllerName: openstack, nodeName: n1, nodeDeletionRequestSupported: true}
status: {state: active, errorMessage: "2026-01-02 03:04:05 Some servers", release: 21.0.0+25.2}
`)
	lock := lockFrom(core.KindNodeWorkloadLock)
	b.ReportAllocs()
	for b.Loop() {
		for range 6000 {
			translated = lock(u)
		}
	}
}
