package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
)

// One object of each kind of the management cluster, with the fields of docs/mosk.md#management-objects.
func TestManagementTranslation(t *testing.T) {
	on := true
	tests := map[string]struct {
		translate translate
		manifest  string
		want      core.Object
	}{
		"a cluster": {managedClusterFrom, `
metadata: {name: mos, namespace: prod, uid: u1, resourceVersion: "7"}
spec: {providerSpec: {value: {release: mosk-21-0-0-25-2, maintenance: true}}}
status:
  providerStatus:
    ready: false
    maintenance: true
    conditions:
      - {type: Helm, ready: true}
      - {type: Kubernetes, ready: false, message: "not ready machines: cmp-1"}
      - {type: Newer, status: "True"}
    nodes: {requested: 3, ready: 2}
    releaseRefs: {current: {name: mosk-17-4-0-25-1}, available: [{version: 21.0.0, name: mosk-21-0-0-25-2, rebootRequired: true}]}`,
			&core.ManagedCluster{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "u1"}, Target: "mosk-21-0-0-25-2", Maintenance: &on,
				InMaintenance: true, ReadyKnown: true, Release: "mosk-17-4-0-25-1", Requested: 3, ReadyNodes: 2,
				Available: []core.OfferedRelease{{Name: "mosk-21-0-0-25-2", Version: "21.0.0", Reboot: true}},
				Conditions: []core.Condition{{Type: "Helm", Ready: true}, {Type: "Kubernetes", Message: "not ready machines: cmp-1"},
					{Type: "Newer", Ready: true}}}},
		"a machine": {managedMachineFrom, `
metadata:
  name: cmp-1
  namespace: prod
  uid: u1
  labels: {cluster.sigs.k8s.io/cluster-name: mos, kaas.mirantis.com/update-group: canary, cluster.sigs.k8s.io/control-plane: controlplane}
spec: {providerSpec: {value: {upgradeIndex: 4}}}
status:
  nodeRef: {name: kaas-node-1}
  providerStatus: {status: Deploy, ready: true, reboot: {required: true, reason: kernel}, conditions: [{type: Kubelet, ready: true}]}`,
			&core.ManagedMachine{Meta: core.Meta{Name: "cmp-1", Namespace: "prod", UID: "u1"}, Cluster: "mos", Node: "kaas-node-1", Control: true,
				Group:        "canary",
				UpgradeIndex: 4, IndexAsked: new(4), Status: "Deploy", Ready: true, ReadyKnown: true, Reboot: true, RebootReason: "kernel",
				Conditions: []core.Condition{{Type: "Kubelet", Ready: true}}}},
		"a machine of a newer API": {managedMachineFrom, `{metadata: {name: cmp-1}, status: {phase: Ready}}`,
			&core.ManagedMachine{Meta: core.Meta{Name: "cmp-1"}, Status: "Ready"}},
		"a cluster of LCM's that is stuck": {lcmClusterFrom,
			`{metadata: {name: mos}, status: {requestedNodes: 3, readyNodes: 2, lcmOperationStuck: true, lcmOperationStuckMessage: "drain failed"}}`,
			&core.LCMCluster{Meta: core.Meta{Name: "mos"}, Stuck: true, StuckMessage: "drain failed", Requested: 3, ReadyNodes: 2}},
		"one that only has the message": {lcmClusterFrom, `{metadata: {name: mos}, status: {lcmOperationStuckMessage: "drain failed"}}`,
			&core.LCMCluster{Meta: core.Meta{Name: "mos"}, Stuck: true, StuckMessage: "drain failed"}},
		"one that was stuck": {lcmClusterFrom,
			`{metadata: {name: mos}, status: {lcmOperationStuck: false, lcmOperationStuckMessage: "drain failed"}}`,
			&core.LCMCluster{Meta: core.Meta{Name: "mos"}, StuckMessage: "drain failed"}},
		"a machine of LCM's": {lcmMachineFrom, `
metadata: {name: cmp-1, namespace: prod, annotations: {lcm.mirantis.com/graceful-reboot: "true"}}
spec:
  clusterName: mos
  type: worker
  stateItems: [{name: images, phase: prepare, runner: downloader}, {name: host, phase: deploy, runner: ansible}]
status:
  state: Deploy
  release: mosk-17-4-0-25-1
  agentVersion: 1.43.0
  addresses: [{type: InternalIP, address: 10.0.0.1}, {type: Hostname, address: kaas-node-1}]
  kubernetesCordonDrain: cordondrained
  kubernetesCordonDrainError: was slow
  reboot: {requestedAt: "2026-01-02T03:04:05Z", completed: true}
  hostInfo: {rebootRequired: true}
  stateItemStatuses:
    host: {exitCode: 100, attempt: 2, message: "E: no", startedAt: "2026-01-02T03:04:05Z", finishedAt: "2026-01-02T03:05:05Z"}
    images: {attempt: 1, startedAt: "2026-01-02T03:00:00Z", finishedAt: "0001-01-01T00:00:00Z"}
    alien: {exitCode: 0}`,
			&core.LCMMachine{Meta: core.Meta{Name: "cmp-1", Namespace: "prod"}, Cluster: "mos", Kind: "worker", Hostname: "kaas-node-1",
				State:   "Deploy",
				Release: "mosk-17-4-0-25-1", AgentVersion: "1.43.0", Drain: "cordondrained", DrainError: "was slow", Graceful: true,
				RebootAsked: date(2026, 1, 2, 3, 4, 5), RebootDone: true, HostReboot: true, Items: []core.StateItem{
					{Name: "images", Phase: "prepare", Runner: "downloader", Attempt: 1, Started: date(2026, 1, 2, 3, 0, 0)},
					{Name: "host", Phase: "deploy", Runner: "ansible", ExitCode: 100, Message: "E: no", Attempt: 2, Started: date(2026, 1, 2, 3, 4, 5),
						Finished: date(2026, 1, 2, 3, 5, 5)},
					{Name: "alien"},
				}}},
		"a drain": {drainStateFrom, `
metadata: {name: cd-cmp-1, annotations: {lcm.mirantis.com/cluster-state-reason: upgrade}}
spec: {clusterName: mos, type: cordon-drain, arg: cmp-1, value: "true"}
status: {value: "false", attempt: 3, message: refused}`,
			&core.DrainState{Meta: core.Meta{Name: "cd-cmp-1"}, Cluster: "mos", Type: "cordon-drain", Machine: "cmp-1", Wanted: "true",
				Value:   "false",
				Attempt: 3, Message: "refused", Reason: "upgrade"}},
		"a plan": {updatePlanFrom, `
metadata: {name: mos-21.0.0}
spec:
  cluster: mos
  source: mosk-17-4-0-25-1
  target: mosk-21-0-0-25-2
  steps: [{id: openstack, name: OpenStack, commence: true, granularity: cluster, impact: {users: minor, workloads: none},
    duration: {eta: 1h30m0s}}]
status: {status: InProgress, startedAt: "2026-01-02T03:04:05Z", steps: [{id: openstack, status: Stuck, message: late, duration: 2h}]}`,
			&core.UpdatePlan{Meta: core.Meta{Name: "mos-21.0.0"}, Cluster: "mos", Source: "mosk-17-4-0-25-1", Target: "mosk-21-0-0-25-2",
				Status:  "InProgress",
				Started: date(2026, 1, 2, 3, 4, 5), Steps: []core.PlanStep{{ID: "openstack", Name: "OpenStack", Commence: true, Granularity: "cluster",
					Users: "minor", Workloads: "none", Estimate: "1h30m0s", Status: "Stuck", Message: "late", Duration: "2h"}}}},
		"a group": {machineGroupFrom,
			`{metadata: {name: canary, labels: {cluster.sigs.k8s.io/cluster-name: mos}}, spec: {index: 2, concurrentUpdates: 3, ` +
				`rebootIfUpdateRequires: true}}`,
			&core.MachineGroup{Meta: core.Meta{Name: "canary"}, Cluster: "mos", Index: 2, Concurrent: 3, Reboot: true}},
		"an automatic pause": {autoPauseFrom,
			`{metadata: {name: mos}, spec: {alerts: [A, B]}, status: {firingAlerts: [B], error: unknown alert}}`,
			&core.AutoPause{Meta: core.Meta{Name: "mos"}, Alerts: []string{"A", "B"}, Firing: []string{"B"}, Error: "unknown alert"}},
		"a graceful reboot": {rebootRequestFrom, `{metadata: {name: mos}, spec: {machines: [cmp-1]}}`,
			&core.RebootRequest{Meta: core.Meta{Name: "mos"}, Machines: []string{"cmp-1"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.translate(object(t, tt.manifest))); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// No object makes a translation fail: many of these fields are known only from older versions.
func TestManagementTranslationIsTotal(t *testing.T) {
	keys := []string{"spec", "status", "metadata", "name", "labels", "providerSpec", "value", "providerStatus", "conditions", "stateItems",
		"stateItemStatuses",
		"addresses", "steps", "duration", "impact", "alerts", "reboot", "maintenance", "machines", "releaseRefs", "nodes", "hostInfo"}
	var anything func(depth int) *rapid.Generator[any]
	anything = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just[any](nil),
			rapid.Map(rapid.Float64(), func(f float64) any { return f }))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(anything(depth-1), 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom(keys), anything(depth-1), 0, 5), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.MapOf(rapid.SampledFrom(keys), anything(4)).Draw(t, "object")
		for _, r := range watchedManagement("") {
			if o := r.translate(&unstructured.Unstructured{Object: content}); o == nil {
				t.Fatalf("%s translates to nothing", r.source)
			}
		}
	})
}

// managed is a management cluster with one cluster in it.
func managed(t *testing.T, options kubeapi.Options) *cluster {
	t.Helper()
	if options.CRDs == nil {
		options.CRDs = crds.Management()
	}
	if options.Users == nil {
		options.Users = kubeapi.ManagementUsers()
	}
	c := newCluster(t, options)
	for _, manifest := range []string{
		`{apiVersion: v1, kind: Namespace, metadata: {name: prod}}`,
		`{apiVersion: v1, kind: Namespace, metadata: {name: test}}`,
		`{apiVersion: cluster.k8s.io/v1alpha1, kind: Cluster, metadata: {name: mos, namespace: prod}, spec: {providerSpec: {value: ` +
			`{maintenance: false, release: mosk-17-4-0-25-1}}}, status: {providerStatus: {ready: true}}}`,
		`{apiVersion: cluster.k8s.io/v1alpha1, kind: Machine, metadata: {name: cmp-1, namespace: prod, labels: ` +
			`{cluster.sigs.k8s.io/cluster-name: mos}}, spec: {providerSpec: {value: {}}}, status: {nodeRef: {name: n1}}}`,
		`{apiVersion: cluster.k8s.io/v1alpha1, kind: Machine, metadata: {name: cmp-1, namespace: test, labels: ` +
			`{cluster.sigs.k8s.io/cluster-name: mos}}, spec: {providerSpec: {value: {}}}}`,
		`{apiVersion: lcm.mirantis.com/v1alpha1, kind: LCMMachine, metadata: {name: cmp-1, namespace: prod}, spec: {clusterName: mos}, ` +
			`status: {state: Ready}}`,
	} {
		c.create(manifest)
	}
	return c
}

func watchManagement(t *testing.T, c *cluster, user, namespace string) *observer {
	t.Helper()
	client := c.client(user)
	_, o := watchBy(t, func(sink func(core.Delta)) *Watcher {
		return NewManagementWatcher(client, namespace, sink, WatchOptions{})
	})
	return o
}

func TestTheManagementClusterIsWatched(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		o := watchManagement(t, c, kubeapi.Readonly, "prod")
		want := map[core.SourceID][]string{core.SourceClusters: {"prod/mos"}, core.SourceMachines: {"prod/cmp-1"},
			core.SourceLCMMachines: {"prod/cmp-1"}}
		for _, id := range core.ManagementSources() {
			o.wait(string(id)+" live", func(v *view) bool { return v.is(id, want[id]...) })
		}
		c.update(lcm("lcmmachines"), "prod", "cmp-1", func(m map[string]any) {
			m["metadata"].(map[string]any)["annotations"] = map[string]any{annotationGraceful: "true"}
		})
		o.wait("a change", func(v *view) bool { return v.objects[core.SourceLCMMachines]["prod/cmp-1"].(*core.LCMMachine).Graceful })
		all := watchManagement(t, c, kubeapi.Readonly, "")
		all.wait("all projects", func(v *view) bool { return v.is(core.SourceMachines, "prod/cmp-1", "test/cmp-1") })
	})
}

// A kind that an older release lacks is absent, and the others are live.
func TestAKindThatTheManagementClusterLacksIsAbsent(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		without := slices.DeleteFunc(crds.Management(), func(crd crds.CRD) bool { return strings.HasPrefix(crd.Name, "updateautopauses.") })
		o := watchManagement(t, managed(t, kubeapi.Options{CRDs: without}), kubeapi.Readonly, "prod")
		o.wait("absent", func(v *view) bool {
			err := v.err[core.SourceAutoPauses]
			return v.state[core.SourceAutoPauses] == core.SourceAbsent && err.Kind == core.ErrNotFound && err.Server == core.ServerManagement
		})
		o.wait("the others live", func(v *view) bool { return v.is(core.SourceMachines, "prod/cmp-1") && v.is(core.SourcePlans) })
	})
}

// A forbidden source says which right is missing, and which manifest gives it.
func TestForbiddenOnTheManagementClusterSaysWhichRight(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t,
			kubeapi.Options{Users: []kubeapi.User{{Name: "ann", Rules: []kubeapi.Rule{rule("cluster.k8s.io", "machines", "list", "watch")}}}})
		o := watchManagement(t, c, "ann", "prod")
		for id, words := range map[core.SourceID]string{
			core.SourceClusters: "You may not list clusters.cluster.k8s.io in namespace prod",
			core.SourceDrains:   "You may not list lcmclusterstates.lcm.mirantis.com in namespace prod",
			core.SourcePlans:    "You may not list clusterupdateplans.kaas.mirantis.com in namespace prod",
		} {
			o.wait(string(id)+" forbidden", func(v *view) bool {
				err := v.err[id]
				return v.state[id] == core.SourceForbidden && strings.Contains(err.Remedy, words) &&
					strings.Contains(err.Remedy, "deploy/rbac-management-readonly.yaml")
			})
		}
		o.wait("what is allowed", func(v *view) bool { return v.is(core.SourceMachines, "prod/cmp-1") })
	})
}

// In an outage what was seen stays, and is live again after it.
func TestAnOutageOfTheManagementClusterLeavesWhatWasSeen(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		o := watchManagement(t, c, kubeapi.Readonly, "prod")
		o.wait("live", func(v *view) bool { return v.is(core.SourceMachines, "prod/cmp-1") })
		back := c.AddFault(kubeapi.Fault{Match: ours, Code: http.StatusServiceUnavailable})
		c.CutWatches("")
		o.wait("stale", func(v *view) bool {
			err := v.err[core.SourceMachines]
			return v.state[core.SourceMachines] == core.SourceStale && err != nil && err.Server == core.ServerManagement &&
				slices.Equal(v.names(core.SourceMachines), []string{"prod/cmp-1"})
		})
		back()
		o.wait("live again", func(v *view) bool { return v.is(core.SourceMachines, "prod/cmp-1") })
	})
}
