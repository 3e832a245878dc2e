package core

import (
	"fmt"
	"slices"
	"strings"
)

// byID are the instances on the node's host, by ID.
func (s *Snapshot) byID(node string) []*Instance {
	list := slices.Clone(s.InstancesOn(node))
	slices.SortFunc(list, func(a, b *Instance) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// instanceFact is what a step on a whole host rests on for each of its instances.
func instanceFact(in *Instance) string {
	parts := []string{in.Name, in.Status}
	if in.TaskState != "" {
		parts = append(parts, in.TaskState)
	}
	return strings.Join(append(parts, in.Power.String(), strings.Join(actionTags(in), " ")), ", ")
}

func actionTags(in *Instance) []string {
	var out []string
	for _, a := range recognisedTags(in.Tags) {
		out = append(out, string(a))
	}
	return out
}

// movable are the instances on the node that hold its lock and that can be live-migrated now; others are those that hold
// it and cannot, or whose owners asked to be told first: an owner's word is not overridden wholesale.
func (s *Snapshot) movable(node string) (movable, others []InstanceView) {
	for _, v := range s.InstanceViews(node) {
		if !v.Blocks {
			continue
		}
		in := v.Instance
		can := (in.Status == "ACTIVE" || in.Status == "PAUSED") && in.TaskState == "" && !s.moving(in)
		if can && (v.Action != ActionNotify || v.Origin != OriginTag) {
			movable = append(movable, v)
		} else {
			others = append(others, v)
		}
	}
	return movable, others
}

// liveMigrateAll plans that everything in the way of a node's maintenance moves, a few at a time.
func (p *planner) liveMigrateAll() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "live-migrate all from "+oneLine(s.Label(name), 64), RiskHigh
	if !p.node(name, n, []SourceID{SourceNodes, SourceInstances, SourceComputeServices, SourceMigrations}) {
		return
	}
	atOnce := max(p.i.AtOnce, 0)
	if atOnce == 0 {
		atOnce = max(s.Settings.MigrateAtOnce, 1)
	}
	movable, others := s.movable(name)
	p.step.Title = "live-migrate " + count(len(movable), "instance") + " from " + n.Label()
	p.step.Type = typable(n.Label(), n.UID)
	tries := max(s.maintenanceOf(name).attempts, 1)
	p.step.Why = fmt.Sprintf("Everything that holds the node and can be moved without stopping moves, %d at a time.", atOnce)
	if tries > 1 {
		p.step.Why = join(p.step.Why, fmt.Sprintf("One whose migration fails is tried again at once, up to the node's %d attempts.", tries))
	}
	if len(others) > 0 {
		names := make([]string, len(others))
		for i, v := range others {
			names[i] = instanceLabel(v.Instance) + " (" + v.Why + ")"
		}
		p.step.Why = join(p.step.Why, "Left out: "+some(names, 4)+".")
	}
	p.step.Then = join(pauseText(p.i), "Each is planned again right before it is moved.")
	p.step.Undo = "migrate them again, once the node is back"
	p.guard(s.guardHostKnown(n))
	if s.playedTurn(ControllerOpenStack, name) == turnPrepare {
		p.guardTakenOut(name)
	}
	p.guard(Guard{ID: GuardSomethingToDo, Text: "there is something to move", Holds: len(movable) > 0,
		Answer: count(len(movable), "instance"),
		Remedy: "look at the instances one by one"})
	host := s.HostOf(name)
	zone := ""
	if svc := s.Services[host]; svc != nil {
		zone = svc.Zone
	}
	targets := s.targets(host, zone)
	p.guard(Guard{ID: GuardTarget, Text: "another compute service of its zone is up and enabled", Holds: targets > 0, Answer: fmt.Sprintf("%d %s", targets, verb(targets, "is", "are")),
		Remedy: "enable one, or wait for a node that returns"})
	p.fact(requestFactName, s.standingRequest(name))
	p.fact("at once", itoa(atOnce))
	p.fact("attempts", itoa(tries))
	p.hostFacts(name)
	var (
		items []BatchItem
		steps []Step
	)
	for _, v := range movable {
		i := Intent{Kind: IntentLiveMigrate, Instance: v.Instance.ID}
		one := Plan(s, i)
		if one.Change == nil {
			continue
		}
		steps = append(steps, one)
		items = append(items, BatchItem{Intent: i, Label: instanceLabel(v.Instance), Change: one.Change, Basis: one.Basis, Tries: tries})
		p.step.Commands = append(p.step.Commands, one.Commands...)
	}
	p.guardEach(steps)
	if len(items) > 0 {
		p.step.Change = Batch{Items: items, AtOnce: atOnce, Node: name, Request: s.standingRequest(name), PastFailures: p.i.PastFailures}
	}
	if p.step.State == StepLater {
		return // its status says when
	}
	p.step.Status = count(len(movable), "instance") + " to move"
	if len(others) > 0 {
		p.step.Status += fmt.Sprintf(", %d left out", len(others))
	}
}

// guardTakenOut holds when a node of the played OpenStack controller's was begun and is out of scheduling: the rule of how many
// nodes are worked on counts from the beginning, and what is moved away must not be followed by what is new.
func (p *planner) guardTakenOut(name string) {
	s := p.s
	l := s.NodeLock(name, ControllerOpenStack)
	svc := s.Services[s.HostOf(name)]
	g := Guard{ID: GuardTakenOut, Text: "the work on the node was begun, and its host is out of scheduling", Holds: true, Answer: "it is", Remedy: "do the steps before it first"}
	switch {
	case l == nil || l.InnerState != InnerActive:
		g.Holds, g.Answer = false, "it was not begun"
	case svc != nil && svc.Enabled:
		g.Holds, g.Answer = false, "nova-compute is "+serviceText(svc)
	}
	if !g.Holds {
		p.step.State, p.step.Status = StepLater, "once the host is out of scheduling"
	}
	p.guard(g)
}

// standingRequest is the UID of the node's maintenance request; empty when there is none that is not being removed.
func (s *Snapshot) standingRequest(node string) string {
	if r := s.NodeRequest(node); r != nil && r.Deleting.IsZero() {
		return r.UID
	}
	return ""
}

// MayGoPast tells whether the operator may have the step's batch go on past failures: where its items have nothing to do
// with one another. What is restarted one after the other rests on the last one being well again.
func (s Step) MayGoPast() bool {
	b, ok := s.Change.(Batch)
	if !ok || len(b.Items) < 2 {
		return false
	}
	switch s.Intent.Kind {
	case IntentLiveMigrateAll, IntentSetMode, IntentSetAttempts:
		return true
	}
	return false
}

// pauseText is what a batch does when an item of it fails.
func pauseText(i Intent) string {
	if i.PastFailures {
		return "When one fails it goes on with the next, as you said; it pauses when an answer is lost, when writing is off, when what is known is not fresh, and when what is still to be done changes."
	}
	return "It pauses by itself when one fails, and goes on when you say so."
}
