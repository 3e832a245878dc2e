package core

// ours is the turn of the OpenStack controller on a node where Lockstep plays it.
func (f *stageFacts) ours() actTurn {
	a, played := f.s.actAs(ControllerOpenStack)
	if !played || !a.holds(f.node) {
		return turnNone
	}
	return f.s.actTurn(a, f.name)
}

func oursToPrepare(f *stageFacts) (verdict, bool) {
	if f.ours() != turnPrepare {
		return verdict{}, false
	}
	a, _ := f.s.actAs(ControllerOpenStack)
	at := f.s.preparationOf(a, f.name)
	return verdict{reason: at.next, what: at.what, at: f.request.Created, exact: true}, true
}

// oursToRemove is a node with nothing left on it whose removal waits for a played controller.
func oursToRemove(f *stageFacts) (verdict, bool) {
	if f.ours() != turnRemove {
		return verdict{}, false
	}
	return verdict{reason: "its removal is asked for, and you play the OpenStack controller: let it go", what: "to be let go", at: f.s.Deletions[f.name].Created, exact: true}, true
}

// oursToCleanUp is a node that has left the cluster, and whose clean-up waits for who plays the OpenStack controller: as long as its lock
// is there it is not done.
func oursToCleanUp(f *stageFacts) (verdict, bool) {
	if !f.s.playsGone(f.name) {
		return verdict{}, false
	}
	a, _ := f.s.actAs(ControllerOpenStack)
	v := verdict{reason: "it is gone, and you play the OpenStack controller: " + f.s.goneLeft(a, f.name) + " wait for you", what: "gone: clean up behind it"}
	if bound, _ := f.s.claimsOn(f.name); len(bound) > 0 {
		v.what = "gone: " + count(len(bound), "volume claim") + " left"
	}
	return v, true
}

func oursToTakeBack(f *stageFacts) (verdict, bool) {
	if f.ours() != turnReturn {
		return verdict{}, false
	}
	v := verdict{reason: "its request is over, and you play the OpenStack controller: take it back", what: "to be taken back"}
	if f.request != nil {
		v.at, v.exact = f.request.Deleting, true
	}
	return v, true
}
