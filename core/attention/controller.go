package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// controllerAway finds an OpenStack controller without a ready replica: its part of the update stops, and requests hang in deletion
// (docs/mosk.md#finalizers).
func (f *facts) controllerAway() {
	c := f.s.Controller
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); played {
		return // Lockstep does its part
	}
	asked := f.request != nil || len(f.s.NodeRequests) > 0
	if c == nil || c.Ready > 0 || !f.s.Known(core.SourceOpenStackController) || c.Replicas == 0 && !asked {
		return // scaled to 0, it holds nothing up while there is no request
	}
	a := core.Attention{Rule: core.RuleControllerAway, Severity: core.SeverityWarning,
		Subject: core.Ref{Kind: core.KindDeployment, Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		Label:   wording.OneLine(c.Name, 40), Reason: "the OpenStack controller has no ready replica: none of its locks moves"}
	switch c.Replicas {
	case 0:
		a.Reason = "the OpenStack controller is scaled to 0: none of its locks moves, and requests hang in their removal"
	case 1: // of several replicas, one that is missing makes it unavailable long before the last one goes
		a.Since = core.Since{At: c.AwaySince, Exact: !c.AwaySince.IsZero()}
	}
	if asked {
		a.Severity = core.SeverityUrgent
	}
	a.Detail = wording.Join(a.Detail, f.awayText())
	f.add(a)
}
