package attention

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// failsTold is how often the controller has to fail silently before there is an entry: one failure can be a busy server.
const failsTold = 2

// seeItsLog says where the controller's log is.
const seeItsLog = "Look at its log: deploy/rockoon in osh-system, container nodemaintenancerequest."

// controllerFails finds a controller that fails again and again on a node's request, and notes it in its account only. Failures whose
// cause another rule reports are left to that rule.
func (f *facts) controllerFails(n nodeFacts) {
	if !progress.NodeAccount(f.s, n.Name).Fails() || progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return
	}
	a := n.entry(core.RuleControllerFails)
	if f.fails(&a, progress.NodeAccount(f.s, n.Name), n.Name, n.message) {
		f.add(a)
	}
}

// clusterFails does the same for the cluster's request.
func (f *facts) clusterFails() {
	l := f.s.ClusterLock(core.ControllerOpenStack)
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); played || l == nil || f.request == nil {
		return
	}
	a := core.Attention{Rule: core.RuleControllerFails, Key: f.request.UID, Subject: f.request.Ref(), Label: core.ControllerOpenStack,
		Resolve: clusterProcedure()}
	if f.fails(&a, progress.AccountOf(f.s, l), "", progress.ReadLock(f.s, l)) {
		f.add(a)
	}
}

// fails fills in an entry about silent failures; false when there are none.
func (f *facts) fails(a *core.Attention, account progress.Account, node string, m progress.LockMessage) bool {
	switch account.State {
	case progress.AccountRetries, progress.AccountWorks:
		if account.Failed < failsTold {
			return false
		}
	case progress.AccountGaveUp:
	default:
		return false
	}
	switch kind, _ := progress.Failure(f.s, account, node); kind {
	case progress.FailureOther, progress.FailureBusy, progress.FailureTries:
	default:
		return false
	}
	if account.OnLock(m) {
		return false
	}
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: account.Started, Exact: !account.Started.IsZero()}
	a.Reason = "the OpenStack controller fails, and no lock says so: it " + progress.AccountLine(f.s, account, node, m)
	a.Detail = "This is the text of its exception. " + seeItsLog
	return true
}

// requestUnseen finds a node's request that the controller has never seen, where that is dangerous or the controller runs.
func (f *facts) requestUnseen(n nodeFacts) {
	if n.Request == nil || progress.NodeAccount(f.s, n.Name).State != progress.AccountUnseen || n.own == nil ||
		progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) {
		return
	}
	a := n.entry(core.RuleRequestUnseen)
	a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Request.Created, Exact: true}
	released := n.own.State() == core.LockInactive
	switch {
	case released && f.s.History.Overrides[n.own.UID].Request == n.Request.UID:
		return // somebody released it for this request; another rule says so
	case released && n.leaving():
		a.Reason = "its lock is inactive, and the OpenStack controller has never seen its request: it has prepared nothing for it"
		a.Detail = "The lock was left inactive, or a person released it. LCM does not wait for it: it drains and reboots the node with what " +
			"runs on it. To hold LCM, set the lock active."
	case released:
		a.Since = core.Since{At: n.Request.Deleting, Exact: true}
		a.Reason = "its request is being removed, and the OpenStack controller has never seen it: it does not take the node back"
		a.Detail = "The request was made while the controller did not run. Once it is gone, set the lock active again, and enable nova-compute."
	case n.leaving() && !progress.OpenStackDown(f.s):
		a.Severity = core.SeverityWarning
		a.Reason = "the OpenStack controller has never seen its request of " + wording.ClockText(n.Request.Created)
		a.Detail = "It puts its finalizer on every request that it sees. " + seeItsLog
	default:
		return // controllerAway says that the controller is away
	}
	f.add(a)
}

// clusterUnseen finds a cluster's request that the controller has never seen although it runs: OpenStack is not updated, and LCM waits.
func (f *facts) clusterUnseen() {
	r, l := f.request, f.s.ClusterLock(core.ControllerOpenStack)
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); played || l == nil || r == nil || !r.Deleting.IsZero() || r.ByHand() ||
		progress.OpenStackDown(f.s) || progress.RequestAccount(f.s, r).State != progress.AccountUnseen {
		return // controllerAway says that the controller is away
	}
	f.add(core.Attention{Rule: core.RuleRequestUnseen, Key: r.UID, Severity: core.SeverityWarning, Subject: r.Ref(),
		Label: core.ControllerOpenStack, Since: core.Since{At: r.Created, Exact: true}, Resolve: clusterProcedure(),
		Reason: "the OpenStack controller has never seen the cluster's request of " + wording.ClockText(r.Created),
		Detail: "It puts its finalizer on every request that it sees. " + seeItsLog})
}

// unseenNodes are the nodes whose requests the controller has never seen.
func (f *facts) unseenNodes() []string {
	var names []string
	for _, v := range progress.NodeViews(f.s) {
		if progress.NodeAccount(f.s, v.Name).State == progress.AccountUnseen && v.Request != nil {
			names = append(names, v.Label)
		}
	}
	return names
}

// awayText says which requests a controller that is away has never seen; empty when there are none.
func (f *facts) awayText() string {
	names := f.unseenNodes()
	if len(names) == 0 {
		return ""
	}
	return "It has never seen the " + wording.Verb(len(names), "request", "requests") + " of " + wording.Some(names, 4) +
		": withdrawn before it is back, " +
		wording.Verb(len(names), "it leaves behind what was done for it.", "they leave behind what was done for them.")
}

// retried is a hint: when the controller tries again after it got no answer.
func (f *facts) retried(l *core.WorkloadLock) string {
	if a := progress.AccountOf(f.s, l); a.State == progress.AccountRetries {
		return "wait: retried at " + progress.SecondText(f.s, a.Next)
	}
	return "wait: retried within 60 s"
}
