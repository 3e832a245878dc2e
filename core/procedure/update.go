package procedure

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// UpdateKey names the procedure that drives the update.
func UpdateKey() *core.ProcedureKey { return &core.ProcedureKey{Kind: core.ProcedureUpdate} }

// updateProcedure drives the update on the management cluster: the plan's steps, each with what can be done about it
// (docs/mosk.md#update-plans).
func updateProcedure(s *core.Snapshot) (core.Procedure, bool) {
	p := core.Procedure{Title: "Drive the update",
		Goal: "Each step of the plan begins when it is commenced and what is before it is complete. What has begun cannot be cancelled, and " +
			"there is no way back to the old release."}
	if why := step.NotConnected(s); why != "" {
		p.Goal = "The update is driven on the management cluster."
		p.Steps = []core.Step{step.Plan(s, core.Intent{Kind: core.IntentCommence})}
		return p, true
	}
	plan := s.Management.Plan()
	if plan == nil {
		p.Goal = "The cluster has no update plan: the release that it is given begins the whole update, which stops nowhere in between. What " +
			"has begun cannot be cancelled, and there is no way back to the old release."
	}
	p.Summary = append(p.Summary, driveSummary(s, plan)...)
	p.Steps = progress.VersionStep(s)
	if plan != nil {
		p.Steps = append(p.Steps, drivenSteps(s, core.Ref{Kind: core.KindCluster, Name: s.Cluster}, plan, true)...)
	}
	if plan == nil || plan.Status == core.PlanCompleted {
		p.Steps = append(p.Steps, releaseSteps(s)...)
	}
	p.Steps = append(p.Steps, optional(pauseSteps(s)...)...)
	return p, true
}

// driveSummary is what is known before anything is commenced, one fact a line.
func driveSummary(s *core.Snapshot, plan *core.UpdatePlan) []string {
	var out []string
	m := s.Management
	if plan != nil {
		text := "plan " + wording.OneLine(plan.Name, 60) + ": " + wording.OneLine(wording.TextOf(plan.Status, "no status"), 40)
		if plan.Source != "" || plan.Target != "" {
			text += "," + wording.Prefixed(" from ", wording.OneLine(plan.Source, 60)) +
				wording.Prefixed(" to ", wording.OneLine(plan.Target, 60))
		}
		out = append(out, text)
	}
	if m.Pause != nil {
		alerts := make([]string, len(m.Pause.Alerts))
		for i, a := range m.Pause.Alerts {
			alerts[i] = wording.OneLine(a, 80)
		}
		text := "alerts that pause the update: " + wording.TextOf(wording.Some(alerts, 6), "none is named")
		if n := len(m.Pause.Firing); n > 0 {
			text += "; firing now: " + wording.OneLine(wording.Some(m.Pause.Firing, 4), 200)
		}
		out = append(out, text)
	}
	out = append(out, offersText(s)...)
	out = append(out, progress.ManagementSummary(s)...)
	return append(out, progress.GroupSummary(s)...)
}

// planSteps are the steps of the update plan in the cluster's procedure: how far each is, and in the place of the one that LCM waits for,
// the step that commences it.
func planSteps(s *core.Snapshot, target core.Ref) []core.Step {
	plan := s.Management.Plan()
	if plan == nil || step.NotConnected(s) != "" {
		return progress.PlanSteps(s, target)
	}
	return drivenSteps(s, target, plan, false)
}

// drivenSteps are the plan's steps with what can be done about each. all is for the procedure that drives the update: it also has what
// nobody waits for, and in it the first step is the operator's to begin.
func drivenSteps(s *core.Snapshot, target core.Ref, plan *core.UpdatePlan, all bool) []core.Step {
	var out []core.Step
	next := plan.ToCommence()
	_, runs := plan.Running()
	for _, ps := range plan.Steps[:max(next, 0)] { // what is commenced begins by itself: nobody waits for the one after it
		runs = runs || ps.Commence && ps.Status != core.PlanCompleted
	}
	for i, row := range progress.PlanSteps(s, target) {
		ps := plan.Steps[i]
		once := plan.StepAt(ps.Key()) == i // a step that cannot be named cannot be driven
		waits := !runs && (all || plan.UnderWay())
		switch {
		case i == next && once && (all || waits):
			st := optionalIf(!waits, commenceStep(s, ps))
			st.Ahead = st.Optional
			out = append(out, st)
			continue
		case all && once && ps.Commence && ps.Status != core.PlanCompleted && (!ps.Begun() || ps.Workers()):
			out = append(out, row)
			out = append(out, optional(uncommenceStep(s, ps))...)
			continue
		}
		out = append(out, row)
	}
	return out
}

// commenceStep commences a step of the plan. While something stops the update, going past it is another way.
func commenceStep(s *core.Snapshot, ps core.PlanStep) core.Step {
	st := step.Plan(s, core.Intent{Kind: core.IntentCommence, PlanStep: ps.Key()})
	if g, stopped := st.Unmet(core.GuardNoStops); stopped {
		past := step.Plan(s, core.Intent{Kind: core.IntentCommence, PlanStep: ps.Key(), PastStops: true})
		if past.Status == "" {
			past.Status = "past what stops it" + wording.Because(g.Answer)
		}
		st.Alternatives = append(st.Alternatives, past)
		if st.State == core.StepBlocked {
			st.Status = "stopped" + wording.Because(g.Answer)
		}
	}
	if st.Status == "" {
		st.Status = "to be commenced"
		switch {
		case ps.Held():
			st.Status += " again; " + progress.PlanStepText(s, ps)
		case ps.Allows() > 0:
			st.Status += "; " + wording.SpanText(ps.Allows()) + " estimated"
		}
	}
	if took := takenAway(s, ps); took != "" {
		st.Status = took + "; " + st.Status
		for i := range st.Alternatives {
			st.Alternatives[i].Status = took + "; " + st.Alternatives[i].Status
		}
	}
	if said := strings.TrimSpace(ps.Message); said != "" && !slices.Contains([]core.StepState{core.StepDone, core.StepRunning}, st.State) {
		st.Why = wording.Join(st.Why, "It says: "+wording.Sentence(wording.OneLine(said, wording.MostRead)))
	}
	return st
}

// takenAway says that the step of the plan was commenced here, and that somebody else has taken commence away since: LCM, while an alert
// fires, or a person. Empty when it was not so.
func takenAway(s *core.Snapshot, ps core.PlanStep) string {
	for _, op := range s.Operations { // newest first
		switch i := op.Intent; {
		case i.PlanStep != ps.Key() || op.State != core.OperationDone:
		case i.Kind == core.IntentUncommence:
			return ""
		case i.Kind == core.IntentCommence && !ps.Commence && !op.Ended.IsZero():
			return "commenced here " + progress.MomentText(s, op.Ended) + ", and taken away since"
		}
	}
	return ""
}

// uncommenceStep takes commence away from a step of the plan, and says beside its title what that stops.
func uncommenceStep(s *core.Snapshot, ps core.PlanStep) core.Step {
	st := step.Plan(s, core.Intent{Kind: core.IntentUncommence, PlanStep: ps.Key()})
	if st.Status == "" {
		st.Status = wording.TextIf(ps.Begun(), "begin no further machine; those under way are finished", "LCM then does not begin it")
	}
	return st
}

// openOffers are the releases that are offered and have no plan, in the order in which the Cluster has them. An offer without a name
// cannot be taken.
func openOffers(s *core.Snapshot) (named, nameless []core.OfferedRelease) {
	for _, o := range s.Management.Cluster.Available {
		switch {
		case o.Name == "":
			nameless = append(nameless, o)
		case !slices.ContainsFunc(s.Management.Plans, func(p *core.UpdatePlan) bool { return p.Target == o.Name }):
			named = append(named, o)
		}
	}
	return named, nameless
}

// offersText says that one of several offers is to be chosen, and which offers cannot be taken.
func offersText(s *core.Snapshot) []string {
	plan := s.Management.Plan()
	if plan != nil && plan.Status != core.PlanCompleted {
		return nil
	}
	var out []string
	named, nameless := openOffers(s)
	if len(named) > 1 && !slices.ContainsFunc(named, func(o core.OfferedRelease) bool { return o.Name == s.Management.Cluster.Target }) {
		out = append(out, wording.Count(len(named), "release")+" are offered: choose one, by their release notes; only that one is taken")
	}
	if len(nameless) > 0 {
		versions := make([]string, len(nameless))
		for i, o := range nameless {
			versions[i] = wording.TextOf(wording.OneLine(o.Version, 40), "one without a version")
		}
		out = append(out, "offered without its name, by which alone it could be set: "+wording.Some(versions, 4))
	}
	return out
}

// releaseSteps set the release that the Cluster is to be at: one step for each release that is offered and has no plan.
func releaseSteps(s *core.Snapshot) []core.Step {
	m, c := s.Management, s.Management.Cluster
	var out []core.Step
	named, nameless := openOffers(s)
	for _, o := range named {
		st := step.Plan(s, core.Intent{Kind: core.IntentSetRelease, Release: o.Name})
		if _, stopped := st.Unmet(core.GuardNoStops); stopped {
			st.Alternatives = append(st.Alternatives, step.Plan(s, core.Intent{Kind: core.IntentSetRelease, Release: o.Name, PastStops: true}))
		}
		if st.Status == "" {
			st.Status = "offered" + wording.TextIf(o.Reboot, ", hosts are to be rebooted", "") + "; nobody has begun the update"
		}
		if st.State == core.StepWaiting && st.Change == nil { // it is set: there is nothing to confirm, and nothing against it
			st.Intent, st.Guards = core.Intent{}, nil
		}
		out = append(out, st)
	}
	if len(out) > 1 { // which one is for the operator to choose
		out = optional(out...)
	}
	if len(out) > 0 || m.Plan() != nil {
		return out
	}
	status := wording.TextIf(len(nameless) > 0, "no release is offered by its name", "no release is offered")
	if c.Target != "" && c.Release != "" && c.Target != c.Release {
		status = "LCM updates the cluster from " + wording.OneLine(c.Release, 60) + " to " + wording.OneLine(c.Target, 60)
	}
	return []core.Step{{ID: "update/none", Target: c.Ref(), Label: s.Cluster, Title: "there is no update plan", State: core.StepWaiting,
		Status: status, Why: "LCM makes a plan when a new release is available for the cluster; older ones are given the release itself."}}
}

// pauseSteps take off the alerts that fire, so that the update can go on, and remove the UpdateAutoPause.
func pauseSteps(s *core.Snapshot) []core.Step {
	pause := s.Management.Pause
	if pause == nil {
		return nil
	}
	var out []core.Step
	left := slices.DeleteFunc(slices.Clone(pause.Alerts), func(a string) bool { return slices.Contains(pause.Firing, a) })
	if len(left) > 0 && len(left) < len(pause.Alerts) {
		out = append(out, step.Plan(s, core.Intent{Kind: core.IntentSetAutoPause, Alerts: left}))
	}
	return append(out, step.Plan(s, core.Intent{Kind: core.IntentSetAutoPause}))
}
