package scenario

import "slices"

// Aggregate is a host aggregate whose metadata flavors can require.
type Aggregate struct {
	Name     string            `json:"name"`
	Nodes    []string          `json:"nodes"` // machines
	Metadata map[string]string `json:"metadata"`
}

// ServerGroup is a server group; its members name it.
type ServerGroup struct {
	Name       string `json:"name"`
	Project    string `json:"project"`
	Policy     string `json:"policy"`     // affinity, anti-affinity, soft-affinity, soft-anti-affinity
	MaxPerHost int    `json:"maxPerHost"` // the most members of an anti-affinity group on one host; default 1
}

// Devices holds what ties an instance to its host besides its flavor.
type Devices struct {
	Port             string   `json:"port"`             // its port's binding:vnic_type; default normal
	EncryptedVolumes []string `json:"encryptedVolumes"` // names of attached volumes in Ceph
	LocalVolumes     []string `json:"localVolumes"`     // names of attached volumes on a host's own disks
	VolumesOn        string   `json:"volumesOn"`        // the machine with these disks; default the instance's
}

var (
	policies  = []string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"}
	vnicTypes = []string{"normal", "direct", "macvtap", "direct-physical", "vdpa", "accelerator-direct", "remote-managed"}
)

// checkPlacement checks aggregates, server groups and devices.
func (s *Scenario) checkPlacement(machines map[string]Node, check func(bool, string, ...any)) {
	check(s.Found == nil || len(s.Aggregates)+len(s.ServerGroups) == 0, "aggregates: an inventory of a live cloud has its own under found")
	for i, a := range s.Aggregates {
		check(a.Name != "", "aggregates[%d].name: is missing", i)
		for j, machine := range a.Nodes {
			check(machines[machine].Has(RoleCompute), "aggregates[%d].nodes[%d]: %s: %q is not a compute", i, j, a.Name, machine)
		}
	}
	unique := uniqueNames(check)
	for i, g := range s.ServerGroups {
		unique("serverGroups", i, g.Name)
		check(s.hasProject(g.Project), "serverGroups[%d].project: %s: there is no project %q", i, g.Name, g.Project)
		check(slices.Contains(policies, g.Policy), "serverGroups[%d].policy: %s: policy %q: want one of %v%s", i, g.Name, g.Policy, policies,
			suggestion{g.Policy, policies})
		check(g.MaxPerHost == 0 || g.MaxPerHost > 0 && g.Policy == "anti-affinity",
			"serverGroups[%d].maxPerHost: %s: is %d: goes with anti-affinity, from 1", i, g.Name, g.MaxPerHost)
	}
	for i, in := range s.Instances {
		if s.Found == nil {
			known := in.ServerGroup == "" || slices.ContainsFunc(s.ServerGroups, func(g ServerGroup) bool { return g.Name == in.ServerGroup })
			check(known, "instances[%d].serverGroup: instance %s: there is no server group %q", i, in.Name, in.ServerGroup)
		}
		check(in.Port == "" || slices.Contains(vnicTypes, in.Port), "instances[%d].port: instance %s: port %q: want one of %v%s", i, in.Name,
			in.Port, vnicTypes, suggestion{in.Port, vnicTypes})
		check(len(in.LocalVolumes) == 0 || in.Host != "", "instances[%d].localVolumes: instance %s: is on no host", i, in.Name)
		_, ok := machines[in.VolumesOn]
		check(in.VolumesOn == "" || ok && len(in.LocalVolumes) > 0,
			"instances[%d].volumesOn: instance %s: there is no node %q, or no localVolumes", i, in.Name, in.VolumesOn)
	}
}
