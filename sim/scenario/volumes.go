package scenario

import "slices"

// Volume is a volume on the disks of a node that is not attached to an instance.
type Volume struct {
	Name    string `json:"name"`
	Project string `json:"project"`
	Host    string `json:"host"`    // machine name
	SizeGiB int    `json:"sizeGiB"` // default 100
}

// FoundVolumeService is a cinder-volume service.
type FoundVolumeService struct {
	Node           string `json:"node"`    // machine name; empty if its host is not one of the nodes
	Host           string `json:"host"`    // Cinder's name of the host, if it is not one of the nodes
	Backend        string `json:"backend"` // Cinder's name of the back end; default lvm
	Zone           string `json:"zone"`    // empty: nova
	Disabled       bool   `json:"disabled"`
	DisabledReason string `json:"disabledReason"`
	Down           bool   `json:"down"` // it does not report
}

// hostRoles are the roles of nodes that are hosts of the simulated OpenStack.
var hostRoles = []string{RoleCompute, RoleGateway, RoleController}

// checkVolumes checks volumes and their services.
func (s *Scenario) checkVolumes(machines map[string]Node, check func(bool, string, ...any)) {
	for i, n := range s.Nodes {
		check(len(n.VolumeBackends) == 0 || slices.ContainsFunc(hostRoles, n.Has), "nodes[%d].volumeBackends: node %s is none of %v", i,
			n.Machine, hostRoles)
		check(len(n.VolumeBackends) == 0 || s.Found == nil, "nodes[%d].volumeBackends: an inventory of a live cloud has its own under found", i)
		for j, name := range n.VolumeBackends {
			check(name != "" && !slices.Contains(n.VolumeBackends[:j], name),
				"nodes[%d].volumeBackends[%d]: node %s: back end %q has no name or is there twice", i, j, n.Machine, name)
		}
	}
	for i, v := range s.Volumes {
		_, ok := machines[v.Host]
		check(ok, "volumes[%d].host: %s is on the node %q, which is not there", i, v.Name, v.Host)
		check(v.Name != "", "volumes[%d].name: is missing", i)
		check(s.hasProject(v.Project), "volumes[%d].project: %s: there is no project %q", i, v.Name, v.Project)
		check(v.SizeGiB >= 0, "volumes[%d].sizeGiB: %s: %d: want more than 0", i, v.Name, v.SizeGiB)
	}
	if s.Found == nil {
		return
	}
	for i, v := range s.Found.VolumeServices {
		_, ok := machines[v.Node]
		check(ok != (v.Host != "" && v.Node == ""), "found.volumeServices[%d]: is of the node %q, which is not there, or of no host", i, v.Node)
	}
}
