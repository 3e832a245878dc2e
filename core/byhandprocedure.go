package core

// leftInner offers to clear an inner_state that was left behind.
func (b *nodeSteps) leftInner() {
	if b.lock == nil || b.lock.InnerState != InnerActive || b.lock.State() != LockActive || !b.s.known(SourceNodeRequests) ||
		b.s.playsOn(ControllerOpenStack, b.v.Name) {
		return // where it is played, the work is ended by its own step
	}
	b.add(Plan(b.s, Intent{Kind: IntentClearInner, Object: b.lock.Ref()}))
}

// askByHand offers to ask for the node without an update. The scope that reboots comes first: it is the one that protects the
// instances.
func (b *nodeSteps) askByHand() {
	release := b.s.AskedRelease(b.v.Name)
	st := Plan(b.s, Intent{Kind: IntentAskNode, Node: b.v.Name, Scope: ScopeOS, Release: release})
	st.Alternatives = []Step{Plan(b.s, Intent{Kind: IntentAskNode, Node: b.v.Name, Scope: ScopeDrain, Release: release})}
	b.add(st)
}

// byHand are the steps of a maintenance that an operator asked for, once the node was released: LCM does nothing on it.
func (b *nodeSteps) byHand() {
	released := len(b.v.Locks) > 0 || b.s.known(SourceNodeLocks)
	for _, l := range b.v.Locks {
		released = released && l.State() == LockInactive
	}
	work := b.other("work", "your work on "+b.v.Label, "The request was made by hand: LCM neither drains, updates nor reboots the node. Do that yourself, and bring it back.", StepLater, "when all locks are inactive")
	if b.v.Node != nil {
		work.Commands = []string{
			shellCommand("kubectl", "drain", b.v.Node.Name, "--ignore-daemonsets", "--delete-emptydir-data"),
			shellCommand("kubectl", "uncordon", b.v.Node.Name),
		}
	}
	if released {
		work.State, work.Status = StepWaiting, "the node is yours"
	}
	b.add(work)
	st := Plan(b.s, Intent{Kind: IntentWithdraw, Object: b.v.Request.Ref()})
	if !released && st.State == StepReady {
		st.Why = join(st.Why, "Not all locks are released yet: this gives the maintenance up.")
	}
	b.add(optionalIf(!released, st))
}

// byHand are the cluster's steps of a maintenance without an update.
func (s *Snapshot) byHand() []Step {
	r := s.ClusterRequest()
	switch {
	case r == nil:
		return []Step{s.askClusterStep()}
	case r.ByHand():
		return []Step{optionalIf(!s.anyThrough(), Plan(s, Intent{Kind: IntentWithdraw, Object: r.Ref()}))}
	}
	return nil
}

// askClusterStep begins maintenance without an update: by maintenance mode where the management cluster is connected, for LCM
// then drains the nodes and brings them back; by a request that is made by hand else.
func (s *Snapshot) askClusterStep() Step {
	hand := Plan(s, Intent{Kind: IntentAskCluster, Release: s.AskedRelease("")})
	if why := s.notConnected(); why != "" {
		hand.Why = join(hand.Why, "Maintenance mode, by the management cluster, would come first; this is the way without it.")
		return hand
	}
	hand.Why = join("The way without the management cluster. It is connected: maintenance mode comes first, for LCM drains the nodes then and brings them back.", hand.Why)
	st := Plan(s, Intent{Kind: IntentEnterCluster})
	st.Alternatives = []Step{hand}
	return st
}

// AskedRelease is the release that a request made by hand is to have: the one on the OpenStack controller's lock of the node,
// or of the cluster where node is empty, for it answers no other (text A); else the one that all the locks there agree on.
// Empty where there is none.
func (s *Snapshot) AskedRelease(node string) string {
	locks := s.ClusterLocks
	if node != "" {
		locks = s.NodeLocks[node]
	}
	agreed := ""
	for i, l := range locks {
		switch {
		case l.Controller == ControllerOpenStack && l.Release != "":
			return oneLine(l.Release, 60)
		case i == 0:
			agreed = oneLine(l.Release, 60)
		case agreed != oneLine(l.Release, 60):
			agreed = ""
		}
	}
	return agreed
}

// removal are the steps of a node that leaves the cluster (docs/mosk.md#removal): its OpenStack controller lets it go when no
// instance, in whatever state, and no volume is left on it.
func (b *nodeSteps) removal() {
	asked := b.s.Deletions[b.v.Name]
	b.add(b.other("removal-asked", "LCM asks for the removal of "+b.v.Label, "A NodeDeletionRequest names the node.", StepDone, "since "+clockText(asked.Created)))
	b.situation()
	b.quorumAhead()
	b.actOutForRemoval()
	if b.v.Node != nil && b.v.Node.Is(RoleCompute) {
		b.removalInstances()
	}
	b.removalVolumes()
	for _, a := range b.s.Settings.ActAs {
		b.actRemoval(a)
	}
	for _, l := range b.v.Locks {
		if _, played := b.s.actAs(l.Controller); played {
			continue // the steps are ours
		}
		st := b.s.lockStep(l, "the lock of "+oneLine(l.Controller, 40)+" lets the node go", false)
		st.Node, st.Label = b.v.Name, b.v.Label
		if !l.NodeDeletionRequestSupported && st.State == StepWaiting {
			st.Why = join(st.Why, "Its lock does not say that it handles removals: whether it answers is for its owner to know.")
		}
		b.add(st)
	}
	gone := b.other("removed", "LCM removes the node", "LCM drains the node and takes it out of the cluster; then the OpenStack controller deletes its services and agents.", StepLater, "")
	if b.v.Node == nil {
		gone.State, gone.Status = StepDone, "the node is gone; its OpenStack services are being cleaned up"
		if b.s.playsGone(b.v.Name) {
			gone.Status = "the node is gone"
		}
	} else if b.allReleased() {
		gone.State, gone.Status = StepWaiting, "all locks are inactive"
	}
	b.add(gone)
	if b.v.Node == nil {
		b.act()
	}
}

func (b *nodeSteps) allReleased() bool {
	for _, l := range b.v.Locks {
		if l.State() != LockInactive {
			return false
		}
	}
	return b.s.known(SourceNodeLocks)
}

// removalInstances are the instances on a node that is to be removed: every one of them holds it, whatever its state, its tags
// and the node's mode.
func (b *nodeSteps) removalInstances() {
	s := b.s
	if !s.known(SourceInstances) {
		b.add(b.other("empty", "no instance is left on "+b.v.Label, "", StepWaiting, "not known: "+s.whyUnknown(SourceInstances)))
		return
	}
	views := s.InstanceViews(b.v.Name)
	if movable, _ := s.movable(b.v.Name); len(movable) >= 2 && !s.hostDown(s.HostOf(b.v.Name)) || b.batchRuns() {
		b.add(Plan(s, Intent{Kind: IntentLiveMigrateAll, Node: b.v.Name}))
	}
	if len(views) > 0 {
		b.add(b.reviveCompute()...)
	}
	for _, v := range views {
		b.add(s.removalStep(v))
	}
	b.add(b.unconfirmed()...)
	if len(views) == 0 {
		b.add(b.other("empty", "no instance is left on "+b.v.Label, "", StepDone, ""))
	}
}
