package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// A mode has no effect on a node that is not a compute: it is not offered, and setting it is refused. Where one is set, the node
// says so, and says what does hold the node (docs/mosk.md#modes-elsewhere).
func TestAModeOnANodeThatIsNoComputeIsNotOffered(t *testing.T) {
	sc := scene.Healthy()
	s := sc.Again().Snapshot
	for _, mode := range []core.MigrationMode{core.ModeLive, core.ModeManual, core.ModeSkip} {
		st := step.Plan(s, core.Intent{Kind: core.IntentSetMode, Nodes: []string{"gtw-01"}, Mode: mode})
		if st.Doable() || !strings.Contains(st.Blocker(), "looks at the modes of computes only") {
			t.Errorf("mode %s is %s: %s", mode, st.State, st.Blocker())
		}
		both := step.Plan(s, core.Intent{Kind: core.IntentSetMode, Nodes: []string{"gtw-01", "cmp-01"}, Mode: mode})
		if both.Doable() {
			t.Errorf("mode %s of both can be set", mode)
		}
		if st := step.Plan(s, core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-01"}, Mode: mode}); !st.Doable() {
			t.Errorf("mode %s of a compute is %s: %s", mode, st.State, st.Blocker())
		}
	}
	titles, _ := scene.StepsOf(Of(s, scene.OfNode("gtw-01")))
	if slices.ContainsFunc(titles, func(title string) bool { return strings.Contains(title, "migration mode") }) {
		t.Errorf("the steps are %q", titles)
	}
}

// Missing facts from Neutron do not mean that nothing is served: the word waits until they are known. What is gone is done.
func TestTheWordWaitsForWhatTheAgentsServe(t *testing.T) {
	for name, tt := range map[string]struct {
		load *core.AgentLoad
		word core.StepState
		l3   core.StepState
	}{
		"not asked yet":  {nil, core.StepBlocked, core.StepWaiting},
		"not told":       {&core.AgentLoad{Err: "forbidden"}, core.StepBlocked, core.StepWaiting},
		"nothing left":   {&core.AgentLoad{}, core.StepReady, core.StepDone},
		"HA alone":       {&core.AgentLoad{Routers: []core.Router{{ID: "r-2", HA: true}}}, core.StepReady, core.StepDone},
		"a router alone": {&core.AgentLoad{Routers: []core.Router{{ID: "r-1"}}}, core.StepReady, core.StepWaiting},
	} {
		sc := scene.Gateway()
		sc.Agents["gtw-01"][0].Load = tt.load
		_, by := scene.StepsOf(Of(sc.Again().Snapshot, scene.OfNode("gtw-01")))
		if got := by["declare gtw-01 safe"]; got.State != tt.word {
			t.Errorf("%s: the word is %s: %s", name, got.State, got.Blocker())
		}
		if got := by["move the routers off the L3 agent of gtw-01"]; got.State != tt.l3 {
			t.Errorf("%s: the routers are %s: %s", name, got.State, got.Status)
		}
	}
}
