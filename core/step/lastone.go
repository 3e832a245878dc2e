package step

import (
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// afterTheLast says what follows when the instances with these IDs are out of the way of their node's maintenance and no other is: that
// the node is let go is decided by this step then, and nobody is asked again. It is empty while others are in the way, and where nobody
// waits for them.
func afterTheLast(s *core.Snapshot, node string, ids ...string) string {
	l := s.NodeLock(node, core.ControllerOpenStack)
	if node == "" || l == nil || l.State() != core.LockActive || !EntersMaintenance(s, node) {
		return ""
	}
	if l.InnerState != "" && l.InnerState != core.InnerActive {
		return "" // its turn has not come yet
	}
	if len(staying(s, node)) == len(staying(s, node, ids...)) || len(staying(s, node, ids...)) > 0 {
		return ""
	}
	text := "Nothing else is in the way on " + wording.OneLine(s.Label(node), 64)
	if progress.PlaysOn(s, core.ControllerOpenStack, node) {
		return text + ": its lock can be released then."
	}
	return wording.Join(text+": the OpenStack controller goes on by itself then, and releases its lock.",
		lcmThen(s, l, core.LockInactive, ids...))
}

// staying are the instances in the way on the node, without those with these IDs.
func staying(s *core.Snapshot, node string, ids ...string) []core.InstanceView {
	return slices.DeleteFunc(InTheWay(s, node), func(v core.InstanceView) bool { return slices.Contains(ids, v.Instance.ID) })
}
