package core

import "slices"

// act adds the steps of the controllers that Lockstep plays on the node, those that come next first; an instance that is in
// the way comes between them (docs/mosk.md#node-request: out of scheduling, then the instances, then the lock).
func (b *nodeSteps) act() {
	for _, a := range b.s.Settings.ActAs {
		b.actAs(a)
	}
}

func (b *nodeSteps) actAs(a ActAs) {
	s, node := b.s, b.v.Name
	plan := func(kind IntentKind) Step {
		return Plan(s, Intent{Kind: kind, Controller: a.Controller, Node: node})
	}
	compute := a.Controller == ControllerOpenStack && b.v.Node != nil && s.hasGuests(a, node) && b.v.Service != nil
	turn := s.actTurn(a, node)
	if a.Controller == ControllerOpenStack && turn != turnPrepare && s.heldByRockoon(b.v.Request) != "" {
		defer func() {
			b.add(Plan(s, Intent{Kind: IntentActLetGo, Controller: a.Controller, Object: b.v.Request.Ref()}))
		}()
	}
	if r := b.v.Request; a.Controller == ControllerOpenStack && (turn == turnPrepare || turn == turnReleased) && s.unheld(r) {
		b.add(Plan(s, Intent{Kind: IntentActHold, Controller: a.Controller, Object: r.Ref()}))
	}
	switch turn {
	case turnCreate:
		b.add(plan(IntentActCreateLock))
	case turnPrepare:
		b.add(plan(IntentActBegin))
		if compute {
			b.add(plan(IntentActOutOfScheduling))
		}
		b.actVolumes(a, IntentActVolumeOut)
		if s.movesInstances(a, node) {
			b.actInstances(a)
		}
		if a.Controller == ControllerOpenStack {
			b.wordSteps()
		}
		b.add(plan(IntentActRelease))
	case turnReleased:
		b.add(plan(IntentActRelease))
	case turnReturn:
		b.actVolumes(a, IntentActVolumeIn)
		if a.Controller == ControllerOpenStack {
			b.actRestarts()
		}
		if compute {
			b.add(plan(IntentActIntoScheduling))
		}
		b.add(plan(IntentActRearm), plan(IntentActFinish))
	case turnGone:
		b.actGone(a)
	}
}

// actInstances are the instances that have to be out of the way before the lock is released, and what the lock says of them
// meanwhile.
func (b *nodeSteps) actInstances(a ActAs) {
	s, name := b.s, b.v.Name
	b.instances(s.InstanceViews(name), true, func(v InstanceView) []Step { return []Step{b.afterTakenOut(s.instanceStep(v))} })
	if text, _ := s.saysLeft(a, name); text != "" && s.NodeLock(name, a.Controller).InnerState == InnerActive {
		b.add(Plan(s, Intent{Kind: IntentActSay, Controller: a.Controller, Node: name}))
	}
}

// afterTakenOut puts off what is to be done with an instance until the node was begun and its host is out of scheduling.
func (b *nodeSteps) afterTakenOut(st Step) Step {
	begun := b.lock != nil && b.lock.InnerState == InnerActive
	if out := b.v.Service == nil || !b.v.Service.Enabled; (!begun || !out) && st.State == StepReady {
		st.State, st.Status = StepLater, "once the host is out of scheduling"
	}
	return st
}

// actCluster are the cluster's steps of the controllers that Lockstep plays, and the locks that they lack on nodes.
func (s *Snapshot) actCluster() []Step {
	var out []Step
	for _, a := range s.Settings.ActAs {
		plan := func(kind IntentKind, node string) Step {
			return Plan(s, Intent{Kind: kind, Controller: a.Controller, Node: node})
		}
		turn := s.actTurn(a, "")
		if r := s.ClusterRequest(); a.Controller == ControllerOpenStack && (turn == turnPrepare || turn == turnReleased) && s.unheld(r) {
			out = append(out, Plan(s, Intent{Kind: IntentActHold, Controller: a.Controller, Object: r.Ref()}))
		}
		switch turn {
		case turnCreate:
			out = append(out, plan(IntentActCreateLock, ""))
		case turnPrepare, turnReleased:
			if turn == turnPrepare && s.lockBehind(a, s.clusterLock(a.Controller)) {
				out = append(out, plan(IntentActRearm, ""))
			}
			out = append(out, plan(IntentActRelease, ""))
		case turnReturn:
			out = append(out, plan(IntentActRearm, ""))
		}
		if r := s.ClusterRequest(); a.Controller == ControllerOpenStack && s.heldByRockoon(r) != "" {
			out = append(out, Plan(s, Intent{Kind: IntentActLetGo, Controller: a.Controller, Object: r.Ref()}))
		}
		for _, name := range s.NodeNames() {
			if s.actTurn(a, name) == turnCreate {
				out = append(out, plan(IntentActCreateLock, name))
			}
		}
	}
	return out
}

// playedTurn is the turn of a controller that Lockstep plays on the node; turnNone when it does not.
func (s *Snapshot) playedTurn(controller, node string) actTurn {
	a, played := s.actAs(controller)
	if !played || !a.holds(s.Nodes[node]) {
		return turnNone
	}
	return s.actTurn(a, node)
}

// playsOn tells whether Lockstep plays the controller on the node.
func (s *Snapshot) playsOn(controller, node string) bool {
	a, played := s.actAs(controller)
	return played && a.holds(s.Nodes[node])
}

// ownReturn tells whether the node is to be taken back by a controller that Lockstep plays, or to be cleaned up behind.
func (b *nodeSteps) ownReturn() bool {
	return slices.ContainsFunc(b.s.Settings.ActAs, func(a ActAs) bool {
		turn := b.s.actTurn(a, b.v.Name)
		return turn == turnReturn || turn == turnGone
	})
}
