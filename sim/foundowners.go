package sim

import (
	"lockstep/sim/controller"
	"lockstep/sim/scenario"
)

// foundOwners leaves the machines off whose nodes were found not Ready, and lets somebody own every lock that was found: the
// controllers that call it as it is called, and a bystander the others. Ceph's locks are not called alike everywhere (docs/mosk.md#locks);
// its controller would delete what it does not know.
func foundOwners(s *scenario.Scenario, run *controller.Options) {
	if s.Found == nil {
		return
	}
	nodes := map[string]string{}
	for _, n := range s.Nodes {
		nodes[n.Machine] = n.Name
	}
	for _, n := range s.Nodes {
		if n.Ready != "" { // the simulated kubelets would be ready at once
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
