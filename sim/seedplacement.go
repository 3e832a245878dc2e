package sim

import (
	"cmp"
	"fmt"

	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// seedPlacement adds a scenario's aggregates and server groups.
func seedPlacement(cloud *openstack.Cloud, s *scenario.Scenario, hosts map[string]string) error {
	for _, a := range s.Aggregates {
		spec := openstack.AggregateSpec{Name: a.Name, Metadata: a.Metadata}
		for _, machine := range a.Nodes {
			spec.Hosts = append(spec.Hosts, hosts[machine])
		}
		if err := cloud.AddAggregate(spec); err != nil {
			return fmt.Errorf("seed aggregate %s: %w", a.Name, err)
		}
	}
	for _, g := range s.ServerGroups {
		if _, err := cloud.AddServerGroup(openstack.GroupSpec{Name: g.Name, Project: g.Project, Policy: g.Policy,
			MaxPerHost: g.MaxPerHost}); err != nil {
			return fmt.Errorf("seed server group %s: %w", g.Name, err)
		}
	}
	return nil
}

// volumesOf returns the volumes attached to an instance.
func volumesOf(in scenario.Instance, hosts map[string]string) []openstack.VolumeSpec {
	var all []openstack.VolumeSpec
	for _, name := range in.EncryptedVolumes {
		all = append(all, openstack.VolumeSpec{Name: name, Encrypted: true})
	}
	for _, name := range in.LocalVolumes {
		all = append(all, openstack.VolumeSpec{Name: name, Host: hosts[cmp.Or(in.VolumesOn, in.Host)]})
	}
	return all
}
