package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
	"slices"
)

// gone tells whether the node has left the cluster, and nothing is asked of it any more.
func (b *nodeSteps) gone() bool {
	return b.v.Node == nil && b.v.Request == nil && b.s.Known(core.SourceNodes)
}

// goneGoal is the goal of the procedure of a node that is gone.
const goneGoal = "What OpenStack kept of the node is cleaned up, and its locks are gone with it."

func goneTitle(label string) string { return "What is left of " + label + ", which is gone" }

// goneSummary is what is known of a node that is gone: it has no mode and no attempts any more.
func (b *nodeSteps) goneSummary() []string {
	out := []string{string(b.v.Stage) + ": " + b.v.Reason}
	if b.message.Class != progress.MessageNone {
		out = append(out, "the OpenStack controller says: "+wording.OneLine(b.message.Text, wording.MostRead))
	}
	if n := len(b.s.InstancesOn(b.v.Name)); n > 0 {
		out = append(out, "Nova still has "+wording.Count(n, "instance")+" on it")
	}
	if bound, _ := progress.ClaimsOn(b.s, b.v.Name); progress.PlaysGone(b.s, b.v.Name) && len(bound) > 0 {
		out = append(out, wording.Count(len(bound), "volume claim")+wording.Verb(len(bound), " is", " are")+" bound to its disks")
	}
	return out
}

// leaves adds the steps of a node whose Node was deleted and is there still, as finalizers keep it.
func (b *nodeSteps) leaves() {
	n := b.v.Node
	b.add(b.other("deleted", "the Node of "+b.v.Label+" is deleted", "LCM, or somebody, has deleted it: it does not come back as it is.",
		core.StepDone, "since "+wording.ClockText(n.Deleting)))
	for _, a := range b.s.Settings.ActAs {
		b.actNodeGo(a)
	}
	gone := b.other("left", b.v.Label+" is gone", "A Node that was deleted stays until each of its finalizers is taken off.", core.StepWaiting,
		"held by "+wording.TextOf(wording.OneLine(wording.Some(n.Finalizers, 3), 200), "nobody"))
	gone.Commands = []string{wording.ShellCommand("kubectl", "get", "node", n.Name, "-o", "jsonpath={.metadata.finalizers}")}
	b.add(gone)
}

// cleanup adds the steps of a node that has left the cluster: the OpenStack controller deletes its services and agents, and then its
// lock, once no StatefulSet holds it (text U; docs/mosk.md#after-a-node-is-gone).
func (b *nodeSteps) cleanup() {
	s, label := b.s, b.v.Label
	b.add(b.other("gone", label+" is gone", "Locks name it, and the cluster has no such node.", core.StepDone, ""))
	b.situation()
	// else the claims' own steps say what holds them now
	if b.message.ID == progress.SaysQuorumHoldsCleanup && !progress.PlaysGone(b.s, b.v.Name) {
		b.add(b.quorumHolds())
	}
	if d := s.Disablings[b.v.Name]; d != nil {
		b.add(b.other("disabled", "the machine of "+label+" is enabled again, or removed",
			"A NodeDisableNotification names the node: while it is there, the OpenStack controller keeps the lock and cleans nothing up.",
			core.StepWaiting, "disabled since "+wording.ClockText(d.Created)))
	}
	b.act()
	for _, l := range b.v.Locks {
		if a, played := progress.ActAs(s, l.Controller); played && progress.TurnOn(s, a, b.v.Name) == progress.TurnGone {
			continue // the steps are ours
		}
		b.add(b.lockOfGone(l))
	}
}

// quorumHolds is the step of a StatefulSet that holds up the clean-up of a node that is gone.
func (b *nodeSteps) quorumHolds() core.Step {
	name := "a StatefulSet"
	if len(b.message.Blockers) > 0 {
		name = "the StatefulSet of " + wording.OneLine(b.message.Blockers[0], 60)
		if set, known := progress.QuorumNamed(b.message.Blockers[0]); known {
			name = "the StatefulSet " + set.Name
		}
	}
	st := b.other("quorum", name+" can do without "+b.v.Label,
		"The cleanup waits until all its other pods are ready. A pod that is Pending is bound to the node by its volume: look at where its "+
			"PersistentVolumeClaim is, and whether the StatefulSet has a node to go to.",
		core.StepWaiting, wording.OneLine(b.message.Text, wording.MostRead))
	st.Commands = look(b.s, b.lock, b.message)
	return st
}

// lockOfGone is the step of a lock that names a node that is gone.
func (b *nodeSteps) lockOfGone(l *core.WorkloadLock) core.Step {
	st := lockStep(b.s, l, "the lock of "+wording.OneLine(l.Controller, 40)+" is removed", false)
	st.Node, st.Label, st.State = b.v.Name, b.v.Label, core.StepWaiting
	switch {
	case l == b.lock && b.message.ID == progress.SaysQuorumHoldsCleanup:
		st.State, st.Status = core.StepLater, "when no StatefulSet holds it"
	case st.Status == "":
		st.Status = wording.OneLine(string(l.State()), 40)
	}
	if l.Controller == core.ControllerOpenStack {
		st.Why = wording.Join("The OpenStack controller deletes the node's compute service and agents, then this lock.", st.Why)
	}
	return st
}

// NodesWithLocks are the names of the nodes that have locks, sorted. Nodes that have left the cluster can be among them.
func NodesWithLocks(s *core.Snapshot) []string { return slices.Sorted(s.NodeLocks.Names()) }
