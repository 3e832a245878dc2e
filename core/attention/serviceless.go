package attention

import (
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// serviceMissing finds a compute for which Nova shows no nova-compute: urgent when its maintenance is requested, and shown before that
// while there is time to mend it.
func (f *facts) serviceMissing(n nodeFacts) {
	s := f.s
	if !progress.Serviceless(s, n.Name) || progress.PlaysOn(s, core.ControllerOpenStack, n.Name) && n.leaving() || f.leavesForGood(n) {
		return // acting says it
	}
	a := n.entry(core.RuleNoComputeService)
	a.Detail = "Its nova-compute was never heard from, or somebody has deleted the service while it ran. A new pod of it announces itself " +
		"anew; a host whose service was deleted is in no aggregate then, and in the default zone."
	switch {
	case progress.FailsOnService(s, n.Name):
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Request.Created, Exact: true}
		a.Reason = progress.ServicelessCause + ": the OpenStack controller fails on its request without a word"
		a.Detail = wording.Join(a.Detail, "Meanwhile the node counts as worked on: requests for other computes can fail in the same way.")
	case procedure.ReturnFailsOnService(s, n.Name):
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Request.Deleting, Exact: true}
		a.Reason = progress.ServicelessCause + ": the OpenStack controller fails on its return without a word"
		a.Detail = wording.Join(a.Detail, "The node stays in maintenance until then, and counts as worked on.")
	case n.Request != nil && (!n.leaving() || n.own == nil || n.own.State() != core.LockActive):
		return
	case n.Request != nil || f.request != nil:
		a.Severity, a.Since = core.SeverityWarning, core.Since{}
		a.Reason = progress.ServicelessCause + ": the OpenStack controller will fail on its maintenance without a word"
	case f.long(n.Node.Created, progress.HealthLong):
		a.Severity, a.Since = core.SeverityNotice, core.Since{}
		a.Reason = progress.ServicelessCause + ": the OpenStack controller would fail on its maintenance without a word"
	default:
		return // it is being set up
	}
	f.add(a)
}
