package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// planStep begins a step on the intent's step of the update plan; false when there is none. The step rests on the plan and on the extra
// sources.
func (p *planner) planStep(extra ...core.SourceID) (plan *core.UpdatePlan, at int, ok bool) {
	key := p.i.PlanStep
	p.step.Label = wording.OneLine(key, 64)
	if !p.managed(busyManaging, append([]core.SourceID{core.SourcePlans}, extra...)...) {
		return nil, -1, false
	}
	at = -1
	if plan = p.s.Management.Plan(); plan != nil {
		at = plan.StepAt(key)
	}
	if at < 0 {
		p.identify(core.Ref{Kind: core.KindUpdatePlan, Name: wording.TextOf(key, "none")})
		p.unknown("the plan has this step, once", wording.TextOf(wording.OneLine(key, 64), "none is named"))
		return nil, -1, false
	}
	st := plan.Steps[at]
	p.identify(plan.Ref())
	p.step.ID += "/" + key
	p.guard(guardExists("the update plan", plan.Ref()))
	p.fact("uid", plan.UID)
	p.fact("step", wording.Itoa(at)+" "+key)
	p.fact("commence", wording.TextIf(st.Commence, "true", "false"))
	p.fact("status", st.Status)
	return plan, at, true
}

// stopSources are the sources that Stops reads, besides those of the plan itself.
func stopSources() []core.SourceID {
	return []core.SourceID{core.SourceLCMClusters, core.SourceAutoPauses, core.SourceNodes, core.SourceNodeRequests, core.SourceNodeLocks,
		core.SourceDeletionRequests}
}

// commence plans to commence a step of the update plan: the next one, or again one that is held (docs/mosk.md#update-plans).
func (p *planner) commence() {
	s := p.s
	p.step.Title, p.step.Risk = "commence the plan's "+wording.TextOf(wording.OneLine(p.i.PlanStep, 64), "step"), core.RiskHigh
	plan, at, ok := p.planStep(append(stopSources(), core.SourceReboots, core.SourceClusterRequests, core.SourceGroups,
		core.SourceMachines)...)
	if !ok {
		return
	}
	st, c := plan.Steps[at], s.Management.Cluster
	held := st.Held() && plan.Driven()
	p.step.Title = "commence " + progress.StepShort(st) + wording.TextIf(held, " again", "")
	p.step.Type = typable(st.Key(), wording.Itoa(at+1))
	_, runs := plan.Running()
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "it is not commenced yet", Holds: !st.Commence,
		Answer: "commence is " + wording.TextIf(st.Commence, "true", "not set"), Remedy: "it begins when what is before it is complete"})
	p.guard(core.Guard{ID: core.GuardTurn, Text: "it can still be commenced", Holds: held || !st.Begun(),
		Answer: progress.PlanStepText(s, st), Remedy: "it has begun"})
	order := core.Guard{ID: core.GuardPlanOrder, Text: "every step before it is complete or commenced", Holds: true, Answer: "they are"}
	for _, before := range plan.Steps[:at] {
		if before.Status != core.PlanCompleted && !before.Commence && !(before.Begun() && !before.Held()) {
			order.Holds, order.Answer, order.Remedy = false, progress.StepShort(before)+" is neither", "commence that one first"
			break
		}
	}
	p.guard(order)
	out := core.Guard{ID: core.GuardNoMaintenance, Text: "the cluster is not in maintenance mode", Holds: !c.InMaintenance && !c.Wanted(),
		Answer: "it is not", Remedy: "take it out of it first: an update does not begin in it"}
	if !out.Holds {
		out.Answer = "it is, or is on its way"
	}
	p.guard(out)
	p.guardFromHere(plan, c)
	p.guard(guardNoReboot(s))
	if !plan.UnderWay() {
		p.guard(guardNoRequest(s))
	}
	when := AtOnce
	switch {
	case held:
		when = Again
	case runs:
		when = AfterOne
	}
	past := p.stops(Stops(s, when), typableIn(plan.Name, st.Key(), wording.Itoa(at+1)))
	before, later := lastBefore(plan, at)
	later = later && !held
	p.fact("after", wording.TextIf(later, before.Key(), ""))
	p.fact("before", nextText(plan, at))
	p.fact("impact", wording.Join(progress.ImpactText(st), estimateText(st)))
	p.fact("group", groupSays(s, st))
	beside := besideText(s.Management, plan)
	p.fact("beside", beside)
	p.step.Why = wording.Join(past, beside, wording.Sentence(progress.StepName(st)), wording.Sentence(progress.ImpactText(st)),
		estimateText(st), groupSays(s, st))
	p.step.Then = commenceThen(plan, c, at, held, before, later)
	if st.Commence {
		p.done = "commenced: " + progress.PlanStepText(s, st)
		return
	}
	switch {
	case later:
		p.step.Undo = "until it begins: " + progress.CommenceCommand(s, plan, at, false)
	case st.Workers():
		p.step.Undo = "it cannot be undone, only held between two machines"
	}
	p.step.Change = commenceChange(plan, at, true)
	p.step.Commands = []string{progress.CommenceCommand(s, plan, at, true)}
}

// besideText names the other plans that lead on from here: the operator chooses between them by commencing a first step.
func besideText(m *core.Management, plan *core.UpdatePlan) string {
	others := m.PlansBeside(plan)
	if len(others) == 0 {
		return ""
	}
	names := make([]string, len(others))
	for i, p := range others {
		names[i] = wording.OneLine(p.Name, 64) + " to " + wording.OneLine(p.Target, 60)
	}
	return "This is the plan " + wording.OneLine(plan.Name, 64) + " to " + wording.OneLine(plan.Target, 60) +
		". Others lead on from here too, and are not followed then: " + wording.Some(names, 4) + "."
}

// guardFromHere holds when the plan leads on from the Cluster's release. The step rests on the releases of both.
func (p *planner) guardFromHere(plan *core.UpdatePlan, c *core.ManagedCluster) {
	name := func(release string) string { return wording.TextOf(wording.OneLine(release, 60), "not said") }
	for _, f := range [][2]string{{"source", plan.Source}, {"target", plan.Target}, {"at", c.Release}, {"to be at", c.Target}} {
		p.fact(f[0], f[1])
	}
	g := core.Guard{ID: core.GuardFromHere, Text: "the plan leads on from the cluster's release", Holds: plan.FromHere(c),
		Answer: "it is at " + name(c.Release) + wording.TextIf(c.Target != c.Release, ", to be at "+name(c.Target), ""),
		Remedy: "find out who set the release, and which plan begins there"}
	if !g.Holds {
		g.Answer += "; the plan leads from " + name(plan.Source) + " to " + name(plan.Target)
	}
	p.guard(g)
}

func commenceChange(plan *core.UpdatePlan, at int, on bool) core.SetCommence {
	st := plan.Steps[at]
	return core.SetCommence{Plan: plan.Ref(), Index: at, ID: st.ID, Name: st.Name, Status: st.Status, Started: st.Started,
		On: on}
}

// estimateText is how long the plan allows for the step, as a sentence.
func estimateText(st core.PlanStep) string {
	if st.Allows() == 0 {
		return ""
	}
	return "The plan estimates " + wording.SpanText(st.Allows()) + "."
}

// groupSays is how many machines a worker step updates, and how many of them at a time.
func groupSays(s *core.Snapshot, st core.PlanStep) string {
	g := s.Management.GroupOf(st.Group())
	if g == nil {
		return ""
	}
	n := 0
	for _, v := range s.Management.Machines {
		if v.Machine != nil && !v.Machine.Control && s.Management.GroupNameOf(v.Machine) == g.Name {
			n++
		}
	}
	return "The group has " + wording.Count(n, "machine") + ": " + progress.GroupText(g) + "."
}

// commenceThen says what follows, and what cannot be undone.
func commenceThen(plan *core.UpdatePlan, c *core.ManagedCluster, at int, held bool, before core.PlanStep, later bool) string {
	st := plan.Steps[at]
	var then []string
	switch {
	case held:
		then = append(then, "LCM goes on with the machines that are left.")
	case later:
		then = append(then, "It begins by itself as soon as "+progress.StepShort(before)+" is complete: nobody is asked in between.")
	case !plan.UnderWay() && c.Target != plan.Target:
		then = append(then, "The Cluster's release becomes "+wording.OneLine(plan.Target, 60)+", and LCM begins at once.")
	default:
		then = append(then, "LCM begins it at once.")
	}
	switch {
	case held:
	case st.Workers():
		then = append(then, "Once begun it can only be held: machines that are under way are finished, and no further one is begun.")
	default:
		then = append(then, "Once begun it cannot be cancelled.")
	}
	then = append(then, "There is no way back to "+wording.TextOf(wording.OneLine(plan.Source, 60), "the old release")+".")
	if next := nextText(plan, at); next != "" {
		then = append(then, next)
	}
	return strings.Join(then, " ")
}

// lastBefore is the last step before the one at at that is not complete: LCM begins that one when it is; false when all are complete.
func lastBefore(plan *core.UpdatePlan, at int) (core.PlanStep, bool) {
	for i := at - 1; i >= 0; i-- {
		if st := plan.Steps[i]; st.Status != core.PlanCompleted {
			return st, true
		}
	}
	return core.PlanStep{}, false
}

// nextText is what LCM does after the step at at; empty for the last one.
func nextText(plan *core.UpdatePlan, at int) string {
	if at+1 >= len(plan.Steps) {
		return ""
	}
	next := plan.Steps[at+1]
	return "After it LCM " + wording.TextIf(next.Commence, "goes on with "+progress.StepShort(next)+", which is commenced.",
		"waits until "+progress.StepShort(next)+" is commenced.")
}

// uncommence plans to take commence away: from a step that has not begun, so that it does not; or from workers' that are under way, so that
// no further machine is begun. The latter rests on what the automatic pause does (docs/mosk.md#automatic-pause).
func (p *planner) uncommence() {
	s := p.s
	p.step.Title, p.step.Risk = "withdraw the commence of "+wording.TextOf(wording.OneLine(p.i.PlanStep, 64), "a step"), core.RiskMedium
	plan, at, ok := p.planStep()
	if !ok {
		return
	}
	st := plan.Steps[at]
	hold := st.Begun() && st.Workers()
	p.step.Title = wording.TextIf(hold, "hold ", "withdraw the commence of ") + progress.StepShort(st)
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "it is commenced", Holds: st.Commence, Answer: "commence is " +
		wording.TextIf(st.Commence, "true", "not set")})
	p.guard(core.Guard{ID: core.GuardRevocable, Text: "it has not begun, or updates machine after machine", Holds: !st.Begun() ||
		hold && st.Status != core.PlanCompleted, Answer: progress.PlanStepText(s, st),
		Remedy: "a step that has begun cannot be cancelled: LCM stops before the next one that is not commenced"})
	if hold {
		p.step.Why = "LCM begins no further machine of it. The documents describe this for the automatic pause, which does the same."
		p.step.Then = "Machines that are under way are finished. The cluster stays between two releases until you commence the step again; " +
			"the documents warn of more than a day."
	} else {
		p.step.Why = "LCM then stops before it, until it is commenced again. Nothing else holds an update: what is not commenced does not begin."
		p.step.Then = "What is under way goes on to its end. Between two steps the cluster works, but is between two releases: the " +
			"documents warn of more than a day."
	}
	if !st.Commence {
		p.done = "not commenced"
		return
	}
	p.step.Undo = "commence it again: " + progress.CommenceCommand(s, plan, at, true)
	p.step.Change = commenceChange(plan, at, false)
	p.step.Commands = []string{progress.CommenceCommand(s, plan, at, false)}
}
