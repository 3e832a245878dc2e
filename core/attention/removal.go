package attention

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// nodeRemoval finds a node that is to be removed, or is gone already, and that the OpenStack controller cannot let go: texts S, T and
// U, and L and R, which are about a host to be deleted (docs/mosk.md#texts). LCM asks for a removal by a NodeDeletionRequest; there
// need not be a NodeMaintenanceRequest (docs/mosk.md#deletion-requests).
func (f *facts) nodeRemoval(n nodeFacts) {
	if n.Request != nil {
		return // with a request it belongs to the node's maintenance
	}
	if n.message.Class != progress.MessageActionable {
		if !f.removalFails(n) {
			f.removalHeld(n)
		}
		return
	}
	if progress.PlaysGone(f.s, n.Name) {
		return // acting says what is left; the text is from a controller that does not run
	}
	asked := f.s.Deletions[n.Name]
	switch {
	case f.removedLocked(n):
	case asked == nil || n.own.State() == core.LockInactive:
		return
	case n.message.ID == progress.SaysInstancesHoldRemoval && f.s.Known(core.SourceInstances) && len(f.s.InstancesOn(n.Name)) == 0:
		return // the text is as old as the controller's last look; the host is empty by now
	case n.message.ID == progress.SaysVolumesHoldRemoval && f.volumesLeft(n.Name) == 0:
		return // the same holds for its disks
	}
	a := n.entry(core.RuleNodeRemoval)
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: n.message.At}
	if asked != nil {
		a.Since = removalSince(asked.Created, n.message.At)
	}
	a.Reason, a.Detail = n.message.Meaning, wording.Sentence(n.message.Remedy)
	if names := f.namedInstances(n.message.Instances); len(names) > 0 {
		a.Reason += ": " + wording.Some(names, 4)
	}
	if names := f.namedVolumes(n); len(names) > 0 {
		a.Reason += ": " + wording.Some(names, 4)
	}
	f.add(a)
}

// removalHeld finds a node that is to be removed while instances are left on it, where the controller does not say so: it has not looked
// yet, or does not run.
func (f *facts) removalHeld(n nodeFacts) {
	asked, left := f.s.Deletions[n.Name], f.s.InstancesOn(n.Name)
	if asked == nil || n.Node == nil || n.own == nil || n.own.State() == core.LockInactive || len(left) == 0 ||
		!f.s.Known(core.SourceInstances) || !f.s.Known(core.SourceNodeRequests) || progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return
	}
	names := make([]string, len(left))
	for i, in := range left {
		names[i] = progress.InstanceLabel(in)
	}
	a := n.entry(core.RuleNodeRemoval)
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: asked.Created, Exact: true}
	a.Reason = "the node is to be removed, and instances are left on it: " + wording.Some(names, 4)
	a.Detail = "Move or delete them."
	f.add(a)
}

// removalFails finds a removal that fails with a text that the controller writes on the lock elsewhere, and here has in its bookkeeping
// only: a quorum that would be lost (docs/mosk.md#removal). It tells whether there is one.
func (f *facts) removalFails(n nodeFacts) bool {
	asked := f.s.Deletions[n.Name]
	if asked == nil || n.own == nil || n.own.State() == core.LockInactive || progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return false
	}
	account := progress.NodeAccount(f.s, n.Name)
	m := progress.ReadLockMessage(account.Words)
	if !account.Fails() || account.Failed < failsTold && account.State != progress.AccountGaveUp ||
		m.Class != progress.MessageActionable || account.OnLock(n.message) {
		return false
	}
	a := n.entry(core.RuleNodeRemoval)
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: asked.Created, Exact: true}
	a.Reason = m.Meaning
	a.Detail = wording.Join(wording.Sentence(m.Remedy), progress.AccountSentence(f.s, account, n.Name, n.message))
	f.add(a)
	return true
}

// leavesForGood tells whether the node is to be removed, or is gone: once inactive, its lock is not taken back.
func (f *facts) leavesForGood(n nodeFacts) bool {
	return n.Request == nil && (f.s.Deletions[n.Name] != nil || n.Node == nil && f.s.Known(core.SourceNodes))
}

// removedLocked tells whether the node is gone and its cleanup does not go on (text U).
func (f *facts) removedLocked(n nodeFacts) bool {
	return n.Node == nil && n.message.ID == progress.SaysQuorumHoldsCleanup && f.s.Known(core.SourceNodes)
}

// removalSince is since when a removal is requested. The controller's text has only the time of its last look, which it takes every 60
// s.
func removalSince(asked, look time.Time) core.Since {
	if asked.IsZero() {
		return core.Since{At: look}
	}
	return core.Since{At: asked, Exact: true}
}

// namedInstances are the names of instances, by their IDs in a text.
func (f *facts) namedInstances(ids []string) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		if in := f.s.Instances.At(id); in != nil {
			names = append(names, progress.InstanceLabel(in))
		} else {
			names = append(names, core.ShortID(id))
		}
	}
	return names
}
