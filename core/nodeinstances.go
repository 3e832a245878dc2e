package core

import "slices"

// evacuation is what gets the instances off the node.
func (b *nodeSteps) evacuation() {
	s, name := b.s, b.v.Name
	m := s.maintenanceOf(name)
	if !m.compute {
		b.ignoredModeSteps()
		return
	}
	if !m.reboot {
		b.add(b.other("evacuate", "no instance has to move", "The request's scope is drain: the host does not reboot.", StepDone, ""))
		return
	}
	if !b.held() {
		b.add(b.other("evacuate", "the instances are out of the way", "", StepDone, ""))
		return
	}
	if b.v.Stage == StageQueued {
		b.add(b.other("begin", "the OpenStack controller begins", b.says(), StepWaiting, textOf(b.v.What, "queued")))
		b.preparation()
		return
	}
	views := s.InstanceViews(name)
	byHand := b.v.Mode == ModeManual || b.v.Stage == StageWaiting || !b.v.Mode.Known()
	if b.v.Mode == ModeLive && b.v.Stage != StageWaiting && b.v.Blocking != 0 {
		b.add(b.controllerMoves())
	}
	b.instances(views, byHand, func(v InstanceView) []Step {
		if byHand || !v.Migrates && b.v.Mode != ModeSkip || v.Action == ActionNotify {
			return []Step{s.instanceStep(v)}
		}
		return nil // the controller moves it
	})
	if byHand || b.v.Mode == ModeSkip {
		b.add(Plan(s, Intent{Kind: IntentDeclareSafe, Node: name}))
	}
}

// instances are the steps that get out of the way what holds the node, the owners' word and room for them first; those that
// move all and make room only byHand; of each that holds the node, what each says.
func (b *nodeSteps) instances(views []InstanceView, byHand bool, each func(InstanceView) []Step) {
	s, name := b.s, b.v.Name
	if !b.v.Mode.Known() {
		for _, mode := range []MigrationMode{ModeManual, ModeLive} {
			b.add(Plan(s, Intent{Kind: IntentSetMode, Nodes: []string{name}, Mode: mode}))
		}
	}
	if held := slices.DeleteFunc(slices.Clone(views), func(v InstanceView) bool { return !holdsAhead(v) }); len(held) > 0 {
		b.add(s.tellOwners(b.target, name, b.v.Label, held))
	}
	if movable, _ := s.movable(name); byHand && (len(movable) >= 2 || b.batchRuns()) {
		b.add(Plan(s, Intent{Kind: IntentLiveMigrateAll, Node: name}))
	}
	left := slices.DeleteFunc(slices.Clone(views), func(v InstanceView) bool { return !v.Blocks })
	if len(left) > 0 {
		b.add(b.reviveCompute()...)
	}
	if byHand {
		b.add(s.roomSteps(left)...)
	}
	for _, v := range left {
		b.add(each(v)...)
	}
	b.add(b.unconfirmed()...)
	if len(left) == 0 && s.known(SourceInstances) {
		b.add(b.other("emptied", "no running instance is left", "", StepDone, textOf(b.safeText(views), "the host is empty")))
	}
}

// reviveCompute starts a silent nova-compute anew where the kubelet reports: the host lives, and nothing leaves it before.
func (b *nodeSteps) reviveCompute() []Step {
	if n := b.v.Node; n == nil || n.Ready != "True" || !b.s.hostDown(b.s.HostOf(b.v.Name)) {
		return nil
	}
	return b.restartCompute()
}

// batchRuns tells whether Lockstep moves the node's instances now, or failed to.
func (b *nodeSteps) batchRuns() bool {
	return slices.ContainsFunc(b.s.Operations, func(op Operation) bool {
		return op.Node == b.v.Name && op.is(IntentLiveMigrateAll) && (!op.State.Ended() && !op.Past || op.State == OperationFailed && !op.Acknowledged)
	})
}

func (b *nodeSteps) safeText(views []InstanceView) string {
	if len(views) == 0 {
		return ""
	}
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = instanceLabel(v.Instance)
	}
	return "safe: " + some(names, 4)
}

// controllerMoves is what the OpenStack controller does in mode live.
func (b *nodeSteps) controllerMoves() Step {
	why := join("In mode live the OpenStack controller live-migrates the instances itself.", b.says())
	return b.other("evacuate", "the OpenStack controller moves the instances", why, StepWaiting, textOf(b.v.What, b.v.Reason))
}

// undecidedFrom are the IDs of the instances that were cold-migrated away from the host and wait for a decision, sorted: a
// revert brings them back to it, and a confirmation is carried out there.
func (s *Snapshot) undecidedFrom(host string) []string {
	var ids []string
	for id := range s.Migrations {
		in, m := s.Instances[id], s.LatestMigration(id)
		if in == nil || m == nil || in.Host == host || in.Status != "VERIFY_RESIZE" || m.SourceHost != host || m.Type == MigrationLive || m.Running() {
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// unconfirmed are the steps on instances that left the node and wait for a decision.
func (b *nodeSteps) unconfirmed() []Step {
	s := b.s
	var out []Step
	for _, id := range s.undecidedFrom(s.HostOf(b.v.Name)) {
		out = append(out, s.decideStep(s.Instances[id], s.HostOf(b.v.Name)))
	}
	return out
}
