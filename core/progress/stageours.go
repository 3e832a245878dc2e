package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// ours is the turn on a node where Lockstep plays the OpenStack controller.
func (f *stageFacts) ours() ActTurn {
	a, played := ActAs(f.s, core.ControllerOpenStack)
	if !played || !a.Holds(f.node) {
		return TurnNone
	}
	return TurnOn(f.s, a, f.name)
}

func oursToPrepare(f *stageFacts) (verdict, bool) {
	if f.ours() != TurnPrepare {
		return verdict{}, false
	}
	a, _ := ActAs(f.s, core.ControllerOpenStack)
	at := PreparationOf(f.s, a, f.name)
	return verdict{reason: at.Next, what: at.what, since: exactly(f.request.Created)}, true
}

// oursToRemove finds an empty node whose removal waits for a played controller.
func oursToRemove(f *stageFacts) (verdict, bool) {
	if f.ours() != TurnRemove {
		return verdict{}, false
	}
	return verdict{reason: "its removal is asked for, and you play the OpenStack controller: let it go", what: "to be let go",
		since: exactly(f.s.Deletions[f.name].Created)}, true
}

// oursToCleanUp finds a node that has left the cluster and whose clean-up waits for a played OpenStack controller: the removal is
// not done while the lock exists.
func oursToCleanUp(f *stageFacts) (verdict, bool) {
	if !PlaysGone(f.s, f.name) {
		return verdict{}, false
	}
	a, _ := ActAs(f.s, core.ControllerOpenStack)
	v := verdict{reason: "it is gone, and you play the OpenStack controller: " + GoneLeft(f.s, a, f.name) + " wait for you",
		what: "gone: clean up behind it"}
	if bound, _ := ClaimsOn(f.s, f.name); len(bound) > 0 {
		v.what = "gone: " + wording.Count(len(bound), "volume claim") + " left"
	}
	return v, true
}

func oursToTakeBack(f *stageFacts) (verdict, bool) {
	if f.ours() != TurnReturn {
		return verdict{}, false
	}
	v := verdict{reason: "its request is over, and you play the OpenStack controller: take it back", what: "to be taken back"}
	if f.request != nil {
		v.since = exactly(f.request.Deleting)
	}
	return v, true
}

// oursToLetGo is a node whose Node was deleted, and that only goes once Lockstep, in the OpenStack controller's place, lets it.
func oursToLetGo(f *stageFacts) (verdict, bool) {
	v, deleted := nodeDeleted(f)
	if _, played := ActAs(f.s, core.ControllerOpenStack); !deleted || !played || HeldNode(f.s, f.node) == "" {
		return verdict{}, false
	}
	v.reason, v.what = "its Node was deleted, and you play the OpenStack controller: let it go", "to be let go"
	return v, true
}
