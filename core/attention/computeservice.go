package attention

import (
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
)

// computeLeft finds a compute service that nobody will enable: the OpenStack controller enables only what it disabled itself
// (docs/mosk.md#rockoon).
func (f *facts) computeLeft(n nodeFacts) {
	svc := n.Service
	if svc == nil || svc.Enabled || n.Node == nil || n.Request != nil || !f.s.Known(core.SourceNodeRequests) ||
		!f.s.Known(core.SourceComputeServices) {
		return
	}
	if f.leavesForGood(n) {
		return // disabled for its removal
	}
	if progress.ReturnsOurs(f.s, n.Name) {
		return // acting says that it is to be enabled
	}
	if _, seen := progress.SeenSinceReturn(f.s, core.SourceComputeServices, n.Name); !seen ||
		progress.Settling(f.s, n.Node, progress.ServiceSettles) {
		return // what Nova last showed can be older than the end of the maintenance
	}
	own := svc.DisabledReason == core.DisabledReasonMaintenance
	_, over := procedure.AfterUpdateLeft(f.s)
	if !own && n.Stage != core.StageDone && !(over && svc.ByLockstep()) {
		return // somebody decided that before
	}
	a := n.entry(core.RuleComputeLeft)
	a.Severity, a.Since = core.SeverityWarning, returnedSince(f.s, n)
	a.Reason = "nova-compute was left " + core.ServiceText(svc)
	if own {
		a.Reason = "nova-compute was left disabled by the OpenStack controller, and the maintenance is over"
	} else if svc.ByLockstep() {
		a.Reason, a.Detail = "nova-compute was "+core.ServiceText(svc)+", and not put back",
			"The OpenStack controller enables only what it disabled itself."
	} else {
		a.Severity = core.SeverityNotice
	}
	f.add(a)
}

// returnedSince is since when a service of the node could have been enabled again: since the end of its maintenance, as far as that is
// known. The time that Nova and Cinder give for a service is that of its last report.
func returnedSince(s *core.Snapshot, n nodeFacts) core.Since {
	r := s.History.Rounds[n.Node.UID]
	if r.Request == "" || r.Ended.IsZero() {
		return core.Since{}
	}
	return core.Since{At: r.Ended, Exact: !r.EndUnseen}
}
