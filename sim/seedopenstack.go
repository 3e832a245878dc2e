package sim

import (
	"fmt"
	"time"

	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// seedOpenStack fills the simulated cloud with a scenario's hosts, projects, flavors and instances. Hosts have the
// names of their Kubernetes nodes, as in MOSK.
func seedOpenStack(cloud *openstack.Cloud, s *scenario.Scenario, start time.Time) error {
	hosts := map[string]string{}
	for _, n := range s.Nodes {
		hosts[n.Machine] = n.Name
		var err error
		switch {
		case n.NoService:
		case n.Has(scenario.RoleCompute):
			err = cloud.AddHost(openstack.HostSpec{Name: n.Name, Zone: n.Zone, VCPUs: n.VCPUs, RAM: n.RAM(), Disk: n.DiskGiB, Traits: n.Traits})
		case n.Has(scenario.RoleGateway):
			err = cloud.AddGateway(n.Name)
		case n.Has(scenario.RoleController):
			err = cloud.AddController(n.Name)
		}
		if err != nil {
			return fmt.Errorf("seed host %s: %w", n.Machine, err)
		}
	}
	if err := foundProjects(cloud, s); err != nil {
		return err
	}
	if err := seedPeople(cloud, s); err != nil {
		return err
	}
	for _, r := range s.Routers {
		spec := openstack.RouterSpec{Name: r.Name, Project: r.Project, HA: r.HA}
		for _, machine := range r.On {
			spec.Hosts = append(spec.Hosts, hosts[machine])
		}
		if err := cloud.AddRouter(spec); err != nil {
			return fmt.Errorf("seed router %s: %w", r.Name, err)
		}
	}
	for _, f := range s.Flavors {
		spec := openstack.FlavorSpec{ID: f.ID, Name: f.Name, VCPUs: f.VCPUs, RAM: f.RAM(), Disk: f.DiskGiB, ExtraSpecs: f.ExtraSpecs}
		if _, err := cloud.AddFlavor(spec); err != nil {
			return fmt.Errorf("seed flavor %s: %w", f.Name, err)
		}
	}
	if err := foundCloud(cloud, s, hosts, start); err != nil {
		return err
	}
	if err := seedPlacement(cloud, s, hosts); err != nil {
		return err
	}
	if err := seedVolumes(cloud, s, hosts); err != nil {
		return err
	}
	for i, in := range s.Instances {
		spec := openstack.ServerSpec{
			ID: in.ID, Name: in.Name, Project: in.Project, Host: hosts[in.Host], Flavor: in.Flavor, Status: foundStatus(in.Status), Fault: in.Fault,
			Group: in.ServerGroup, PreviousHost: hosts[in.CameFrom],
			Port: in.Port, Volumes: volumesOf(in, hosts),
			Tags: in.AllTags(), Locked: in.Locked != "", LockedReason: in.Locked,
			// Nova lists by creation time, so no two are the same.
			Created: start.Add(-in.Age.Of() - time.Duration(i)*time.Minute),
			Behaviour: openstack.Behaviour{
				FailLive: failure(in.FailLive), FailCold: failure(in.FailCold), FailFinish: failure(in.FailFinish), FailStop: failure(in.FailStop),
				NeverConverges: in.NeverConverges, NoValidHost: in.NoValidHost, LocalDisk: in.LocalDisk,
			},
		}
		if s.Found != nil { // their ages are real
			spec.Created = start.Add(-in.Age.Of())
		}
		if power, ok := in.PowerState(); ok {
			spec.PowerState = &power
		}
		if _, err := cloud.AddServer(spec); err != nil {
			return fmt.Errorf("seed instance %s: %w", in.Name, err)
		}
	}
	return nil
}

// seedPeople gives each project an owner of its instances, and a user with read access. It does nothing for a found
// cloud: its users are unknown.
func seedPeople(cloud *openstack.Cloud, s *scenario.Scenario) error {
	if s.Found != nil {
		return nil
	}
	for _, project := range s.Projects {
		for _, u := range []openstack.UserSpec{
			{Name: project + "-owner", Email: "owner@" + project + ".example", Roles: []string{"member", "reader"}},
			{Name: project + "-desk", Email: "desk@" + project + ".example", Roles: []string{"reader"}},
		} {
			u.Project = project
			if _, err := cloud.AddUser(u); err != nil {
				return fmt.Errorf("seed the people of project %s: %w", project, err)
			}
		}
	}
	return nil
}

func failure(f scenario.Failure) openstack.Failure {
	return openstack.Failure{Times: f.Times, Text: f.Text, At: f.At}
}
