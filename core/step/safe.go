package step

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// declareSafe plans the operator's statement that the node may go down: mode skip, once nothing is in the way
// (docs/mosk.md#manual-migration).
func (p *planner) declareSafe() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "declare "+wording.OneLine(s.Label(name), 64)+" safe", core.RiskHigh
	sources := []core.SourceID{core.SourceNodes, core.SourceNodeRequests, core.SourceNodeLocks, core.SourceInstances,
		core.SourceComputeServices, core.SourceMigrations}
	elsewhere := n != nil && !n.Is(core.RoleCompute)
	if elsewhere {
		sources = []core.SourceID{core.SourceNodes, core.SourceNodeRequests, core.SourceNodeLocks, core.SourceNetworkAgents}
	}
	ok := p.node(name, n, sources)
	if !ok {
		return
	}
	if elsewhere {
		p.declareElsewhere(n)
		return
	}
	p.step.Type = typable(n.Label(), n.UID)
	p.step.Why = "The OpenStack controller holds the node until no instance is in the way. With skip you say that the node may go down."
	p.step.Then = wording.Join("The OpenStack controller releases its lock at its next look, "+progress.NextLookOf(s, name)+
		"; LCM then drains, updates and reboots the node.", progress.RemoteLoss(p.s, p.i.Node))
	p.guardRequest(name)
	p.guardLock(name)
	p.guard(guardHostKnown(s, n))
	p.guard(guardHostEmpty(s, name))
	p.guard(guardNoMigration(s, s.HostOf(name)))
	p.maintenanceFacts(name)
	p.hostFacts(name)
	p.annotate(n, core.AnnotationMigrationMode, new(string(core.ModeSkip)))
	if p.step.Change != nil {
		p.step.Undo = "set it back (offered when the node is done): " +
			wording.AnnotateCommand(n.Name, core.AnnotationMigrationMode, n.Annotation(core.AnnotationMigrationMode))
	}
}

// declareElsewhere plans declareSafe for a node that is not a compute node; only a played controller waits for it.
func (p *planner) declareElsewhere(n *core.Node) {
	s, name := p.s, n.Name
	p.step.Type = typable(n.Label(), n.UID)
	p.step.Why = "The node waits for your word. With skip you say that it may go down with what is on it."
	if served := progress.ServedShort(s, name); served != "" {
		p.step.Why = wording.Join(p.step.Why, "On it still: "+served+".")
	}
	p.step.Then = "Its lock can be released; LCM then drains, updates and reboots the node."
	p.guardModeCounts(name, true)
	p.guardRequest(name)
	p.guardLock(name)
	listed := core.Guard{ID: core.GuardAgentsListed, Text: "what its L3 and DHCP agents serve is known",
		Holds:  s.Known(core.SourceNetworkAgents) || s.Sources[core.SourceNetworkAgents].State == core.SourceAbsent,
		Answer: wording.TextOf(progress.ServedShort(s, name), "they serve nothing"),
		Remedy: "wait until Neutron has told"}
	for _, a := range progress.ServingAgents(s, name) {
		text, known := a.ServedText()
		listed.Holds = listed.Holds && known
		p.fact("served by "+a.ID, text+" "+wording.Some(a.LeftToGo(), 50))
	}
	p.guard(listed)
	p.maintenanceFacts(name)
	p.annotate(n, core.AnnotationMigrationMode, new(string(core.ModeSkip)))
	if p.step.Change != nil {
		p.step.Undo = "set it back (offered when the node is done): " +
			wording.AnnotateCommand(n.Name, core.AnnotationMigrationMode, n.Annotation(core.AnnotationMigrationMode))
	}
}

func (p *planner) guardRequest(name string) {
	g := core.Guard{ID: core.GuardNodeAskedFor, Text: "LCM asks for the node", Remedy: "wait for its NodeMaintenanceRequest"}
	switch r := p.s.NodeRequest(name); {
	case r == nil:
		g.Answer = "it has no NodeMaintenanceRequest"
	case !r.Deleting.IsZero():
		g.Answer, g.Remedy = "its NodeMaintenanceRequest is being removed: the node is on its way back", ""
	default:
		g.Holds, g.Answer = true, "since "+wording.ClockText(r.Created)
	}
	p.guard(g)
}

func (p *planner) guardLock(name string) {
	g := core.Guard{ID: core.GuardLockHeld, Text: "the OpenStack controller holds the node"}
	switch l := p.s.NodeLock(name, core.ControllerOpenStack); {
	case l == nil:
		g.Answer = "it has no NodeWorkloadLock of the OpenStack controller"
	default:
		g.Holds, g.Answer = l.State() == core.LockActive, "its lock is "+wording.OneLine(string(l.State()), 40)
	}
	p.guard(g)
}

// guardWord holds when the operator has declared a node that is not a compute node safe.
func (p *planner) guardWord(node string) {
	n := p.s.Nodes[node]
	if n == nil || n.Is(core.RoleCompute) {
		return
	}
	p.hostModeFact(n)
	g := core.Guard{ID: core.GuardOperatorsWord, Text: "the operator has said that it may go", Holds: !progress.AwaitsWord(p.s, node),
		Answer: "its migration mode is " + wording.TextOr(n.Annotation(core.AnnotationMigrationMode), "not set"),
		Remedy: "declare it safe, once what has to go first is gone"}
	p.guard(g)
}
