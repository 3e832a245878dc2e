package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
)

// modeElsewhere finds mode manual on a node that is not a compute: the operator believes that it holds the node, and it does not.
func (f *facts) modeElsewhere(n nodeFacts) {
	if n.Stage == core.StageDone || n.Request != nil && !n.Request.Deleting.IsZero() {
		return // its maintenance is over
	}
	if n.Node == nil || !n.ModeSet || n.Mode != core.ModeManual || progress.ModeCounts(f.s, n.Name) ||
		n.leaving() && n.own != nil && n.own.State() == core.LockInactive {
		return
	}
	a := n.entry(core.RuleModeElsewhere)
	a.Severity, a.Since = core.SeverityWarning, core.Since{}
	a.Reason = "mode manual does not hold it: " + progress.ModeIgnored
	switch {
	case n.leaving():
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Request.Created, Exact: true}
	case f.request == nil:
		return // the node's steps and its inspection say it
	}
	a.Detail = "To hold it, make a lock of your own, or do not commence " + progress.UpdateGroupText(f.s, n.Name) + "."
	f.add(a)
}
