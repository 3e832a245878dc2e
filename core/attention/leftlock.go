package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// lockLeft finds a lock that the controller never takes back, which is dangerous at the next maintenance.
func (f *facts) lockLeft(n nodeFacts) {
	l := progress.LeftLock(f.s, n.Name)
	if l == nil || progress.PlaysAlone(f.s, n.Name) {
		return // where Lockstep plays alone, acting says that the lock is to be taken back
	}
	a := n.entry(core.RuleLockLeft)
	a.Severity, a.Since = core.SeverityUrgent, f.s.History.StateSince(l)
	a.Reason = progress.LeftText(f.s, n.Name)
	if l.InnerState == core.InnerActive && len(n.waiting) > 0 { // whatever its state (docs/mosk.md#concurrency)
		a.Reason = "holds up " + wording.Some(n.waiting, 3) + ", as its lock says inner_state=active; " + a.Reason
	}
	if r := progress.LeftUnseen(f.s, n.Name); r.Unseen {
		a.Detail = "Its request was removed at " + wording.ClockText(r.Ended) +
			", and the OpenStack controller had never seen it: it does not take the node back."
		f.add(a)
		return
	}
	a.Detail = "Nobody asks for the node any more, and the controller takes a lock back only when a request that it has seen goes. A " +
		"removal that was withdrawn leaves this behind, or a request that came and went while the controller did not run."
	f.add(a)
}
