package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

var (
	roles    = []string{RoleMaster, RoleController, RoleCompute, RoleGateway, RoleStorage, RoleVRouter}
	starts   = []string{StartOperator, StartOpenStack, StartMasters, StartWorkers}
	scopes   = []string{"os", "drain"}
	statuses = []string{"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED", "ERROR", "RESCUE", "SHELVED", "SHELVED_OFFLOADED", "BUILD",
		"VERIFY_RESIZE"}
	actions  = []string{"live_migrate", "poweroff", "notify"}
	failures = []string{"failLive", "failCold", "failFinish", "failStop"} // fields of an instance
)

// Power states and their numbers in Nova.
var powerStates = map[string]int{"nostate": 0, "running": 1, "paused": 3, "shutdown": 4, "crashed": 6, "suspended": 7}

// defaultMemoryGiB is a compute's memory if the file does not give it.
const defaultMemoryGiB = 256

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
				n.MemoryGiB = cmp.Or(n.MemoryGiB, defaultMemoryGiB)
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
	s.setManagementDefaults()
	for i := range s.Instances {
		in := &s.Instances[i]
		in.Status = cmp.Or(in.Status, "ACTIVE")
		in.Age = cmp.Or(in.Age, Duration(30*24*time.Hour))
	}
}

// validate calls check for every requirement of a scenario. The text begins with the path of the wrong field.
func (s *Scenario) validate(check func(ok bool, format string, args ...any)) {
	check(s.Name != "", "name: is missing")
	check(s.Title != "", "title: is missing")
	s.checkGroup(check)
	check(s.Release.To != "" && s.Release.From != "" && s.Release.From != s.Release.To, "release: from and to must be there and differ")
	check(s.Kubelet.To != "" && s.Kubelet.From != "" && s.Kubelet.From != s.Kubelet.To,
		"kubelet: from and to must be there and differ: a node is done when it runs the other one")
	check(s.Rockoon.To != "" && s.Rockoon.From != "", "rockoon: from and to must be there")
	check(slices.Contains(scopes, s.Update.Scope), "update.scope: is %q: want one of %v", s.Update.Scope, scopes)
	if s.Found == nil {
		s.checkHistory(check)
	}
	machines := s.checkNodes(check)
	s.checkNodeLabels(check)
	s.checkOrder(machines, check)
	s.checkInstances(machines, check)
	s.checkManagement(machines, check)
	s.checkTroubles(machines, check)
	s.checkFound(machines, check)
	s.checkPlacement(machines, check)
	s.checkVolumes(machines, check)
	s.checkRouters(machines, check)
	s.checkFaults(check)
	s.checkStackLight(check)
}

func (s *Scenario) checkStackLight(check func(bool, string, ...any)) {
	for i, a := range s.StackLight.Alerts {
		check(a.Name != "", "stacklight.alerts[%d].name: is missing", i)
	}
	for i, one := range s.StackLight.Silences {
		check(one.Label != "" && one.Value != "", "stacklight.silences[%d]: label and value must be there", i)
		check(one.For > 0, "stacklight.silences[%d].for: must be longer than nothing", i)
	}
}

// checkNodes returns the nodes by machine name.
func (s *Scenario) checkNodes(check func(bool, string, ...any)) map[string]Node {
	machines := make(map[string]Node, len(s.Nodes))
	names := make(map[string]bool, len(s.Nodes))
	for i, n := range s.Nodes {
		check(n.Machine != "", "nodes[%d].machine: is missing", i)
		_, twice := machines[n.Machine]
		check(!twice && !names[n.Name], "nodes[%d].machine: node %s is there twice", i, n.Machine)
		machines[n.Machine], names[n.Name] = n, true
		check(len(n.Roles) > 0 || s.Found != nil, "nodes[%d].roles: node %s has none: want some of %v", i, n.Machine, roles)
		for j, role := range n.Roles {
			check(slices.Contains(roles, role), "nodes[%d].roles[%d]: node %s: role %q: want one of %v%s", i, j, n.Machine, role, roles,
				suggestion{role, roles})
		}
		check(n.Done >= 0 && n.Began >= 0 && (n.Done == 0 || n.Began == 0),
			"nodes[%d]: %s: done and began exclude each other and lie in the past", i, n.Machine)
		check(n.Done == 0 && n.Began == 0 || s.History.StartAt == StartMasters || s.History.StartAt == StartWorkers,
			"nodes[%d]: %s is done or began, but the scenario starts at %s", i, n.Machine, s.History.StartAt)
		check(s.History.StartAt != StartWorkers || !n.Has(RoleMaster) || n.Done > 0,
			"nodes[%d].done: node %s is a master that is not done, but the scenario starts at the workers", i, n.Machine)
	}
	check(len(s.Nodes) > 0, "nodes: there are no nodes")
	return machines
}

// checkNodeLabels makes sure that there is at most one label for each role of the OpenStack controller.
func (s *Scenario) checkNodeLabels(check func(bool, string, ...any)) {
	known := []string{RoleController, RoleCompute, RoleGateway}
	for _, role := range slices.Sorted(maps.Keys(s.Cloud.NodeLabels)) {
		check(slices.Contains(known, role), "openstack.nodeLabels: role %q: want one of %v%s", role, known, suggestion{role, known})
		key, _, ok := strings.Cut(s.Cloud.NodeLabels[role], "=")
		check(ok && key != "", "openstack.nodeLabels.%s: is %q: want KEY=VALUE", role, s.Cloud.NodeLabels[role])
	}
}

// checkOrder makes sure that the update reaches each worker once.
func (s *Scenario) checkOrder(machines map[string]Node, check func(bool, string, ...any)) {
	ordered := make(map[string]bool, len(s.Update.Order))
	for i, machine := range s.Update.Order {
		n, ok := machines[machine]
		check(ok, "update.order[%d]: there is no node %q", i, machine)
		check(!n.Has(RoleMaster), "update.order[%d]: %s is a master: they come first by themselves", i, machine)
		check(!ordered[machine], "update.order[%d]: %s is there twice", i, machine)
		ordered[machine] = true
	}
	for _, n := range s.Nodes {
		check(n.Has(RoleMaster) || ordered[n.Machine], "update.order: leaves out the worker %s", n.Machine)
	}
}

func (s *Scenario) checkHistory(check func(bool, string, ...any)) {
	h := s.History
	check(slices.Contains(starts, h.StartAt), "history.startAt: is %q: want one of %v%s", h.StartAt, starts, suggestion{h.StartAt, starts})
	check(h.StartAt != StartOperator || h.Begun == 0, "history.begun: is there, but the scenario starts before the update")
	check(h.StartAt == StartOperator || h.Begun > 0, "history.begun: is missing: the scenario starts after the request")
	later := h.StartAt == StartMasters || h.StartAt == StartWorkers
	check(!later || h.Released > 0 && h.Released < h.Begun, "history.released: must lie between history.begun and the start")
	check(later || h.Released == 0, "history.released: is there, but the scenario starts before the locks are released")
}

// checkInstances puts the arguments of a message together only where there is something to say: a fleet has 100,000 instances.
func (s *Scenario) checkInstances(machines map[string]Node, check func(bool, string, ...any)) {
	flavors, seen := map[string]bool{}, make(map[string]bool, len(s.Instances))
	for i, f := range s.Flavors {
		check(f.Name != "" && f.VCPUs > 0 && f.RAM() > 0 && f.DiskGiB >= 0, "flavors[%d]: flavor %q needs a name, vcpus and memoryGiB", i, f.Name)
		check(!flavors[f.Name], "flavors[%d].name: flavor %s is there twice", i, f.Name)
		flavors[f.Name] = true
	}
	computes := map[string]bool{}
	for machine, node := range machines {
		computes[machine] = node.Has(RoleCompute)
	}
	projects := map[string]bool{}
	for _, name := range s.Projects {
		projects[name] = true
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		wrong := func(field, format string, args ...any) {
			check(false, "instances[%d].%s: %s", i, field, fmt.Sprintf(format, args...))
		}
		if in.Name == "" {
			wrong("name", "is missing")
		}
		if seen[cmp.Or(in.ID, in.Name)] {
			wrong("name", "instance %s is there twice", in.Name)
		}
		seen[cmp.Or(in.ID, in.Name)] = true
		if !projects[in.Project] && !s.hasProject(in.Project) {
			wrong("project", "instance %s: there is no project %q", in.Name, in.Project)
		}
		if !flavors[in.Flavor] {
			wrong("flavor", "instance %s: there is no flavor %q", in.Name, in.Flavor)
		}
		if !slices.Contains(statuses, in.Status) && (s.Found == nil || in.Status != "MIGRATING") {
			wrong("status", "instance %s: status %q: want one of %v", in.Name, in.Status, statuses)
		}
		s.checkPlace(in, computes, wrong)
		if _, known := powerStates[in.Power]; in.Power != "" && !known {
			wrong("power", "instance %s: power %q: want nostate, running, paused, shutdown, crashed or suspended", in.Name, in.Power)
		}
		for j, action := range in.Actions {
			if !slices.Contains(actions, action) {
				wrong(fmt.Sprintf("actions[%d]", j), "instance %s: action %q: want one of %v", in.Name, action, actions)
			}
		}
		for j, f := range [...]Failure{in.FailLive, in.FailCold, in.FailFinish, in.FailStop} {
			if !(f.At >= 0 && f.At <= 1) { // also what is no number
				wrong(failures[j]+".at", "instance %s: a failure happens at 0 to 1 of the way, not at %v", in.Name, f.At)
			}
		}
	}
}

// checkPlace checks where an instance is and where it came from; computes holds the machines that are hosts of instances.
func (s *Scenario) checkPlace(in *Instance, computes map[string]bool, wrong func(field, format string, args ...any)) {
	nowhere := in.Host == "" && (in.Status == "SHELVED_OFFLOADED" || s.Found != nil && in.Status == "ERROR")
	if !computes[in.Host] && !nowhere {
		wrong("host", "instance %s: host %q is not a compute", in.Name, in.Host)
	}
	if in.CameFrom != "" && !computes[in.CameFrom] {
		wrong("cameFrom", "instance %s: %q is not a compute", in.Name, in.CameFrom)
	}
	if in.Status == "VERIFY_RESIZE" && in.CameFrom == "" && s.Found == nil {
		wrong("cameFrom", "instance %s: is missing: a VERIFY_RESIZE could be reverted to there", in.Name)
	}
	if in.MigratingTo != "" && !computes[in.MigratingTo] {
		wrong("migratingTo", "instance %s: %q is not a compute", in.Name, in.MigratingTo)
	}
}

// PowerState is Nova's number for the instance's power state; false if it follows from the status.
func (in Instance) PowerState() (int, bool) {
	number, ok := powerStates[in.Power]
	return number, ok
}

// AllTags returns the instance's tags, including those for its maintenance action.
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
	for i := range s.Nodes {
		if s.Nodes[i].Machine == machine {
			return s.Nodes[i], true
		}
	}
	return Node{}, false
}

// Masters returns the Kubernetes names of the masters, in order.
func (s *Scenario) Masters() []string {
	var names []string
	for _, n := range s.Nodes {
		if n.Has(RoleMaster) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Workers returns the Kubernetes names of the workers, in the order of the update.
func (s *Scenario) Workers() []string {
	byMachine := make(map[string]string, len(s.Nodes))
	for i := range s.Nodes {
		byMachine[s.Nodes[i].Machine] = s.Nodes[i].Name
	}
	var names []string
	for _, machine := range s.Update.Order {
		if name, ok := byMachine[machine]; ok {
			names = append(names, name)
		}
	}
	return names
}

// uuid derives an identifier from its parts.
func uuid(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	x := hex.EncodeToString(sum.Sum(nil))
	return x[:8] + "-" + x[8:12] + "-4" + x[13:16] + "-a" + x[17:20] + "-" + x[20:32]
}
