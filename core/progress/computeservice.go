package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// ComputeDown tells whether nova-compute of the host is known to be down.
func ComputeDown(s *core.Snapshot, host string) bool {
	svc := s.Services[host]
	return svc != nil && (!svc.Up || svc.ForcedDown)
}

// HostDead tells whether nothing of the host reports: its nova-compute is known to be down, and its node's kubelet, where the cluster has
// the node, does not report either. Nothing here can see whether it is off.
func HostDead(s *core.Snapshot, host string) bool {
	n := s.NodeOfHost(host)
	return ComputeDown(s, host) && (n == nil || !n.Alive())
}

// AwaitedBack tells whether the host's node is let go for its maintenance, or on its way back from it, and not late: it reboots, and
// nova-compute sees to the instances' tasks when it starts.
func AwaitedBack(s *core.Snapshot, host string) bool {
	n := s.NodeOfHost(host)
	if n == nil {
		return false
	}
	r, l := s.NodeRequest(n.Name), s.NodeLock(n.Name, core.ControllerOpenStack)
	if r == nil || r.Deleting.IsZero() && (l == nil || l.State() != core.LockInactive) {
		return false
	}
	v := ViewOf(s, n.Name)
	if v == nil || v.Since.At.IsZero() {
		return false
	}
	return !s.Longer(core.Later(v.Since.At, v.Since.Certain().At), RebootLong)
}

// OutOfSchedulingReason is the reason that Lockstep proposes when a host is taken out of scheduling.
func OutOfSchedulingReason(s *core.Snapshot) string {
	reason := core.DisabledByLockstep
	if s.Operator != "" {
		reason += " by " + wording.OneLine(s.Operator, 100)
	}
	return reason
}
