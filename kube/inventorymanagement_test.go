package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
)

// ownDefinition is a namespaced resource of the management cluster without a schema.
func ownDefinition(group, kind, plural string) crds.CRD {
	return crds.CRD{Name: plural + "." + group, YAML: []byte(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[2]s, listKind: %[2]sList, plural: %[3]s, singular: %[4]s}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, group, kind, plural, strings.ToLower(kind)))}
}

// management is a management cluster that serves two clusters in two projects.
func management(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t, kubeapi.Options{CRDs: []crds.CRD{
		ownDefinition("cluster.k8s.io", "Cluster", "clusters"), ownDefinition("cluster.k8s.io", "Machine", "machines"),
		ownDefinition("kaas.mirantis.com", "ClusterUpdatePlan", "clusterupdateplans"),
		ownDefinition("kaas.mirantis.com", "UpdateGroup", "updategroups"),
	}})
	for _, manifest := range []string{
		`{apiVersion: v1, kind: Namespace, metadata: {name: prod}}`,
		`{apiVersion: v1, kind: Namespace, metadata: {name: test}}`,
		`{apiVersion: cluster.k8s.io/v1alpha1, kind: Cluster, metadata: {name: mos, namespace: prod}, status: {providerStatus: {releaseRefs: ` +
			`{current: {name: mosk-17-4-0-25-1}}}}}`,
		`{apiVersion: cluster.k8s.io/v1alpha1, kind: Machine, metadata: {name: cmp-1, namespace: prod, labels: ` +
			`{cluster.sigs.k8s.io/cluster-name: mos, kaas.mirantis.com/update-group: first}}, spec: {providerSpec: {value: {upgradeIndex: 7}}}, ` +
			`status: {nodeRef: {name: n1}, providerStatus: {upgradeIndex: 3}}}`,
		`{apiVersion: cluster.k8s.io/v1alpha1, kind: Machine, metadata: {name: cmp-2, namespace: prod, labels: ` +
			`{cluster.sigs.k8s.io/cluster-name: mos}}, status: {nodeRef: {name: n2}}}`,
		`{apiVersion: cluster.k8s.io/v1alpha1, kind: Machine, metadata: {name: cmp-1, namespace: test, labels: ` +
			`{cluster.sigs.k8s.io/cluster-name: mos}}, status: {nodeRef: {name: other}}}`,
		`{apiVersion: kaas.mirantis.com/v1alpha1, kind: UpdateGroup, metadata: {name: last, namespace: prod, labels: ` +
			`{cluster.sigs.k8s.io/cluster-name: mos}}, spec: {index: 2, concurrentUpdates: 1}}`,
		`{apiVersion: kaas.mirantis.com/v1alpha1, kind: UpdateGroup, metadata: {name: first, namespace: prod, labels: ` +
			`{cluster.sigs.k8s.io/cluster-name: mos}}, spec: {index: 1, concurrentUpdates: 5, rebootIfUpdateRequires: true}}`,
		`{apiVersion: kaas.mirantis.com/v1alpha1, kind: ClusterUpdatePlan, metadata: {name: mos-21.0.0, namespace: prod}, spec: {cluster: mos,` +
			` source: mosk-17-4-0-25-1, target: mosk-21-0-0-25-2, steps: [{id: openstack, name: Update OpenStack, commence: true, duration: ` +
			`{estimated: 1h30m0s}}, {id: ceph, name: Update Ceph}]}, status: {status: InProgress, startedAt: "2026-11-21T19:00:00Z", steps: ` +
			`[{id: openstack, name: Update OpenStack, status: InProgress, message: "LCM progress: 3/18", startedAt: "2026-11-21T19:00:05Z"}, ` +
			`{id: ceph, status: NotStarted}]}}`,
		`{apiVersion: kaas.mirantis.com/v1alpha1, kind: ClusterUpdatePlan, metadata: {name: mos-21.0.0, namespace: test}, spec: {cluster: mos}}`,
	} {
		c.create(manifest)
	}
	return c
}

func TestTheManagementClusterTellsPlanAndGroups(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := management(t)
		inv, missing := c.client(kubeapi.Admin).ManagementInventory(t.Context(), "", []string{"n1", "n2", "n3"}, nil)
		if len(missing) > 0 {
			t.Fatalf("%s: %v", missing[0].What, missing[0].Err)
		}
		at := fields{"at": "2026-11-21T19:00:00Z", "step": "2026-11-21T19:00:05Z"}
		want := &core.ManagementInventory{
			Namespace: "prod", Cluster: "mos", Release: "mosk-17-4-0-25-1",
			Machines: []core.Machine{{Name: "cmp-1", Node: "n1", Group: "first", Index: 7}, {Name: "cmp-2", Node: "n2"}},
			Groups:   []core.UpdateGroup{{Name: "first", Index: 1, Concurrency: 5, Reboot: true}, {Name: "last", Index: 2, Concurrency: 1}},
			Plans: []core.InventoryPlan{{Name: "mos-21.0.0", Source: "mosk-17-4-0-25-1", Target: "mosk-21-0-0-25-2", Status: "InProgress",
				Started: at.time("at"),
				Steps: []core.PlanStep{
					{ID: "openstack", Name: "Update OpenStack", Commence: true, Estimate: "1h30m0s", Status: "InProgress", Message: "LCM progress: 3/18",
						Started: at.time("step")},
					{ID: "ceph", Name: "Update Ceph", Status: "NotStarted"},
				}}},
		}
		if diff := cmp.Diff(want, inv); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAClusterThatTheManagementDoesNotKnowIsMissing(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := management(t)
		inv, missing := c.client(kubeapi.Admin).ManagementInventory(t.Context(), "test", []string{"n1"}, nil)
		if inv != nil || len(missing) != 1 || missing[0].Err.Kind != core.ErrNotFound ||
			!strings.Contains(missing[0].Err.Remedy, "--management-context") {
			t.Errorf("%+v, missing %+v", inv, missing)
		}
		c.AddFault(kubeapi.Fault{Verb: "list", Resource: "updategroups", Code: http.StatusForbidden})
		inv, missing = c.client(kubeapi.Admin).ManagementInventory(t.Context(), "prod", []string{"n1"}, nil)
		if inv == nil || len(inv.Plans) != 1 || len(missing) != 1 || missing[0].What != "update groups" ||
			missing[0].Err.Kind != core.ErrForbidden {
			t.Errorf("%+v, missing %+v", inv, missing)
		}
	})
}
