package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// cleanupHeld finds a node that has left the cluster and that a StatefulSet still holds (text U).
func cleanupHeld(f *stageFacts) (verdict, bool) {
	if f.node != nil || f.request != nil || f.message.ID != SaysQuorumHoldsCleanup || !f.s.Known(core.SourceNodes) || !f.requestsKnown {
		return verdict{}, false
	}
	by := "a StatefulSet"
	if len(f.message.Blockers) > 0 {
		by = wording.OneLine(f.message.Blockers[0], 60)
	}
	return verdict{reason: "the node is gone; its cleanup is held by " + by, what: "gone, held by " + by,
		since: core.Since{At: f.message.At}}, true
}

// holdsRemoval tells whether the instance is on a node that is to be removed and has no other request.
func holdsRemoval(s *core.Snapshot, m HostMaintenance) bool {
	return m.request == nil && s.Deletions[m.name] != nil
}

// removalWhy says that an instance holds the removal of its node.
func removalWhy(s *core.Snapshot, in *core.Instance) string {
	text := "holds the removal of its node: it is " + in.Status
	if in.TaskState != "" {
		text += ", " + in.TaskState
	}
	if ComputeDown(s, in.Host) {
		text += "; nova-compute of its host is down"
	}
	return text
}

// removed tells whether the node is to be removed and has no other request.
func (f *stageFacts) removed() (*core.NodeNotice, bool) {
	d := f.s.Deletions[f.name]
	return d, d != nil && f.request == nil && f.requestsKnown && f.node != nil
}

func removalReleased(f *stageFacts) (verdict, bool) {
	d, asked := f.removed()
	if !asked || !f.released || len(f.locks) == 0 {
		return verdict{}, false
	}
	return verdict{reason: "its locks are released: LCM removes it", what: "being removed", since: core.NotBefore(d.Created)}, true
}

// removalHeld finds a node whose removal waits until somebody takes off it what is left (texts S and T).
func removalHeld(f *stageFacts) (verdict, bool) {
	d, asked := f.removed()
	if !asked || f.own == nil || f.own.State() == core.LockInactive {
		return verdict{}, false
	}
	left := len(f.s.InstancesOn(f.name))
	switch {
	case f.computeKnown && left > 0:
		return verdict{reason: "to be removed, and " + wording.Count(left, "instance") + wording.Verb(left, " is", " are") + " left on it",
			what: "to be removed: " + wording.Count(left, "instance") + " left", since: exactly(d.Created)}, true
	case f.message.ID == SaysVolumesHoldRemoval:
		return verdict{reason: "to be removed, and volumes are left on it", what: "to be removed: volumes left", since: exactly(d.Created)}, true
	}
	return verdict{}, false
}
