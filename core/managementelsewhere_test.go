package core

import "testing"

// A cluster that the configuration names is not taken for this one while its machines are other nodes: its plan would be driven by what
// another cluster's nodes show. Before any machine says which node it is, its name counts. That it is another one is certain only where a
// machine is a node elsewhere.
func TestANamedClusterWhoseMachinesAreOtherNodes(t *testing.T) {
	place := ManagementPlace{Namespace: "us", Cluster: "mos"}
	cluster := &ManagedCluster{Meta: Meta{Namespace: "us", Name: "mos"}}
	machine := func(node string) *ManagedMachine {
		return &ManagedMachine{Meta: Meta{Namespace: "us", Name: "m-1"}, Cluster: "mos", Node: node}
	}
	here := map[string]*Node{"kaas-node-eu": {Meta: Meta{Name: "kaas-node-eu"}}}
	for name, tt := range map[string]struct {
		nodes   map[string]*Node
		machine *ManagedMachine
		found   bool
	}{
		"its machines are elsewhere":   {here, machine("kaas-node-us"), false},
		"its machine is here":          {here, machine("kaas-node-eu"), true},
		"no machine is a node yet":     {here, machine(""), true},
		"no node has been listed here": {nil, machine("kaas-node-us"), true},
	} {
		if m := JoinManagement(place, tt.nodes, cluster, tt.machine); m.Found != tt.found || m.Elsewhere == tt.found {
			t.Errorf("%s: found is %v, elsewhere %v", name, m.Found, m.Elsewhere)
		}
	}
	if m := JoinManagement(place, here, machine("kaas-node-us")); m.Elsewhere {
		t.Error("a cluster that is not seen is taken for another one")
	}
	if m := JoinManagement(ManagementPlace{}, here, cluster, machine("kaas-node-us")); m.Found || m.Elsewhere {
		t.Error("where no cluster is named, none is another one")
	}
}
