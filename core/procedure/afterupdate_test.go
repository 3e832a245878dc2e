package procedure

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// Each open point is followed by the steps that close it, and a closed point by none.
func TestStepsAfterTheUpdate(t *testing.T) {
	kinds := func(sc scene.Scene) (out []core.IntentKind) {
		p, ok := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureAfter})
		if !ok {
			t.Fatal("there is no procedure")
		}
		for _, st := range p.Steps {
			if st.Intent.Kind != "" {
				out = append(out, st.Intent.Kind)
			}
		}
		return out
	}
	if got := kinds(scene.Over()); !slices.Equal(got, []core.IntentKind{core.IntentAddTempest}) {
		t.Errorf("with nothing left over: %v", got)
	}
	sc := scene.Over()
	sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = false, core.DisabledReasonMaintenance
	sc.Services["cmp-02"].Enabled, sc.Services["cmp-02"].DisabledReason = false, "a fan"
	sc.Agents["cmp-01"][0].Alive = false
	sc.Old(scene.VRouters, "cmp-01", "cmp-03")
	sc.Mode("cmp-01", core.ModeSkip)
	sc.Changed("cmp-01", "manual", "skip")
	sc.Mode("cmp-03", core.ModeManual) // somebody else's, as the attempts are
	sc.Nodes["cmp-03"].Annotations[core.AnnotationMigrationAttempts] = "7"
	sc.Named("web-1").Status = "SHUTOFF"
	sc.Named("web-2").Tags = []string{core.TagMaintenanceAction + "poweroff"}
	sc.History.Tags = map[string]core.TagChange{sc.Named("web-2").ID: {Instance: "web-2", New: []core.MaintenanceAction{core.ActionPowerOff}}}
	sc.Named("web-3").Status = "SHELVED_OFFLOADED"
	sc.History.Stopped = map[string]core.StopRecord{scene.Web1: {At: scene.Ago(2 * time.Hour)},
		sc.Named("web-3").ID: {At: scene.Ago(2 * time.Hour)}}
	want := []core.IntentKind{core.IntentEnableCompute, core.IntentRestartAgents, core.IntentRestartPods, core.IntentRestartPod,
		core.IntentRestartPod, core.IntentRestoreMode, core.IntentRestoreTags, core.IntentStart, core.IntentUnshelve, core.IntentSetMode,
		core.IntentSetAttempts, core.IntentAddTempest}
	if got := kinds(sc); !slices.Equal(got, want) {
		t.Errorf("%v,\nwant %v", got, want)
	}
	if p := scene.PointOf(AfterUpdate(sc.Again().Snapshot), "compute"); p.Note != "disabled for another reason: cmp-02" {
		t.Errorf("%q", p.Note)
	}
}
