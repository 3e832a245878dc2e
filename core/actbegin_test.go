package core

import (
	"strings"
	"testing"

	"lockstep/sim/bubble"
)

// Which computes may be begun beside one of another availability zone: Rockoon's rule knows no scope (docs/mosk.md#services,
// can_handle_nmr of compute), and can be switched off.
func TestComputesOfOneZoneAreBegunTogether(t *testing.T) {
	for name, tt := range map[string]struct {
		scope   Scope
		zone    string
		across  bool
		blocked bool
	}{
		"scope os, another zone":             {ScopeOS, "east", false, true},
		"scope drain, another zone":          {ScopeDrain, "east", false, true},
		"scope drain, the same zone":         {ScopeDrain, "nova", false, false},
		"scope os, another zone, across":     {ScopeOS, "east", true, false},
		"scope os, a zone that is not known": {ScopeOS, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				cloud.requests["cmp-1"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: tt.scope}
				cloud.locks["cmp-2"].InnerState, cloud.services["cmp-2"].Zone = InnerActive, tt.zone
				settings := playsOpenStack()
				settings.MaxParallelNodes[RoleCompute], settings.AcrossZones = 30, tt.across
				b := newBenchWith(t, t.TempDir(), cloud, settings)
				defer b.end()
				b.arm()
				st := Plan(b.engine.Snapshot(), Intent{Kind: IntentActBegin, Controller: ControllerOpenStack, Node: "cmp-1"})
				if got := st.Blocker(); tt.blocked != strings.Contains(got, "one availability zone") || !tt.blocked && !st.Doable() {
					t.Errorf("it is %s, blocked by %q", st.State, got)
				}
			})
		})
	}
}
