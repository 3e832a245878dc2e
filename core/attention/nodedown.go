package attention

import (
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// nodeDownLong is how long a node that nobody maintains may be not Ready before it has an entry. The kubelet of one that is restarted by
// hand comes back sooner.
const nodeDownLong = 5 * time.Minute

// nodeDown finds a node that is not Ready though nobody maintains it, while an update runs: LCM goes on with other nodes.
func (f *facts) nodeDown(n nodeFacts) {
	if f.request == nil || !f.request.Deleting.IsZero() || n.Request != nil || n.Node == nil || n.Node.Ready == "True" ||
		!f.s.Known(core.SourceNodeRequests) || f.leavesForGood(n) || f.s.Disablings[n.Name] != nil || n.Active() {
		return
	}
	if n.Node.ReadySince.IsZero() || !f.long(n.Node.ReadySince, nodeDownLong) || progress.Settling(f.s, n.Node, nodeDownLong) {
		return
	}
	a := n.entry(core.RuleNodeDown)
	a.Severity, a.Since = core.SeverityWarning, core.Since{At: n.Node.ReadySince, Exact: true}
	a.Reason = "it is not Ready, and nobody maintains it"
	if r := f.s.History.Rounds[n.Node.UID]; n.Stage == core.StageDone || r.Update == f.request.UID && !r.Ended.IsZero() {
		a.Severity, a.Reason = core.SeverityUrgent, "it is not Ready, though its maintenance is over"
	}
	if n.Node.Is(core.RoleCompute) && f.s.Known(core.SourceInstances) {
		if on := len(f.s.InstancesOn(n.Name)); on > 0 {
			a.Severity = core.SeverityUrgent
			a.Reason += ": " + wording.Count(on, "instance") + " " + wording.Verb(on, "is", "are") + " on it"
		}
	}
	a.Detail = "LCM goes on with other nodes meanwhile. Find out why the host or its kubelet is down before the next node is begun."
	f.add(a)
}
