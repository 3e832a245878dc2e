package inventory

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockstep/cli/pseudonym"
	"lockstep/core"
	"lockstep/sim/scenario"
)

// Pseudonymise replaces every name and ID of a scenario made from an inventory. Equal names stay equal, different ones different,
// and nothing leads back: pseudonyms derive from a key that is made for the file and thrown away. Free texts lose everything not
// known to be harmless; lists are sorted by the new names.
func Pseudonymise(s *scenario.Scenario) {
	p := &pseudonyms{Names: pseudonym.New(), objects: map[string]string{}}
	p.scenario(s)
}

// pseudonyms gives names to things.
type pseudonyms struct {
	pseudonym.Names
	objects map[string]string // pseudonyms of objects that others are named after: nodes, the cluster, the deployment
}

// object is the pseudonym of a name after which other objects are named.
func (p *pseudonyms) object(kind, name string) string {
	made := p.Name(kind, name)
	p.objects[name] = made
	return made
}

var nodeName = regexp.MustCompile(`^kaas-node-`)

// ownZones are the zones of every Nova.
var ownZones = []string{"", "nova", "internal"}

func (p *pseudonyms) zone(zone string) string {
	if slices.Contains(ownZones, zone) {
		return zone
	}
	return p.Name("zone", zone)
}

// knownControllers are the application controllers of every MOSK; their names tell nothing.
var knownControllers = []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric, core.ControllerStackLight}

func (p *pseudonyms) controller(name string) string {
	if slices.Contains(knownControllers, name) {
		return name
	}
	return p.Name("controller", name)
}

// scenario replaces names first where things are defined, then where they are referred to.
func (p *pseudonyms) scenario(s *scenario.Scenario) {
	f := s.Found
	s.Name, s.Cluster = p.Name("cluster", s.Name), p.object("cluster", s.Cluster)
	s.Title = titleOf(s.Name)
	f.Pseudonymous, f.From = true, ""

	machines := p.nodes(s)
	flavors := p.flavors(s)
	projects := p.projects(s)
	groups := map[string]string{}
	for i := range f.ServerGroups {
		g := &f.ServerGroups[i]
		name, id := p.Name("group", g.Name), p.ID(g.ID)
		groups[g.Name], groups[g.ID] = name, id
		g.Name, g.ID, g.Project = name, id, projects[g.Project]
	}
	for i := range f.Aggregates {
		a := &f.Aggregates[i]
		a.Name, a.Zone, a.Nodes = p.Name("aggregate", a.Name), p.zone(a.Zone), renamed(a.Nodes, machines)
		slices.Sort(a.Nodes)
	}
	p.volumes(f, machines)
	p.sets(f, machines)
	for i := range s.Instances {
		p.instance(s, &s.Instances[i], machines, flavors, projects, groups)
	}
	s.Cloud.NodeLabels = nil // whose words are the cloud's own; the roles are told
	s.Cloud.Deployment, s.Cloud.Fabric = p.object("deployment", s.Cloud.Deployment), p.object("fabric", s.Cloud.Fabric)
	p.managed(f)
	p.management(s.Management, machines)
	p.maintenance(s, machines)
	sortPseudonymous(s)
	s.Update.Order = workersInOrder(s) // anew: names decide where nothing else does
}

func renamed(names []string, by map[string]string) []string {
	var made []string
	for _, n := range names {
		made = append(made, by[n])
	}
	return made
}

// nodes renames the nodes by their roles, and drops unknown annotations.
func (p *pseudonyms) nodes(s *scenario.Scenario) (machines map[string]string) {
	machines = map[string]string{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		kind := "node"
		for _, k := range []struct{ role, kind string }{
			{scenario.RoleMaster, "master"}, {scenario.RoleController, "controller"}, {scenario.RoleCompute, "compute"},
			{scenario.RoleGateway, "gateway"}, {scenario.RoleStorage, "storage"},
		} {
			if n.Has(k.role) {
				kind = k.kind
				break
			}
		}
		same := n.Name == n.Machine
		machine := p.Name(kind, n.Machine)
		machines[n.Machine] = machine
		switch {
		case same:
			p.objects[n.Name], n.Name = machine, machine
		case nodeName.MatchString(n.Name):
			made := "kaas-node-" + p.ID(strings.TrimPrefix(n.Name, "kaas-node-"))
			p.objects[n.Name], n.Name = made, made
		default:
			n.Name = p.object("node", n.Name)
		}
		n.Machine, n.Zone, n.Group = machine, p.zone(n.Zone), p.Name("update-group", n.Group)
		n.Annotations, n.Created, n.ReadySince = harmlessAnnotations(n.Annotations), dayOf(s, n.Created), dayOf(s, n.ReadySince)
		n.AgentsDown = plainAgents(n.AgentsDown)
		if n.DisabledReason != "" && n.DisabledReason != core.DisabledReasonMaintenance {
			n.DisabledReason = pseudonym.LeftOut
		}
	}
	return machines
}

// dayOf rounds times older than a week to the day: an exact age identifies a thing as its name does.
func dayOf(s *scenario.Scenario, m scenario.Moment) scenario.Moment {
	if s.Ago(m).Of() < 7*24*time.Hour {
		return m
	}
	return scenario.Moment(m.Of().Truncate(24 * time.Hour))
}

// harmlessAnnotations are those that the OpenStack controller reads. A value unknown to it is replaced by another unknown one.
func harmlessAnnotations(annotations map[string]string) map[string]string {
	kept := map[string]string{}
	for _, key := range []string{core.AnnotationMigrationMode, core.AnnotationMigrationAttempts} {
		if value, ok := annotations[key]; ok {
			if !pseudonym.HarmlessValue(value) {
				value = "unknown"
			}
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func (p *pseudonyms) flavors(s *scenario.Scenario) (names map[string]string) {
	names = map[string]string{}
	for i := range s.Flavors {
		f := &s.Flavors[i]
		name := p.Name("flavor", f.Name)
		names[f.Name] = name
		f.Name, f.ID = name, p.ID(f.ID)
		maps.DeleteFunc(f.ExtraSpecs, func(key, value string) bool {
			return !pseudonym.HarmlessSpec(key, value)
		})
		if len(f.ExtraSpecs) == 0 {
			f.ExtraSpecs = nil
		}
	}
	return names
}

func (p *pseudonyms) projects(s *scenario.Scenario) (names map[string]string) {
	names = map[string]string{}
	for i, name := range s.Projects {
		s.Projects[i] = p.Name("project", name)
		names[name] = s.Projects[i]
	}
	for i := range s.Found.Projects {
		project := &s.Found.Projects[i]
		id := p.ID(project.ID)
		if names[project.ID] == "" {
			names[project.ID] = id
		}
		project.Name, project.ID = names[project.Name], id
	}
	return names
}

func (p *pseudonyms) instance(s *scenario.Scenario, in *scenario.Instance, machines, flavors, projects, groups map[string]string) {
	in.ID, in.Name = p.ID(in.ID), p.Name("instance", in.Name)
	in.Project, in.Flavor, in.ServerGroup = projects[in.Project], flavors[in.Flavor], groups[in.ServerGroup]
	in.Host, in.CameFrom, in.MigratingTo = machines[in.Host], machines[in.CameFrom], machines[in.MigratingTo]
	in.Tags, in.Created = nil, dayOf(s, in.Created)
	if in.Fault != "" {
		in.Fault = pseudonym.LeftOut
	}
}

// managed renames what the management cluster knows.
func (p *pseudonyms) managed(f *scenario.Found) {
	for i := range f.UpdateGroups {
		f.UpdateGroups[i].Name = p.Name("update-group", f.UpdateGroups[i].Name)
	}
	for i := range f.Plans {
		plan := &f.Plans[i]
		plan.Name = p.Name("plan", plan.Name)
		for j := range plan.Steps {
			st := &plan.Steps[j]
			st.ID, st.Name = p.stepID(st.ID), ""
			if st.Message != "" {
				st.Message = pseudonym.LeftOut
			}
		}
	}
}

// groupStep begins the ID of an update group's step (docs/mosk.md#plan-steps).
const groupStep = "k8s-workers-"

var ownSteps = []string{"", "openstack", "ceph", "k8s-controllers", "mcc-components"}

func (p *pseudonyms) stepID(id string) string {
	if group, ok := strings.CutPrefix(id, groupStep); ok {
		return groupStep + p.Name("update-group", group)
	}
	if slices.Contains(ownSteps, id) {
		return id
	}
	return p.Name("step", id)
}

// sortPseudonymous sorts every list whose order means nothing, so that the original order is lost.
func sortPseudonymous(s *scenario.Scenario) {
	f := s.Found
	slices.SortFunc(s.Nodes, func(x, y scenario.Node) int { return cmp.Or(rank(x)-rank(y), strings.Compare(x.Machine, y.Machine)) })
	slices.SortFunc(s.Flavors, func(x, y scenario.Flavor) int { return strings.Compare(x.Name, y.Name) })
	slices.Sort(s.Projects)
	slices.SortFunc(s.Instances, func(x, y scenario.Instance) int {
		return cmp.Or(strings.Compare(x.Host, y.Host), strings.Compare(x.Name, y.Name), strings.Compare(x.ID, y.ID))
	})
	slices.SortFunc(f.Projects, func(x, y scenario.FoundProject) int { return strings.Compare(x.ID, y.ID) })
	slices.SortFunc(f.Aggregates, func(x, y scenario.FoundAggregate) int { return strings.Compare(x.Name, y.Name) })
	for i := range f.Aggregates {
		f.Aggregates[i].ID = i + 1
	}
	slices.SortFunc(f.ServerGroups, func(x, y scenario.FoundGroup) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.ID, y.ID))
	})
	for _, list := range [][]scenario.FoundLock{f.ClusterLocks, f.NodeLocks} {
		slices.SortFunc(list, func(x, y scenario.FoundLock) int { return strings.Compare(x.Name, y.Name) })
	}
	for _, list := range [][]scenario.FoundRequest{f.ClusterRequests, f.NodeRequests} {
		slices.SortFunc(list, func(x, y scenario.FoundRequest) int { return strings.Compare(x.Name, y.Name) })
	}
	for _, list := range [][]scenario.FoundNotice{f.Deletions, f.Disablings} {
		slices.SortFunc(list, func(x, y scenario.FoundNotice) int { return strings.Compare(x.Name, y.Name) })
	}
}
