package step

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

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
