package step

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A played controller does not begin such a compute while it works on another one: the compute's zone is unknown. The stage and
// the entry say what is missing.
func TestAPlayedControllerAndAComputeWithoutItsService(t *testing.T) {
	sc := scene.Quorate("ctl-01", "ctl-02", "ctl-03")
	delete(sc.Services, "cmp-01")
	zone := func(s *core.Snapshot) core.Guard {
		st := Plan(s, core.Intent{Kind: core.IntentActBegin, Controller: core.ControllerOpenStack, Node: "cmp-01"})
		return st.Guards[slices.IndexFunc(st.Guards, func(g core.Guard) bool { return g.ID == core.GuardZone })]
	}
	if g := zone(sc.Again().Snapshot); !g.Holds {
		t.Errorf("alone it is blocked: %s", g.Answer)
	}
	sc.NodeLock("cmp-02", core.ControllerOpenStack).InnerState = core.InnerActive
	s := sc.Again().Snapshot
	if g := zone(s); g.Holds || !strings.Contains(g.Answer, "its zone is not known") {
		t.Errorf("beside another the guard says %+v", g)
	}
	if v, _ := progress.NodeView(s, "cmp-01"); v.Stage != core.StageWaiting || v.What != "no compute service" {
		t.Errorf("it is %s: %s", v.Stage, v.What)
	}
	sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = core.InnerActive
	if st := Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack,
		Node: "cmp-01"}); st.Doable() {
		t.Error("its lock can be released")
	}
}
