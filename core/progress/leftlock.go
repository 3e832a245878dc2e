package progress

import (
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// LeftLock is the OpenStack controller's lock on a node that was left inactive: no request asks for the node, and the controller takes
// a lock back only with a request (docs/mosk.md#left-over-locks). Nil when there is none, or when that is not known: request and lock
// are two streams, and either can be ahead.
func LeftLock(s *core.Snapshot, name string) *core.WorkloadLock {
	n, l := s.Nodes[name], s.NodeLock(name, core.ControllerOpenStack)
	switch {
	case n == nil || l == nil || l.State() != core.LockInactive || !l.Deleting.IsZero():
		return nil
	case !n.Deleting.IsZero():
		return nil // its Node was deleted, and goes: no next maintenance comes
	case s.NodeRequest(name) != nil || s.Deletions[name] != nil || s.Disablings[name] != nil:
		return nil
	case !s.Known(core.SourceNodeRequests) || !s.Known(core.SourceNodeLocks):
		return nil
	case !RemovalsKnown(s):
		return nil
	}
	if Settling(s, n, InnerSettles) {
		return nil
	}
	return l
}

// Settling tells whether the maintenance of a node that has no request any more has ended within the time: what other sources show of the
// node can be older than its end. The Snapshot in which the request is gone does not have the end itself yet; the next one has.
func Settling(s *core.Snapshot, n *core.Node, within time.Duration) bool {
	r := s.History.Rounds[n.UID]
	return r.Request != "" && (r.Ended.IsZero() || !s.Reached(r.Ended.Add(within)))
}

// PlaysAlone tells whether Lockstep plays the OpenStack controller on the node and the controller itself does not run.
func PlaysAlone(s *core.Snapshot, node string) bool {
	a, played := ActAs(s, core.ControllerOpenStack)
	return played && a.Holds(s.Nodes[node]) && GuardNobodyElse(s, a.Controller).Holds
}

// LeftText says what a lock that was left inactive means.
func LeftText(s *core.Snapshot, name string) string {
	label := wording.OneLine(s.Label(name), 64)
	if n := s.Nodes[name]; n != nil && n.Is(core.RoleCompute) {
		return "its lock was left inactive: the next maintenance of " + label + " will drain and reboot it without moving anything"
	}
	return "its lock was left inactive: the next maintenance of " + label + " will not wait for the OpenStack controller"
}

// LeftUnseen is the node's last maintenance where its request came and went without the controller; zero when that is not certain.
func LeftUnseen(s *core.Snapshot, name string) core.Round {
	if n := s.Nodes[name]; n != nil {
		if r := s.History.Rounds[n.UID]; r.Unseen && !r.Ended.IsZero() {
			return r
		}
	}
	return core.Round{}
}

// ownLockLeft is a node whose lock the OpenStack controller never takes back.
func ownLockLeft(f *stageFacts) (verdict, bool) {
	if LeftLock(f.s, f.name) == nil {
		return verdict{}, false
	}
	return verdict{reason: LeftText(f.s, f.name), what: "its lock was left inactive"}, true
}
