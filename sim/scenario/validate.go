package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

var (
	roles    = []string{RoleMaster, RoleController, RoleCompute, RoleGateway, RoleStorage, RoleVRouter}
	starts   = []string{StartOperator, StartOpenStack, StartMasters, StartWorkers}
	scopes   = []string{"os", "drain"}
	statuses = []string{"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED", "ERROR", "RESCUE", "SHELVED", "SHELVED_OFFLOADED", "BUILD", "VERIFY_RESIZE"}
	actions  = []string{"live_migrate", "poweroff", "notify"}
)

// Power states and their numbers in Nova.
var powerStates = map[string]int{"nostate": 0, "running": 1, "paused": 3, "shutdown": 4, "crashed": 6, "suspended": 7}

func (s *Scenario) setDefaults() {
	s.Cluster = cmp.Or(s.Cluster, "mos")
	s.Update.Scope = cmp.Or(s.Update.Scope, "os")
	s.Update.Concurrency = max(s.Update.Concurrency, 1)
	s.Cloud.Deployment = cmp.Or(s.Cloud.Deployment, "osh-dev")
	s.Cloud.Version = cmp.Or(s.Cloud.Version, "antelope")
	s.setFoundDefaults()
	s.History.StartAt = cmp.Or(s.History.StartAt, StartOperator)
	s.History.Age = cmp.Or(s.History.Age, Duration(90*24*time.Hour))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Name = cmp.Or(n.Name, "kaas-node-"+uuid(fmt.Sprint(s.Seed), n.Machine))
		if slices.Contains(n.Roles, RoleCompute) {
			n.Zone = cmp.Or(n.Zone, "nova")
			n.VCPUs = cmp.Or(n.VCPUs, 64)
			if n.MemoryMiB == 0 {
				n.MemoryGiB = cmp.Or(n.MemoryGiB, 256)
			}
			n.DiskGiB = cmp.Or(n.DiskGiB, 4000)
		}
	}
	if len(s.Update.Order) == 0 {
		for _, n := range s.Nodes {
			if !slices.Contains(n.Roles, RoleMaster) {
				s.Update.Order = append(s.Update.Order, n.Machine)
			}
		}
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		in.Status = cmp.Or(in.Status, "ACTIVE")
		in.Age = cmp.Or(in.Age, Duration(30*24*time.Hour))
	}
}

// validate says everything that is wrong, one line each.
func (s *Scenario) validate() error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(s.Name != "", "name is missing")
	check(s.Title != "", "title is missing")
	check(s.Release.To != "" && s.Release.From != "" && s.Release.From != s.Release.To, "release: from and to must be there and differ")
	check(s.Kubelet.To != "" && s.Kubelet.From != "" && s.Kubelet.From != s.Kubelet.To, "kubelet: from and to must be there and differ: a node is done when it runs the other one")
	check(s.Rockoon.To != "" && s.Rockoon.From != "", "rockoon: from and to must be there")
	check(slices.Contains(scopes, s.Update.Scope), "update.scope is %q: want one of %v", s.Update.Scope, scopes)
	if s.Found == nil {
		s.checkHistory(check)
	}

	machines := map[string]Node{}
	names := map[string]bool{}
	for _, n := range s.Nodes {
		check(n.Machine != "", "a node has no machine name")
		_, twice := machines[n.Machine]
		check(!twice && !names[n.Name], "node %s is there twice", n.Machine)
		machines[n.Machine], names[n.Name] = n, true
		check(len(n.Roles) > 0 || s.Found != nil, "node %s has no roles", n.Machine)
		for _, role := range n.Roles {
			check(slices.Contains(roles, role), "node %s: role %q: want one of %v", n.Machine, role, roles)
		}
		check(n.Done >= 0 && n.Began >= 0 && (n.Done == 0 || n.Began == 0), "node %s: done and began exclude each other and lie in the past", n.Machine)
		check(n.Done == 0 && n.Began == 0 || s.History.StartAt == StartMasters || s.History.StartAt == StartWorkers,
			"node %s is done or began, but the scenario starts at %s", n.Machine, s.History.StartAt)
		check(s.History.StartAt != StartWorkers || !slices.Contains(n.Roles, RoleMaster) || n.Done > 0,
			"node %s is a master that is not done, but the scenario starts at the workers", n.Machine)
	}
	check(len(s.Nodes) > 0, "there are no nodes")
	for _, machine := range s.Update.Order {
		n, ok := machines[machine]
		check(ok, "update.order names the node %q, which is not there", machine)
		check(!slices.Contains(n.Roles, RoleMaster), "update.order names the master %s: masters come first by themselves", machine)
	}
	for _, n := range s.Nodes {
		check(slices.Contains(n.Roles, RoleMaster) || slices.Contains(s.Update.Order, n.Machine), "update.order leaves out the worker %s", n.Machine)
	}
	s.checkInstances(machines, check)
	s.checkFound(machines, check)
	return errors.Join(wrong...)
}

func (s *Scenario) checkHistory(check func(bool, string, ...any)) {
	h := s.History
	check(slices.Contains(starts, h.StartAt), "history.startAt is %q: want one of %v", h.StartAt, starts)
	check(h.StartAt != StartOperator || h.Begun == 0, "history.begun is there, but the scenario starts before the update")
	check(h.StartAt == StartOperator || h.Begun > 0, "history.begun is missing: the scenario starts after the request")
	later := h.StartAt == StartMasters || h.StartAt == StartWorkers
	check(!later || h.Released > 0 && h.Released < h.Begun, "history.released must lie between history.begun and the start")
	check(later || h.Released == 0, "history.released is there, but the scenario starts before the locks are released")
}

func (s *Scenario) checkInstances(machines map[string]Node, check func(bool, string, ...any)) {
	flavors, seen := map[string]bool{}, map[string]bool{}
	for _, f := range s.Flavors {
		check(f.Name != "" && f.VCPUs > 0 && f.RAM() > 0 && f.DiskGiB >= 0, "flavor %q needs a name, vcpus and memoryGiB", f.Name)
		check(!flavors[f.Name], "flavor %s is there twice", f.Name)
		flavors[f.Name] = true
	}
	for _, in := range s.Instances {
		check(in.Name != "" && !seen[cmp.Or(in.ID, in.Name)], "instance %q has no name or is there twice", in.Name)
		seen[cmp.Or(in.ID, in.Name)] = true
		check(s.hasProject(in.Project), "instance %s: there is no project %q", in.Name, in.Project)
		check(flavors[in.Flavor], "instance %s: there is no flavor %q", in.Name, in.Flavor)
		check(slices.Contains(statuses, in.Status) || s.Found != nil && in.Status == "MIGRATING", "instance %s: status %q: want one of %v", in.Name, in.Status, statuses)
		host, ok := machines[in.Host]
		check(ok && slices.Contains(host.Roles, RoleCompute) || in.Host == "" && (in.Status == "SHELVED_OFFLOADED" || s.Found != nil && in.Status == "ERROR"),
			"instance %s: host %q is no compute", in.Name, in.Host)
		_, known := powerStates[in.Power]
		check(in.Power == "" || known, "instance %s: power %q: want nostate, running, paused, shutdown, crashed or suspended", in.Name, in.Power)
		for _, action := range in.Actions {
			check(slices.Contains(actions, action), "instance %s: action %q: want one of %v", in.Name, action, actions)
		}
		for _, f := range []Failure{in.FailLive, in.FailCold, in.FailFinish, in.FailStop} {
			check(f.At >= 0 && f.At <= 1, "instance %s: a failure happens at 0 to 1 of the way, not at %v", in.Name, f.At)
		}
	}
}

// PowerState is Nova's number of the instance's power state; false when it is the one that goes with the status.
func (in Instance) PowerState() (int, bool) {
	number, ok := powerStates[in.Power]
	return number, ok
}

// AllTags are the instance's tags with those that say its maintenance action.
func (in Instance) AllTags() []string {
	var tags []string
	for _, action := range in.Actions {
		tags = append(tags, "openstack.lcm.mirantis.com:maintenance_action="+action)
	}
	return append(tags, in.Tags...)
}

// Has tells whether a node has a role.
func (n Node) Has(role string) bool { return slices.Contains(n.Roles, role) }

// Node finds a node by its machine name.
func (s *Scenario) Node(machine string) (Node, bool) {
	for _, n := range s.Nodes {
		if n.Machine == machine {
			return n, true
		}
	}
	return Node{}, false
}

// Masters are the Kubernetes names of the masters, in their order.
func (s *Scenario) Masters() []string {
	var names []string
	for _, n := range s.Nodes {
		if n.Has(RoleMaster) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Workers are the Kubernetes names of the workers, in the order of the update.
func (s *Scenario) Workers() []string {
	var names []string
	for _, machine := range s.Update.Order {
		if n, ok := s.Node(machine); ok {
			names = append(names, n.Name)
		}
	}
	return names
}

// uuid is an identifier that follows from its parts.
func uuid(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	x := hex.EncodeToString(sum.Sum(nil))
	return x[:8] + "-" + x[8:12] + "-4" + x[13:16] + "-a" + x[17:20] + "-" + x[20:32]
}
