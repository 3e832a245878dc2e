package step

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// groupName is what can name an UpdateGroup: a name of Kubernetes that is also the value of a label, since a Machine's label names its
// group (docs/mosk.md#update-groups).
var groupName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)

// MostOfGroup is the highest index and the highest number of machines at a time that Lockstep sets. MOSK's documents name no limit.
const MostOfGroup = 1000

// groups begins a step on update groups; false when they are not known. The step rests on the groups, the machines and the plan.
func (p *planner) groups(label string, extra ...core.SourceID) bool {
	s := p.s
	p.step.Label, p.step.Risk = wording.OneLine(label, 64), core.RiskMedium
	if !p.managed(busyManaging, append([]core.SourceID{core.SourceGroups, core.SourceMachines, core.SourcePlans}, extra...)...) {
		return false
	}
	if s.Sources[core.SourceGroups].State == core.SourceAbsent {
		p.identify(core.Ref{Kind: core.KindUpdateGroup, Name: label})
		p.unknown("the management cluster knows UpdateGroup", "its release does not")
		return false
	}
	return true
}

// group is the intent's update group; nil when there is none of the name.
func (p *planner) group() *core.MachineGroup {
	g := p.s.Management.GroupOf(p.i.Group)
	if g == nil {
		p.identify(core.Ref{Kind: core.KindUpdateGroup, Name: p.i.Group})
		p.unknown("the update group exists", "the cluster has no group "+wording.TextOf(wording.OneLine(p.i.Group, 64), "without a name"))
		return nil
	}
	p.identify(g.Ref())
	p.guard(guardExists("the update group", g.Ref()))
	p.fact("uid", g.UID)
	p.fact("settings", progress.GroupText(g))
	return g
}

// GroupTaken says why an update group must not be changed now, and what helps; empty when it may be. plan is the cluster's update plan, nil
// without one. whileHeld: what is asked for may also be done while the group's step is held.
func GroupTaken(c *core.ManagedCluster, plan *core.UpdatePlan, name string, whileHeld bool) (why, remedy string) {
	if plan == nil || plan.Status == core.PlanCompleted {
		if c.Release != "" && c.Target != c.Release {
			return "LCM updates the cluster from " + wording.OneLine(c.Release, 60) + " to " + wording.OneLine(c.Target, 60), "wait for its end"
		}
		return "", ""
	}
	if plan.UnderWay() && !plan.Driven() {
		return "plan " + wording.OneLine(plan.Name, 60) + " is under way as a whole", "wait for its end"
	}
	if st, unnamed := plan.TakenOfNoGroup(); unnamed {
		return progress.StepShort(st) + " is " + wording.OneLine(wording.TextOf(st.Status, "commenced"), 40) +
			", and the plan does not say of which group", "wait for the end of the update"
	}
	st, ok := plan.OfGroup(name, c.Name+"-control")
	called := progress.StepShort(st) + " is " + wording.OneLine(wording.TextOf(st.Status, "commenced"), 40)
	switch {
	case !ok, !st.Taken(), whileHeld && st.Held():
		return "", ""
	case st.Begun():
		return called, "wait for the end of the update"
	}
	return called, "withdraw its commence first"
}

// guardRests holds while LCM does nothing with the groups, and will not before somebody commences their steps
// (docs/mosk.md#update-groups).
func (p *planner) guardRests(whileHeld bool, names ...string) {
	m := p.s.Management
	g := core.Guard{ID: core.GuardGroupRests, Text: "no plan step of the group has begun or is commenced", Holds: true, Answer: "none"}
	for _, name := range names {
		why, remedy := GroupTaken(m.Cluster, m.Plan(), name, whileHeld)
		if why != "" && g.Holds {
			g.Holds, g.Answer, g.Remedy = false, why, remedy
		}
		p.fact("step of "+name, why)
	}
	p.guard(g)
}

// IndexTaken says which group a group of that name and index would have to come before although LCM has begun it, or is about to; empty
// when there is none. Such a group would have missed its turn (docs/mosk.md#update-groups).
func IndexTaken(plan *core.UpdatePlan, groups []*core.MachineGroup, name string, index int) string {
	if plan == nil || plan.Status == core.PlanCompleted {
		return ""
	}
	if st, unnamed := plan.TakenOfNoGroup(); unnamed {
		return progress.StepShort(st) + " is " + wording.OneLine(wording.TextOf(st.Status, "commenced"), 40) +
			", and the plan does not say of which group"
	}
	for _, other := range groups {
		if st, ok := plan.OfGroup(other.Name, ""); ok && other.Name != name && st.Taken() && index <= other.Index {
			return progress.StepShort(st) + " has the index " + wording.Itoa(other.Index) + " and is " +
				wording.OneLine(wording.TextOf(st.Status, "commenced"), 40)
		}
	}
	return ""
}

// guardIndex holds when the index is in the range, and behind those of the other groups that LCM has begun or is about to begin.
func (p *planner) guardIndex(name string, index int) {
	m := p.s.Management
	p.guard(core.Guard{ID: core.GuardValueKnown, Text: "it is an index from 1 to " + wording.Itoa(MostOfGroup),
		Holds: index >= 1 && index <= MostOfGroup, Answer: wording.Itoa(index), Remedy: "lower ones are updated first"})
	g := core.Guard{ID: core.GuardIndexLater, Text: "it comes after the groups that have begun or are commenced", Holds: true,
		Answer: "it does", Remedy: "take a higher index"}
	if why := IndexTaken(m.Plan(), m.Groups, name, index); why != "" {
		g.Holds, g.Answer = false, why
	}
	p.guard(g)
}

func (p *planner) guardAtATime(n int) {
	p.guard(core.Guard{ID: core.GuardConcurrency, Text: "it is a number of machines from 1 to " + wording.Itoa(MostOfGroup),
		Holds: n >= 1 && n <= MostOfGroup, Answer: wording.Itoa(n), Remedy: "1 updates them one after another"})
}

// guardCustom holds for groups other than those that are kept as LCM made them: that of the control plane, or also the default one.
func (p *planner) guardCustom(name, remedy string, kept ...string) {
	text := wording.TextIf(len(kept) > 1, "it is not a group that LCM makes by itself", "it is not the control plane's group")
	p.guard(core.Guard{ID: core.GuardGroupCustom, Text: text, Holds: !slices.Contains(kept, name),
		Answer: wording.TextOf(wording.OneLine(name, 64), "it has no name"), Remedy: remedy})
}

// setGroup plans one of an update group's settings: how many machines at a time, its index, or whether machines are rebooted.
func (p *planner) setGroup() {
	s, called := p.s, wording.TextOf(wording.OneLine(p.i.Group, 60), "an update group")
	p.step.Title = "change update group " + called
	if !p.groups(p.i.Group) {
		return
	}
	g := p.group()
	if g == nil {
		return
	}
	m, old := s.Management, g.Settings()
	to, whileHeld := old, true
	switch p.i.Kind {
	case core.IntentSetGroupConcurrency:
		to.Concurrent = p.i.GroupSettings.Concurrent
		p.step.Title = fmt.Sprintf("update %s of group %s at a time", wording.Count(to.Concurrent, "machine"), called)
		p.guardCustom(g.Name, "masters are updated one by one", m.ControlGroup())
		p.guardAtATime(to.Concurrent)
		p.step.Why, p.step.Then = concurrencyWhy(s, m.InGroup(g.Name), to.Concurrent), concurrencyThen(m, g)
	case core.IntentSetGroupIndex:
		whileHeld = false
		to.Index = p.i.GroupSettings.Index
		p.step.Title = fmt.Sprintf("give update group %s the index %d", called, to.Index)
		p.guardCustom(g.Name, "the control plane always goes first", m.ControlGroup())
		p.guardIndex(g.Name, to.Index)
		p.step.Why, p.step.Then = indexWhy, p.orderThen(g, g.With(to))
	default:
		to.Reboot = p.i.GroupSettings.Reboot
		p.step.Title = wording.TextIf(to.Reboot, "reboot the machines of group "+called+" where the update requires it",
			"do not reboot the machines of group "+called)
		p.step.Why, p.step.Then = rebootTexts(to.Reboot)
	}
	p.step.ID += settingsID(to)
	p.guardRests(whileHeld, g.Name)
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "it is not so yet", Holds: to != old, Answer: progress.GroupText(g)})
	if to == old {
		p.done = progress.GroupText(g)
		return
	}
	p.step.Change = core.SetGroup{Group: g.Ref(), Cluster: m.Name, Old: &old, New: &to}
	p.step.Commands = []string{groupCommand(s, g.Name, old, to)}
	p.step.Undo = "set it back: " + groupCommand(s, g.Name, to, old)
}

func settingsID(to core.GroupSettings) string {
	return fmt.Sprintf("/%d-%d-%t", to.Index, to.Concurrent, to.Reboot)
}

const indexWhy = "The groups of workers are updated by their index, the lowest first; those of one index at the same time. The control " +
	"plane always goes first."

// orderThen says in which order the groups are updated when one is changed, made (old nil) or removed (now nil).
func (p *planner) orderThen(old, now *core.MachineGroup) string {
	m := p.s.Management
	groups := slices.DeleteFunc(slices.Clone(m.Groups), func(g *core.MachineGroup) bool { return old != nil && g.Name == old.Name })
	if now != nil {
		groups = append(groups, now)
	}
	then := "The workers are then updated in this order: " + progress.GroupsInOrder(m, groups) + "."
	if plan := m.Plan(); plan != nil && plan.Status != core.PlanCompleted {
		then += " LCM makes the workers' steps of plan " + wording.OneLine(plan.Name, 60) + " anew from the groups: look at them before you " +
			"commence the next."
	} else {
		then += " It counts from the next update on."
	}
	return then
}

// concurrencyWhy is what so many of a group's machines at a time mean: for how many nodes room is needed elsewhere.
func concurrencyWhy(s *core.Snapshot, in []*core.MachineView, n int) string {
	switch {
	case n <= 1:
		return "LCM updates the group's machines one after another."
	case len(in) <= 1:
		return "The group has " + wording.Count(len(in), "machine") + " now: the number counts when it has more."
	}
	n = min(n, len(in))
	why := fmt.Sprintf("Up to %d of its %d machines are in maintenance at the same time: fewer where the controllers' own limits say so.", n,
		len(in))
	if s.Known(core.SourceInstances) {
		counts := make([]int, len(in))
		for i, v := range in {
			counts[i] = len(s.InstancesOn(v.Node))
		}
		slices.Sort(counts)
		most := 0
		for _, c := range counts[len(counts)-n:] {
			most += c
		}
		if most > 0 {
			why += fmt.Sprintf(" The %d fullest have %s, which then need room elsewhere at once.", n, wording.Count(most, "instance"))
		}
	}
	return why
}

func concurrencyThen(m *core.Management, g *core.MachineGroup) string {
	var then []string
	if plan := m.Plan(); plan != nil {
		if st, ok := plan.OfGroup(g.Name, ""); ok && st.Held() {
			then = append(then, "Its step is held: the documents do not say that LCM takes a new number during a step.")
		}
	}
	if g.Name == m.DefaultGroup() {
		then = append(then, "Who changes maxWorkerUpgradeCount of the Cluster changes this number, too.")
	}
	return wording.TextOf(strings.Join(then, " "), "It counts from the group's next step on.")
}

func rebootTexts(reboot bool) (why, then string) {
	if reboot {
		return "Machines whose update needs a reboot are rebooted: their instances are moved off first.",
			"With a new distribution they are rebooted in any case."
	}
	return "Machines are drained and updated, and stay up: what needs a reboot, such as a new kernel, waits for one that you ask for.",
		"With a new distribution they are rebooted in any case."
}

// makeGroup plans a new update group.
func (p *planner) makeGroup() {
	s, name, to := p.s, p.i.Group, p.i.GroupSettings
	p.step.Title = "make update group " + wording.TextOf(wording.OneLine(name, 60), "without a name")
	if !p.groups(name) {
		return
	}
	m := s.Management
	ref := core.Ref{Kind: core.KindUpdateGroup, Namespace: m.Namespace, Name: name}
	p.identify(ref)
	p.step.ID += settingsID(to)
	p.step.Target = m.Cluster.Ref() // the group has no UID yet; the step is about this cluster
	p.guard(guardExists("the Cluster", m.Cluster.Ref()))
	p.fact("cluster", m.Cluster.UID)
	proper := groupName.MatchString(name)
	p.guard(core.Guard{ID: core.GuardPlainText, Text: "it is a name that a label can bear", Holds: proper,
		Answer: wording.TextOf(wording.OneLine(name, 64), "none"), Remedy: "small letters, digits, - and ., at most 63 of them"})
	p.guardCustom(name, "take another name", m.ControlGroup(), m.DefaultGroup())
	p.guardIndex(name, to.Index)
	p.guardAtATime(to.Concurrent)
	made := &core.MachineGroup{Meta: core.Meta{Name: name}, Index: to.Index, Concurrent: to.Concurrent, Reboot: to.Reboot}
	if g := m.GroupOf(name); g != nil {
		p.guard(core.Guard{ID: core.GuardDiffers, Text: "there is no group of the name yet", Answer: progress.GroupText(g),
			Remedy: "change it, or take another name"})
		if g.Settings() == to {
			p.done = "there is one: " + progress.GroupText(g)
		}
		return
	}
	p.fact("group", "none")
	p.guardRests(false, name)
	p.step.Why = "The group is empty until you move machines into it. " + indexWhy
	p.step.Then = p.orderThen(nil, made)
	if !proper {
		return
	}
	p.step.Change = core.SetGroup{Group: ref, Cluster: m.Name, New: &to}
	p.step.Commands = []string{makeGroupCommand(s, ref, to)}
	p.step.Undo = "remove it while it is empty: " + s.KubectlManagement("delete", "updategroups", name)
}

// deleteGroup plans the removal of an update group that no machine belongs to.
func (p *planner) deleteGroup() {
	s := p.s
	p.step.Title = "remove update group " + wording.TextOf(wording.OneLine(p.i.Group, 60), "without a name")
	if !p.groups(p.i.Group) {
		return
	}
	g := p.group()
	if g == nil {
		return
	}
	m, old := s.Management, g.Settings()
	p.guardCustom(g.Name, "every cluster has it", m.ControlGroup(), m.DefaultGroup())
	in := m.InGroup(g.Name)
	empty := core.Guard{ID: core.GuardGroupEmpty, Text: "no machine belongs to it", Holds: len(in) == 0, Answer: "none",
		Remedy: "move them into another group first"}
	if !empty.Holds {
		empty.Answer = progress.MachineNames(in)
	}
	p.guard(empty)
	p.guardRests(false, g.Name)
	p.step.Why = "A group without machines updates nothing."
	p.step.Then = p.orderThen(g, nil)
	p.step.Change = core.SetGroup{Group: g.Ref(), Cluster: m.Name, Old: &old}
	p.step.Commands = []string{s.KubectlManagement("delete", "updategroups", g.Name)}
	p.step.Undo = "make it again: " + makeGroupCommand(s, g.Ref(), old)
}

// groupFields are the fields of an UpdateGroup's spec by which two settings differ.
func groupFields(old, to core.GroupSettings) (names []string, was, is []any) {
	add := func(name string, a, b any) {
		if a != b {
			names, was, is = append(names, name), append(was, a), append(is, b)
		}
	}
	add("index", old.Index, to.Index)
	add("concurrentUpdates", old.Concurrent, to.Concurrent)
	add("rebootIfUpdateRequires", old.Reboot, to.Reboot)
	return names, was, is
}

// groupCommand changes a group by hand. The patch tests what is there; a field that may be missing is only added.
func groupCommand(s *core.Snapshot, name string, old, to core.GroupSettings) string {
	names, was, is := groupFields(old, to)
	var ops []string
	for i, field := range names {
		path := "/spec/" + field
		if was[i] != 0 && was[i] != false {
			ops = append(ops, fmt.Sprintf(`{"op":"test","path":"%s","value":%s}`, path, wording.JSONText(was[i])))
		}
		if is[i] == 0 { // it was not set
			ops = append(ops, fmt.Sprintf(`{"op":"remove","path":"%s"}`, path))
			continue
		}
		ops = append(ops, fmt.Sprintf(`{"op":"add","path":"%s","value":%s}`, path, wording.JSONText(is[i])))
	}
	return s.KubectlManagement("patch", "updategroups", name, "--type=json", "-p", "["+strings.Join(ops, ",")+"]")
}

// makeGroupCommand makes an UpdateGroup by hand.
func makeGroupCommand(s *core.Snapshot, ref core.Ref, to core.GroupSettings) string {
	raw, err := json.Marshal(map[string]any{"apiVersion": "kaas.mirantis.com/v1alpha1", "kind": string(core.KindUpdateGroup),
		"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace,
			"labels": map[string]any{"cluster.sigs.k8s.io/cluster-name": s.Management.Name}},
		"spec": map[string]any{"index": to.Index, "concurrentUpdates": to.Concurrent, "rebootIfUpdateRequires": to.Reboot}})
	if err != nil { // names and numbers
		return ""
	}
	return wording.ShellCommand("echo", string(raw)) + " | " + s.Place.Kubectl("create", "-f", "-")
}
