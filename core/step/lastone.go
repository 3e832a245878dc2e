package step

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// afterTheLast says what follows when the instances with these IDs are out of the way of their node's maintenance and no other is: that
// the node is let go is decided by this step then, and nobody is asked again. Those that stay go down with the node all the same. It is
// empty while others are in the way, and where nobody waits for them.
func afterTheLast(s *core.Snapshot, node string, stay bool, ids ...string) string {
	l := s.NodeLock(node, core.ControllerOpenStack)
	if l == nil || l.State() != core.LockActive || l.InnerState != core.InnerActive || !EntersMaintenance(s, node) ||
		!s.Nodes[node].Is(core.RoleCompute) || !progress.MaintenanceOf(s, node).Reboot {
		return ""
	}
	if left := staying(s, node, ids...); len(left) > 0 || len(staying(s, node)) == 0 {
		return ""
	}
	text := "Nothing else is in the way on " + wording.OneLine(s.Label(node), 64) + ": "
	switch {
	case progress.PlaysOn(s, core.ControllerOpenStack, node):
		return text + "its lock can be released then."
	case progress.LacksScope(s.NodeRequest(node)), progress.HeldUnlooked(s, node):
		return "" // it waits for something else
	case progress.OpenStackDown(s):
		text += "the OpenStack controller can release its lock once it is up, and asks nobody."
	default:
		text += "the OpenStack controller can release its lock then, and asks nobody."
	}
	if s.Deletions[node] != nil {
		return text + " The node's removal is asked for: LCM takes it out of the cluster when no lock holds it."
	}
	if stay {
		ids = nil
	}
	return wording.Join(text, lcmThen(s, l, core.LockInactive, ids...))
}

// staying are the instances in the way on the node, without those with these IDs.
func staying(s *core.Snapshot, node string, ids ...string) []core.InstanceView {
	return slices.DeleteFunc(InTheWay(s, node), func(v core.InstanceView) bool { return slices.Contains(ids, v.Instance.ID) })
}
