package step

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// While it is not known which nodes are to be removed, a played controller takes no node back: the scheduler would fill one that leaves
// (docs/mosk.md#removal). A release that knows no removals has none.
func TestNoNodeIsTakenBackThatMayBeRemoved(t *testing.T) {
	for state, may := range map[core.SourceState]bool{core.SourceConnecting: false, core.SourceForbidden: false, core.SourceFailed: false,
		core.SourceAbsent: true} {
		sc := scene.Left()
		sc.Settings = scene.PlaysOpenStack()
		sc.Source(core.SourceDeletionRequests, state)
		s := sc.Again().Snapshot
		a, _ := progress.ActAs(s, core.ControllerOpenStack)
		known := may || state == core.SourceFailed // it has been listed before
		if turn := progress.TurnOn(s, a, "cmp-01"); (turn == progress.TurnReturn) != known {
			t.Errorf("%s: the turn is %v", state, turn)
		}
		for kind := range takesBack {
			i := core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: "cmp-01"}
			if _, stale := Plan(s, i).Unmet(core.GuardFresh); stale == may {
				t.Errorf("%s, %s: it rests on the removals: %v", state, kind, stale)
			}
		}
	}
}

// A lock does not count as left over when somebody asks for the node, or has just asked.
func TestALockThatIsNotLeft(t *testing.T) {
	for name, change := range map[string]func(scene.Scene){
		"it is in maintenance":         func(sc scene.Scene) { sc.Maintained("cmp-01", "").RawState = core.LockInactive },
		"its request is being removed": func(sc scene.Scene) { sc.Maintained("cmp-01", ""); sc.NodeRequest("cmp-01").Deleting = scene.Noon },
		"its removal is asked for": func(sc scene.Scene) {
			sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Name: "cmp-01", UID: "d", Created: scene.Noon},
				Kind: core.KindNodeDeletionRequest, Node: "cmp-01"}
		},
		"its machine is disabled": func(sc scene.Scene) {
			sc.Disablings["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Name: "cmp-01", UID: "d", Created: scene.Noon}, Node: "cmp-01"}
		},
		"its maintenance has just ended": func(sc scene.Scene) {
			sc.History.Rounds = map[string]core.Round{"uid-cmp-01": {Request: "nmr", Ended: sc.Now.Add(-10 * time.Second)}}
		},
		"the requests are not known": func(sc scene.Scene) { sc.Source(core.SourceNodeRequests, core.SourceConnecting) },
		"the removals are not known": func(sc scene.Scene) { sc.Source(core.SourceDeletionRequests, core.SourceConnecting) },
		"the lock is active":         func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockActive },
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Left()
			if sc.Deletions == nil {
				sc.Deletions = map[string]*core.NodeNotice{}
			}
			if sc.Disablings == nil {
				sc.Disablings = map[string]*core.NodeNotice{}
			}
			change(sc)
			s := sc.Again().Snapshot
			if progress.LeftLock(s, "cmp-01") != nil {
				t.Error("it counts as left")
			}
			if st := Plan(s, core.Intent{Kind: core.IntentRearmLock, Object: s.NodeLock("cmp-01", core.ControllerOpenStack).Ref()}); st.Doable() {
				t.Error("it can be set active")
			}
		})
	}
}
