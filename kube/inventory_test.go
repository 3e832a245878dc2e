package kube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// A list of several pages is complete; when the server forgets the place of the next page, the list is read again.
func TestAnInventoryIsCompleteWhateverHappensBetweenPages(t *testing.T) {
	for _, forgetful := range []bool{false, true} {
		t.Run(fmt.Sprintf("the server forgets: %v", forgetful), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				const nodes = pageLimit + 3
				for i := range nodes {
					c.create(node(fmt.Sprintf("node-%04d", i)))
				}
				if forgetful {
					c.AddFault(kubeapi.Fault{Verb: "list", Resource: "nodes", Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Times: 1,
						Match: func(r *http.Request) bool { return r.URL.Query().Has("continue") }})
				}
				told := map[string]int{}
				inv, missing := c.client(kubeapi.Readonly).Inventory(t.Context(), func(what string, n int) { told[what] = n })
				if len(missing) > 0 {
					t.Fatalf("%s: %v", missing[0].What, missing[0].Err)
				}
				if len(inv.Nodes) != nodes || told["nodes"] != nodes {
					t.Errorf("%d nodes, and %d were told of", len(inv.Nodes), told["nodes"])
				}
				if !slices.IsSortedFunc(inv.Nodes, func(a, b core.InventoryNode) int { return strings.Compare(a.Name, b.Name) }) {
					t.Error("the nodes are in no order")
				}
				pages := 0
				for _, r := range c.Requests() {
					if r.User == kubeapi.Readonly && strings.Contains(r.Path, "/nodes") {
						pages++
					}
				}
				if want := map[bool]int{false: 2, true: 3}[forgetful]; pages != want {
					t.Errorf("the nodes were asked for %d times, want %d", pages, want)
				}
			})
		})
	}
}

func TestAnInventoryWithSomeRightsSaysWhatIsMissing(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann", Rules: []kubeapi.Rule{
			{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}},
			{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"lcm.mirantis.com"}, Resources: []string{"nodeworkloadlocks"},
				Verbs: []string{"list"}}},
		}}}})
		c.create(`{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {tfvrouter: enabled}},
		  status: {capacity: {cpu: "12", memory: 64Gi}}}`)
		c.create(nodeLock("l1", "n1"))
		inv, missing := c.client("ann").Inventory(t.Context(), nil)
		if len(inv.Nodes) != 1 || !inv.Nodes[0].VRouter || inv.Nodes[0].CPUs != 12 || inv.Nodes[0].RAMMiB != 64<<10 || len(inv.NodeLocks) != 1 {
			t.Errorf("nodes %+v, locks %v", inv.Nodes, inv.NodeLocks)
		}
		if all := len(InventorySources()); len(missing) != all-2 {
			t.Errorf("%d of %d lists are missing", len(missing), all)
		}
		for _, m := range missing {
			if m.Err.Kind != core.ErrForbidden || m.What == "" {
				t.Errorf("%s is missing because of %v", m.What, m.Err)
			}
		}
	})
}

// A snapshot needs no right that a Watcher lacks.
func TestAnInventoryNeedsAWatchersRights(t *testing.T) {
	needs := InventoryPermissions()
	if len(needs) != len(InventorySources()) {
		t.Errorf("it needs %v", needs)
	}
	for _, p := range needs {
		if !slices.Contains(WatchPermissions(), p) || p.Verb != "list" || p.Resource == "secrets" || p.Resource == "configmaps" {
			t.Errorf("it needs the right to %s", p)
		}
	}
}
