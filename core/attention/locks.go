package attention

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// clusterLocks finds the cluster's locks that are failed, have an unknown text, need a person, or wait for too long.
func (f *facts) clusterLocks() {
	for _, l := range f.s.ClusterLocks {
		a := core.Attention{Subject: l.Ref(), Label: wording.OneLine(l.Controller, 40), Since: f.s.History.StateSince(l),
			Resolve: clusterProcedure()}
		m := progress.ReadLock(f.s, l)
		still, stand := progress.ServicesStill(f.s)
		switch {
		case f.lockState(l, m, a):
			continue
		}
		a.Since = f.lockSince(l, f.request)
		switch {
		case f.request == nil || l.State() != core.LockActive || !f.request.Deleting.IsZero():
		case m.Class == progress.MessageActionable:
			a.Rule, a.Key, a.Severity, a.Reason, a.Detail = core.RuleClusterLock, l.UID, core.SeverityUrgent,
				"the cluster lock needs you: "+m.Meaning, m.Remedy
			f.add(a)
		case m.ID == progress.SaysNotApplied && stand:
			a.Rule, a.Key, a.Severity, a.Detail = core.RuleClusterLockWaits, l.UID, core.SeverityWarning, m.Remedy
			a.Reason, a.Since = still.Why(), core.Since{At: still.Since, Exact: true}.Plus(still.Limit)
			f.add(a)
		case m.Class == progress.MessageWaiting && f.long(f.waitsSince(m, a.Since).At, f.waitingLimit(m.ID)):
			a.Since = f.waitsSince(m, a.Since).Plus(f.waitingLimit(m.ID))
			a.Rule, a.Key, a.Severity, a.Detail = core.RuleClusterLockWaits, l.UID, core.SeverityWarning, m.Remedy
			a.Reason = "the cluster lock is held for a long time: " + m.Meaning
			f.add(a)
		case m.Class == progress.MessageUnknown:
			a.Rule, a.Key, a.Severity = core.RuleClusterLockSays, l.UID, core.SeverityNotice
			a.Reason = "says something that no document lists: " + wording.OneLine(m.Text, wording.MostRead)
			f.add(a)
		}
	}
	for _, o := range f.s.OpenStack {
		if o.State == "FAILED" {
			f.add(core.Attention{Rule: core.RuleOpenStackStatus, Key: o.UID, Severity: core.SeverityUrgent,
				Subject: core.Ref{Kind: core.KindOpenStackDeploymentStatus, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
				Label:   "openstack", Reason: "the OpenStack deployment says FAILED", Since: core.Since{At: o.Timestamp}, Resolve: clusterProcedure()})
		}
	}
}

// clusterLockGone finds an OpenStackDeployment without its ClusterWorkloadLock: LCM goes on to the nodes without waiting until
// OpenStack is updated. Where Lockstep plays the controller, acting says that the lock is to be created.
func (f *facts) clusterLockGone() {
	missing := progress.ClusterLockMissing(f.s)
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); missing == "" || played {
		return
	}
	o := f.s.OpenStack[0]
	if !o.Created.IsZero() && !f.long(o.Created, progress.LockMissing) {
		return // it is being made
	}
	a := core.Attention{Rule: core.RuleClusterLockMissing, Key: wording.TextOf(o.UID, o.Name), Severity: core.SeverityWarning,
		Label:   core.ControllerOpenStack,
		Resolve: clusterProcedure(),
		Subject: core.Ref{Kind: core.KindOpenStackDeploymentStatus, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
		Reason:  missing + ": LCM does not wait for it",
		Detail: "The OpenStack controller makes the lock as soon as it sees the deployment. Without it LCM goes on to the nodes before " +
			"OpenStack is updated. Look at the controller's log before an update begins."}
	if f.request != nil && f.request.Deleting.IsZero() && !f.request.ByHand() {
		a.Severity = core.SeverityUrgent
		a.Since = core.NotBefore(f.request.Created)
	}
	f.add(a)
}

// clusterLockLeft finds the OpenStack controller's cluster lock inactive where the controller has not released it for an update: it was
// left so, or set by hand. LCM does not wait until OpenStack is updated (docs/mosk.md#cluster-request).
func (f *facts) clusterLockLeft() {
	l, r := f.s.ClusterLock(core.ControllerOpenStack), f.request
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); played || l == nil || l.State() != core.LockInactive ||
		!l.Deleting.IsZero() || !f.s.Known(core.SourceClusterLocks) || !f.s.Known(core.SourceClusterRequests) {
		return
	}
	since := f.s.History.StateSince(l)
	a := core.Attention{Rule: core.RuleClusterLockLeft, Key: l.UID, Severity: core.SeverityWarning, Subject: l.Ref(),
		Label: core.ControllerOpenStack, Since: since, Resolve: clusterProcedure()}
	switch {
	case r == nil:
		if u := f.s.History.Update; u.UID != "" && (u.Ended.IsZero() || !f.s.Reached(u.Ended.Add(progress.InnerSettles))) {
			return // the lock and the request are two streams
		}
		a.Reason = "the cluster lock was left inactive: the next update does not wait until OpenStack is updated"
		if p := f.s.Management.Plan(); p != nil && p.Status != core.PlanCompleted && slices.ContainsFunc(p.Steps, core.PlanStep.Taken) {
			a.Severity = core.SeverityUrgent
		}
	case !r.Deleting.IsZero() || r.ByHand() || since.At.IsZero() || !since.At.Before(r.Created) ||
		f.s.History.Overrides[l.UID].Request == r.UID:
		return // it was released for this request, by its controller or by somebody
	default:
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: r.Created, Exact: true}
		a.Reason = "the cluster lock was inactive before the update began: LCM does not wait until OpenStack is updated"
	}
	a.Detail = "The OpenStack controller takes the lock back only when a request that it has seen goes. Set the lock active, so that LCM " +
		"waits."
	f.add(a)
}

// holdCluster sets the cluster lock active, so that LCM waits for OpenStack.
func holdCluster(f *facts, a core.Attention) []core.Command {
	l := f.lockOf(a)
	if l == nil || l.State() != core.LockInactive {
		return nil
	}
	return []core.Command{procedure.ToChange("hold LCM", step.LockCommand(l.Ref(), core.LockStatus{State: core.LockActive}))}
}

func (f *facts) nodeLocks(n nodeFacts) {
	for _, l := range n.Locks {
		a := n.entry("") // the lock's state decides the rule
		a.Subject, a.Since = l.Ref(), f.s.History.StateSince(l)
		m := progress.LockMessage{}
		if l.Message != "" {
			m = progress.ReadLock(f.s, l)
		}
		f.lockState(l, m, a)
	}
}

// lockState finds a lock that is failed, or in a state that is not documented.
func (f *facts) lockState(l *core.WorkloadLock, m progress.LockMessage, a core.Attention) bool {
	switch l.State() {
	case core.LockActive, core.LockInactive:
		return false
	case core.LockFailed:
		a.Rule, a.Key, a.Severity, a.Reason = core.RuleLockFailed, l.UID, core.SeverityUrgent,
			"the lock of "+wording.OneLine(l.Controller, 40)+" says failed"+wording.Because(wording.OneLine(m.Text, wording.MostRead))
		a.Detail = wording.Join("The controller could not shut its workload down in good order; LCM does not go on.", progress.AskAbout(f.s, l))
	default:
		a.Rule, a.Key, a.Severity, a.Reason = core.RuleLockState, l.UID, core.SeverityWarning,
			fmt.Sprintf("the lock of %s has a state that is not documented: %q", wording.OneLine(l.Controller, 40),
				wording.OneLine(string(l.RawState), 40))
	}
	f.add(a)
	return true
}

// lockSince is since when the lock is in its state while its request is there.
func (f *facts) lockSince(l *core.WorkloadLock, request *core.MaintenanceRequest) core.Since {
	since := f.s.History.StateSince(l)
	switch {
	case request == nil || since.At.After(request.Created):
		return since
	case l.State() == core.LockActive || !since.At.IsZero(): // a controller makes its lock active, and holds it until it is asked
		return core.Since{At: core.Later(request.Created, l.Created), Exact: true}
	}
	return core.NotBefore(request.Created)
}

// waitsSince is since when a cluster lock waits for what its text says. The wait for health (text E) begins when the deployment is
// APPLIED (docs/mosk.md#cluster-request), which takes far longer than the wait; the text's own timestamp is new at every look.
func (f *facts) waitsSince(m progress.LockMessage, held core.Since) core.Since {
	if m.ID != progress.SaysNotHealthy {
		return held
	}
	for _, o := range f.s.OpenStack {
		if o.State == "APPLIED" && o.Timestamp.After(held.At) {
			held = core.Since{At: o.Timestamp}
		}
	}
	return held
}

// waitingLimit is how long a text of class waiting is nothing to worry about.
func (f *facts) waitingLimit(id progress.MessageID) time.Duration {
	switch {
	case id == progress.SaysNotApplied:
		return time.Duration(float64(f.estimate.OpenStack()) * max(f.s.Settings.Overdue, 1))
	case id == progress.SaysNotHealthy:
		return progress.HealthLong
	case id.AwaitsRelease():
		return f.estimate.Modules()
	}
	return progress.DeferredLong
}

// nodeWithoutLock finds a node that the OpenStack controller does not hold, although its role asks for it.
func (f *facts) nodeWithoutLock(n nodeFacts) {
	if progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return // acting says that it is to be created
	}
	if n.own != nil || n.Node == nil || !f.s.Known(core.SourceNodeLocks) ||
		!n.Node.Is(core.RoleCompute) && !n.Node.Is(core.RoleController) && !n.Node.Is(core.RoleGateway) {
		return
	}
	a := n.entry(core.RuleNoLock)
	switch {
	case n.leaving() && f.long(n.Request.Created, progress.LockMissing):
		a.Severity, a.Since = core.SeverityUrgent, core.NotBefore(n.Request.Created)
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
			continue // acting says that it is to be deleted
		}
		owners = wording.AddNew(owners, l.Controller)
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

// staleInner finds a lock that counts against the controller's concurrency although its node has no request
// (docs/mosk.md#left-over-locks). It holds up every other node once its role is full.
func (f *facts) staleInner(n nodeFacts) {
	if n.Request != nil || n.own == nil || n.own.InnerState != core.InnerActive || n.own.State() == core.LockInactive ||
		!f.s.Known(core.SourceNodeRequests) {
		return
	}
	if progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return // acting says that it is to be ended
	}
	if n.Node != nil && progress.Settling(f.s, n.Node, progress.InnerSettles) {
		return // the request's end was seen before the lock's
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
