package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantities "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	selectors "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

const (
	pageLimit    = 500              // objects in one answer of a complete list
	pageTimeout  = 60 * time.Second // for one answer
	readsAtOnce  = 4                // lists that are read at the same time
	labelVRouter = "tfvrouter"
	// releaseVariable is the environment variable that tells Rockoon the release that it belongs to (docs/mosk.md#rockoon).
	releaseVariable = "OSCTL_CLUSTER_RELEASE"
	// roleLabelsVariable is the environment variable that names the labels of the roles that Rockoon knows (docs/mosk.md#roles).
	roleLabelsVariable = "OSCTL_OPENSTACK_NODE_LABELS"
)

// inventoried are the resources that Inventory lists: those of the maintenance itself, and the sets of workloads with their pods.
func inventoried() []resource {
	all := slices.Clone(watched)
	for _, r := range workloads {
		if r.source != core.SourceTempestJob && r.source != core.SourceOpenStackDeployment {
			all = append(all, r)
		}
	}
	return all
}

// Inventory reads once, completely, what the cluster knows of an update: the resources that a Watcher watches, with the same rights
// except "watch". What cannot be read is in the list of what is missing, with the reason.
func (c *Client) Inventory(ctx context.Context, progress core.InventoryProgress) (core.ClusterInventory, []core.MissingFacts) {
	lists := inventoried()
	found := make([][]core.Object, len(lists))
	release, capacity := "", map[string]*unstructured.Unstructured{}
	reads := newReads(c, progress)
	for i, r := range lists {
		reads.start(ctx, string(r.source), r, func(list []*unstructured.Unstructured) {
			for _, u := range list {
				found[i] = append(found[i], r.translate(u))
				switch r.source {
				case core.SourceOpenStackController:
					release = variableOf(fields(u.Object), releaseVariable)
				case core.SourceNodes:
					capacity[u.GetName()] = u
				}
			}
		})
	}
	missing := reads.wait()
	inv := core.ClusterInventory{DaemonRevisions: map[string][]*core.DaemonRevision{}, DaemonPods: map[string][]*core.DaemonPod{}}
	for _, object := range slices.Concat(found...) {
		switch o := object.(type) {
		case *core.Node:
			inv.Nodes = append(inv.Nodes, inventoryNode(o, fields(capacity[o.Name].Object)))
		case *core.WorkloadLock:
			if o.Kind == core.KindClusterWorkloadLock {
				inv.ClusterLocks = append(inv.ClusterLocks, o)
			} else {
				inv.NodeLocks = append(inv.NodeLocks, o)
			}
		case *core.MaintenanceRequest:
			if o.Kind == core.KindClusterMaintenanceRequest {
				inv.ClusterRequests = append(inv.ClusterRequests, o)
			} else {
				inv.NodeRequests = append(inv.NodeRequests, o)
			}
		case *core.NodeNotice:
			if o.Kind == core.KindNodeDeletionRequest {
				inv.Deletions = append(inv.Deletions, o)
			} else {
				inv.Disablings = append(inv.Disablings, o)
			}
		case *core.OpenStackStatus:
			inv.OpenStack = append(inv.OpenStack, o)
		case *core.Deployment:
			inv.Controller, inv.ControllerRelease = o, release
		case *core.StatefulSet:
			inv.StatefulSets = append(inv.StatefulSets, o)
		case *core.DaemonSet:
			inv.DaemonSets = append(inv.DaemonSets, o)
		case *core.DaemonRevision:
			inv.DaemonRevisions[o.Owner] = append(inv.DaemonRevisions[o.Owner], o)
		case *core.DaemonPod:
			inv.DaemonPods[o.Owner] = append(inv.DaemonPods[o.Owner], o)
		}
	}
	return inv, missing
}

// InventorySources are the sources whose resources Inventory reads.
func InventorySources() []core.SourceID {
	var ids []core.SourceID
	for _, r := range inventoried() {
		ids = append(ids, r.source)
	}
	return ids
}

// InventoryPermissions are what Inventory needs: the list of each resource that it reads.
func InventoryPermissions() []Permission {
	var needs []Permission
	for _, r := range inventoried() {
		needs = append(needs, r.permission("list"))
	}
	return needs
}

func inventoryNode(n *core.Node, o fields) core.InventoryNode {
	capacity := o.at("status", "capacity")
	quantity := func(key string) int64 {
		q, err := quantities.ParseQuantity(capacity.text(key))
		if err != nil {
			return 0
		}
		return q.Value()
	}
	return core.InventoryNode{
		Node: n, VRouter: o.at("metadata", "labels").text(labelVRouter) == "enabled",
		CPUs: int(quantity("cpu")), RAMMiB: int(quantity("memory") >> 20),
	}
}

// variableOf is the value of an environment variable that a Deployment's containers have; empty when none has it.
func variableOf(o fields, name string) string {
	for _, container := range o.at("spec", "template", "spec").objects("containers") {
		for _, variable := range container.objects("env") {
			if variable.text("name") == name {
				return variable.text("value")
			}
		}
	}
	return ""
}

// reads runs complete lists, a few at a time, and keeps what is missing.
type reads struct {
	client   *Client
	progress core.InventoryProgress
	group    sync.WaitGroup
	slots    chan struct{}

	mu      sync.Mutex
	missing []core.MissingFacts
}

func newReads(c *Client, progress core.InventoryProgress) *reads {
	if progress == nil {
		progress = func(string, int) {}
	}
	return &reads{client: c, progress: progress, slots: make(chan struct{}, readsAtOnce)}
}

// start reads a list in the background and passes it to take. No two takes run at the same time.
func (r *reads) start(ctx context.Context, what string, res resource, take func([]*unstructured.Unstructured)) {
	r.group.Go(func() {
		r.slots <- struct{}{}
		defer func() { <-r.slots }()
		list, err := r.client.listAll(ctx, res)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.missing = append(r.missing, core.MissingFacts{What: what, Err: err})
			return
		}
		slices.SortFunc(list, func(a, b *unstructured.Unstructured) int {
			return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
		})
		take(list)
		r.progress(what, len(list))
	})
}

// wait ends when all lists have been read, and says what is missing in a fixed order.
func (r *reads) wait() []core.MissingFacts {
	r.group.Wait()
	slices.SortFunc(r.missing, func(a, b core.MissingFacts) int { return strings.Compare(a.What, b.What) })
	return r.missing
}

// listAll reads a list in pages. Where the server has forgotten the place of the next page (410), the whole list is read at once
// instead: the pages would be from two moments.
func (c *Client) listAll(ctx context.Context, res resource) ([]*unstructured.Unstructured, *core.APIError) {
	options := metav1.ListOptions{Limit: pageLimit, LabelSelector: res.labels}
	if res.name != "" {
		options.FieldSelector = selectors.OneTermEqualSelector("metadata.name", res.name).String()
	}
	var all []*unstructured.Unstructured
	for {
		page, err := c.listPage(ctx, res.gvr, res.namespace, options)
		if err != nil && (apierrors.IsResourceExpired(err) || apierrors.IsGone(err)) && options.Continue != "" {
			options.Limit, options.Continue, all = 0, "", nil
			continue
		}
		if err != nil {
			return nil, Describe(err, res.call("list"))
		}
		for i := range page.Items {
			all = append(all, &page.Items[i])
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, nil
		}
	}
}

func (c *Client) listPage(ctx context.Context, gvr schema.GroupVersionResource, namespace string,
	options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return c.resource(gvr, namespace).List(ctx, options)
}
