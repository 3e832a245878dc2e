package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

// Where the management cluster keeps what it knows of its clusters (docs/mosk.md#where-things-live).
var (
	gvrClusters     = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "clusters"}
	gvrMachines     = schema.GroupVersionResource{Group: "cluster.k8s.io", Version: "v1alpha1", Resource: "machines"}
	gvrUpdatePlans  = schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "clusterupdateplans"}
	gvrUpdateGroups = schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "updategroups"}
)

const (
	labelClusterName = "cluster.sigs.k8s.io/cluster-name"
	labelUpdateGroup = core.LabelUpdateGroup
)

// managementResources are what ManagementInventory lists, in words for people.
var managementResources = []struct {
	what   string
	source core.SourceID
	gvr    schema.GroupVersionResource
}{
	{"machines", core.SourceMachines, gvrMachines}, {"clusters", core.SourceClusters, gvrClusters},
	{"update groups", core.SourceGroups, gvrUpdateGroups}, {"update plans", core.SourcePlans, gvrUpdatePlans},
}

// ManagementInventorySources are the sources whose resources ManagementInventory reads.
func ManagementInventorySources() []core.SourceID {
	var ids []core.SourceID
	for _, r := range managementResources {
		ids = append(ids, r.source)
	}
	return ids
}

// ManagementPermissions are what ManagementInventory needs on the management cluster in a namespace, the project; empty
// for all namespaces.
func ManagementPermissions(namespace string) []Permission {
	var needs []Permission
	for _, r := range managementResources {
		needs = append(needs, Permission{Verb: "list", Group: r.gvr.Group, Resource: r.gvr.Resource, Namespace: namespace})
	}
	return needs
}

// ManagementInventory reads, on the management cluster, what it knows of the MOSK cluster whose nodes have the given names:
// machines, update groups, update plans. The cluster is found by its machines, whose status names their nodes, in one project or
// (an empty namespace) in all of them. It is nil when no cluster has such nodes; the cluster is then listed as missing.
func (c *Client) ManagementInventory(ctx context.Context, namespace string, nodes []string,
	progress core.InventoryProgress) (*core.ManagementInventory, []core.MissingFacts) {
	found := map[string][]*unstructured.Unstructured{}
	reads := newReads(c, progress)
	for _, r := range managementResources {
		reads.start(ctx, r.what, resource{gvr: r.gvr, namespace: namespace}, func(list []*unstructured.Unstructured) { found[r.what] = list })
	}
	missing := reads.wait()
	project, cluster := clusterOfNodes(found["machines"], nodes)
	if cluster == "" {
		if len(missing) == 0 {
			missing = append(missing, core.MissingFacts{What: "update plan and groups", Err: &core.APIError{
				Kind: core.ErrNotFound, Server: core.ServerKubernetes, Call: "find the cluster on the management cluster",
				Message: fmt.Sprintf("none of %d machines there is a node of this cluster", len(found["machines"])),
				Remedy:  "Check --management-context and --management-namespace.",
			}})
		}
		return nil, missing
	}
	inv := &core.ManagementInventory{Namespace: project, Cluster: cluster}
	mine := func(u *unstructured.Unstructured) bool {
		return u.GetNamespace() == project && u.GetLabels()[labelClusterName] == cluster
	}
	for _, u := range found["clusters"] {
		if u.GetNamespace() == project && u.GetName() == cluster {
			inv.Release = fields(u.Object).at("status", "providerStatus", "releaseRefs", "current").text("name")
		}
	}
	for _, u := range found["machines"] {
		if mine(u) {
			inv.Machines = append(inv.Machines, machineFrom(u))
		}
	}
	for _, u := range found["update groups"] {
		if mine(u) {
			inv.Groups = append(inv.Groups, groupFrom(u))
		}
	}
	slices.SortStableFunc(inv.Groups, func(a, b core.UpdateGroup) int { return cmp.Or(a.Index-b.Index, strings.Compare(a.Name, b.Name)) })
	for _, u := range found["update plans"] {
		if u.GetNamespace() == project && fields(u.Object).at("spec").text("cluster") == cluster {
			inv.Plans = append(inv.Plans, planFrom(u))
		}
	}
	return inv, missing
}

// clusterOfNodes is the cluster that has the most of the nodes.
func clusterOfNodes(machines []*unstructured.Unstructured, nodes []string) (namespace, name string) {
	type key struct{ namespace, name string }
	var best key
	count := map[key]int{}
	known := map[string]bool{}
	for _, node := range nodes {
		known[node] = true
	}
	for _, u := range machines {
		if !known[nodeOfMachine(u)] {
			continue
		}
		k := key{u.GetNamespace(), u.GetLabels()[labelClusterName]}
		if count[k]++; k.name != "" && count[k] > count[best] {
			best = k
		}
	}
	return best.namespace, best.name
}

func nodeOfMachine(u *unstructured.Unstructured) string {
	return fields(u.Object).at("status", "nodeRef").text("name")
}

func machineFrom(u *unstructured.Unstructured) core.Machine {
	m := core.Machine{Name: u.GetName(), Node: nodeOfMachine(u), Group: u.GetLabels()[labelUpdateGroup]}
	o := fields(u.Object)
	for _, place := range []fields{o.at("status", "providerStatus"), o.at("spec", "providerSpec", "value")} {
		if n, ok := place.number("upgradeIndex"); ok {
			m.Index = n // the requested value counts before the reported one
		}
	}
	return m
}

func groupFrom(u *unstructured.Unstructured) core.UpdateGroup {
	spec := fields(u.Object).at("spec")
	g := core.UpdateGroup{Name: u.GetName(), Reboot: spec.truth("rebootIfUpdateRequires")}
	g.Index, _ = spec.number("index")
	g.Concurrency, _ = spec.number("concurrentUpdates")
	return g
}

func planFrom(u *unstructured.Unstructured) core.InventoryPlan {
	spec, status := fields(u.Object).at("spec"), fields(u.Object).at("status")
	p := core.InventoryPlan{
		Name: u.GetName(), Source: spec.text("source"), Target: spec.text("target"), Status: status.text("status"),
		Started: status.time("startedAt"), Completed: status.time("completedAt"),
	}
	for _, s := range spec.objects("steps") {
		step := core.PlanStep{ID: s.text("id"), Name: s.text("name"), Commence: s.truth("commence"), Granularity: s.text("granularity"),
			Users: s.at("impact").text("users"), Workloads: s.at("impact").text("workloads"), Estimate: s.at("duration").text("estimated")}
		if step.Estimate == "" {
			step.Estimate = s.at("duration").text("eta") // before 2.29 (docs/mosk.md#update-plans)
		}
		for _, st := range status.objects("steps") {
			if st.text("id") == step.ID && step.ID != "" || step.ID == "" && st.text("name") == step.Name {
				step.Status, step.Message, step.Duration, step.Started = st.text("status"), st.text("message"), st.text("duration"),
					st.time("startedAt")
			}
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}
