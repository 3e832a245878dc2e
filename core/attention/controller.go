package attention

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// restartTakes is how long the OpenStack controller may be away before somebody is called: its pod is evicted with each controller that
// is drained, starts elsewhere, and is ready after about 75 s.
const restartTakes = 3 * time.Minute

// controllerAway finds an OpenStack controller without a ready replica: its part of the update stops, and requests hang in deletion
// (docs/mosk.md#finalizers).
func (f *facts) controllerAway() {
	c := f.s.Controller
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); played {
		return // Lockstep does its part
	}
	asked := f.request != nil || len(f.s.NodeRequests) > 0
	if c == nil || c.Ready > 0 || !f.s.Known(core.SourceOpenStackController) {
		return
	}
	held := f.heldNodes()
	if c.Replicas == 0 && !asked && len(held) == 0 {
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
	switch {
	case asked && c.Replicas > 0 && !c.AwaySince.IsZero() && !f.s.Longer(c.AwaySince, restartTakes):
		a.Severity = core.SeverityNotice
		a.Reason = "the OpenStack controller has no ready replica, as when its node is drained: it should be back in a moment"
	case asked:
		a.Severity = core.SeverityUrgent
	}
	a.Detail = wording.Join(a.Detail, f.awayText())
	if len(held) > 0 {
		a.Detail = wording.Join(a.Detail, wording.Count(len(held), "Node")+" that "+wording.Verb(len(held), "was", "were")+
			" deleted "+wording.Verb(len(held), "waits", "wait")+" for it: "+wording.Some(held, 4)+".")
	}
	f.add(a)
}

// heldNodes are the labels of the Nodes that were deleted, and that the OpenStack controller's finalizer keeps.
func (f *facts) heldNodes() (out []string) {
	for _, name := range f.s.NodeNames() {
		if progress.HeldNode(f.s, f.s.Nodes[name]) != "" {
			out = append(out, wording.OneLine(f.s.Label(name), 64))
		}
	}
	return out
}
