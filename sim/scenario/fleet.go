package scenario

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Fleet is a short form for many nodes and instances, which are generated from the scenario's seed: the same file
// always gives the same fleet. Generated nodes and instances follow those in the file. A weight is a share: with
// {ACTIVE: 9, SHUTOFF: 1}, one in ten instances is stopped.
type Fleet struct {
	Nodes map[string]int `json:"nodes"` // how many of each role; masters are controllers, too, if no controllers are given
	Zones map[string]int `json:"zones"` // availability zones of the computes with their weights; default nova
	Racks int            `json:"racks"` // of computes, each in one zone; default 1. A compute has its rack in its name and in a label
	Modes map[string]int `json:"modes"` // migration modes of the computes with their weights; default live

	VCPUs     int `json:"vcpus"`     // of each compute; default 64
	MemoryGiB int `json:"memoryGiB"` // of each compute; default 256
	DiskGiB   int `json:"diskGiB"`   // of each compute; default 4000

	Done  int `json:"done"`  // computes that are updated when the scenario starts
	Began int `json:"began"` // computes in maintenance

	Groups int `json:"groups"` // update groups of workers, by racks; 0: no management cluster, unless the file has one

	Projects  int            `json:"projects"`  // in addition to those in the file
	Instances int            `json:"instances"` // on the computes, spread at random
	Flavors   map[string]int `json:"flavors"`   // weights of the scenario's flavors; default: all equal
	Statuses  map[string]int `json:"statuses"`  // weights; default ACTIVE
	Actions   map[string]int `json:"actions"`   // weights of maintenance_action tags and of none; default none
	Troubles  map[string]int `json:"troubles"`  // how many instances have which trouble: see FleetTroubles
}

// Limits of a fleet; anything larger is a typing error.
const (
	maxFleetNodes     = 10_000
	maxFleetInstances = 500_000
)

// FleetTroubles lists the possible troubles of a fleet's instances.
var FleetTroubles = map[string]func(*Instance){
	"failsTwice": func(in *Instance) {
		in.FailLive = Failure{Times: 2, At: 0.6,
			Text: "Live Migration failure: operation failed: migration of disk vda failed: Input/output error"}
	},
	"fails": func(in *Instance) {
		in.FailLive = Failure{Times: -1, At: 0.1,
			Text: "Live Migration failure: internal error: unable to execute QEMU command 'migrate': State blocked by non-migratable device"}
	},
	"neverConverges": func(in *Instance) { in.NeverConverges = true },
	"noValidHost":    func(in *Instance) { in.NoValidHost = true },
	"localDisk":      func(in *Instance) { in.LocalDisk = true },
	"locked":         func(in *Instance) { in.Locked = "ask the owner before you touch it" },
}

// noAction is an instance without a maintenance_action tag, among the weights of Fleet.Actions.
const noAction = "none"

var (
	fleetRoles = []string{RoleMaster, RoleController, RoleCompute, RoleGateway, RoleStorage}
	fleetModes = []string{"live", "manual", "skip"}
	rolePrefix = map[string]string{RoleMaster: "mst", RoleController: "ctl", RoleCompute: "cmp", RoleGateway: "gtw", RoleStorage: "osd"}
	purposes   = []string{"web", "api", "db", "cache", "queue", "worker", "batch", "ci", "build", "monitor", "gateway", "app"}
	fleetSizes = []Flavor{{Name: "m1.small", VCPUs: 2, MemoryGiB: 4, DiskGiB: 20},
		{Name: "m1.medium", VCPUs: 4, MemoryGiB: 8, DiskGiB: 40}, {Name: "m1.large", VCPUs: 8, MemoryGiB: 16, DiskGiB: 80}}
	modeAnnotation = "openstack.lcm.mirantis.com/instance_migration_mode"
)

// checkFleet checks the short form, before anything is generated from it.
func (s *Scenario) checkFleet(check func(bool, string, ...any)) {
	f := s.Fleet
	check(s.Found == nil, "fleet: an inventory of a live cloud has no generated part")
	total := 0
	for _, role := range slices.Sorted(maps.Keys(f.Nodes)) {
		check(slices.Contains(fleetRoles, role), "fleet.nodes.%s: want counts of some of %v%s", role, fleetRoles, suggestion{role, fleetRoles})
		check(f.Nodes[role] >= 0, "fleet.nodes.%s: is %d: want 0 or more", role, f.Nodes[role])
		total += min(max(f.Nodes[role], 0), maxFleetNodes+1)
	}
	check(total > 0, "fleet.nodes: there are none: want counts of some of %v", fleetRoles)
	check(total <= maxFleetNodes, "fleet.nodes: there are more than %d", maxFleetNodes)
	computes := f.Nodes[RoleCompute]
	for _, n := range []struct {
		field     string
		value, to int
	}{
		{"racks", f.Racks, max(computes, 1)}, {"groups", f.Groups, max(f.Racks, 1)}, {"done", f.Done, computes},
		{"began", f.Began, max(computes-f.Done, 0)}, {"projects", f.Projects, maxFleetNodes}, {"instances", f.Instances, maxFleetInstances},
		{"vcpus", f.VCPUs, 1 << 16}, {"memoryGiB", f.MemoryGiB, 1 << 16}, {"diskGiB", f.DiskGiB, 1 << 24},
	} {
		check(n.value >= 0 && n.value <= n.to, "fleet.%s: is %d: want 0 to %d", n.field, n.value, n.to)
	}
	check(f.Done+f.Began == 0 || s.History.StartAt == StartWorkers,
		"fleet.done: nodes are done or under way, but the scenario does not start at the workers")
	check(f.Instances == 0 || computes > 0, "fleet.instances: there are no computes for them")
	check(f.Instances == 0 || f.Projects+len(s.Projects) > 0, "fleet.projects: there are none for the instances")
	flavors := []string{}
	for _, fl := range s.Flavors {
		flavors = append(flavors, fl.Name)
	}
	if len(s.Flavors) == 0 {
		for _, fl := range fleetSizes {
			flavors = append(flavors, fl.Name)
		}
	}
	for _, w := range []struct {
		field   string
		weights map[string]int
		known   []string // nil: any name
	}{
		{"zones", f.Zones, nil}, {"modes", f.Modes, fleetModes}, {"flavors", f.Flavors, flavors},
		{"statuses", f.Statuses, statuses}, {"actions", f.Actions, append([]string{noAction}, actions...)},
		{"troubles", f.Troubles, slices.Sorted(maps.Keys(FleetTroubles))},
	} {
		sum := 0
		for _, name := range slices.Sorted(maps.Keys(w.weights)) {
			check(name != "" && (w.known == nil || slices.Contains(w.known, name)), "fleet.%s.%s: want some of %v%s", w.field, name, w.known,
				suggestion{name, w.known})
			check(w.weights[name] >= 0 && w.weights[name] <= maxFleetInstances, "fleet.%s.%s: is %d: want 0 to %d", w.field, name, w.weights[name],
				maxFleetInstances)
			sum += max(w.weights[name], 0)
		}
		check(len(w.weights) == 0 || sum > 0, "fleet.%s: all weights are 0", w.field)
	}
	check(f.Statuses["VERIFY_RESIZE"] == 0 || computes > 1, "fleet.statuses.VERIFY_RESIZE: needs two computes")
}

// generate adds the fleet's nodes, flavors, projects, groups and instances to the scenario.
func (s *Scenario) generate(check func(bool, string, ...any)) {
	f := s.Fleet
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(s.Name))
	g := &generator{Scenario: s, fleet: f, chance: rand.New(rand.NewPCG(s.Seed, seed.Sum64()))}
	g.nodes()
	g.groups()
	for i := range f.Projects {
		s.Projects = append(s.Projects, fmt.Sprintf("team-%0*d", width(f.Projects), i+1))
	}
	if len(s.Flavors) == 0 {
		s.Flavors = slices.Clone(fleetSizes)
	}
	g.instances(check)
	s.Fleet = nil // now it is spelled out
}

type generator struct {
	*Scenario
	fleet  *Fleet
	chance *rand.Rand
	racks  [][]string // machines of the computes by rack
}

// nodes generates the machines: masters, controllers, computes by rack, gateways, storage.
func (g *generator) nodes() {
	f := g.fleet
	for _, role := range fleetRoles {
		if role == RoleCompute {
			g.computes()
			continue
		}
		for i := range f.Nodes[role] {
			n := Node{Machine: fmt.Sprintf("%s-%0*d", rolePrefix[role], width(f.Nodes[role]), i+1), Roles: []string{role}}
			if role == RoleMaster {
				if f.Nodes[RoleController] == 0 {
					n.Machine, n.Roles = strings.Replace(n.Machine, "mst", "ctl", 1), []string{RoleMaster, RoleController}
				}
			}
			if g.History.StartAt == StartWorkers && (role == RoleMaster || role == RoleController) {
				n.Done = g.ago(0.9 - 0.25*float64(i)/float64(f.Nodes[role]))
			}
			g.Nodes = append(g.Nodes, n)
		}
	}
}

// computes generates the computes, rack by rack, zone by zone, so that the update handles one zone after the other, as
// the OpenStack controller requires.
func (g *generator) computes() {
	f := g.fleet
	total, racks := f.Nodes[RoleCompute], max(f.Racks, 1)
	zones := spread(f.Zones, racks)
	modes := newLots(f.Modes, "live")
	g.racks = make([][]string, racks)
	for i := range total {
		rack := i * racks / total
		n := Node{
			Machine: fmt.Sprintf("cmp-%0*d", width(total), i+1), Roles: []string{RoleCompute}, Zone: zones[rack],
			VCPUs: f.VCPUs, MemoryGiB: f.MemoryGiB, DiskGiB: f.DiskGiB,
		}
		if racks > 1 {
			n.Rack = fmt.Sprintf("r%0*d", width(racks), rack+1)
			n.Machine = fmt.Sprintf("%s-cmp-%0*d", n.Rack, width((total+racks-1)/racks), len(g.racks[rack])+1)
		}
		switch {
		case i < f.Done:
			n.Done = g.ago(0.6 - 0.55*float64(i)/float64(f.Done))
		case i < f.Done+f.Began:
			n.Began = Duration(time.Duration(4+i%3) * time.Minute)
		default: // manual and skipped nodes are still to be updated
			if mode := modes.draw(g.chance); mode != "live" {
				n.Annotations = map[string]string{modeAnnotation: mode}
			}
		}
		g.racks[rack] = append(g.racks[rack], n.Machine)
		g.Nodes = append(g.Nodes, n)
	}
}

// ago is a share of the time since the cluster's locks were released.
func (g *generator) ago(share float64) Duration {
	return Duration(time.Duration(share * float64(g.History.Released)).Round(time.Second))
}

// groups generates the update groups: the racks in turn, and one for all other workers.
func (g *generator) groups() {
	if g.fleet.Groups == 0 {
		return
	}
	if g.Management == nil {
		g.Management = &Management{}
	}
	var others []string
	for _, n := range g.Nodes {
		if !n.Has(RoleMaster) && !n.Has(RoleCompute) {
			others = append(others, n.Machine)
		}
	}
	for i := range g.fleet.Groups {
		group := UpdateGroup{Name: fmt.Sprintf("racks-%0*d", width(g.fleet.Groups), i+1), Index: i + 1}
		for rack, machines := range g.racks {
			if rack*g.fleet.Groups/len(g.racks) == i {
				group.Machines = append(group.Machines, machines...)
			}
		}
		g.Management.Groups = append(g.Management.Groups, group)
	}
	if len(others) > 0 {
		g.Management.Groups = append(g.Management.Groups, UpdateGroup{Name: "others", Index: g.fleet.Groups + 1, Machines: others})
	}
}

// instances generates the instances, each on the emptier of two computes with room for it.
func (g *generator) instances(check func(bool, string, ...any)) {
	f := g.fleet
	var hosts []host
	for _, n := range g.Nodes[len(g.Nodes)-f.total():] {
		if n.Has(RoleCompute) {
			hosts = append(hosts, host{machine: n.Machine, free: cmp.Or(n.RAM(), defaultMemoryGiB<<10)})
		}
	}
	sizes := map[string]int{}
	all := map[string]int{}
	for _, fl := range g.Flavors {
		sizes[fl.Name], all[fl.Name] = fl.RAM(), 1
	}
	if len(f.Flavors) > 0 {
		all = f.Flavors
	}
	flavors, states, tags := newLots(all, ""), newLots(f.Statuses, "ACTIVE"), newLots(f.Actions, noAction)
	first := len(g.Instances)
	g.Instances = slices.Grow(g.Instances, f.Instances)
	for i := range f.Instances {
		in := Instance{
			Name:    fmt.Sprintf("%s-%0*d", purposes[g.chance.IntN(len(purposes))], width(f.Instances), i+1),
			Project: g.Projects[g.chance.IntN(len(g.Projects))], Flavor: flavors.draw(g.chance), Status: states.draw(g.chance),
			Age: Duration(time.Duration(1+g.chance.IntN(2000)) * time.Hour),
		}
		if action := tags.draw(g.chance); action != noAction {
			in.Actions = []string{action}
		}
		if in.Status == "SHELVED_OFFLOADED" {
			g.Instances = append(g.Instances, in)
			continue
		}
		h := g.roomFor(hosts, sizes[in.Flavor])
		if h == nil {
			check(false, "fleet.instances: only %d find room on the computes: want fewer, smaller flavors, or more memoryGiB", i)
			return
		}
		h.free -= sizes[in.Flavor]
		in.Host = h.machine
		if in.Status == "VERIFY_RESIZE" {
			for in.CameFrom = in.Host; in.CameFrom == in.Host; {
				in.CameFrom = hosts[g.chance.IntN(len(hosts))].machine
			}
		}
		g.Instances = append(g.Instances, in)
	}
	for _, trouble := range slices.Sorted(maps.Keys(f.Troubles)) {
		for range min(f.Troubles[trouble], f.Instances) {
			FleetTroubles[trouble](&g.Instances[first+g.chance.IntN(f.Instances)])
		}
	}
}

// host is a compute with its free memory, in MiB.
type host struct {
	machine string
	free    int
}

// roomFor returns the emptier of two computes, or any other if both are full; nil if all are full.
func (g *generator) roomFor(hosts []host, size int) *host {
	a, b := &hosts[g.chance.IntN(len(hosts))], &hosts[g.chance.IntN(len(hosts))]
	if a.free < b.free {
		a = b
	}
	for i := 0; a.free < size; i++ {
		if i == len(hosts) {
			return nil
		}
		a = &hosts[i]
	}
	return a
}

// total is how many nodes are generated.
func (f *Fleet) total() int {
	total := 0
	for _, n := range f.Nodes {
		total += n
	}
	return total
}

// width is how many digits a count has, at least two.
func width(count int) int { return max(2, len(fmt.Sprint(count))) }

// spread shares n places among names by their weights, each name's places next to each other.
func spread(weights map[string]int, n int) []string {
	if len(weights) == 0 {
		return make([]string, n)
	}
	sum := 0
	for _, w := range weights {
		sum += w
	}
	var places []string
	before := 0
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		before += weights[name]
		for len(places) < n*before/sum {
			places = append(places, name)
		}
	}
	return places
}

// lots draws names by weight.
type lots struct {
	names  []string
	bounds []int // upper bounds of the names' ranges, ascending
}

func newLots(weights map[string]int, otherwise string) lots {
	if len(weights) == 0 {
		return lots{names: []string{otherwise}, bounds: []int{1}}
	}
	var l lots
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		if weights[name] > 0 {
			sum += weights[name]
			l.names, l.bounds = append(l.names, name), append(l.bounds, sum)
		}
	}
	return l
}

func (l lots) draw(chance *rand.Rand) string {
	x := chance.IntN(l.bounds[len(l.bounds)-1])
	i, found := slices.BinarySearch(l.bounds, x)
	if found { // a bound belongs to the next name
		i++
	}
	return l.names[i]
}
