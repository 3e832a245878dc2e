package core

import (
	"fmt"
)

// staleInner is a lock that counts against the controller's concurrency though nothing is asked of its node (docs/mosk.md#left-over-locks).
// It holds up every other node once its role is full.
func (f *attentionFacts) staleInner(n nodeAttention) {
	if n.Request != nil || n.own == nil || n.own.InnerState != InnerActive || n.own.State() == LockInactive || !f.s.known(SourceNodeRequests) {
		return
	}
	if f.s.playsOn(ControllerOpenStack, n.Name) {
		return // it is to be ended, as its own entry says
	}
	if n.Node != nil {
		if r := f.s.History.Rounds[n.Node.UID]; !r.Ended.IsZero() && !f.long(r.Ended, innerSettles) {
			return // the request's end was seen before the lock's
		}
	}
	a := n.entry(RuleStaleInner)
	a.Severity, a.Since = SeverityNotice, Since{}
	a.Reason = "its lock says inner_state=active, and it has no request: it counts against the controller's concurrency"
	if len(n.waiting) > 0 {
		a.Severity = SeverityUrgent
		a.Reason = fmt.Sprintf("holds up %s: its lock says inner_state=active, and it has no request", some(n.waiting, 3))
	}
	a.Detail = "Look at the controller's logs (deploy/rockoon, container nodemaintenancerequest), and mend the node's pods and agents; the last resort is to set the annotation inner_state of " +
		n.own.Name + " to inactive."
	f.add(a)
}

// nodeConfiguration are annotations that the controller cannot read.
func (f *attentionFacts) nodeConfiguration(n nodeAttention) {
	if !n.Mode.Known() && n.Stage != StageWaiting && f.s.modeCounts(n.Name) {
		a := n.entry(RuleMode)
		a.Severity, a.Since = SeverityWarning, Since{}
		a.Reason = fmt.Sprintf("migration mode %q is none that the OpenStack controller knows: it will fail on it", oneLine(string(n.Mode), 40))
		f.add(a)
	}
	if n.BadAttempts != "" {
		a := n.entry(RuleAttempts)
		a.Severity, a.Since, a.Reason = SeverityWarning, Since{}, n.BadAttempts
		f.add(a)
	}
}

// nodeWithoutLock is a node that LCM wants and that the OpenStack controller does not hold, though its role asks for it.
func (f *attentionFacts) nodeWithoutLock(n nodeAttention) {
	if f.s.playsOn(ControllerOpenStack, n.Name) {
		return // it is to be made, as its own entry says
	}
	if n.own != nil || n.Node == nil || !f.s.known(SourceNodeLocks) ||
		!n.Node.Is(RoleCompute) && !n.Node.Is(RoleController) && !n.Node.Is(RoleGateway) {
		return
	}
	a := n.entry(RuleNoLock)
	switch {
	case n.leaving() && f.long(n.Request.Created, lockMissing):
		a.Severity, a.Since = SeverityUrgent, Since{At: n.Request.Created}
		a.Reason = "has a maintenance request and no lock of the OpenStack controller: LCM does not wait for its instances"
	case f.request != nil:
		a.Severity, a.Since = SeverityWarning, Since{}
		a.Reason = "has no lock of the OpenStack controller: LCM would not wait for its instances"
	default:
		return
	}
	a.Detail = "The controller makes it by the node's role labels: look at its logs (deploy/rockoon in osh-system, container node)."
	f.add(a)
}

func (f *attentionFacts) lockWithoutNode(n nodeAttention) {
	if n.Node != nil || !f.s.known(SourceNodes) || f.removedLocked(n) && n.Request == nil {
		return
	}
	a := n.entry(RuleNoNode)
	a.Severity, a.Since = SeverityNotice, Since{}
	var owners []string
	for _, l := range n.Locks {
		if a, played := f.s.actAs(l.Controller); played && f.s.actTurn(a, n.Name) == turnGone {
			continue // it is to be deleted, as its own entry says
		}
		owners = add(owners, l.Controller)
	}
	if len(owners) == 0 && len(n.Locks) > 0 {
		return
	}
	what := "locks (" + some(owners, 4) + ")"
	if len(owners) == 0 {
		what = "a maintenance request"
	}
	if n.leaving() {
		a.Severity = SeverityWarning
	}
	a.Reason = what + " name it, and the cluster has no such node"
	if f.s.Disablings[n.Name] != nil {
		a.Reason += "; its machine is disabled"
	}
	f.add(a)
}

func (f *attentionFacts) requestsTwice(n nodeAttention) {
	if len(f.s.NodeRequests[n.Name]) < 2 {
		return
	}
	a := n.entry(RuleRequests)
	a.Severity, a.Since = SeverityNotice, Since{}
	a.Reason = fmt.Sprintf("has %d maintenance requests", len(f.s.NodeRequests[n.Name]))
	f.add(a)
}

// annotationLeft is a migration mode that Lockstep set for a maintenance that is over.
func (f *attentionFacts) annotationLeft(n nodeAttention) {
	if n.Node == nil || n.Request != nil || n.Stage != StageDone && n.Stage != StageIdle || !f.s.known(SourceNodeRequests) {
		return
	}
	c, changed := f.s.History.Changes[n.Node.UID]
	if !changed || !equalText(n.Node.annotation(c.Key), c.New) || equalText(c.Old, c.New) {
		return
	}
	if n.Stage == StageIdle && !f.s.History.Rounds[n.Node.UID].Ended.After(c.At) {
		return // set before its turn, for its turn
	}
	a := n.entry(RuleAnnotationLeft)
	a.Severity, a.Since = SeverityNotice, Since{At: c.At, Exact: true}
	a.Reason = annotationText(c.Key, c.New) + " was set by Lockstep; before, it was " + textOr(c.Old, "not set")
	if textOr(c.New, "") == string(ModeSkip) {
		a.Severity = SeverityWarning
		a.Detail = "In its next maintenance its instances would go down with it."
	}
	f.add(a)
}

// computeLeft is a compute service that nobody will enable: Rockoon enables only what it disabled itself (docs/mosk.md#rockoon).
func (f *attentionFacts) computeLeft(n nodeAttention) {
	svc := n.Service
	if svc == nil || svc.Enabled || n.Node == nil || n.Request != nil || !f.s.known(SourceNodeRequests) || !f.s.known(SourceComputeServices) {
		return
	}
	if f.leavesForGood(n) {
		return // disabled for its removal
	}
	if f.s.returnsOurs(n.Name) {
		return // it is to be put back, as the entry of the turn says
	}
	if r := f.s.History.Rounds[n.Node.UID]; r.Request != "" && (r.Ended.IsZero() || !f.long(r.Ended, serviceSettles)) {
		return // what Nova said last can be older than the end of the maintenance
	}
	own := svc.DisabledReason == DisabledReasonMaintenance
	_, over := f.s.AfterUpdateLeft()
	if !own && n.Stage != StageDone && !(over && svc.byLockstep()) {
		return // somebody's own decision, from before
	}
	a := n.entry(RuleComputeLeft)
	a.Severity, a.Since = SeverityWarning, Since{At: svc.Updated}
	a.Reason = "nova-compute was left " + serviceText(svc)
	if own {
		a.Reason = "nova-compute was left disabled by the OpenStack controller, and the maintenance is over"
	} else if svc.byLockstep() {
		a.Reason, a.Detail = "nova-compute was "+serviceText(svc)+", and not put back", "The OpenStack controller enables only what it disabled itself."
	} else {
		a.Severity = SeverityNotice
	}
	f.add(a)
}
