package evacuation

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lockstep/core"
)

// The resource classes that every instance uses.
const (
	classVCPU   = "VCPU"
	classPCPU   = "PCPU"
	classMemory = "MEMORY_MB"
	classDisk   = "DISK_GB"
)

// room is the compute hosts and what they can take: Placement's inventories less the allocations, the hosts' zones, aggregates and
// traits, and the members of server groups on them.
type room struct {
	s       *core.Snapshot
	facts   *core.EvacuationFacts
	classes []string                             // resource classes, by their places in all vectors
	index   map[string]int                       // and back
	taken   map[string]map[string]map[string]int // Placement's allocations by host and consumer
	hosts   []*roomHost                          // by name
	byName  map[string]*roomHost
	groups  map[string]*core.ServerGroup // by instance ID
	trial   bool                         // nobody is told why
	unsure  bool                         // there is a host of which Placement's answer is missing
	unknown bool                         // Placement, or which hosts are enabled and up, could not be asked
}

// roomHost is one host.
type roomHost struct {
	name     string
	zone     string
	known    bool // its inventory was read
	capacity []int
	most     []int // of one instance
	used     []int
	traits   map[string]bool
	metadata map[string][]string // of its aggregates: values by key
	members  map[string]int      // by server group ID: how many are on it
	shut     string              // why nothing is scheduled to it: disabled, down; empty when something is
	returns  bool                // it is shut for its maintenance only, and opens when that is over
	busy     bool                // it is in maintenance in this wave
}

func newRoom(s *core.Snapshot, f *core.EvacuationFacts, groups map[string]*core.ServerGroup) *room {
	r := &room{s: s, facts: f, index: map[string]int{}, byName: map[string]*roomHost{}, groups: groups,
		taken:   map[string]map[string]map[string]int{},
		unknown: f.MissingOf(core.FactsRoom) != nil || !s.Known(core.SourceComputeServices)}
	classes := map[string]bool{classVCPU: true, classPCPU: true, classMemory: true, classDisk: true}
	for _, inv := range f.Inventories {
		for c := range inv.Classes {
			classes[c] = true
		}
	}
	r.classes = slices.Sorted(maps.Keys(classes))
	for i, c := range r.classes {
		r.index[c] = i
	}
	for _, host := range slices.Sorted(maps.Keys(s.Services)) {
		svc := s.Services[host]
		h := &roomHost{name: host, zone: svc.Zone, traits: map[string]bool{}, metadata: map[string][]string{}, members: map[string]int{},
			capacity: make([]int, len(r.classes)), most: make([]int, len(r.classes)), used: make([]int, len(r.classes))}
		switch {
		case svc.ForcedDown:
			h.shut = "nova-compute is forced down"
		case !svc.Up:
			h.shut = "nova-compute is down"
		case !svc.Enabled && svc.DisabledReason != "":
			h.shut = "nova-compute is disabled: " + core.Tidy(svc.DisabledReason)
			h.returns = svc.DisabledReason == core.DisabledReasonMaintenance
		case !svc.Enabled:
			h.shut = "nova-compute is disabled"
		}
		r.hosts = append(r.hosts, h)
		r.byName[host] = h
	}
	for _, inv := range f.Inventories {
		if h := r.byName[inv.Host]; h != nil && !h.known {
			r.fill(h, inv)
		}
	}
	for _, h := range r.hosts {
		r.unsure = r.unsure || !h.known && h.shut == ""
	}
	for trait, hosts := range f.Traits {
		for _, host := range hosts {
			if h := r.byName[host]; h != nil {
				h.traits[trait] = true
			}
		}
	}
	for _, a := range f.Aggregates {
		for _, host := range a.Hosts {
			if h := r.byName[host]; h != nil {
				for key, values := range a.Metadata { // one, or several between commas, as Nova's filters read them
					for _, value := range strings.Split(values, ",") {
						h.metadata[key] = append(h.metadata[key], strings.TrimSpace(value))
					}
				}
			}
		}
	}
	for i := range f.ServerGroups {
		g := &f.ServerGroups[i]
		for _, id := range g.Members {
			if in := s.Instances.At(id); in != nil && groups[id] == g {
				if h := r.byName[in.Host]; h != nil {
					h.members[g.ID]++
				}
			}
		}
	}
	return r
}

func (r *room) fill(h *roomHost, inv core.HostInventory) {
	h.known = true
	r.taken[h.name] = inv.Allocations
	for c, i := range inv.Classes {
		h.capacity[r.index[c]] += i.Capacity()
		h.most[r.index[c]] = max(h.most[r.index[c]], i.MaxUnit)
	}
	add := func(taken map[string]int) {
		for c, n := range taken {
			if i, ok := r.index[c]; ok {
				h.used[i] += n
			}
		}
	}
	if inv.Used != nil {
		add(inv.Used)
		return
	}
	for _, taken := range inv.Allocations {
		add(taken)
	}
}

// needOf is what an instance needs, by class: what Placement has allocated to it on its host, else what its flavor says.
func (r *room) needOf(in *core.Instance) []int {
	need := make([]int, len(r.classes))
	if taken, ok := r.taken[in.Host][in.ID]; ok {
		for c, n := range taken {
			if at, ok := r.index[c]; ok {
				need[at] += n
			}
		}
		return need
	}
	for class, n := range takes(in) {
		if at, known := r.index[class]; known {
			need[at] = n
		}
	}
	return need
}

// takes is what Nova allocates for an instance by its flavor, by class: scheduler/utils.py (ResourceRequest) counts the flavor's disk
// only for an instance that does not boot from a volume, and the flavor may name amounts of its own.
func takes(in *core.Instance) map[string]int {
	cpu := classVCPU
	if in.Flavor().ExtraSpecs["hw:cpu_policy"] == "dedicated" {
		cpu = classPCPU
	}
	need := map[string]int{cpu: in.Flavor().VCPUs, classMemory: in.Flavor().RAMMiB, classDisk: in.Flavor().MoreGiB}
	if !in.OnVolume {
		need[classDisk] += in.Flavor().DiskGiB
	}
	for key, value := range in.Flavor().ExtraSpecs {
		class, ok := strings.CutPrefix(key, "resources:")
		if n, err := strconv.Atoi(value); ok && err == nil {
			need[class] = n // a flavor may say 0 for what it does not want counted
		}
	}
	return need
}

// close takes a host out of the room while it is in maintenance, and puts it back after. A host that was disabled for its maintenance
// is then enabled again.
func (r *room) close(host string, busy bool) {
	h := r.byName[host]
	if h == nil {
		return
	}
	h.busy = busy
	if !busy && h.returns {
		h.shut, h.returns = "", false
		r.unsure = r.unsure || !h.known
	}
}

// closed are the hosts to which nothing is scheduled, except the nodes of the forecast.
func (r *room) closed(s *core.Snapshot, nodes []string) []ClosedHost {
	out := []ClosedHost{}
	for _, h := range r.hosts {
		node := h.name
		if n := s.NodeOfHost(h.name); n != nil {
			node = n.Name
		}
		if h.shut != "" && !slices.Contains(nodes, node) {
			out = append(out, ClosedHost{core.Tidy(s.Label(node)), h.shut})
		}
	}
	slices.SortFunc(out, func(a, b ClosedHost) int { return strings.Compare(a.Host, b.Host) })
	return out
}

// order sorts by size, the largest first: what is hard to place is placed before what fits everywhere.
func (r *room) order(all []*leaver) []*leaver {
	sorted := slices.Clone(all)
	memory, cpu, disk := r.index[classMemory], r.index[classVCPU], r.index[classDisk]
	slices.SortFunc(sorted, func(a, b *leaver) int {
		return cmp.Or(b.need[memory]-a.need[memory], b.need[cpu]-a.need[cpu], b.need[disk]-a.need[disk],
			strings.Compare(a.instance.ID, b.instance.ID))
	})
	return sorted
}

// place finds a host for each leaver, or says why there is none.
func (r *room) place(leavers []*leaver) {
	if r.unknown {
		return // it is among what could not be checked
	}
	for _, l := range r.order(leavers) {
		l.host = r.roomiest(l)
		if l.host != nil {
			r.move(l)
		} else if !r.trial {
			l.Reasons = append(l.Reasons, r.whyNot(l))
		}
	}
}

// withOneLess places the leavers without the host of their zones that has the most free memory, marks those that then find no host, and
// restores everything else. It returns that host; nil when the room is not known.
func (r *room) withOneLess(leavers []*leaver) *roomHost {
	if r.unknown {
		return nil
	}
	var lost *roomHost
	memory := r.index[classMemory]
	for _, h := range r.hosts {
		if h.open() && (lost == nil || h.free(memory) > lost.free(memory)) &&
			slices.ContainsFunc(leavers, func(l *leaver) bool { return h.name != l.from && r.inZone(h, l.instance) }) {
			lost = h
		}
	}
	if lost == nil {
		return nil
	}
	type state struct {
		used    []int
		members map[string]int
	}
	before := make([]state, len(r.hosts))
	for i, h := range r.hosts {
		before[i] = state{slices.Clone(h.used), maps.Clone(h.members)}
	}
	lost.busy, r.trial = true, true
	r.place(leavers)
	lost.busy, r.trial = false, false
	for i, h := range r.hosts {
		h.used, h.members = before[i].used, before[i].members
	}
	for _, l := range leavers {
		l.homeless, l.host = l.host == nil, nil
	}
	return lost
}

func (h *roomHost) open() bool { return h.known && h.shut == "" && !h.busy }

func (h *roomHost) free(class int) int { return h.capacity[class] - h.used[class] }

// roomiest is the host with the most free memory among those that can take the leaver, as Nova's scheduler weighs by default.
func (r *room) roomiest(l *leaver) *roomHost {
	var best *roomHost
	memory := r.index[classMemory]
	for _, h := range r.hosts {
		if h.open() && (best == nil || h.free(memory) > best.free(memory)) && r.refusal(h, l) == "" {
			best = h
		}
	}
	return best
}
