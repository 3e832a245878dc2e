package evacuation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// refusal is what the host lacks for the leaver: one of the lacks… constants or a resource class; empty when it can take it.
func (r *room) refusal(h *roomHost, l *leaver) string {
	if h.name == l.from || !r.inZone(h, l.instance) {
		return lacksZone
	}
	return r.lacking(h, l)
}

// lacking is refusal without a look at the zone.
func (r *room) lacking(h *roomHost, l *leaver) string {
	for i, n := range l.need {
		if n > 0 && (n > h.free(i) || n > h.most[i]) {
			return r.classes[i]
		}
	}
	for _, w := range l.wants {
		if !w.met(h) {
			return w.lacks
		}
	}
	if g := r.groups[l.instance.ID]; g != nil && g.Policy == policyAntiAffinity && h.members[g.ID] >= max(g.MaxPerHost, 1) {
		return lacksGroup
	}
	return ""
}

// want is what one extra spec of a flavor asks of a host.
type want struct {
	lacks string // what a host lacks that does not have it
	met   func(*roomHost) bool
}

const aggregateScope = "aggregate_instance_extra_specs:"

// wantsOf are the wants of an instance's flavor, by the names of its extra specs: traits, and the metadata of aggregates as Nova's
// AggregateInstanceExtraSpecsFilter reads them. What could not be read is left out; the forecast names it as not checked.
func (r *room) wantsOf(in *core.Instance) []want {
	var all []want
	for _, key := range slices.Sorted(maps.Keys(in.Flavor().ExtraSpecs)) {
		value := in.Flavor().ExtraSpecs[key]
		if name, ok := strings.CutPrefix(key, aggregateScope); ok && r.facts.MissingOf(core.FactsAggregates) == nil && !hasOperator(value) {
			all = append(all, want{lacksAggregate, func(h *roomHost) bool { return slices.Contains(h.metadata[name], value) }})
		}
		if trait, ok := traitOf(key); ok && r.facts.MissingOf(core.FactsTraits) == nil {
			switch value {
			case "required":
				all = append(all, want{lacksTrait, func(h *roomHost) bool { return h.traits[trait] }})
			case "forbidden":
				all = append(all, want{lacksTrait, func(h *roomHost) bool { return !h.traits[trait] }})
			}
		}
	}
	return all
}

// hasOperator tells whether the value of an extra spec compares ("s== ssd", "<in> x", ">= 4") instead of being a plain word.
func hasOperator(value string) bool {
	return strings.HasPrefix(value, "<") || strings.ContainsAny(value, " =")
}

// traitOf is the trait that a flavor's extra spec is about.
func traitOf(key string) (string, bool) { return strings.CutPrefix(key, "trait:") }

// inZone tells whether an instance may go to a host's zone. Before 2.96 Nova does not tell which zone its user asked for; then it
// counts as bound to its present zone.
func (r *room) inZone(h *roomHost, in *core.Instance) bool {
	if r.facts.PinnedZones != nil {
		if zone, ok := r.facts.PinnedZones[in.ID]; ok {
			return zone == "" || zone == h.zone
		}
	}
	return in.Zone == "" || in.Zone == h.zone
}

// move puts the leaver on its new host and frees its place on the old one.
func (r *room) move(l *leaver) {
	g := r.groups[l.instance.ID]
	for i, n := range l.need {
		l.host.used[i] += n
	}
	if g != nil {
		l.host.members[g.ID]++
	}
	home := r.byName[l.from]
	if home == nil {
		return
	}
	if home.known {
		for i, n := range l.need {
			home.used[i] -= n
		}
	}
	if g != nil {
		home.members[g.ID]--
	}
}

// whyNot says what the open hosts lack for the leaver, or that this is not known.
func (r *room) whyNot(l *leaver) Reason {
	in := l.instance
	lacks := map[string]int{}
	inZone, elsewhere, most := 0, 0, 0
	memory := r.index[classMemory]
	for _, h := range r.hosts {
		if !h.open() || h.name == l.from {
			continue
		}
		why := r.refusal(h, l)
		if why == lacksZone {
			if r.lacking(h, l) == "" {
				elsewhere++
			}
			continue
		}
		inZone++
		lacks[why]++
		most = max(most, h.free(memory))
	}
	if r.unsure {
		return Reason{KindRoom, LevelUnknown, "no host in Placement's answer has room for it, and some hosts are missing from the answer", ""}
	}
	where := "the cloud"
	if in.Zone != "" && in.Zone != "nova" {
		where = "zone " + core.Tidy(in.Zone)
	}
	if inZone == 0 {
		text := "no other host of " + where + " takes instances"
		if elsewhere > 0 {
			text += fmt.Sprintf("; %s of other zones would have room", wording.Count(elsewhere, "host"))
		}
		return Reason{KindZone, LevelBlocks, text, "enable a host there, stop the instance, or let it go down with the host"}
	}
	var parts []string
	kind, group := KindRoom, r.groups[in.ID]
	for _, why := range slices.Sorted(maps.Keys(lacks)) {
		n := lacks[why]
		switch why {
		case lacksGroup:
			parts = append(parts, fmt.Sprintf("%s a member of its server group %s", hostsHave(n), core.Tidy(group.Name)))
			kind = KindAntiAffinity
		case lacksAggregate:
			parts = append(parts, fmt.Sprintf("%d not in an aggregate that its flavor asks for", n))
			kind = KindAggregate
		case lacksTrait:
			parts = append(parts, fmt.Sprintf("%d without a trait that its flavor asks for", n))
			kind = KindAggregate
		case classMemory:
			parts = append(parts, fmt.Sprintf("%d short of memory (%d GiB wanted, at most %d GiB free)", n, gib(l.need[memory]), max(gib(most), 0)))
		default:
			parts = append(parts, fmt.Sprintf("%d short of %s", n, core.Tidy(className(why))))
		}
	}
	if lacks[lacksGroup] == 0 && inZone > lacks[lacksAggregate]+lacks[lacksTrait] {
		kind = KindRoom
	}
	text := fmt.Sprintf("no room in %s: of %s that %s instances, %s", where, wording.Count(inZone, "host"),
		wording.Verb(inZone, "takes", "take"), strings.Join(parts, ", "))
	if elsewhere > 0 {
		text += fmt.Sprintf("; %s of other zones would have room", wording.Count(elsewhere, "host"))
	}
	return Reason{kind, LevelBlocks, text, "make room there, stop the instance, or let it go down with the host"}
}

func hostsHave(n int) string { return fmt.Sprintf("%d %s", n, wording.Verb(n, "has", "have")) }

func gib(mib int) int { return mib / 1024 }

// className is an operator's word for a resource class.
func className(class string) string {
	switch class {
	case classVCPU:
		return "vCPUs"
	case classPCPU:
		return "pinned CPUs"
	case classDisk:
		return "disk"
	}
	return class
}

// What a host can lack for an instance.
const (
	lacksZone      = "zone"
	lacksAggregate = "aggregate"
	lacksTrait     = "trait"
	lacksGroup     = "group"
)
