package core

import (
	"slices"
	"strings"
)

// The IDs of the guards that are asked of the server itself once more before a node is begun.
const (
	guardConcurrencyID = "concurrency"
	guardZoneID        = "zone"
)

// guardConcurrency holds when no role of any node is full: a full one holds up all, whatever this node's own roles are.
func (p *planner) guardConcurrency(a ActAs) {
	s := p.s
	under := s.underWay(a.Controller, p.i.Node)
	var full, all []string
	for role, names := range under {
		all = append(all, names...)
		if most := s.Settings.MaxParallelNodes[role]; most > 0 && len(names) >= most {
			full = append(full, string(role)+": "+some(names, 3))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.Sort(full)
	g := Guard{ID: guardConcurrencyID, Text: "no more nodes are worked on than the rule allows", Holds: true, Answer: count(len(all), "other node"), Remedy: "take one back first"}
	switch {
	case a.OneByOne && len(all) > 0:
		g.Holds, g.Answer = false, "one at a time, and there is "+some(all, 3)
	case len(full) > 0:
		g.Holds, g.Answer = false, strings.Join(full, "; ")
	}
	p.fact("worked on", strings.Join(all, " "))
	p.guard(g)
}

// guardZone holds when all computes that are worked on are of one availability zone: Rockoon's rule respect_nova_az.
func (p *planner) guardZone(a ActAs) {
	s := p.s
	zone := func(name string) string {
		if svc := s.Services[s.HostOf(name)]; svc != nil {
			return svc.Zone
		}
		return ""
	}
	own := zone(p.i.Node)
	g := Guard{ID: guardZoneID, Text: "computes of one availability zone only are worked on", Holds: true, Answer: textOf(oneLine(own, 40), "its zone is not known"), Remedy: "take those of the other zone back first"}
	for _, name := range s.NodeNames() {
		if name == p.i.Node || !s.worksOn(a.Controller, name) || !s.Nodes[name].Is(RoleCompute) {
			continue
		}
		if s.serviceless(p.i.Node) {
			g.Holds, g.Answer, g.Remedy = false, "Nova shows no nova-compute of this one, so its zone is not known; "+s.Label(name)+" is worked on", "bring its nova-compute up first"
			break
		}
		if other := zone(name); other != "" && own != "" && other != own {
			g.Holds, g.Answer = false, s.Label(name)+" is of "+oneLine(other, 40)+", this one of "+oneLine(own, 40)
			break
		}
	}
	p.guard(g)
}
