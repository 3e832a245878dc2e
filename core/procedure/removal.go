package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
	"slices"
	"strings"
)

// removal adds the steps of a node that is to be removed (docs/mosk.md#removal): its OpenStack controller lets it go when no instance,
// in whatever state, and no volume is left on it.
func (b *nodeSteps) removal() {
	asked := b.s.Deletions[b.v.Name]
	b.add(b.other("removal-asked", "LCM asks for the removal of "+b.v.Label, "A NodeDeletionRequest names the node.", core.StepDone,
		"since "+wording.ClockText(asked.Created)))
	b.situation()
	b.quorumAhead()
	b.actOutForRemoval()
	if b.v.Node != nil && b.v.Node.Is(core.RoleCompute) {
		b.removalInstances()
	}
	b.removalVolumes()
	for _, a := range b.s.Settings.ActAs {
		b.actRemoval(a)
		b.actNodeGo(a)
	}
	for _, l := range b.v.Locks {
		if _, played := progress.ActAs(b.s, l.Controller); played {
			continue // the steps are ours
		}
		st := lockStep(b.s, l, "the lock of "+wording.OneLine(l.Controller, 40)+" lets the node go", false)
		st.Node, st.Label = b.v.Name, b.v.Label
		if !l.NodeDeletionRequestSupported && st.State == core.StepWaiting {
			st.Why = wording.Join(st.Why, "Its lock does not say that it handles removals: whether it answers is for its owner to know.")
		}
		b.add(st)
	}
	gone := b.other("removed", "LCM removes the node",
		"LCM drains the node and takes it out of the cluster; then the OpenStack controller deletes its services and agents.", core.StepLater, "")
	if b.v.Node == nil {
		gone.State, gone.Status = core.StepDone, "the node is gone; its OpenStack services are being cleaned up"
		if progress.PlaysGone(b.s, b.v.Name) {
			gone.Status = "the node is gone"
		}
	} else if b.allReleased() {
		gone.State, gone.Status = core.StepWaiting, "all locks are inactive"
	}
	b.add(gone)
	if b.v.Node == nil {
		b.act()
	}
}

func (b *nodeSteps) allReleased() bool {
	for _, l := range b.v.Locks {
		if l.State() != core.LockInactive {
			return false
		}
	}
	return b.s.Known(core.SourceNodeLocks)
}

// removalInstances adds the steps on the instances of a node that is to be removed: each holds it, whatever its state, its tags and the
// node's mode.
func (b *nodeSteps) removalInstances() {
	s := b.s
	if !s.Known(core.SourceInstances) {
		b.add(b.other("empty", "no instance is left on "+b.v.Label, "", core.StepWaiting, "not known: "+s.WhyUnknown(core.SourceInstances)))
		return
	}
	views := progress.InstanceViews(s, b.v.Name)
	if movable, _ := step.Movable(s, b.v.Name); len(movable) >= 2 && !progress.ComputeDown(s, s.HostOf(b.v.Name)) || b.batchRuns() {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentLiveMigrateAll, Node: b.v.Name}))
	}
	if len(views) > 0 {
		b.add(b.reviveCompute()...)
	}
	for _, v := range views {
		b.add(removalStep(s, v))
	}
	b.add(b.unconfirmed()...)
	if len(views) == 0 {
		b.add(b.other("empty", "no instance is left on "+b.v.Label, "", core.StepDone, ""))
	}
}

// removalWays are the intents that take an instance off a node for good, by its status, while nova-compute there is up. Stopping does
// not help, as text S counts every instance.
var removalWays = map[string][]core.IntentKind{
	"ACTIVE":        {core.IntentLiveMigrate, core.IntentColdMigrate, core.IntentShelve},
	"PAUSED":        {core.IntentLiveMigrate, core.IntentShelve},
	"SHUTOFF":       {core.IntentColdMigrate, core.IntentShelve},
	"SUSPENDED":     {core.IntentResume, core.IntentShelve},
	"VERIFY_RESIZE": {core.IntentConfirmResize, core.IntentRevertResize},
}

// removalWaysOf are the intents that take the instance off its node for good, the best first; none where Nova has none.
func removalWaysOf(s *core.Snapshot, in *core.Instance) []core.IntentKind {
	switch {
	case progress.ComputeDown(s, in.Host) && slices.Contains(step.InstanceRules[core.IntentEvacuate].Statuses, in.Status):
		return []core.IntentKind{core.IntentEvacuate}
	case progress.ComputeDown(s, in.Host):
		return nil // it takes no other call
	case in.Status == "ERROR" && in.Power == core.PowerRunning:
		return []core.IntentKind{core.IntentResetState}
	}
	return removalWays[in.Status]
}

// removalAdvice is what to do with an instance that holds the removal of its node where Lockstep has no step for it: a text, and the
// words of the command before its ID. (SHELVED_OFFLOADED instances are on no host.)
type removalAdvice struct {
	text    string
	command []string // may be nil
}

// removalAdvices are by the instance's status, while nova-compute there is up.
var removalAdvices = map[string]removalAdvice{
	"ERROR": {"its guest does not run: its owner rebuilds it, and it can be migrated then; or its owner deletes it",
		[]string{"openstack", "server", "rebuild"}},
	"RESCUE":        {"end its rescue first", []string{"openstack", "server", "unrescue"}},
	"SHELVED":       {"take it off its host: it stays shelved", []string{"openstack", "server", "shelve", "--offload"}},
	"SOFT_DELETED":  {"Nova removes it for good by itself; sooner, by hand", []string{"openstack", "server", "delete", "--force"}},
	"REVERT_RESIZE": {"wait until its migration is reverted", nil},
}

// deadHostAdvice is for a host whose nova-compute is down, and an instance that Nova does not evacuate in its status.
var deadHostAdvice = removalAdvice{"its host is down, and Nova evacuates what is " +
	strings.Join(step.InstanceRules[core.IntentEvacuate].Statuses, ", ") +
	": written down as ERROR it can be evacuated, from its disks", []string{"openstack", "server", "set", "--state", "error"}}

// busyDeadHostText is for an instance that Nova would evacuate in its status, but for its task.
const busyDeadHostText = "its host is down, so that its task does not end: written down as ERROR, without a task, it can be evacuated, " +
	"from its disks"

// removalStep takes one instance off a node that is to be removed.
func removalStep(s *core.Snapshot, v core.InstanceView) core.Step {
	in := v.Instance
	if st, dead := deadHostStep(s, v); dead {
		st.Title, st.Alternatives = "get "+st.Label+" off the node", nil
		st.Why = wording.Join("Its node is to be removed, and goes only without it.", step.OwnerText(s, v), step.LockedText(s, in),
			step.MayRunElsewhere(s, in))
		return st
	}
	if progress.Moving(s, in) {
		return movingStep(s, v)
	}
	ways := removalWaysOf(s, in)
	if len(ways) == 0 {
		return removalAdvised(s, v)
	}
	st := step.Plan(s, core.Intent{Kind: ways[0], Instance: in.ID})
	st.Why = wording.Join("Its node is to be removed, and goes only without it.", st.Why)
	for _, kind := range ways[1:] {
		st.Alternatives = append(st.Alternatives, step.Plan(s, core.Intent{Kind: kind, Instance: in.ID}))
	}
	return st
}

// removalAdvised is an instance on a node that is to be removed for which Lockstep has no step.
func removalAdvised(s *core.Snapshot, v core.InstanceView) core.Step {
	in := v.Instance
	a := removalAdvices[in.Status]
	switch {
	case step.LeftAlone(s, in):
		a = removalAdvice{}
	case progress.ComputeDown(s, in.Host):
		a = deadHostAdvice
	}
	st := noWayStep(s, v)
	st.Title = "get " + st.Label + " off the node"
	st.Why = wording.Join("Its node is to be removed, and goes only without it.", step.OwnerText(s, v), step.LockedText(s, in))
	st.Status = in.Status
	switch {
	case in.TaskState != "":
		st.Status += ", " + in.TaskState
	default:
		st.Status += wording.Dashed(wording.TextOf(a.text, "wait until Nova is done with it"))
	}
	if a.command != nil {
		st.Commands = []string{wording.ShellCommand(append(slices.Clone(a.command), in.ID)...)}
	}
	return st
}
