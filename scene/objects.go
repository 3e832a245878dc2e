package scene

import "lockstep/core"

// Objects are facts of the scene by their sources, as an adapter would tell them: nodes, locks, requests, compute services, instances,
// deployments and projects.
func (sc Scene) Objects() map[core.SourceID][]core.Object {
	all := map[core.SourceID][]core.Object{}
	add := func(id core.SourceID, o core.Object) { all[id] = append(all[id], o) }
	for _, n := range sc.Nodes {
		add(core.SourceNodes, n)
	}
	for _, l := range sc.ClusterLocks {
		add(core.SourceClusterLocks, l)
	}
	for _, locks := range sc.NodeLocks.All() {
		for _, l := range locks {
			add(core.SourceNodeLocks, l)
		}
	}
	for _, r := range sc.ClusterRequests {
		add(core.SourceClusterRequests, r)
	}
	for _, requests := range sc.NodeRequests {
		for _, r := range requests {
			add(core.SourceNodeRequests, r)
		}
	}
	for _, s := range sc.Services {
		add(core.SourceComputeServices, s)
	}
	for _, in := range sc.Instances.All() {
		add(core.SourceInstances, in)
	}
	for _, d := range sc.Deployments {
		add(core.SourceOpenStackDeployment, d)
	}
	for id, name := range sc.Projects {
		add(core.SourceProjects, &core.Project{ID: id, Name: name})
	}
	return all
}
