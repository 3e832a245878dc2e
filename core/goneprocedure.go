package core

// gone tells whether the node is no more, and what is left of it is all that there is.
func (b *nodeSteps) gone() bool {
	return b.v.Node == nil && b.v.Request == nil && b.s.known(SourceNodes)
}

// goneGoal is the goal of the procedure of such a node.
const goneGoal = "What OpenStack kept of the node is cleaned up, and its locks are gone with it."

func goneTitle(label string) string { return "What is left of " + label + ", which is gone" }

// goneSummary is what is known of a node that is gone: it has no mode and no attempts any more.
func (b *nodeSteps) goneSummary() []string {
	out := []string{string(b.v.Stage) + ": " + b.v.Reason}
	if b.message.Class != MessageNone {
		out = append(out, "the OpenStack controller says: "+oneLine(b.message.Text, mostRead))
	}
	if n := len(b.s.InstancesOn(b.v.Name)); n > 0 {
		out = append(out, "Nova still has "+count(n, "instance")+" on it")
	}
	if bound, _ := b.s.claimsOn(b.v.Name); b.s.playsGone(b.v.Name) && len(bound) > 0 {
		out = append(out, count(len(bound), "volume claim")+verb(len(bound), " is", " are")+" bound to its disks")
	}
	return out
}

// cleanup are the steps of a node that has left the cluster: the OpenStack controller deletes its services and agents and then
// its lock, once no StatefulSet holds it (text U; docs/mosk.md#after-a-node-is-gone).
func (b *nodeSteps) cleanup() {
	s, label := b.s, b.v.Label
	b.add(b.other("gone", label+" is gone", "Locks name it, and the cluster has no such node.", StepDone, ""))
	b.situation()
	if b.message.ID == SaysQuorumHoldsCleanup && !b.s.playsGone(b.v.Name) { // else the claims' own steps say what holds them now
		b.add(b.quorumHolds())
	}
	if d := s.Disablings[b.v.Name]; d != nil {
		b.add(b.other("disabled", "the machine of "+label+" is enabled again, or removed", "A NodeDisableNotification names the node: while it is there, the OpenStack controller keeps the lock and cleans nothing up.",
			StepWaiting, "disabled since "+clockText(d.Created)))
	}
	b.act()
	for _, l := range b.v.Locks {
		if a, played := s.actAs(l.Controller); played && s.actTurn(a, b.v.Name) == turnGone {
			continue // the steps are ours
		}
		b.add(b.lockOfGone(l))
	}
}

// quorumHolds is a StatefulSet that holds the cleanup of a node that is gone.
func (b *nodeSteps) quorumHolds() Step {
	name := "a StatefulSet"
	if len(b.message.Blockers) > 0 {
		name = "the StatefulSet of " + oneLine(b.message.Blockers[0], 60)
		if set, known := quorumNamed(b.message.Blockers[0]); known {
			name = "the StatefulSet " + set.name
		}
	}
	st := b.other("quorum", name+" can do without "+b.v.Label,
		"The cleanup waits until all its other pods are ready. A pod that is Pending is bound to the node by its volume: look at where its PersistentVolumeClaim is, and whether the StatefulSet has a node to go to.",
		StepWaiting, oneLine(b.message.Text, mostRead))
	st.Commands = b.s.look(b.lock, b.message)
	return st
}

// lockOfGone is a lock that names a node that is gone.
func (b *nodeSteps) lockOfGone(l *WorkloadLock) Step {
	st := b.s.lockStep(l, "the lock of "+oneLine(l.Controller, 40)+" is removed", false)
	st.Node, st.Label, st.State = b.v.Name, b.v.Label, StepWaiting
	switch {
	case l == b.lock && b.message.ID == SaysQuorumHoldsCleanup:
		st.State, st.Status = StepLater, "when no StatefulSet holds it"
	case st.Status == "":
		st.Status = oneLine(string(l.State()), 40)
	}
	if l.Controller == ControllerOpenStack {
		st.Why = join("The OpenStack controller deletes the node's compute service and agents, then this lock.", st.Why)
	}
	return st
}

// cleanupHeld is a node that is gone, and that a StatefulSet still holds (text U).
func cleanupHeld(f *stageFacts) (verdict, bool) {
	if f.node != nil || f.request != nil || f.message.ID != SaysQuorumHoldsCleanup || !f.s.known(SourceNodes) || !f.requestsKnown {
		return verdict{}, false
	}
	by := "a StatefulSet"
	if len(f.message.Blockers) > 0 {
		by = oneLine(f.message.Blockers[0], 60)
	}
	return verdict{reason: "the node is gone; its cleanup is held by " + by, what: "gone, held by " + by, at: f.message.At}, true
}
