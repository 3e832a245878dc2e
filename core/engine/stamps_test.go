package engine

import (
	"maps"
	"slices"
	"testing"

	"lockstep/core"
)

// A changed object counts for the nodes that it was about and those that it is about; one that can matter to anything counts for
// everything.
func TestWhatAChangeTouches(t *testing.T) {
	node := func(label string) *core.Node {
		return &core.Node{Meta: core.Meta{Name: "cmp-1", UID: "u"}, ShortName: label}
	}
	withRole := func(role core.Role) *core.Node {
		n := node("a")
		n.Roles = []core.Role{role}
		return n
	}
	labelled := func(key string) *core.Node {
		n := node("a")
		n.Labels = map[string]string{key: "yes"}
		return n
	}
	lock := func(on string) *core.WorkloadLock { return &core.WorkloadLock{Node: on} }
	for _, tt := range []struct {
		what     string
		source   core.SourceID
		old, now core.Object
		all      bool
		nodes    []string
	}{
		{"a node that is as it was but for its facts", core.SourceNodes, node("a"), node("a"), false, []string{"cmp-1"}},
		{"a node with another label", core.SourceNodes, node("a"), node("b"), true, nil},
		{"a node with another role", core.SourceNodes, withRole(core.RoleMaster), withRole(core.RoleStorage), true, nil},
		{"a node with another role by its labels", core.SourceNodes, node("a"), labelled("net"), true, nil},
		{"a node with another label that is of no role", core.SourceNodes, node("a"), labelled("rack"), false, []string{"cmp-1"}},
		{"a node with the same role", core.SourceNodes, withRole(core.RoleCompute), withRole(core.RoleCompute), false, []string{"cmp-1"}},
		{"a new node", core.SourceNodes, nil, node("a"), true, nil},
		{"a node that is gone", core.SourceNodes, node("a"), nil, true, nil},
		{"a node's lock", core.SourceNodeLocks, lock("cmp-1"), lock("cmp-1"), false, []string{"cmp-1"}},
		{"a lock that names another node", core.SourceNodeLocks, lock("cmp-1"), lock("cmp-2"), false, []string{"cmp-1", "cmp-2"}},
		{"a new lock of a node", core.SourceNodeLocks, nil, lock("cmp-1"), false, []string{"cmp-1"}},
		{"a new lock of no node that exists", core.SourceNodeLocks, nil, lock("gone"), true, []string{"gone"}},
		{"another text in a lock of no node that exists", core.SourceNodeLocks, lock("gone"), lock("gone"), false, []string{"gone"}},
		{"the last trace of a node that is gone", core.SourceNodeRequests, &core.MaintenanceRequest{Node: "gone"}, nil, true, []string{"gone"}},
		{"a lock that names no node", core.SourceNodeLocks, nil, lock(""), true, nil},
		{"the cluster's lock", core.SourceClusterLocks, lock(""), lock(""), true, nil},
		{"a node's request", core.SourceNodeRequests, nil, &core.MaintenanceRequest{Node: "cmp-1"}, false, []string{"cmp-1"}},
		{"the cluster's request", core.SourceClusterRequests, nil, &core.MaintenanceRequest{}, true, nil},
		{"an instance that moved", core.SourceInstances, &core.Instance{ID: "i", Host: "cmp-1"}, &core.Instance{ID: "i", Host: "cmp-2"}, false,
			[]string{"cmp-1", "cmp-2"}},
		{"an instance on no host", core.SourceInstances, nil, &core.Instance{ID: "i"}, false, nil},
		{"a migration, at its instance's host too", core.SourceMigrations, nil,
			&core.Migration{InstanceID: "known", SourceHost: "cmp-1", DestHost: "cmp-2"}, false, []string{"cmp-1", "cmp-2", "cmp-3"}},
		{"a host with a domain name", core.SourceComputeServices, nil, &core.ComputeService{Host: "cmp-1.example"}, false,
			[]string{"cmp-1", "cmp-1.example"}},
		{"a project", core.SourceProjects, nil, &core.Project{ID: "p"}, true, nil},
	} {
		w := newWorld(nil, worldTime)
		w.put(core.SourceInstances, &core.Instance{ID: "known", Host: "cmp-3"})
		w.put(core.SourceNodes, node("a"))
		w.put(core.SourceNodes, &core.Node{Meta: core.Meta{Name: "cmp-2"}})
		w.withRoles = func(n *core.Node) *core.Node {
			return n.WithRoles(core.RoleLabels{core.RoleGateway: {Key: "net", Value: "yes"}})
		}
		var got touches
		got.object(w, tt.source, tt.old, tt.now)
		nodes := slices.Sorted(maps.Keys(got.nodes))
		if !got.any || got.all != tt.all || !slices.Equal(nodes, tt.nodes) {
			t.Errorf("%s: all %t, nodes %q; want %t, %q", tt.what, got.all, nodes, tt.all, tt.nodes)
		}
	}
}

// The objects of the management cluster are joined with the nodes anew when there is another node, or one is called otherwise; not when one
// only says something new: everything rests on them.
func TestANodesFactsLeaveTheManagementClusterAsItWas(t *testing.T) {
	w := newWorld(nil, worldTime)
	put := func(src core.SourceID, objects ...core.Object) {
		w.apply(core.Delta{Source: src, At: worldTime, Upserts: objects})
	}
	node := func(change func(*core.Node)) *core.Node {
		n := &core.Node{Meta: core.Meta{Name: "kaas-1", UID: "u"}, ShortName: "kaas-1", Ready: "True"}
		change(n)
		return n
	}
	snapshot := func(prev *core.Snapshot) *core.Snapshot {
		s := projected(w, prev)
		w.touched = touches{}
		return s
	}
	put(core.SourceNodes, node(func(*core.Node) {}))
	put(core.SourceClusters, &core.ManagedCluster{Meta: core.Meta{Name: "mos", Namespace: "p"}})
	put(core.SourceMachines, &core.ManagedMachine{Meta: core.Meta{Name: "cmp-1", Namespace: "p"}, Cluster: "mos", Node: "kaas-1"},
		&core.ManagedMachine{Meta: core.Meta{Name: "cmp-2", Namespace: "p"}, Cluster: "mos"})
	first := snapshot(nil)
	if first.Management == nil || first.Management.ByNode["kaas-1"] == nil {
		t.Fatalf("the machine is not joined: %+v", first.Management)
	}
	put(core.SourceNodes, node(func(n *core.Node) { n.Ready, n.Cordoned = "False", true }))
	second := snapshot(first)
	if second.Nodes["kaas-1"].Ready != "False" || second.Management != first.Management {
		t.Error("a node is not Ready, and the management cluster's objects are others")
	}
	put(core.SourceNodes, node(func(n *core.Node) { n.ShortName = "" }))
	third := snapshot(second)
	if third.Management == second.Management {
		t.Error("a node is called otherwise, and the management cluster's objects are not joined with it")
	}
	put(core.SourceNodes, &core.Node{Meta: core.Meta{Name: "kaas-2", UID: "v"}, ShortName: "cmp-2"})
	fourth := snapshot(third)
	if v := fourth.Management.ByNode["kaas-2"]; v == nil || v.Name != "cmp-2" {
		t.Errorf("a node has come, and its machine is %+v", v)
	}
	put(core.SourceMachines, &core.ManagedMachine{Meta: core.Meta{Name: "cmp-2", Namespace: "p"}, Cluster: "mos", Node: "kaas-2"})
	if fifth := snapshot(fourth); fifth.Management == fourth.Management {
		t.Error("a machine says something new, and nothing is joined")
	}
}
