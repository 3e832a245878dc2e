package sim

import (
	"cmp"
	"fmt"

	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// seedVolumes adds a scenario's volume services, and the volumes on nodes' own disks that are not attached.
func seedVolumes(cloud *openstack.Cloud, s *scenario.Scenario, hosts map[string]string) error {
	for _, n := range s.Nodes {
		for _, backend := range n.VolumeBackends {
			if err := cloud.AddVolumeBackend(n.Name, openstack.VolumeBackendSpec{Name: backend}); err != nil {
				return fmt.Errorf("seed volume service of %s: %w", n.Machine, err)
			}
		}
	}
	if s.Found != nil {
		for _, v := range s.Found.VolumeServices {
			spec := openstack.VolumeBackendSpec{Name: v.Backend, Zone: v.Zone, Disabled: v.Disabled, Reason: v.DisabledReason, Down: v.Down,
				Elsewhere: true}
			if err := cloud.AddVolumeBackend(cmp.Or(hosts[v.Node], v.Host), spec); err != nil {
				return fmt.Errorf("seed volume service of %s: %w", cmp.Or(v.Node, v.Host), err)
			}
		}
	}
	for _, v := range s.Volumes {
		size := cmp.Or(v.SizeGiB, 100)
		if _, err := cloud.AddSizedVolume(hosts[v.Host], v.Project, v.Name, size); err != nil {
			return fmt.Errorf("seed volume %s: %w", v.Name, err)
		}
	}
	return nil
}
