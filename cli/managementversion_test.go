package cli

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/sim/bubble"
	"lockstep/sim/scenario"
)

// MOSK's procedure begins with the version of the management cluster: Lockstep reads it there, and an update waits for it.
func TestTheManagementClusterHasToBeUpToDate(t *testing.T) {
	for name, tt := range map[string]struct {
		waits, says string
		state       core.StepState
		told        bool
	}{
		"a newer version waits": {"2.31.0", "Container Cloud 2.30.0; 2.31.0 waits", core.StepWaiting, true},
		"it is the latest":      {"", "Container Cloud 2.30.0, and no newer one waits", core.StepDone, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Story(t, func(t *testing.T) {
				r := watchStory(t, told(t, "smooth", func(s *scenario.Scenario) {
					s.Management.Plan.Colleague = 0 // nobody begins the update
					s.Management.Waits = tt.waits
				}), true)
				r.until("the version is shown before the update", func(s *core.Snapshot) bool {
					if !live(s, core.ServerManagement) || s.Management.Plan() == nil {
						return false
					}
					p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureCluster})
					said := false
					for _, a := range attention.Of(s) {
						said = said || a.ID == "management-outdated"
					}
					return p.Steps[0].State == tt.state && strings.Contains(p.Steps[0].Status, tt.says) && said == tt.told
				})
			})
		})
	}
}
