package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// This file seeds what only the copy of a live cloud has: given IDs, its own aggregates, services in trouble, running
// migrations.

// AddProjectWithID adds a project with a given ID. A project with that name that every Cloud has takes over the ID.
// Names need not be unique, since domains may share them. The ID must be new.
func (c *Cloud) AddProjectWithID(name, id string) error {
	c.lock()
	defer c.mu.Unlock()
	if id == "" || c.projects[id] != nil {
		return fmt.Errorf("openstack: add project %q: ID %q is empty or exists", name, id)
	}
	if p := c.projectByName(name); p != nil && slices.Contains(firstProjects, name) && p.id != id {
		for _, u := range c.users {
			if roles, ok := u.roles[p.id]; ok {
				delete(u.roles, p.id)
				u.roles[id] = roles
				c.owners = nil
			}
		}
		delete(c.projects, p.id)
		p.id = id
		c.projects[id] = p
		return nil
	}
	c.projects[id] = &project{id: id, name: name}
	return nil
}

// firstProjects are the projects that every Cloud has from the start.
var firstProjects = []string{"admin", "demo"}

// AggregateSpec describes a host aggregate for AddAggregate.
type AggregateSpec struct {
	ID    int    // 0 for the next one
	Name  string // need not be unique
	Zone  string // its availability zone; "" for none
	Hosts []string

	Metadata map[string]string // in addition to the zone
}

// AddAggregate adds a host aggregate. Once there is an aggregate with a zone or a given ID, the zones of hosts no
// longer create aggregates. The ID must be new.
func (c *Cloud) AddAggregate(spec AggregateSpec) error {
	now := c.lock()
	defer c.mu.Unlock()
	if spec.Zone != "" || spec.ID != 0 {
		c.aggregates = slices.DeleteFunc(c.aggregates, func(a *aggregate) bool { return a.ofZone })
	}
	for _, a := range c.aggregates {
		if a.number == spec.ID {
			return fmt.Errorf("openstack: add aggregate %q: ID %d exists", spec.Name, spec.ID)
		}
	}
	a := c.addAggregate(now, spec.ID, spec.Name, spec.Zone)
	a.hosts = slices.Clone(spec.Hosts)
	maps.Copy(a.metadata, spec.Metadata)
	return nil
}

// ServiceState is the state of a host's nova-compute.
type ServiceState struct {
	Disabled   bool
	Reason     string    // why it is disabled
	ForcedDown bool      // set by an administrator
	Silent     time.Time // since when it does not report; zero: it reports
}

// SetService puts the nova-compute of a host into a state. A silent nova-compute reports again after its host's next
// start. A host that is unknown or not a compute host is an error.
func (c *Cloud) SetService(host string, state ServiceState) error {
	c.lock()
	defer c.mu.Unlock()
	h := c.hosts[host]
	if h == nil || h.compute == nil {
		return fmt.Errorf("openstack: set service: %q is no compute host", host)
	}
	h.compute.disabled, h.compute.reason, h.compute.forcedDown = state.Disabled, state.Reason, state.ForcedDown
	if !state.Silent.IsZero() {
		h.compute.running, h.compute.stopped = false, state.Silent
	}
	return nil
}

// BeginLiveMigration starts a live migration of an instance as an administrator would; a target bypasses the scheduler.
// A migration that Nova would refuse at once is an error.
func (c *Cloud) BeginLiveMigration(id, target string) error {
	now := c.lock()
	defer c.mu.Unlock()
	s := c.servers[id]
	if s == nil || s.deleted || s.host == nil {
		return fmt.Errorf("openstack: live-migrate: no server %q on a host", id)
	}
	if t := c.hosts[target]; target != "" && (t == nil || t.compute == nil) {
		return fmt.Errorf("openstack: live-migrate %s: %q is no compute host", id, target)
	}
	a := c.begin(s, action{name: "live-migration", requestID: c.requestOf(s), userID: s.userID, projectID: s.project.id, start: now})
	if no := c.liveMigrate(now, s, a, target, target != "", true); no != nil {
		return fmt.Errorf("openstack: live-migrate %s: %s", cmp.Or(s.name, id), no.text)
	}
	return nil
}
