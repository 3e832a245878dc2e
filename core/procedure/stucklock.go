package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// stuckLockSteps adds the steps that let a stuck lock go and give the node its role back. Where LCM may take the node meanwhile, the
// operator first holds it with a lock of their own.
func (b *nodeSteps) stuckLockSteps() {
	s, name := b.s, b.v.Name
	l := progress.StuckLock(s, name)
	if l == nil {
		b.ownLockStep()
		return
	}
	if progress.LCMMayTake(s, name) {
		own := progress.OwnLock(name)
		st := b.other("hold-own", "hold "+b.v.Label+" by a lock of your own",
			"LCM waits for every lock, whoever made it. Without another one it drains and reboots the node as soon as this one is gone.",
			core.StepWaiting, "yours to make")
		st.Commands = []string{step.CreateLockCommand(own)}
		if held := progress.HeldOtherwise(s, name); held != nil {
			st.State, st.Status, st.Commands = core.StepDone, wording.OneLine(held.Name, 80), nil
		}
		b.add(st)
	}
	b.add(step.Plan(s, core.Intent{Kind: core.IntentFreeLock, Object: l.Ref()}))
	role := b.other("role", "give "+b.v.Label+" its role label back",
		"The OpenStack controller makes a lock for a node with a role, when it sees the node change. Leave it away if the node is to have no "+
			"part in OpenStack any more.",
		core.StepLater, "once the lock is gone")
	if labels := progress.LostLabels(s, name, l); len(labels) > 0 {
		role.Commands = []string{progress.LabelCommand(name, labels)}
	}
	if b.v.Node.HasOpenStackRole() {
		role = b.other("role", "let the OpenStack controller make a new lock",
			"It looks at a node when that changes. The label is there already; an annotation does as well.", core.StepLater, "once the lock is gone")
		role.Commands = []string{progress.LookAgain(core.KindNode, name)}
	}
	b.add(role)
	if r := b.v.Request; r != nil && r.Deleting.IsZero() {
		st := b.other("look-again", "let the OpenStack controller look at the request again",
			"It has ignored it while the node had no role.", core.StepLater, "once the new lock is there")
		st.Commands = []string{progress.LookAgain(core.KindNodeMaintenanceRequest, r.Name)}
		b.add(st)
	}
	b.ownLockStep()
}

// ownLockStep adds the removal of the operator's own lock.
func (b *nodeSteps) ownLockStep() {
	i := slices.IndexFunc(b.v.Locks, func(l *core.WorkloadLock) bool {
		return l.Controller == progress.OwnController && l.Name == progress.OwnLock(b.v.Name).Name && l.Deleting.IsZero()
	})
	if _, played := progress.ActAs(b.s, progress.OwnController); i < 0 || played {
		return
	}
	l := b.v.Locks[i]
	st := b.other("drop-own", "take your own lock on "+b.v.Label+" away", "LCM waits for it as long as it is there.", core.StepWaiting,
		"yours to delete, when nothing else has to hold the node any more")
	if progress.StuckLock(b.s, b.v.Name) != nil {
		st.State, st.Status = core.StepLater, "once the new lock is there"
	}
	st.Commands = []string{step.DeleteCommand(l.Ref())}
	b.add(st)
}
