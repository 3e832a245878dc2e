package procedure

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// Where the pod of its nova-compute is known, a confirmed step restarts it: the new one registers itself.
func TestANovaComputeThatNovaDoesNotShowIsRestarted(t *testing.T) {
	sc := scene.Healthy()
	d := sc.DaemonSet(core.NamespaceOpenStack+"/nova-compute-default", "compute", false, "cmp-01", "cmp-02", "cmp-03")
	d.Application = "nova"
	delete(sc.Services, "cmp-01")
	_, by := scene.StepsOf(Of(sc.Again().Snapshot, scene.OfNode("cmp-01")))
	found := false
	for _, st := range by {
		if st.Intent.Kind == core.IntentRestartAgent {
			found = true
			if st.State != core.StepReady {
				t.Errorf("it is %s: %s", st.State, st.Blocker())
			}
		}
	}
	if !found {
		t.Errorf("nothing restarts it: %v", by)
	}
}

// Such a compute is not released because of the narrow scope, and its lock is not taken back: the controller fails on both. The
// steps show what brings the service back.
func TestAPlayedControllerWaitsForNovaCompute(t *testing.T) {
	for name, tt := range map[string]struct {
		scene func() scene.Scene
		kind  core.IntentKind
		says  string
	}{
		"release, scope drain": {scene.AtReleaseDrain.Scene, core.IntentActRelease, "no nova-compute service is known for it"},
		"taken back":           {scene.ReturnedScene, core.IntentActRearm, "it shows none of cmp-01"},
		"taken back, its request went": {func() scene.Scene { sc := scene.ReturnedScene(); clear(sc.NodeRequests); return sc },
			core.IntentActRearm, "it shows none of cmp-01"},
		"taken back, while Nova is silent": {func() scene.Scene {
			sc := scene.ReturnedScene()
			sc.Source(core.SourceComputeServices, core.SourceForbidden)
			return sc
		}, core.IntentActRearm, "compute services: forbidden"},
	} {
		sc := tt.scene()
		intent := core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-01"}
		known := sc.Known(core.SourceComputeServices)
		if st := step.Plan(sc.Again().Snapshot, intent); known && !st.Doable() {
			t.Errorf("%s: with one it is %s: %s", name, st.State, st.Blocker())
		}
		delete(sc.Services, "cmp-01")
		if st := step.Plan(sc.Again().Snapshot, intent); st.Doable() || !strings.Contains(st.Blocker(), tt.says) {
			t.Errorf("%s: it is %s: %s", name, st.State, st.Blocker())
		}
		if titles, by := scene.StepsOf(Of(sc.Again().Snapshot, scene.OfNode("cmp-01"))); tt.kind == core.IntentActRearm && known &&
			len(by["Nova shows a nova-compute of cmp-01"].Commands) == 0 {
			t.Errorf("%s: the steps are %q", name, titles)
		}
	}
}
