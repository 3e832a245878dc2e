package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/sim/scenario"
)

// unknownFlavor is for instances whose size the cloud does not show.
var unknownFlavor = core.Flavor{Name: "unknown", VCPUs: 2, RAMMiB: 4096, DiskGiB: 20}

// relevantSpecs are the beginnings of the extra specs that decide where an instance can live.
var relevantSpecs = []string{"hw:", "pci_passthrough:", "resources:", "trait:"}

func relevant(specs map[string]string) map[string]string {
	kept := maps.Clone(specs)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		return !slices.ContainsFunc(relevantSpecs, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	})
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// flavorOf is the flavor of an instance as the scenario needs it.
func flavorOf(in *core.Instance) core.Flavor {
	f := in.Flavor()
	if f.Name == "" {
		return unknownFlavor
	}
	f.VCPUs, f.RAMMiB, f.ExtraSpecs = max(f.VCPUs, 1), max(f.RAMMiB, 1), relevant(f.ExtraSpecs)
	return f
}

// flavorKey identifies a flavor; names are not unique: a flavor may have been recreated, and older instances keep the former size.
func flavorKey(f core.Flavor) string {
	return fmt.Sprintf("%s\x00%d\x00%d\x00%d\x00%v", f.Name, f.VCPUs, f.RAMMiB, f.DiskGiB, f.ExtraSpecs)
}

// flavors takes over those that instances use.
func (b *builder) flavors() {
	used, unknown := map[string]core.Flavor{}, 0
	for _, in := range b.inv.Instances {
		f := flavorOf(in)
		used[flavorKey(f)] = f
		if in.Flavor().Name == "" {
			unknown++
		}
	}
	if unknown > 0 {
		b.assume("flavors", "%s not told by Nova: %d vCPUs, %d MiB and %d GiB each",
			count(unknown, "the flavor of 1 instance is", "the flavors of %d instances are"),
			unknownFlavor.VCPUs, unknownFlavor.RAMMiB, unknownFlavor.DiskGiB)
	}
	ids := map[string]string{}
	for _, f := range b.inv.Flavors {
		f.ExtraSpecs = relevant(f.ExtraSpecs)
		ids[flavorKey(f.Flavor)] = f.ID
	}
	b.flavorNames = map[string]string{}
	taken := map[string]int{}
	for _, key := range slices.SortedFunc(maps.Keys(used), func(x, y string) int {
		// Of two flavors with one name, the one that still exists keeps it.
		return cmp.Or(strings.Compare(used[x].Name, used[y].Name), cmp.Compare(ids[y], ids[x]), strings.Compare(x, y))
	}) {
		f := used[key]
		name := f.Name
		if taken[f.Name]++; taken[f.Name] > 1 {
			name = fmt.Sprintf("%s~%d", f.Name, taken[f.Name])
		}
		b.flavorNames[key] = name
		found := scenario.Flavor{Name: name, VCPUs: f.VCPUs, DiskGiB: f.DiskGiB,
			FoundFlavor: scenario.FoundFlavor{ID: ids[key], ExtraSpecs: f.ExtraSpecs}}
		found.MemoryGiB, found.MemoryMiB = inGiB(f.RAMMiB)
		b.s.Flavors = append(b.s.Flavors, found)
	}
}

// projects takes over those that have instances or server groups.
func (b *builder) projects() {
	names := map[string]string{}
	for _, p := range b.inv.Projects {
		names[p.ID] = p.Name
	}
	used, count := map[string]bool{}, map[string]int{}
	use := func(id string) {
		if id != "" && !used[id] {
			used[id] = true
			count[cmp.Or(names[id], id)]++
		}
	}
	for _, in := range b.inv.Instances {
		use(in.ProjectID)
	}
	for _, g := range b.inv.ServerGroups {
		if len(g.Members) > 0 {
			use(g.ProjectID)
		}
	}
	b.projectNames = map[string]string{}
	for _, id := range slices.SortedFunc(maps.Keys(used), func(x, y string) int {
		return cmp.Or(strings.Compare(cmp.Or(names[x], x), cmp.Or(names[y], y)), strings.Compare(x, y))
	}) {
		name := cmp.Or(names[id], id)
		b.projectNames[id] = name
		if count[name] > 1 { // in two domains
			b.projectNames[id] = id
		}
		if !slices.Contains(b.s.Projects, name) {
			b.s.Projects = append(b.s.Projects, name)
		}
		b.s.Found.Projects = append(b.s.Found.Projects, scenario.FoundProject{Name: name, ID: id})
	}
}

// groups takes over the server groups that have members.
func (b *builder) groups() {
	count := map[string]int{}
	for _, g := range b.inv.ServerGroups {
		count[g.Name]++
	}
	b.groupOf = map[string]string{}
	for _, g := range b.inv.ServerGroups {
		if len(g.Members) == 0 || b.projectNames[g.ProjectID] == "" {
			continue
		}
		name := g.Name
		if name == "" || count[name] > 1 {
			name = g.ID
		}
		for _, id := range g.Members {
			b.groupOf[id] = name
		}
		b.s.Found.ServerGroups = append(b.s.Found.ServerGroups,
			scenario.FoundGroup{Name: g.Name, ID: g.ID, Project: b.projectNames[g.ProjectID], Policy: g.Policy})
	}
}

func (b *builder) aggregates() {
	for _, a := range b.inv.Aggregates {
		found := scenario.FoundAggregate{Name: a.Name, ID: a.ID, Zone: a.Zone}
		for _, host := range a.Hosts {
			if machine := b.machineOf(host); machine != "" {
				found.Nodes = append(found.Nodes, machine)
			}
		}
		slices.SortFunc(found.Nodes, compareNames)
		b.s.Found.Aggregates = append(b.s.Found.Aggregates, found)
	}
}

// The simulated scheduler's own ratios. Overcommit raises them where a live host has allocated more.
const (
	ownCPURatio = 4
	ownRatio    = 1
)

// overcommit lets the simulated scheduler allocate as much as the fullest host has allocated: otherwise an overcommitted cloud
// would have room for nothing.
func (b *builder) overcommit() {
	type use struct{ cpu, ram, disk int }
	sizes := map[string]scenario.Flavor{}
	for _, f := range b.s.Flavors {
		sizes[f.Name] = f
	}
	used := map[string]use{}
	for _, in := range b.s.Instances {
		u, f := used[in.Host], sizes[in.Flavor]
		used[in.Host] = use{u.cpu + f.VCPUs, u.ram + f.RAM(), u.disk + f.DiskGiB}
	}
	ratio := func(used, has int, own float64) float64 {
		if has <= 0 || float64(used)/float64(has) <= own {
			return 0
		}
		return math.Ceil(100*float64(used)/float64(has)) / 100
	}
	o := &b.s.Found.Overcommit
	for _, n := range b.s.Nodes {
		u := used[n.Machine]
		o.VCPUs = max(o.VCPUs, ratio(u.cpu, cmp.Or(n.VCPUs, 64), ownCPURatio))
		o.Memory = max(o.Memory, ratio(u.ram, cmp.Or(n.RAM(), 256<<10), ownRatio))
		o.Disk = max(o.Disk, ratio(u.disk, cmp.Or(n.DiskGiB, 4000), ownRatio))
	}
}
