package step

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// Movable are the instances that hold the node's lock and can be live-migrated now. The others hold it and cannot be, or their owners
// asked to be told first: a batch does not override owners.
func Movable(s *core.Snapshot, node string) (movable, others []core.InstanceView) {
	for _, v := range progress.InstanceViews(s, node) {
		if !v.Blocks {
			continue
		}
		in := v.Instance
		can := (in.Status == "ACTIVE" || in.Status == "PAUSED") && in.TaskState == "" && !progress.Moving(s, in)
		if can && (v.Action != core.ActionNotify || v.Origin != core.OriginTag) {
			movable = append(movable, v)
		} else {
			others = append(others, v)
		}
	}
	return movable, others
}

// liveMigrateAll plans the live migration of everything in the way of a node's maintenance, a few instances at a time.
func (p *planner) liveMigrateAll() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "live-migrate all from "+wording.OneLine(s.Label(name), 64), core.RiskHigh
	if !p.node(name, n, []core.SourceID{core.SourceNodes, core.SourceInstances, core.SourceComputeServices, core.SourceMigrations}) {
		return
	}
	atOnce := max(p.i.AtOnce, 0)
	if atOnce == 0 {
		atOnce = max(s.Settings.MigrateAtOnce, 1)
	}
	movable, others := Movable(s, name)
	p.step.Title = "live-migrate " + wording.Count(len(movable), "instance") + " from " + n.Label()
	p.step.Type = typable(n.Label(), n.UID)
	tries := max(progress.MaintenanceOf(s, name).Attempts, 1)
	p.step.Why = fmt.Sprintf("Everything that holds the node and can be moved without stopping moves, %d at a time.", atOnce)
	if tries > 1 {
		p.step.Why = wording.Join(p.step.Why, fmt.Sprintf("One whose migration fails is tried again at once, up to the node's %d attempts.",
			tries))
	}
	if len(others) > 0 {
		names := make([]string, len(others))
		for i, v := range others {
			names[i] = progress.InstanceLabel(v.Instance) + " (" + v.Why + ")"
		}
		p.step.Why = wording.Join(p.step.Why, "Left out: "+wording.Some(names, 4)+".")
	}
	p.step.Then = wording.Join(pauseText(p.i), "Each is planned again right before it is moved.")
	p.step.Undo = "migrate them again, once the node is back"
	p.guard(guardHostKnown(s, n))
	if playedTurn(s, core.ControllerOpenStack, name) == progress.TurnPrepare {
		p.guardTakenOut(name)
	}
	p.guard(core.Guard{ID: core.GuardSomethingToDo, Text: "there is something to move", Holds: len(movable) > 0,
		Answer: wording.Count(len(movable), "instance"),
		Remedy: "look at the instances one by one"})
	host := s.HostOf(name)
	zone := ""
	if svc := s.Services[host]; svc != nil {
		zone = svc.Zone
	}
	targets := targets(s, host, zone)
	p.guard(core.Guard{ID: core.GuardTarget, Text: "another compute service of its zone is up and enabled", Holds: targets > 0,
		Answer: fmt.Sprintf("%d %s", targets, wording.Verb(targets, "is", "are")),
		Remedy: "enable one, or wait for a node that returns"})
	p.fact(RequestFactName, StandingRequest(s, name))
	removal := ""
	if d := s.Deletions[name]; d != nil {
		removal = d.UID
		p.fact(RemovalFactName, removal)
	}
	p.fact("at once", wording.Itoa(atOnce))
	p.fact("attempts", wording.Itoa(tries))
	p.hostFacts(name)
	var (
		items []core.BatchItem
		steps []core.Step
		ids   []string
	)
	for _, v := range movable {
		i := core.Intent{Kind: core.IntentLiveMigrate, Instance: v.Instance.ID}
		one := Plan(s, i)
		if one.Change == nil {
			continue
		}
		steps = append(steps, one)
		items = append(items, core.BatchItem{Intent: i, Label: progress.InstanceLabel(v.Instance), Change: one.Change, Basis: one.Basis,
			Tries: tries})
		p.step.Commands = append(p.step.Commands, one.Commands...)
		ids = append(ids, v.Instance.ID)
	}
	p.step.Then = wording.Join(p.step.Then, afterTheLast(s, name, lastLeaves, ids...))
	p.guardEach(steps)
	if len(items) > 0 {
		p.step.Change = core.Batch{Items: items, AtOnce: atOnce, Node: name, Request: StandingRequest(s, name), Removal: removal,
			PastFailures: p.i.PastFailures}
	}
	if p.step.State == core.StepLater {
		return // its status says when
	}
	p.step.Status = wording.Count(len(movable), "instance") + " to move"
	if len(others) > 0 {
		p.step.Status += fmt.Sprintf(", %d left out", len(others))
	}
}

// guardTakenOut holds when the played OpenStack controller has begun the node and its host is out of scheduling. The concurrency counts
// from the beginning, and no new instance may come to the host.
func (p *planner) guardTakenOut(name string) {
	s := p.s
	l := s.NodeLock(name, core.ControllerOpenStack)
	svc := s.Services[s.HostOf(name)]
	g := core.Guard{ID: core.GuardTakenOut, Text: "the work on the node was begun, and its host is out of scheduling", Holds: true,
		Answer: "it is", Remedy: "do the steps before it first"}
	switch {
	case l == nil || l.InnerState != core.InnerActive:
		g.Holds, g.Answer = false, "it was not begun"
	case svc != nil && svc.Enabled:
		g.Holds, g.Answer = false, "nova-compute is "+core.ServiceText(svc)
	}
	if !g.Holds {
		p.step.State, p.step.Status = core.StepLater, "once the host is out of scheduling"
	}
	p.guard(g)
}

// pauseText says what a batch does when one of its items fails.
func pauseText(i core.Intent) string {
	if i.PastFailures {
		return "When one fails it goes on with the next, as you said; it pauses when an answer is lost, when writing is off, when what is " +
			"known is not fresh, and when what is still to be done changes."
	}
	return "It pauses by itself when one fails, and goes on when you say so."
}
