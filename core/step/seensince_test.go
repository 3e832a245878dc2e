package step

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// When a node has just returned, the facts about its services are older: the OpenStack controller has enabled what it disabled. No
// step is offered on such facts. Once OpenStack was asked again, steps are offered for what is still disabled.
func TestServicesAreEnabledOnlyByWhatIsKnownSinceTheReturn(t *testing.T) {
	for name, tt := range map[string]struct {
		back, asked time.Duration // ago
		offered     bool
	}{
		"not asked since":     {2 * time.Second, 10 * time.Second, false},
		"asked since":         {10 * time.Second, 2 * time.Second, true},
		"back long ago":       {3 * time.Hour, 10 * time.Second, true},
		"never in any so far": {-1, 10 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Update(time.Hour)
			if tt.back >= 0 {
				sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "r", Update: "cmr", Started: scene.Ago(4 * time.Hour), Ended: scene.Ago(tt.back)}
			}
			svc := sc.Services["cmp-01"]
			svc.Enabled, svc.DisabledReason = false, core.DisabledReasonMaintenance
			v := &core.VolumeService{Host: "cmp-01@lvm", Up: true, DisabledReason: core.DisabledReasonMaintenance}
			sc.VolumeServices["cmp-01"] = []*core.VolumeService{v}
			for _, id := range []core.SourceID{core.SourceComputeServices, core.SourceVolumeServices} {
				src := sc.Sources[id]
				src.AsOf = scene.Ago(tt.asked)
				sc.Sources[id] = src
			}
			for _, i := range []core.Intent{{Kind: core.IntentEnableCompute, Node: "cmp-01"},
				{Kind: core.IntentEnableVolume, Node: "cmp-01", Object: v.Ref()}} {
				st := Plan(sc.Again().Snapshot, i)
				if st.Doable() != tt.offered || !tt.offered && st.State != core.StepWaiting {
					t.Errorf("%s is %s (%s): %s", st.Title, st.State, st.Status, st.Blocker())
				}
			}
		})
	}
}
