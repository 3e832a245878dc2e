package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// act adds the steps of the controllers that Lockstep plays on the node, in their order; the instances in the way come between them
// (docs/mosk.md#node-request: out of scheduling, then the instances, then the lock).
func (b *nodeSteps) act() {
	for _, a := range b.s.Settings.ActAs {
		b.actAs(a)
		b.actNodeGo(a)
	}
}

// actNodeGo adds the step that lets a Node go that was deleted, where the finalizer of the OpenStack controller keeps it.
func (b *nodeSteps) actNodeGo(a core.ActAs) {
	if a.Controller == core.ControllerOpenStack && progress.HeldNode(b.s, b.v.Node) != "" {
		b.add(step.Plan(b.s, core.Intent{Kind: core.IntentActLetGo, Controller: a.Controller, Object: b.v.Node.Ref()}))
	}
}

func (b *nodeSteps) actAs(a core.ActAs) {
	s, node := b.s, b.v.Name
	plan := func(kind core.IntentKind) core.Step {
		return step.Plan(s, core.Intent{Kind: kind, Controller: a.Controller, Node: node})
	}
	compute := a.Controller == core.ControllerOpenStack && b.v.Node != nil && progress.HasGuests(s, a, node) && b.v.Service != nil
	turn := progress.TurnOn(s, a, node)
	if a.Controller == core.ControllerOpenStack && turn != progress.TurnPrepare && step.HeldByRockoon(s, b.v.Request) != "" {
		defer func() {
			b.add(step.Plan(s, core.Intent{Kind: core.IntentActLetGo, Controller: a.Controller, Object: b.v.Request.Ref()}))
		}()
	}
	if r := b.v.Request; a.Controller == core.ControllerOpenStack && (turn == progress.TurnPrepare || turn == progress.TurnReleased) &&
		step.Unheld(s, r) {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentActHold, Controller: a.Controller, Object: r.Ref()}))
	}
	switch turn {
	case progress.TurnCreate:
		b.add(plan(core.IntentActCreateLock))
	case progress.TurnPrepare:
		b.add(plan(core.IntentActBegin))
		if compute {
			b.add(plan(core.IntentActOutOfScheduling))
		}
		b.actVolumes(a, core.IntentActVolumeOut)
		if progress.MovesInstances(s, a, node) {
			b.actInstances(a)
		}
		if a.Controller == core.ControllerOpenStack {
			b.wordSteps()
		}
		b.add(plan(core.IntentActRelease))
	case progress.TurnReleased:
		b.add(plan(core.IntentActRelease))
	case progress.TurnReturn:
		b.actVolumes(a, core.IntentActVolumeIn)
		if a.Controller == core.ControllerOpenStack {
			b.actRestarts()
		}
		if compute {
			b.add(plan(core.IntentActIntoScheduling))
		}
		b.add(plan(core.IntentActRearm), plan(core.IntentActFinish))
	case progress.TurnGone:
		b.actGone(a)
	}
}

// actInstances adds the steps on the instances that hold the lock, and the step that names them on the lock.
func (b *nodeSteps) actInstances(a core.ActAs) {
	s, name := b.s, b.v.Name
	b.instances(progress.InstanceViews(s, name), true,
		func(v core.InstanceView) []core.Step { return []core.Step{b.afterTakenOut(instanceStep(s, v))} })
	if text, _ := step.SaysLeft(s, a, name); text != "" && s.NodeLock(name, a.Controller).InnerState == core.InnerActive {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentActSay, Controller: a.Controller, Node: name}))
	}
}

// afterTakenOut postpones a step on an instance until the node was begun and its host is out of scheduling.
func (b *nodeSteps) afterTakenOut(st core.Step) core.Step {
	begun := b.lock != nil && b.lock.InnerState == core.InnerActive
	if out := b.v.Service == nil || !b.v.Service.Enabled; (!begun || !out) && st.State == core.StepReady {
		st.State, st.Status = core.StepLater, "once the host is out of scheduling"
	}
	return st
}

// actCluster are the cluster's steps of the controllers that Lockstep plays, and the steps that make their missing locks on nodes.
func actCluster(s *core.Snapshot) []core.Step {
	var out []core.Step
	for _, a := range s.Settings.ActAs {
		plan := func(kind core.IntentKind, node string) core.Step {
			return step.Plan(s, core.Intent{Kind: kind, Controller: a.Controller, Node: node})
		}
		turn := progress.TurnOn(s, a, "")
		if r := s.ClusterRequest(); a.Controller == core.ControllerOpenStack && (turn == progress.TurnPrepare || turn == progress.TurnReleased) &&
			step.Unheld(s, r) {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentActHold, Controller: a.Controller, Object: r.Ref()}))
		}
		switch turn {
		case progress.TurnCreate:
			out = append(out, plan(core.IntentActCreateLock, ""))
		case progress.TurnPrepare, progress.TurnReleased:
			if turn == progress.TurnPrepare && progress.LockBehind(s, a, s.ClusterLock(a.Controller)) {
				out = append(out, plan(core.IntentActRearm, ""))
			}
			out = append(out, plan(core.IntentActRelease, ""))
		case progress.TurnReturn:
			out = append(out, plan(core.IntentActRearm, ""))
		}
		if r := s.ClusterRequest(); a.Controller == core.ControllerOpenStack && step.HeldByRockoon(s, r) != "" {
			out = append(out, step.Plan(s, core.Intent{Kind: core.IntentActLetGo, Controller: a.Controller, Object: r.Ref()}))
		}
		for _, name := range s.NodeNames() {
			if progress.TurnOn(s, a, name) == progress.TurnCreate {
				out = append(out, plan(core.IntentActCreateLock, name))
			}
		}
	}
	return out
}

// ownReturn tells whether a controller that Lockstep plays has to take the node back, or to clean up after it.
func (b *nodeSteps) ownReturn() bool {
	return slices.ContainsFunc(b.s.Settings.ActAs, func(a core.ActAs) bool {
		turn := progress.TurnOn(b.s, a, b.v.Name)
		return turn == progress.TurnReturn || turn == progress.TurnGone
	})
}
