package sim

import (
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// foundOwners switches off the machines of nodes that were found not Ready, and gives every lock that was found an
// owner: the controllers take the locks that have their names, a bystander takes the others. Ceph's locks have
// different names in different clusters (docs/mosk.md#locks); its controller would delete the ones it does not know.
func foundOwners(s *scenario.Scenario, run *controller.Options) {
	if s.Found == nil {
		return
	}
	nodes := map[string]string{}
	for _, n := range s.Nodes {
		nodes[n.Machine] = n.Name
	}
	for _, n := range s.Nodes {
		if n.Ready != "" { // otherwise the simulated kubelets would be ready at once
			run.Off = append(run.Off, n.Name)
		}
	}
	strange := func(l scenario.FoundLock) bool {
		return !controller.Calls(l.Controller, l.Name, nodes[l.Node], s.Cloud.Deployment, s.Cloud.Fabric)
	}
	const ceph = "ceph"
	for _, list := range [][]scenario.FoundLock{s.Found.ClusterLocks, s.Found.NodeLocks} {
		for _, l := range list {
			run.Ceph = run.Ceph && (l.Controller != ceph || !strange(l))
		}
	}
	adopt := func(locks []scenario.FoundLock) []string {
		var names []string
		for _, l := range locks {
			if strange(l) || l.Controller == ceph && !run.Ceph {
				names = append(names, l.Name)
			}
		}
		return names
	}
	run.Found = controller.Bystander{ClusterLocks: adopt(s.Found.ClusterLocks), NodeLocks: adopt(s.Found.NodeLocks)}
}
