package step

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// It is let go only while it is known that the node stays: its last lock may be what keeps LCM from removing it.
func TestALockIsNotLetGoWhileTheNodeMayBeRemoved(t *testing.T) {
	for _, source := range []core.SourceID{core.SourceDeletionRequests, core.SourceDisableNotices} {
		for state, may := range map[core.SourceState]bool{core.SourceLive: true, core.SourceAbsent: true, core.SourceConnecting: false,
			core.SourceForbidden: false} {
			sc := scene.Unlabelled()
			sc.ClusterRequests = nil
			sc.Source(source, state)
			st := Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentFreeLock, Object: sc.NodeLock("cmp-01", core.ControllerOpenStack).Ref()})
			if st.Doable() != may {
				t.Errorf("%s %s: it can be let go: %v; %s", source, state, st.Doable(), st.Blocker())
			}
		}
	}
}

// A lock of MOSK's other controllers does not hold the node in this sense: they release it by themselves.
func TestALockOfCephIsNoHold(t *testing.T) {
	sc := scene.Unlabelled()
	sc.Update(time.Hour)
	sc.Lock("cmp-01", core.ControllerCeph, core.LockActive)
	if st := Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentFreeLock,
		Object: sc.NodeLock("cmp-01", core.ControllerOpenStack).Ref()}); st.Doable() {
		t.Error("it can be let go")
	}
}
