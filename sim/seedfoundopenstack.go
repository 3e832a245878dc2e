package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/clock"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// foundProjects adds a scenario's projects, with their IDs if they were found.
func foundProjects(cloud *openstack.Cloud, s *scenario.Scenario) error {
	var found []scenario.FoundProject
	if s.Found != nil {
		found = s.Found.Projects
	}
	for _, p := range found {
		if err := cloud.AddProjectWithID(p.Name, p.ID); err != nil {
			return fmt.Errorf("seed project %s: %w", p.Name, err)
		}
	}
	for _, project := range s.Projects {
		if slices.ContainsFunc(found, func(p scenario.FoundProject) bool { return p.Name == project }) {
			continue
		}
		if _, err := cloud.AddProject(project); err != nil {
			return fmt.Errorf("seed project %s: %w", project, err)
		}
	}
	return nil
}

// foundCloud adds the rest of a found cloud, except its instances.
func foundCloud(cloud *openstack.Cloud, s *scenario.Scenario, hosts map[string]string, start time.Time) error {
	if s.Found == nil {
		return nil
	}
	for _, n := range s.Nodes {
		if n.NoService || len(n.AgentsDown) == 0 ||
			!slices.ContainsFunc([]string{scenario.RoleCompute, scenario.RoleGateway, scenario.RoleController}, n.Has) {
			continue // not a host here, or nothing on it is silent
		}
		if err := cloud.StopAgentsNamed(hosts[n.Machine], n.AgentsDown); err != nil {
			return fmt.Errorf("seed the agents of %s: %w", n.Machine, err)
		}
	}
	for _, n := range s.Nodes {
		if !n.Has(scenario.RoleCompute) || n.NoService {
			continue
		}
		state := openstack.ServiceState{Disabled: n.Disabled, Reason: n.DisabledReason, ForcedDown: n.ForcedDown}
		if n.Down {
			state.Silent = start.Add(-cmp.Or(s.Ago(n.ReadySince).Of(), 10*time.Minute))
		}
		if err := cloud.SetService(n.Name, state); err != nil {
			return fmt.Errorf("seed host %s: %w", n.Machine, err)
		}
	}
	for _, a := range s.Found.Aggregates {
		spec := openstack.AggregateSpec{ID: a.ID, Name: a.Name, Zone: a.Zone}
		for _, machine := range a.Nodes {
			spec.Hosts = append(spec.Hosts, hosts[machine])
		}
		if err := cloud.AddAggregate(spec); err != nil {
			return fmt.Errorf("seed aggregate %s: %w", a.Name, err)
		}
	}
	for _, g := range s.Found.ServerGroups {
		if _, err := cloud.AddServerGroup(openstack.GroupSpec{ID: g.ID, Name: g.Name, Project: g.Project, Policy: g.Policy}); err != nil {
			return fmt.Errorf("seed server group %s: %w", g.Name, err)
		}
	}
	return nil
}

// foundStatus is the initial status of a migrating instance: on its source, until foundMigrations starts the migration.
func foundStatus(status string) string {
	if status == "MIGRATING" {
		return "ACTIVE"
	}
	return status
}

// foundMigrations starts the live migrations that were found running, at the scenario's start. If one can no longer
// start, its instance stays on its source.
func foundMigrations(cloud *openstack.Cloud, s *scenario.Scenario) {
	if s.Found == nil || cloud == nil {
		return
	}
	hosts := map[string]string{}
	for _, n := range s.Nodes {
		hosts[n.Machine] = n.Name
	}
	for _, in := range s.Instances {
		if in.Status == "MIGRATING" && in.ID != "" {
			_ = cloud.BeginLiveMigration(in.ID, hosts[in.MigratingTo])
		}
	}
}

// openstackOptions returns the options of a scenario's simulated OpenStack.
func openstackOptions(clk *clock.Clock, seed uint64, s *scenario.Scenario) openstack.Options {
	o := openstack.Options{Clock: clk, Seed: seed}
	if s.Found != nil {
		o.CPURatio, o.RAMRatio, o.DiskRatio = s.Found.Overcommit.VCPUs, s.Found.Overcommit.Memory, s.Found.Overcommit.Disk
	}
	return o
}
