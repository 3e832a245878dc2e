package step

import (
	"strings"
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

// A node that has just become Ready has none of its pods and agents back yet. What was listed before it went down shows them all as
// ready, and must not count: the OpenStack controller waits for them, and so does Lockstep in its place.
func TestANodeIsTakenBackOnlyByWhatIsKnownSinceItIsReady(t *testing.T) {
	for name, tt := range map[string]struct {
		pods, agents time.Time // as of when they were listed
		holds        bool
	}{
		"pods from before it went down":   {scene.Ago(time.Hour), scene.Ago(0), false},
		"agents from before it was Ready": {scene.Ago(2 * time.Second), scene.Ago(3 * time.Second), false},
		"both since":                      {scene.Ago(2 * time.Second), scene.Ago(0), true},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.ReturnedScene()
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(2 * time.Second)
			sc.Pods["cmp-01"].NodeReadySince = tt.pods
			src := sc.Sources[core.SourceNetworkAgents]
			src.AsOf = tt.agents
			sc.Sources[core.SourceNetworkAgents] = src
			svc := sc.Services["cmp-01"]
			svc.Enabled, svc.DisabledReason = false, core.DisabledReasonMaintenance
			for _, kind := range []core.IntentKind{core.IntentActIntoScheduling, core.IntentActRearm} {
				st := Plan(sc.Again().Snapshot, core.Intent{Kind: kind, Controller: core.ControllerOpenStack, Node: "cmp-01"})
				for _, g := range st.Guards {
					if id := g.ID; (id == core.GuardPodsReady || id == core.GuardAgentsAlive) && !g.Holds && tt.holds {
						t.Errorf("%s: %s", st.Title, g.Answer)
					}
				}
				if !tt.holds && !strings.Contains(st.Blocker(), "listed before the node was back") {
					t.Errorf("%s is %s: %q", st.Title, st.State, st.Blocker())
				}
			}
		})
	}
}
