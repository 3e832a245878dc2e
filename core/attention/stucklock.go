package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// lockStuck finds the lock of a live node that stays in deletion for ever, and holds LCM up at the node.
func (f *facts) lockStuck(n nodeFacts) {
	l := progress.StuckLock(f.s, n.Name)
	if l == nil {
		return
	}
	a := n.entry(core.RuleLockStuck)
	a.Severity, a.Since = core.SeverityUrgent, core.Since{At: l.Deleting, Exact: true}
	a.Reason = progress.StuckText(f.s, n.Name, l)
	if n.Node.HasOpenStackRole() {
		a.Detail = "The node has a role again, but that does not bring the lock back. Let it go; the controller makes a new one."
	} else {
		a.Detail = "The OpenStack controller removes the lock of a node without a role, and ignores requests for it. The lock has to be let " +
			"go; with its label back the node gets a new one."
	}
	if progress.PlaysAlone(f.s, n.Name) || progress.PlaysStuck(f.s, n.Name) {
		a.Detail = wording.Join(a.Detail,
			"As the OpenStack controller you can take the node through its maintenance as it is: LCM goes by what the lock says, also in its "+
				"deletion.")
	}
	f.add(a)
}
