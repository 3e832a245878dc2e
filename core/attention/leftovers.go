package attention

import (
	"fmt"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// staleInner is a lock that counts against the controller's concurrency though nothing is asked of its node (docs/mosk.md#left-over-locks).
// It holds up every other node once its role is full.
func (f *facts) staleInner(n nodeFacts) {
	if n.Request != nil || n.own == nil || n.own.InnerState != core.InnerActive || n.own.State() == core.LockInactive ||
		!f.s.Known(core.SourceNodeRequests) {
		return
	}
	if progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return // it is to be ended, as its own entry says
	}
	if n.Node != nil {
		if r := f.s.History.Rounds[n.Node.UID]; !r.Ended.IsZero() && !f.long(r.Ended, progress.InnerSettles) {
			return // the request's end was seen before the lock's
		}
	}
	a := n.entry(core.RuleStaleInner)
	a.Severity, a.Since = core.SeverityNotice, core.Since{}
	a.Reason = "its lock says inner_state=active, and it has no request: it counts against the controller's concurrency"
	if len(n.waiting) > 0 {
		a.Severity = core.SeverityUrgent
		a.Reason = fmt.Sprintf("holds up %s: its lock says inner_state=active, and it has no request", wording.Some(n.waiting, 3))
	}
	a.Detail = "Look at the controller's logs (deploy/rockoon, container nodemaintenancerequest), and mend the node's pods and agents; the " +
		"last resort is to set the annotation inner_state of " +
		n.own.Name + " to inactive."
	f.add(a)
}

// nodeConfiguration are annotations that the controller cannot read.
func (f *facts) nodeConfiguration(n nodeFacts) {
	if !n.Mode.Known() && n.Stage != core.StageWaiting && progress.ModeCounts(f.s, n.Name) {
		a := n.entry(core.RuleMode)
		a.Severity, a.Since = core.SeverityWarning, core.Since{}
		a.Reason = fmt.Sprintf("migration mode %q is none that the OpenStack controller knows: it will fail on it",
			wording.OneLine(string(n.Mode), 40))
		f.add(a)
	}
	if n.BadAttempts != "" {
		a := n.entry(core.RuleAttempts)
		a.Severity, a.Since, a.Reason = core.SeverityWarning, core.Since{}, n.BadAttempts
		f.add(a)
	}
}

// nodeWithoutLock is a node that LCM wants and that the OpenStack controller does not hold, though its role asks for it.
func (f *facts) nodeWithoutLock(n nodeFacts) {
	if progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return // it is to be made, as its own entry says
	}
	if n.own != nil || n.Node == nil || !f.s.Known(core.SourceNodeLocks) ||
		!n.Node.Is(core.RoleCompute) && !n.Node.Is(core.RoleController) && !n.Node.Is(core.RoleGateway) {
		return
	}
	a := n.entry(core.RuleNoLock)
	switch {
	case n.leaving() && f.long(n.Request.Created, progress.LockMissing):
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Request.Created}
		a.Reason = "has a maintenance request and no lock of the OpenStack controller: LCM does not wait for its instances"
	case f.request != nil:
		a.Severity, a.Since = core.SeverityWarning, core.Since{}
		a.Reason = "has no lock of the OpenStack controller: LCM would not wait for its instances"
	default:
		return
	}
	a.Detail = "The controller makes it by the node's role labels: look at its logs (deploy/rockoon in osh-system, container node)."
	f.add(a)
}

func (f *facts) lockWithoutNode(n nodeFacts) {
	if n.Node != nil || !f.s.Known(core.SourceNodes) || f.removedLocked(n) && n.Request == nil {
		return
	}
	a := n.entry(core.RuleNoNode)
	a.Severity, a.Since = core.SeverityNotice, core.Since{}
	var owners []string
	for _, l := range n.Locks {
		if a, played := progress.ActAs(f.s, l.Controller); played && progress.TurnOn(f.s, a, n.Name) == progress.TurnGone {
			continue // it is to be deleted, as its own entry says
		}
		owners = wording.Add(owners, l.Controller)
	}
	if len(owners) == 0 && len(n.Locks) > 0 {
		return
	}
	what := "locks (" + wording.Some(owners, 4) + ")"
	if len(owners) == 0 {
		what = "a maintenance request"
	}
	if n.leaving() {
		a.Severity = core.SeverityWarning
	}
	a.Reason = what + " name it, and the cluster has no such node"
	if f.s.Disablings[n.Name] != nil {
		a.Reason += "; its machine is disabled"
	}
	f.add(a)
}

func (f *facts) requestsTwice(n nodeFacts) {
	if len(f.s.NodeRequests[n.Name]) < 2 {
		return
	}
	a := n.entry(core.RuleRequests)
	a.Severity, a.Since = core.SeverityNotice, core.Since{}
	a.Reason = fmt.Sprintf("has %d maintenance requests", len(f.s.NodeRequests[n.Name]))
	f.add(a)
}

// annotationLeft is a migration mode that Lockstep set for a maintenance that is over.
func (f *facts) annotationLeft(n nodeFacts) {
	if n.Node == nil || n.Request != nil || n.Stage != core.StageDone && n.Stage != core.StageIdle || !f.s.Known(core.SourceNodeRequests) {
		return
	}
	c, changed := f.s.History.Changes[n.Node.UID]
	if !changed || !step.EqualText(n.Node.Annotation(c.Key), c.New) || step.EqualText(c.Old, c.New) {
		return
	}
	if n.Stage == core.StageIdle && !f.s.History.Rounds[n.Node.UID].Ended.After(c.At) {
		return // set before its turn, for its turn
	}
	a := n.entry(core.RuleAnnotationLeft)
	a.Severity, a.Since = core.SeverityNotice, core.Since{At: c.At, Exact: true}
	a.Reason = step.AnnotationText(c.Key, c.New) + " was set by Lockstep; before, it was " + wording.TextOr(c.Old, "not set")
	if wording.TextOr(c.New, "") == string(core.ModeSkip) {
		a.Severity = core.SeverityWarning
		a.Detail = "In its next maintenance its instances would go down with it."
	}
	f.add(a)
}

// computeLeft is a compute service that nobody will enable: Rockoon enables only what it disabled itself (docs/mosk.md#rockoon).
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
		return // it is to be put back, as the entry of the turn says
	}
	if r := f.s.History.Rounds[n.Node.UID]; r.Request != "" && (r.Ended.IsZero() || !f.long(r.Ended, progress.ServiceSettles)) {
		return // what Nova said last can be older than the end of the maintenance
	}
	own := svc.DisabledReason == core.DisabledReasonMaintenance
	_, over := procedure.AfterUpdateLeft(f.s)
	if !own && n.Stage != core.StageDone && !(over && svc.ByLockstep()) {
		return // somebody's own decision, from before
	}
	a := n.entry(core.RuleComputeLeft)
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: svc.Updated}
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
