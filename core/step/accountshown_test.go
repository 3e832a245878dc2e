package step

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// A node that holds a slot for nothing is cleared; the next node begins when the controller looks at it.
func TestTheNextNodeBeginsWhenItIsLookedAt(t *testing.T) {
	sc := scene.Bookkept()
	sc.Node("cmp-02", core.RoleCompute)
	stale := sc.NodeLock("cmp-02", core.ControllerOpenStack)
	stale.InnerState = core.InnerActive
	l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
	l.InnerState = core.InnerInactive
	clear := func() string {
		return Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentClearInner, Object: stale.Ref()}).Then
	}
	if then := clear(); !strings.Contains(then, "within 60 s") {
		t.Error(then)
	}
	l.Message = "2026-03-14 11:59:40.0 Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01"
	sc.Tried(scene.Failed(2, "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01"))
	if then := clear(); !strings.Contains(then, "At its next look, at 12:00:40, the OpenStack controller takes up the next node") {
		t.Error(then)
	}
}
