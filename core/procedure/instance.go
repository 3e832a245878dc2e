package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// instanceIntents are the intents on an instance, in the order in which they are offered.
var instanceIntents = []core.IntentKind{core.IntentAbortMigration, core.IntentForceComplete, core.IntentConfirmResize,
	core.IntentRevertResize, core.IntentLiveMigrate,
	core.IntentEvacuate, core.IntentColdMigrate, core.IntentStart, core.IntentResume, core.IntentUnshelve, core.IntentResetState,
	core.IntentStop, core.IntentShelve}

// instanceProcedure is everything that can be done with one instance.
func instanceProcedure(s *core.Snapshot, id string) (core.Procedure, bool) {
	v, ok := progress.InstanceView(s, id)
	if !ok {
		return core.Procedure{}, false
	}
	in := v.Instance
	label := progress.InstanceLabel(in)
	p := core.Procedure{Title: "What can be done with " + label, Goal: "Everything that fits the instance as it is now, the best first."}
	on := "no host that Nova names"
	if in.Host != "" {
		on = progress.HostLabel(s, in.Host)
	}
	p.Summary = []string{"is " + in.Status + " on " + on, v.Why}
	if in.Fault != "" {
		p.Summary = append(p.Summary, "fault: "+wording.OneLine(in.Fault, wording.MostRead))
	}
	for _, text := range []string{step.OwnerText(s, v), step.LockedText(s, in)} {
		if text != "" {
			p.Summary = append(p.Summary, text)
		}
	}
	if st, dead := deadHostStep(s, v); dead {
		p.Steps, st.Alternatives = append([]core.Step{st}, st.Alternatives...), nil
		p.Steps[0] = st
		return p, true
	}
	if progress.Moving(s, in) {
		st := movingStep(s, v)
		p.Steps, st.Alternatives = append([]core.Step{st}, st.Alternatives...), nil
		p.Steps[0] = st
		return p, true
	}
	awaited := awaited(s, v)
	if node := v.NodeName(s); node != "" && (v.Action == core.ActionNotify && v.Blocks || in.Locked) {
		p.Steps = append(p.Steps, progress.TellOwners(s, in.Ref(), node, label, []core.InstanceView{v}))
	}
	if step.NoRoom(v) && v.Blocks {
		p.Steps = append(p.Steps, roomSteps(s, []core.InstanceView{v})...)
	}
	for _, kind := range fits(s, v) {
		st := step.Plan(s, core.Intent{Kind: kind, Instance: id})
		p.Steps = append(p.Steps, optionalIf(!slices.Contains(awaited, kind), st))
	}
	if len(fits(s, v)) == 0 {
		p.Steps = append(p.Steps, noWayStep(s, v))
	}
	return p, true
}

// awaited are the intents on an instance that somebody waits for: it holds its node's maintenance, it waits for a decision, or Lockstep
// has stopped it.
func awaited(s *core.Snapshot, v core.InstanceView) []core.IntentKind {
	in, node := v.Instance, v.NodeName(s)
	n, _ := progress.NodeView(s, node)
	asked := step.EntersMaintenance(s, node) && (!v.Migrates || n.Stage == core.StageWaiting) || s.Deletions[node] != nil
	switch _, put := s.History.Stopped[in.ID]; {
	case v.Blocks && asked, in.Status == "VERIFY_RESIZE":
		return step.WaysFor(s, v)
	case put && !step.EntersMaintenance(s, node):
		return []core.IntentKind{in.BroughtBackBy()}
	}
	return nil
}

// fits are the intents that Nova accepts for the instance in its status. Where no host has room for it, those that need no room come
// first.
func fits(s *core.Snapshot, v core.InstanceView) []core.IntentKind {
	var out []core.IntentKind
	in := v.Instance
	if step.NoRoom(v) && v.Blocks {
		out = slices.Clone(step.WaysFor(s, v))
	}
	for _, kind := range instanceIntents {
		if slices.Contains(step.InstanceRules[kind].Statuses, in.Status) && !slices.Contains(out, kind) &&
			(!step.InstanceRules[kind].Dead || progress.ComputeDown(s, in.Host)) {
			out = append(out, kind)
		}
	}
	if slices.Contains(step.TagStatuses, in.Status) && !slices.Contains(out, core.IntentTagPowerOff) {
		out = append(out, core.IntentTagPowerOff)
	}
	if _, changed := s.History.Tags[in.ID]; changed {
		out = append(out, core.IntentRestoreTags)
	}
	return out
}

// instanceStep is the step that gets one instance out of the way of its node's maintenance, with the other ways as alternatives. Its ID
// does not change with the instance's state, so that the cursor stays on it.
func instanceStep(s *core.Snapshot, v core.InstanceView) core.Step {
	if st, dead := deadHostStep(s, v); dead {
		return st
	}
	if progress.Moving(s, v.Instance) {
		return movingStep(s, v)
	}
	ways := step.WaysFor(s, v)
	if len(ways) == 0 {
		return noWayStep(s, v)
	}
	st := step.Plan(s, core.Intent{Kind: ways[0], Instance: v.Instance.ID})
	st.Why = wording.Join("In the way — "+v.Why+".", st.Why)
	st.ID = string(core.IntentLiveMigrate) + "/" + v.Instance.ID
	for _, kind := range ways[1:] {
		st.Alternatives = append(st.Alternatives, step.Plan(s, core.Intent{Kind: kind, Instance: v.Instance.ID}))
	}
	return st
}

// deadHostStep is the step of an instance whose host is dead, and which Nova does not evacuate as it is: in another status, in a task that
// its host never ends, or still on its way to where it will never come. Written down as failed, by hand, it can be evacuated. What is being
// rebuilt elsewhere is left alone, and what is being deleted.
func deadHostStep(s *core.Snapshot, v core.InstanceView) (core.Step, bool) {
	in := v.Instance
	m := s.LatestMigration(in.ID)
	leaves := progress.Moving(s, in) && m != nil && m.Type != core.MigrationEvacuation
	fits := slices.Contains(step.InstanceRules[core.IntentEvacuate].Statuses, in.Status)
	if in.TaskState != "" && progress.AwaitedBack(s, in.Host) {
		return core.Step{}, false // its nova-compute sees to the task when it is back; not where it was written down as ERROR
	}
	if !progress.HostDead(s, in.Host) || !leaves && (step.LeftAlone(s, in) || fits && in.TaskState == "") ||
		step.Plan(s, core.Intent{Kind: core.IntentLiveMigrate, Instance: in.ID}).State == core.StepRunning {
		return core.Step{}, false
	}
	advice := deadHostAdvice.text
	if fits {
		advice = busyDeadHostText
	}
	st := noWayStep(s, v)
	st.Status = in.Status + wording.TextIf(in.TaskState != "", ", "+wording.OneLine(in.TaskState, 40), "") + wording.Dashed(advice)
	st.Why = wording.Join(st.Why, step.MayRunElsewhere(s, in))
	st.Commands = []string{wording.ShellCommand(append(slices.Clone(deadHostAdvice.command), in.ID)...)}
	if slices.Contains(step.TagStatuses, in.Status) { // or it waits for its host
		st.Alternatives = optional(step.Plan(s, core.Intent{Kind: core.IntentTagPowerOff, Instance: in.ID}))
	}
	return st, true
}

// movingStep waits for a migration; its alternatives abort or force it.
func movingStep(s *core.Snapshot, v core.InstanceView) core.Step {
	in := v.Instance
	st := step.Plan(s, core.Intent{Kind: core.IntentLiveMigrate, Instance: in.ID})
	st.Status = step.ProgressText(s, in)
	if st.State != core.StepRunning {
		// It is not Lockstep that moves it: there is nothing to confirm.
		st = core.Step{ID: st.ID, Target: st.Target, Label: st.Label, Node: st.Node, State: core.StepWaiting, Status: st.Status,
			Title: "wait for the migration of " + st.Label, Why: "It is being migrated; only where it is in the end says how that went."}
	}
	st.Alternatives = migrationControls(s, in)
	return st
}

// migrationControls are the steps on a running live migration.
func migrationControls(s *core.Snapshot, in *core.Instance) []core.Step {
	m := s.LatestMigration(in.ID)
	if m == nil || !m.Running() || m.Type != core.MigrationLive {
		return nil
	}
	return optional(step.Plan(s, core.Intent{Kind: core.IntentAbortMigration, Instance: in.ID}),
		step.Plan(s, core.Intent{Kind: core.IntentForceComplete, Instance: in.ID}))
}

// noWayStep is the step of an instance that Lockstep cannot move now: somebody else has to act first.
func noWayStep(s *core.Snapshot, v core.InstanceView) core.Step {
	in := v.Instance
	label := progress.InstanceLabel(in)
	st := core.Step{ID: "live-migrate/" + in.ID, Target: in.Ref(), Label: label, Title: "get " + label + " out of the way", Why: v.Why + ".",
		State: core.StepWaiting, Status: in.Status + wording.Dashed(wording.TextOf(progress.WayOut(in), "wait until Nova is done with it"))}
	if n := s.NodeOfHost(in.Host); n != nil {
		st.Node = n.Name
	}
	if in.TaskState != "" {
		st.Status = in.Status + ", " + in.TaskState
	} else if in.Status == "RESCUE" {
		st.Commands = []string{wording.ShellCommand("openstack", "server", "unrescue", in.ID)}
	}
	return st
}
