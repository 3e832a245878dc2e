package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A compute that was taken out of scheduling with Lockstep has an entry until it is put back.
func TestAComputeThatLockstepTookOutOfScheduling(t *testing.T) {
	sc := scene.Over()
	sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, progress.OutOfSchedulingReason(sc.Snapshot)
	if p := scene.PointOf(procedure.AfterUpdate(sc.Snapshot), "compute"); !slices.Equal(p.OpenTexts(), []string{"cmp-01"}) || p.Note != "" {
		t.Errorf("%+v", p)
	}
	if got := scene.KindsOf(procedure.Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureAfter})); !slices.Contains(got,
		core.IntentEnableCompute) {
		t.Errorf("steps %v", got)
	}
	told := func(sc scene.Scene) bool {
		return slices.ContainsFunc(Of(sc.Snapshot), func(a core.Attention) bool {
			return strings.HasPrefix(a.ID, "compute-left/") && a.Severity == core.SeverityWarning && strings.Contains(a.Reason, "not put back")
		})
	}
	if !told(sc) {
		t.Errorf("nobody is told: %+v", Of(sc.Snapshot))
	}
	sc.History.Update.Ended = time.Time{}
	if told(sc.Again()) {
		t.Error("told of before an update, for which it may have been done")
	}
}
