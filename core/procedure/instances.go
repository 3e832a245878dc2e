package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// evacuation adds the steps that get the instances off the node.
func (b *nodeSteps) evacuation() {
	s, name := b.s, b.v.Name
	m := progress.MaintenanceOf(s, name)
	if !m.Compute {
		b.ignoredModeSteps()
		return
	}
	if !m.Reboot {
		b.add(b.other("evacuate", "no instance has to move", "The request's scope is drain: the host does not reboot.", core.StepDone, ""))
		return
	}
	if !b.held() {
		b.add(b.other("evacuate", "the instances are out of the way", "", core.StepDone, ""))
		return
	}
	if b.v.Stage == core.StageQueued {
		b.add(b.other("begin", "the OpenStack controller begins", b.says(), core.StepWaiting, wording.TextOf(b.v.What, "queued")))
		b.preparation()
		return
	}
	if progress.LacksScope(b.v.Request) {
		b.add(b.other("evacuate", "the instances get out of the way", "The controller fails before it looks at them.", core.StepLater,
			"once the request has its scope"))
		return
	}
	views := progress.InstanceViews(s, name)
	byHand := b.v.Mode == core.ModeManual || b.v.Stage == core.StageWaiting || !b.v.Mode.Known()
	if b.v.Mode == core.ModeLive && b.v.Stage != core.StageWaiting && b.v.Blocking != 0 {
		b.add(b.controllerMoves())
	}
	b.instances(views, byHand, func(v core.InstanceView) []core.Step {
		if byHand || !v.Migrates && b.v.Mode != core.ModeSkip || v.Action == core.ActionNotify {
			return []core.Step{instanceStep(s, v)}
		}
		return nil // the controller moves it
	})
	if byHand || b.v.Mode == core.ModeSkip {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentDeclareSafe, Node: name}))
	}
}

// instances adds the steps on the instances that hold the node. Owners are told first; the batch and the steps that make room come only
// byHand; then, for each instance that holds the node, the steps that each returns.
func (b *nodeSteps) instances(views []core.InstanceView, byHand bool, each func(core.InstanceView) []core.Step) {
	s, name := b.s, b.v.Name
	if !b.v.Mode.Known() {
		for _, mode := range []core.MigrationMode{core.ModeManual, core.ModeLive} {
			b.add(step.Plan(s, core.Intent{Kind: core.IntentSetMode, Nodes: []string{name}, Mode: mode}))
		}
	}
	if held := slices.DeleteFunc(slices.Clone(views), func(v core.InstanceView) bool { return !progress.HoldsAhead(v) }); len(held) > 0 {
		b.add(progress.TellOwners(s, b.target, name, b.v.Label, held))
	}
	if movable, _ := step.Movable(s, name); byHand && (len(movable) >= 2 || b.batchRuns()) {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentLiveMigrateAll, Node: name}))
	}
	left := slices.DeleteFunc(slices.Clone(views), func(v core.InstanceView) bool { return !v.Blocks })
	if len(left) > 0 {
		b.add(b.reviveCompute()...)
	}
	if byHand {
		b.add(roomSteps(s, left)...)
	}
	for _, v := range left {
		b.add(each(v)...)
	}
	b.add(b.unconfirmed()...)
	if len(left) == 0 && s.Known(core.SourceInstances) {
		b.add(b.other("emptied", "no running instance is left", "", core.StepDone, wording.TextOf(b.safeText(views), "the host is empty")))
	}
}

// reviveCompute restarts a silent nova-compute where the kubelet reports: the host is alive, and nothing can leave it before.
func (b *nodeSteps) reviveCompute() []core.Step {
	if n := b.v.Node; n == nil || n.Ready != "True" || !progress.ComputeDown(b.s, b.s.HostOf(b.v.Name)) {
		return nil
	}
	return b.restartCompute()
}

// batchRuns tells whether Lockstep's batch moves the node's instances now, or failed and was not acknowledged.
func (b *nodeSteps) batchRuns() bool {
	return slices.ContainsFunc(b.s.Operations, func(op core.Operation) bool {
		return op.Node == b.v.Name && op.Is(core.IntentLiveMigrateAll) &&
			(!op.State.Ended() && !op.Past || op.State == core.OperationFailed && !op.Acknowledged)
	})
}

func (b *nodeSteps) safeText(views []core.InstanceView) string {
	if len(views) == 0 {
		return ""
	}
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = progress.InstanceLabel(v.Instance)
	}
	return "safe: " + wording.Some(names, 4)
}

// controllerMoves is the step in which the OpenStack controller moves the instances, in mode live.
func (b *nodeSteps) controllerMoves() core.Step {
	why := wording.Join("In mode live the OpenStack controller live-migrates the instances itself.", b.says())
	return b.other("evacuate", "the OpenStack controller moves the instances", why, core.StepWaiting, wording.TextOf(b.v.What, b.v.Reason))
}

// unconfirmed are the steps on instances that left the node and wait in VERIFY_RESIZE.
func (b *nodeSteps) unconfirmed() []core.Step {
	s := b.s
	var out []core.Step
	for _, id := range progress.UndecidedFrom(s, s.HostOf(b.v.Name)) {
		out = append(out, decideStep(s, s.Instances.At(id), s.HostOf(b.v.Name)))
	}
	return out
}
