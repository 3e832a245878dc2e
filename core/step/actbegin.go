package step

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// guardConcurrency holds when no role is full. A full role holds up every node, whatever the roles of this one.
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

// guardZone holds when all compute nodes being worked on are in one availability zone: Rockoon's rule respect_nova_az.
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

// ofAnotherZone tells whether a node is in another zone than own; if so, the guard fails and says it.
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

// actBegin marks the node as being worked on, within the limit on how many may be (docs/mosk.md#concurrency).
func (p *planner) actBegin(a core.ActAs, l *core.WorkloadLock, turn progress.ActTurn, who string) {
	p.step.Risk = core.RiskLow
	p.turnGuard(turn, progress.TurnPrepare)
	if r := p.s.NodeRequest(p.i.Node); progress.ReleaseMatters(p.s, a, r) {
		p.guardApplied(r) // text A: it handles no request for another release than its own
	}
	if a.Controller == core.ControllerOpenStack {
		p.guardHeld(p.s.NodeRequest(p.i.Node))
		p.guardScope(p.s.NodeRequest(p.i.Node))
	}
	p.guard(guardNoOther(p.s, core.IntentActBegin))
	p.guardConcurrency(a)
	p.guardQuorum(a.Controller, p.i.Node)
	if a.Controller == core.ControllerOpenStack && progress.MaintenanceOf(p.s, p.i.Node).Compute && !p.s.Settings.AcrossZones {
		p.guardZone(a) // whatever the request's scope is: can_handle_nmr knows none
	}
	p.step.Why = "inner_state says that " + who +
		" is at work there, and counts against its concurrency: Rockoon and Lockstep can take over from one another by it."
	p.step.Then = "Nothing happens to the node yet."
	p.setInner(l, core.InnerActive)
}

// guardNoOther holds when no operation of the kind is under way: two that count at the same moment would not count each other.
func guardNoOther(s *core.Snapshot, kind core.IntentKind) core.Guard {
	g := core.Guard{ID: core.GuardOneBegins, Text: "nothing is being begun elsewhere", Holds: true, Answer: "nothing", Remedy: "wait a moment"}
	for _, op := range s.Operations {
		if !op.State.Ended() && !op.Past && op.Is(kind) {
			g.Holds, g.Answer = false, op.Title
		}
	}
	return g
}

// guardScope holds when a node's request says whether the host may reboot. Without a scope the OpenStack controller fails on each try,
// after it has taken nova-compute out of scheduling (docs/mosk.md#requests-without-a-scope). Lockstep does not guess either: the
// cluster request's scope does not count for nodes.
func (p *planner) guardScope(r *core.MaintenanceRequest) {
	if r == nil {
		return
	}
	p.fact("scope", string(r.Scope))
	p.guard(core.Guard{ID: core.GuardScope, Text: "the request says whether the host may reboot", Holds: r.Scope != "",
		Answer: wording.TextOf(wording.TextIf(r.Scope != "", "scope "+wording.OneLine(string(r.Scope), 20), ""),
			"it has no scope: the OpenStack controller itself fails on it without a word"),
		Remedy: ScopeCommand(r)})
}
