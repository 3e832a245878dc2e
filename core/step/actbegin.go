package step

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// guardConcurrency holds when no role of any node is full: a full one holds up all, whatever this node's own roles are.
func (p *planner) guardConcurrency(a core.ActAs) {
	s := p.s
	under := progress.NodesAtWork(s, a.Controller, p.i.Node)
	var full, all []string
	for role, names := range under {
		all = append(all, names...)
		if most := s.Settings.MaxParallelNodes[role]; most > 0 && len(names) >= most {
			full = append(full, string(role)+": "+wording.Some(names, 3))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.Sort(full)
	g := core.Guard{ID: core.GuardConcurrency, Text: "no more nodes are worked on than the rule allows", Holds: true,
		Answer: wording.Count(len(all), "other node"), Remedy: "take one back first"}
	switch {
	case a.OneByOne && len(all) > 0:
		g.Holds, g.Answer = false, "one at a time, and there is "+wording.Some(all, 3)
	case len(full) > 0:
		g.Holds, g.Answer = false, strings.Join(full, "; ")
	}
	p.fact("worked on", strings.Join(all, " "))
	p.guard(g)
}

// guardZone holds when all computes that are worked on are of one availability zone: Rockoon's rule respect_nova_az.
func (p *planner) guardZone(a core.ActAs) {
	s := p.s
	own := zoneOf(s, p.i.Node)
	g := zoneGuard(own)
	for _, name := range s.NodeNames() {
		if name == p.i.Node || !progress.WorksOn(s, a.Controller, name) || !s.Nodes[name].Is(core.RoleCompute) {
			continue
		}
		if progress.Serviceless(s, p.i.Node) {
			g.Holds, g.Answer, g.Remedy = false, "Nova shows no nova-compute of this one, so its zone is not known; "+s.Label(name)+" is worked on",
				"bring its nova-compute up first"
			break
		}
		if ofAnotherZone(s, &g, name, own) {
			break
		}
	}
	p.guard(g)
}

func zoneGuard(own string) core.Guard {
	return core.Guard{ID: core.GuardZone, Text: "computes of one availability zone only are worked on", Holds: true,
		Answer: wording.TextOf(wording.OneLine(own, 40), "its zone is not known"), Remedy: "take those of the other zone back first"}
}

// zoneOf is the availability zone of a node's nova-compute; empty when it is not known.
func zoneOf(s *core.Snapshot, node string) string {
	if svc := s.Services[s.HostOf(node)]; svc != nil {
		return svc.Zone
	}
	return ""
}

// ofAnotherZone tells whether a node is of another zone than own, and lets the guard say so.
func ofAnotherZone(s *core.Snapshot, g *core.Guard, node, own string) bool {
	other := zoneOf(s, node)
	if other == "" || own == "" || other == own {
		return false
	}
	g.Holds, g.Answer = false, s.Label(node)+" is of "+wording.OneLine(other, 40)+", this one of "+wording.OneLine(own, 40)
	return true
}

// guardZoneFirst is guardZone for a compute that was begun. Rockoon notes a node as worked on before it asks for its zone, so computes
// of two zones can be begun, and be taken over so: then the first of them, by its lock's name, goes first. One that is released is
// LCM's by now, and all others wait for it.
func (p *planner) guardZoneFirst(a core.ActAs) {
	s := p.s
	own := zoneOf(s, p.i.Node)
	g := zoneGuard(own)
	for _, name := range s.NodeNames() {
		if name == p.i.Node || !progress.WorksOn(s, a.Controller, name) || !s.Nodes[name].Is(core.RoleCompute) {
			continue
		}
		first := name < p.i.Node || s.NodeLock(name, a.Controller).State() != core.LockActive
		if first && ofAnotherZone(s, &g, name, own) {
			break
		}
	}
	p.guard(g)
}
