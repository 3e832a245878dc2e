package step

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// machine begins a step on the machine of a node; nil when it is not known.
func (p *planner) machine(name string) *core.MachineView {
	s, label := p.s, wording.OneLine(p.s.Label(name), 64)
	p.step.Node = name
	if !p.groups(label, core.SourceNodes, core.SourceNodeRequests, core.SourceDeletionRequests) {
		return nil
	}
	v := progress.MachineOf(s, name)
	if v == nil || v.Machine == nil {
		p.identify(core.Ref{Kind: core.KindMachine, Name: name})
		p.unknown("the node's machine is known", "the management cluster has no Machine of "+wording.TextOf(label, "a node without a name"))
		return nil
	}
	o := v.Machine
	p.identify(o.Ref())
	p.guard(guardExists("the machine", o.Ref()))
	p.fact("uid", o.UID)
	p.fact("node", name)
	p.guardNotRemoved([]string{name})
	rests := core.Guard{ID: core.GuardMachineRests, Text: "nothing is being done with the machine", Holds: true, Answer: "nothing",
		Remedy: "wait until it is back in service"}
	switch r := s.NodeRequest(name); {
	case r != nil:
		rests.Holds, rests.Answer = false, "NodeMaintenanceRequest "+wording.OneLine(r.Name, 60)+" since "+wording.ClockText(r.Created)
	case o.InMaintenance || o.Wanted():
		rests.Holds, rests.Answer = false, "it is in maintenance mode, or on its way"
	}
	p.guard(rests)
	return v
}

// moveMachines plans the update group of one machine, or of several.
func (p *planner) moveMachines() {
	if names := p.i.NodesOf(); len(names) != 1 {
		p.moveSeveral(names)
	} else {
		p.moveMachine(names[0])
	}
}

func (p *planner) moveMachine(name string) {
	s, to := p.s, p.i.Group
	p.step.Title = "move " + wording.OneLine(s.Label(name), 64) + " to update group " +
		wording.TextOf(wording.OneLine(to, 60), "without a name")
	v := p.machine(name)
	if v == nil {
		return
	}
	m, o := s.Management, v.Machine
	p.step.ID += "/" + to
	from := m.GroupNameOf(o)
	p.fact("group", o.Group)
	p.guard(core.Guard{ID: core.GuardWorker, Text: "it is not of the control plane", Holds: !o.Control,
		Answer: wording.TextIf(o.Control, "it is", "it is a worker"), Remedy: "masters are all in the group " + m.ControlGroup()})
	g := p.guardInto(to)
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "the group is another one", Holds: from != to,
		Answer: "it is in " + wording.OneLine(from, 60)})
	if from == to {
		p.done = "in update group " + wording.OneLine(to, 60)
		return
	}
	p.guardRests(false, from, to)
	if g == nil || o.Control || to == m.ControlGroup() {
		return
	}
	p.step.Why = "It is then updated with the group " + wording.OneLine(to, 60) + ": " + progress.GroupText(g) + "."
	p.step.Then = moveThen(m, from, []string{v.Name})
	p.step.Change = core.SetMachineGroup{Machine: o.Ref(), Old: o.Group, New: to}
	p.step.Commands = []string{labelCommand(s, o.Name, to)}
	p.step.Undo = "move it back: " + labelCommand(s, o.Name, from)
}

// guardInto holds when machines can be moved into the group of that name, which it returns; nil when there is none.
func (p *planner) guardInto(to string) *core.MachineGroup {
	m := p.s.Management
	g := m.GroupOf(to)
	known := core.Guard{ID: core.GuardValueKnown, Text: "the cluster has the group", Holds: g != nil, Answer: "none of that name",
		Remedy: "make it first"}
	if g != nil {
		known.Answer = progress.GroupText(g)
		p.fact("into", g.UID+" "+known.Answer)
	}
	p.guard(known)
	p.guardCustom(to, "only masters belong to it", m.ControlGroup())
	return g
}

// countsFrom says from when on the group of a machine counts.
func countsFrom(m *core.Management) string {
	if plan := m.Plan(); plan == nil || plan.Status == core.PlanCompleted {
		return "It counts from the next update on."
	}
	return "It counts from the next step of the plan on."
}

// moveThen says what else follows when machines leave a group.
func moveThen(m *core.Management, from string, machines []string) string {
	then := countsFrom(m)
	if m.GroupOf(from) == nil {
		return then
	}
	leaves := map[string]bool{}
	for _, name := range machines {
		leaves[name] = true
	}
	stays := func(v *core.MachineView) bool {
		return v.Machine != nil && !leaves[v.Name] && m.GroupNameOf(v.Machine) == from
	}
	if !slices.ContainsFunc(m.Machines, stays) {
		then += " Group " + wording.OneLine(from, 60) + " is then empty."
	}
	return then
}

// labelCommand moves a machine to an update group by hand.
func labelCommand(s *core.Snapshot, machine, group string) string {
	return s.KubectlManagement("label", "machines.cluster.k8s.io", machine, "--overwrite", core.LabelUpdateGroup+"="+group)
}

// moveSeveral plans the update group of several machines, as a batch with one step for each.
func (p *planner) moveSeveral(names []string) {
	s, to := p.s, p.i.Group
	label := wording.Count(len(names), "machine")
	p.step.Title = "move " + label + " to update group " + wording.TextOf(wording.OneLine(to, 60), "without a name")
	if !p.groups(label, core.SourceNodes, core.SourceNodeRequests, core.SourceDeletionRequests) {
		return
	}
	m := s.Management
	p.identify(m.Cluster.Ref())
	p.step.ID = string(p.i.Kind) + "/" + namesID(names) + "/" + to
	g := p.guardInto(to)
	var (
		missing []string
		moved   []*core.MachineView
		items   []core.BatchItem
		steps   []core.Step
	)
	for _, name := range names {
		i := p.i
		i.Node, i.Nodes, i.PastFailures = "", []string{name}, false
		one := Plan(s, i)
		v := progress.MachineOf(s, name)
		if v == nil || v.Machine == nil {
			missing = append(missing, wording.OneLine(s.Label(name), 64))
			continue
		}
		for _, f := range one.Basis {
			p.fact(v.Name+": "+f.Name, f.Value)
		}
		if one.State == core.StepDone || m.GroupNameOf(v.Machine) == to {
			continue // it is there already
		}
		steps = append(steps, one)
		if one.Change != nil {
			moved = append(moved, v)
			items = append(items, core.BatchItem{Intent: i, Label: one.Label + ": " + wording.OneLine(m.GroupNameOf(v.Machine), 60) + " → " +
				wording.OneLine(to, 60), Change: one.Change, Basis: one.Basis})
			p.step.Commands = append(p.step.Commands, one.Commands...)
		}
	}
	p.guard(core.Guard{ID: core.GuardMachinesKnown, Text: "the machines are known", Holds: len(missing) == 0 && len(names) > 0,
		Answer: wording.TextOf(wording.Some(missing, 6), label)})
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "a machine is not in it yet", Holds: len(steps) > 0,
		Answer: wording.TextIf(len(steps) > 0, fmt.Sprintf("%d of %d are not", len(steps), len(names)), "all of them are in it")})
	p.guardEach(steps)
	if g == nil || len(missing) > 0 || len(names) == 0 {
		p.step.Commands = nil
		return
	}
	p.step.Why = "They are then updated with the group " + wording.OneLine(to, 60) + ": " + progress.GroupText(g) + "."
	p.step.Then = countsFrom(m) + " " + concurrencyWhy(s, append(m.InGroup(to), moved...), g.Concurrent)
	p.step.Undo = "move each back; Lockstep keeps the old groups in its journal"
	if len(steps) == 0 {
		p.done = "all of them are in it"
	} else if len(items) > 0 {
		p.step.Change = core.Batch{Items: items, AtOnce: 1, PastFailures: p.i.PastFailures}
	}
}

// setUpgradeIndex plans the place of a node's machine in the order of its update group (docs/mosk.md#order-of-machines).
func (p *planner) setUpgradeIndex() {
	s, label, n := p.s, wording.OneLine(p.s.Label(p.i.Node), 64), p.i.UpgradeIndex
	p.step.Title = wording.TextIf(n == 0, "remove the upgrade index of "+label, "give "+label+" the upgrade index "+wording.Itoa(n))
	v := p.machine(p.i.Node)
	if v == nil {
		return
	}
	m, o := s.Management, v.Machine
	p.step.ID += "/" + wording.Itoa(n)
	var to *int
	if n != 0 {
		to = &n
	}
	p.fact("upgradeIndex", indexText(o.IndexAsked))
	p.guard(core.Guard{ID: core.GuardValueKnown, Text: "it is an index from 1 to " + wording.Itoa(MostOfGroup), Holds: n >= 0 &&
		n <= MostOfGroup, Answer: indexText(to), Remedy: "lower ones are updated first; 0 removes it"})
	same := indexText(o.IndexAsked) == indexText(to)
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "it does not have it yet", Holds: !same, Answer: indexText(o.IndexAsked)})
	if same {
		p.done = "upgrade index " + indexText(to)
		return
	}
	group := m.GroupNameOf(o)
	p.guardRests(false, group)
	p.step.Why = "Inside a group machines are updated by their upgrade index, the lowest first; LCM gives one to those without."
	p.step.Then = p.placeThen(v, group, n)
	p.step.Change = core.SetUpgradeIndex{Machine: o.Ref(), Old: o.IndexAsked, New: to}
	p.step.Commands = []string{indexCommand(s, o.Name, o.IndexAsked, to)}
	p.step.Undo = "set it back: " + indexCommand(s, o.Name, to, o.IndexAsked)
}

// placeThen is the order of the group's machines when one has another index.
func (p *planner) placeThen(v *core.MachineView, group string, n int) string {
	if n == 0 {
		return "LCM decides its place in the group " + wording.OneLine(group, 60) + "."
	}
	m := *p.s.Management
	m.Machines = slices.Clone(m.Machines)
	own, machine := *v, *v.Machine
	machine.UpgradeIndex = n
	own.Machine = &machine
	m.Machines[slices.Index(m.Machines, v)] = &own
	then := "The order in group " + wording.OneLine(group, 60) + " is then: " + progress.MachineNames(m.InGroup(group)) + "."
	for _, other := range m.InGroup(group) {
		if other.Name != v.Name && other.Machine.UpgradeIndex == n {
			return then + " " + wording.OneLine(other.Name, 64) + " has the same index: either may go first."
		}
	}
	return then
}

// indexText is an upgrade index, or "not set".
func indexText(n *int) string {
	if n == nil {
		return "not set"
	}
	return wording.Itoa(*n)
}

// indexCommand sets the upgrade index by hand; the patch tests what it was.
func indexCommand(s *core.Snapshot, machine string, old, to *int) string {
	const path = "/spec/providerSpec/value/upgradeIndex"
	patch := ""
	if old != nil {
		patch = fmt.Sprintf(`{"op":"test","path":"%s","value":%d},`, path, *old)
	}
	if to == nil {
		patch += fmt.Sprintf(`{"op":"remove","path":"%s"}`, path)
	} else {
		patch += fmt.Sprintf(`{"op":"add","path":"%s","value":%d}`, path, *to)
	}
	return s.KubectlManagement("patch", "machines.cluster.k8s.io", machine, "--type=json", "-p", "["+patch+"]")
}
