package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// Which computes may begin beside one of another availability zone: Rockoon's rule knows no scope (docs/mosk.md#services,
// can_handle_nmr of compute), and can be switched off.
func TestComputesOfOneZoneAreBegunTogether(t *testing.T) {
	for name, tt := range map[string]struct {
		scope   core.Scope
		zone    string
		across  bool
		blocked bool
	}{
		"scope os, another zone":             {core.ScopeOS, "east", false, true},
		"scope drain, another zone":          {core.ScopeDrain, "east", false, true},
		"scope drain, the same zone":         {core.ScopeDrain, "nova", false, false},
		"scope os, another zone, across":     {core.ScopeOS, "east", true, false},
		"scope os, a zone that is not known": {core.ScopeOS, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				cloud.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime,
					Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: tt.scope}
				cloud.locks["cmp-2"].InnerState, cloud.services["cmp-2"].Zone = core.InnerActive, tt.zone
				settings := scene.PlaysOpenStack()
				settings.MaxParallelNodes[core.RoleCompute], settings.AcrossZones = 30, tt.across
				b := newBenchWith(t, t.TempDir(), cloud, settings)
				defer b.end()
				b.arm()
				st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentActBegin, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				if got := st.Blocker(); tt.blocked != strings.Contains(got, "one availability zone") || !tt.blocked && !st.Doable() {
					t.Errorf("it is %s, blocked by %q", st.State, got)
				}
			})
		})
	}
}
