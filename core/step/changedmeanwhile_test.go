package step

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// Restoring skip releases the node: it needs as much care as setting skip.
func TestRestoringSkipIsAsCarefulAsSettingIt(t *testing.T) {
	scene := func() scene.Scene {
		sc := scene.Healthy()
		sc.Update(time.Hour)
		sc.Maintained("cmp-01", "")
		sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockActive
		sc.Instance("cmp-01", "web-1")
		sc.Mode("cmp-01", core.ModeManual)
		sc.Changed("cmp-01", "skip", "manual")
		return sc
	}
	sc := scene()
	back, set := Plan(sc.Snapshot, core.Intent{Kind: core.IntentRestoreMode, Node: "cmp-01"}),
		Plan(sc.Snapshot, core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-01"}, Mode: core.ModeSkip})
	if set.Risk != core.RiskHigh || set.Type == "" {
		t.Fatalf("setting skip: risk %v, typed %q", set.Risk, set.Type)
	}
	if back.Risk != set.Risk || back.Type != set.Type || len(ChangedFacts(set.Basis, back.Basis)) > 0 {
		t.Errorf("restoring: risk %v, typed %q, basis %v; setting: risk %v, typed %q, basis %v", back.Risk, back.Type, back.Basis, set.Risk,
			set.Type, set.Basis)
	}
	low := scene()
	low.Changed("cmp-01", "live", "manual")
	if back := Plan(low.Snapshot, core.Intent{Kind: core.IntentRestoreMode, Node: "cmp-01"}); back.Risk != core.RiskLow || back.Type != "" {
		t.Errorf("restoring live: risk %v, typed %q", back.Risk, back.Type)
	}
}
