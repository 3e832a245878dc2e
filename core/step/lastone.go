package step

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// last says how an instance is out of the way of its node's maintenance.
type last int

const (
	lastLeaves  last = iota // it is on another host then
	lastStopped             // it stays on the host, and does not run
	lastGoes                // it stays, and goes down with the host
)

// afterTheLast says what follows when the instances with these IDs are out of the way of their node's maintenance and no other is: that
// the node is let go is decided by this step then, and nobody is asked again. It is empty while others are in the way, and where nobody
// waits for them.
func afterTheLast(s *core.Snapshot, node string, how last, ids ...string) string {
	l, n := s.NodeLock(node, core.ControllerOpenStack), s.Nodes[node]
	if l == nil || n == nil || l.State() != core.LockActive || l.InnerState != core.InnerActive || !EntersMaintenance(s, node) ||
		!n.Is(core.RoleCompute) || !progress.MaintenanceOf(s, node).Reboot {
		return ""
	}
	if left := staying(s, node, ids...); len(left) > 0 || len(staying(s, node)) == 0 {
		return ""
	}
	text := "No other instance is in the way on " + wording.OneLine(n.Label(), 64) + ": "
	says := progress.ReadLock(s, l).ID
	switch {
	case progress.PlaysOn(s, core.ControllerOpenStack, node):
		return text + "its lock can be released then."
	case progress.LacksScope(s.NodeRequest(node)), progress.HeldUnlooked(s, node), says == progress.SaysServicesNeedNode, says.AwaitsRelease():
		return "" // it waits for something else
	case progress.OpenStackDown(s):
		text += "the OpenStack controller can release its lock once it is up, and asks nobody."
	default:
		text += "the OpenStack controller can release its lock then, and asks nobody."
	}
	gone := ids
	if LeavesCluster(s, node) {
		if how != lastLeaves {
			gone = nil
		}
		return text + " The node's removal is asked for: LCM takes it out of the cluster when no lock holds it" + goesWith(s, node, gone...) + "."
	}
	if how == lastGoes {
		gone = nil
	}
	return wording.Join(text, lcmThen(s, l, core.LockInactive, gone...))
}

// staying are the instances in the way on the node, without those with these IDs.
func staying(s *core.Snapshot, node string, ids ...string) []core.InstanceView {
	return slices.DeleteFunc(InTheWay(s, node), func(v core.InstanceView) bool { return slices.Contains(ids, v.Instance.ID) })
}
