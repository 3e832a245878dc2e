package core

// removed tells whether the node is to be removed, and nothing else is asked of it.
func (f *stageFacts) removed() (*NodeNotice, bool) {
	d := f.s.Deletions[f.name]
	return d, d != nil && f.request == nil && f.requestsKnown && f.node != nil
}

func removalReleased(f *stageFacts) (verdict, bool) {
	d, asked := f.removed()
	if !asked || !f.released || len(f.locks) == 0 {
		return verdict{}, false
	}
	return verdict{reason: "its locks are released: LCM removes it", what: "being removed", at: d.Created}, true
}

// removalHeld is a node that does not go before somebody has taken off it what is left (texts S and T).
func removalHeld(f *stageFacts) (verdict, bool) {
	d, asked := f.removed()
	if !asked || f.own == nil || f.own.State() == LockInactive {
		return verdict{}, false
	}
	left := len(f.s.InstancesOn(f.name))
	switch {
	case f.computeKnown && left > 0:
		return verdict{reason: "to be removed, and " + count(left, "instance") + verb(left, " is", " are") + " left on it", what: "to be removed: " + count(left, "instance") + " left", at: d.Created, exact: true}, true
	case f.message.ID == SaysVolumesHoldRemoval:
		return verdict{reason: "to be removed, and volumes are left on it", what: "to be removed: volumes left", at: d.Created, exact: true}, true
	}
	return verdict{}, false
}
