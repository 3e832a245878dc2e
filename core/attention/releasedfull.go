package attention

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// releasedFull finds a compute whose lock does not hold LCM though instances are on it that the OpenStack controller would have to move.
// The controller prepares nothing where it finds its lock inactive when a request comes (docs/mosk.md#left-over-locks), and LCM drains
// and reboots the host under them.
func (f *facts) releasedFull(n nodeFacts) {
	if !n.leaving() || n.own == nil || n.own.State() != core.LockInactive || n.Node == nil || !n.Node.Is(core.RoleCompute) {
		return
	}
	if f.s.History.Overrides[n.own.UID].Request == n.Request.UID || progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) ||
		progress.NodeAccount(f.s, n.Name).State == progress.AccountUnseen {
		return // somebody released it for this request, or another rule says so
	}
	if !progress.MaintenanceOf(f.s, n.Name).Reboot || n.Node.Ready == "True" && n.Node.ReadySince.After(n.Request.Created) {
		return // the host stays up, or it was rebooted already
	}
	released := f.s.History.StateSince(n.own)
	before := !released.At.IsZero() && released.At.Before(n.Request.Created)
	reason := ""
	switch left := f.blocking(n.Name); {
	case f.s.Known(core.SourceInstances) && f.s.HeardSince(core.SourceInstances, core.Later(released.At, n.Request.Created)):
		if len(left) == 0 {
			return
		}
		reason = fmt.Sprintf("its lock is inactive, and %s that would have to leave %s on it: %s", wording.Count(len(left), "instance"),
			wording.Verb(len(left), "is", "are"), namesOf(left))
	case before && f.long(n.Request.Created, progress.InnerSettles):
		reason = "its lock was inactive when its request was made, and its instances are not known"
	default:
		return
	}
	a := n.entry(core.RuleReleasedFull)
	if goneDown(n.NodeView) {
		a.Severity, a.Since = core.SeverityUrgent, core.Since{At: n.Node.ReadySince, Exact: true}
		a.Reason = "it went down; " + reason
		a.Detail = "What runs there goes down with its host: tell the owners. Once the node is back, see to each of the instances."
		f.add(a)
		return
	}
	a.Severity, a.Reason = core.SeverityUrgent, reason
	a.Since = f.lockSince(n.own, n.Request)
	a.Detail = "LCM does not wait for it: it drains and reboots the node with what runs on it. To hold LCM, set the lock active; then make " +
		"the controller look at the request again."
	if before {
		a.Detail = wording.Join("The lock was inactive before the request was made, so the OpenStack controller has prepared nothing.", a.Detail)
	}
	f.add(a)
}

// goneDown tells whether the node has gone down since its request was made.
func goneDown(v *core.NodeView) bool {
	return v.Node.Ready != "True" && !v.Node.ReadySince.Before(v.Request.Created)
}

// holdFull sets the lock active while that still keeps the node from going down.
func holdFull(f *facts, a core.Attention) []core.Command {
	if v, ok := progress.NodeView(f.s, a.Node); !ok || v.Node == nil || v.Request == nil || goneDown(v) {
		return nil
	}
	return slices.Concat(holdAgain(f, a), prepareAgain(f, a))
}

// prepareAgain makes the OpenStack controller prepare a node whose request it has handled. It looks at the lock first, so that has to be
// active by then.
func prepareAgain(f *facts, a core.Attention) []core.Command {
	r := f.s.NodeRequest(a.Node)
	if r == nil || !r.Deleting.IsZero() {
		return nil
	}
	return []core.Command{procedure.ToChange("then let it be prepared anew",
		progress.LookAgain(core.KindNodeMaintenanceRequest, r.Name))}
}

// prepareUnlooked is prepareAgain where the lock was set active meanwhile.
func prepareUnlooked(f *facts, a core.Attention) []core.Command {
	if !progress.HeldUnlooked(f.s, a.Node) {
		return nil
	}
	return []core.Command{procedure.ToChange("let it be prepared anew",
		progress.LookAgain(core.KindNodeMaintenanceRequest, f.s.NodeRequest(a.Node).Name))}
}
