package step

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

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
