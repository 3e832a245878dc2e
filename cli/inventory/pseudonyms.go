package inventory

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/sim/scenario"
)

// Pseudonymise replaces every name and ID of a scenario made from an inventory. Equal names stay equal, different ones different,
// and nothing leads back: pseudonyms derive from a key that is made for the file and thrown away. Free texts lose everything not
// known to be harmless; lists are sorted by the new names.
func Pseudonymise(s *scenario.Scenario) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails; the program ends when the system has no randomness
	p := &pseudonyms{key: key, objects: map[string]string{}}
	p.scenario(s)
}

// pseudonyms gives names to things.
type pseudonyms struct {
	key     []byte
	objects map[string]string // pseudonyms of objects that others are named after: nodes, the cluster, the deployment
}

// digest is the hash from which a pseudonym is made.
func (p *pseudonyms) digest(kind, name string) []byte {
	mac := hmac.New(sha256.New, p.key)
	fmt.Fprintf(mac, "%s\x00%s", kind, name)
	return mac.Sum(nil)
}

// name is the pseudonym of a name; an empty name stays empty.
func (p *pseudonyms) name(kind, name string) string {
	if name == "" {
		return ""
	}
	return kind + "-" + hex.EncodeToString(p.digest(kind, name)[:5])
}

// object is the pseudonym of a name after which other objects are named.
func (p *pseudonyms) object(kind, name string) string {
	made := p.name(kind, name)
	p.objects[name] = made
	return made
}

// id is a new ID in the form of the old one: a UUID, or 32 hexadecimal digits, or whatever it was.
func (p *pseudonyms) id(id string) string {
	if id == "" {
		return ""
	}
	d := p.digest("id", id)
	d[6], d[8] = d[6]&0x0f|0x40, d[8]&0x3f|0x80
	h := hex.EncodeToString(d[:16])
	if hexID.MatchString(id) {
		return h
	}
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

var (
	hexID    = regexp.MustCompile(`^[0-9a-f]{32}$`)
	nodeName = regexp.MustCompile(`^kaas-node-`)
)

// ownZones are the zones of every Nova.
var ownZones = []string{"", "nova", "internal"}

func (p *pseudonyms) zone(zone string) string {
	if slices.Contains(ownZones, zone) {
		return zone
	}
	return p.name("zone", zone)
}

// knownControllers are the application controllers of every MOSK; their names tell nothing.
var knownControllers = []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric, core.ControllerStackLight}

func (p *pseudonyms) controller(name string) string {
	if slices.Contains(knownControllers, name) {
		return name
	}
	return p.name("controller", name)
}

// scenario replaces names first where things are defined, then where they are referred to.
func (p *pseudonyms) scenario(s *scenario.Scenario) {
	f := s.Found
	s.Name, s.Cluster = p.name("cluster", s.Name), p.object("cluster", s.Cluster)
	s.Title = titleOf(s.Name)
	f.Pseudonymous, f.From = true, ""

	machines := p.nodes(s)
	flavors := p.flavors(s)
	projects := p.projects(s)
	groups := map[string]string{}
	for i := range f.ServerGroups {
		g := &f.ServerGroups[i]
		name, id := p.name("group", g.Name), p.id(g.ID)
		groups[g.Name], groups[g.ID] = name, id
		g.Name, g.ID, g.Project = name, id, projects[g.Project]
	}
	for i := range f.Aggregates {
		a := &f.Aggregates[i]
		a.Name, a.Zone, a.Nodes = p.name("aggregate", a.Name), p.zone(a.Zone), renamed(a.Nodes, machines)
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
		machine := p.name(kind, n.Machine)
		machines[n.Machine] = machine
		switch {
		case same:
			p.objects[n.Name], n.Name = machine, machine
		case nodeName.MatchString(n.Name):
			made := "kaas-node-" + p.id(strings.TrimPrefix(n.Name, "kaas-node-"))
			p.objects[n.Name], n.Name = made, made
		default:
			n.Name = p.object("node", n.Name)
		}
		n.Machine, n.Zone, n.Group = machine, p.zone(n.Zone), p.name("update-group", n.Group)
		n.Annotations, n.Created, n.ReadySince = harmlessAnnotations(n.Annotations), dayOf(s, n.Created), dayOf(s, n.ReadySince)
		n.AgentsDown = plainAgents(n.AgentsDown)
		if n.DisabledReason != "" && n.DisabledReason != core.DisabledReasonMaintenance {
			n.DisabledReason = leftOut
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

// leftOut stands for a text that may say anything.
const leftOut = "(left out)"

var harmlessValue = regexp.MustCompile(`^(live|manual|skip|\d{1,3})$`)

// harmlessAnnotations are those that the OpenStack controller reads. A value unknown to it is replaced by another unknown one.
func harmlessAnnotations(annotations map[string]string) map[string]string {
	kept := map[string]string{}
	for _, key := range []string{core.AnnotationMigrationMode, core.AnnotationMigrationAttempts} {
		if value, ok := annotations[key]; ok {
			if !harmlessValue.MatchString(value) {
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

var harmlessSpec = regexp.MustCompile(
	`^hw:(cpu_policy|cpu_thread_policy|cpu_realtime|mem_page_size|mem_encryption|numa_nodes|emulator_threads_policy|pmu|watchdog_action)$`)

func (p *pseudonyms) flavors(s *scenario.Scenario) (names map[string]string) {
	names = map[string]string{}
	for i := range s.Flavors {
		f := &s.Flavors[i]
		name := p.name("flavor", f.Name)
		names[f.Name] = name
		f.Name, f.ID = name, p.id(f.ID)
		maps.DeleteFunc(f.ExtraSpecs, func(key, value string) bool {
			return !harmlessSpec.MatchString(key) || len(value) > 16
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
		s.Projects[i] = p.name("project", name)
		names[name] = s.Projects[i]
	}
	for i := range s.Found.Projects {
		project := &s.Found.Projects[i]
		id := p.id(project.ID)
		if names[project.ID] == "" {
			names[project.ID] = id
		}
		project.Name, project.ID = names[project.Name], id
	}
	return names
}

func (p *pseudonyms) instance(s *scenario.Scenario, in *scenario.Instance, machines, flavors, projects, groups map[string]string) {
	in.ID, in.Name = p.id(in.ID), p.name("instance", in.Name)
	in.Project, in.Flavor, in.ServerGroup = projects[in.Project], flavors[in.Flavor], groups[in.ServerGroup]
	in.Host, in.CameFrom, in.MigratingTo = machines[in.Host], machines[in.CameFrom], machines[in.MigratingTo]
	in.Tags, in.Created = nil, dayOf(s, in.Created)
	if in.Fault != "" {
		in.Fault = leftOut
	}
}

// managed renames what the management cluster knows.
func (p *pseudonyms) managed(f *scenario.Found) {
	for i := range f.UpdateGroups {
		f.UpdateGroups[i].Name = p.name("update-group", f.UpdateGroups[i].Name)
	}
	for i := range f.Plans {
		plan := &f.Plans[i]
		plan.Name = p.name("plan", plan.Name)
		for j := range plan.Steps {
			st := &plan.Steps[j]
			st.ID, st.Name = p.stepID(st.ID), ""
			if st.Message != "" {
				st.Message = leftOut
			}
		}
	}
}

// groupStep begins the ID of an update group's step (docs/mosk.md#plan-steps).
const groupStep = "k8s-workers-"

var ownSteps = []string{"", "openstack", "ceph", "k8s-controllers", "mcc-components"}

func (p *pseudonyms) stepID(id string) string {
	if group, ok := strings.CutPrefix(id, groupStep); ok {
		return groupStep + p.name("update-group", group)
	}
	if slices.Contains(ownSteps, id) {
		return id
	}
	return p.name("step", id)
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
