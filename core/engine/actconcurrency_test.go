package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// How many nodes a played controller works on at a time. The roles of the nodes already in work decide, not the roles of the next
// one (docs/mosk.md#concurrency); under the old rule the number is one.
func TestHowManyNodesAreWorkedOnAtATime(t *testing.T) {
	for name, tt := range map[string]struct {
		away     []core.Role // of cmp-2, which is in work
		of       core.Role   // of cmp-1, which is next; empty: compute
		settings func(*core.Settings)
		says     string // empty: it can begin
	}{
		"a compute beside a compute":                 {[]core.Role{core.RoleCompute}, "", nil, ""},
		"a compute beside a controller":              {[]core.Role{core.RoleController}, "", nil, "controller: cmp-2"},
		"a compute beside a gateway":                 {[]core.Role{core.RoleGateway}, "", nil, "gateway: cmp-2"},
		"a compute beside one that is a gateway too": {[]core.Role{core.RoleCompute, core.RoleGateway}, "", nil, "gateway: cmp-2"},
		"a controller beside a controller":           {[]core.Role{core.RoleController}, core.RoleController, nil, "controller: cmp-2"},
		"a controller beside a compute":              {[]core.Role{core.RoleCompute}, core.RoleController, nil, ""},
		"a controller beside a controller, where two may be": {[]core.Role{core.RoleController}, core.RoleController,
			func(s *core.Settings) { s.MaxParallelNodes[core.RoleController] = 2 }, ""},
		"a compute beside a compute, where one may be": {[]core.Role{core.RoleCompute}, "",
			func(s *core.Settings) { s.MaxParallelNodes[core.RoleCompute] = 1 }, "compute: cmp-2"},
		"a compute beside a compute, one at a time": {[]core.Role{core.RoleCompute}, "",
			func(s *core.Settings) { s.ActAs[0].OneByOne = true }, "one at a time, and there is cmp-2"},
		"a controller beside a compute, one at a time": {[]core.Role{core.RoleCompute}, core.RoleController,
			func(s *core.Settings) { s.ActAs[0].OneByOne = true }, "one at a time, and there is cmp-2"},
		"a compute while nothing is worked on, one at a time": {nil, "", func(s *core.Settings) { s.ActAs[0].OneByOne = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				cloud.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime,
					Finalizers: scene.HeldBy}, Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
				cloud.roles = map[string][]core.Role{"cmp-1": {core.RoleCompute}}
				if tt.of != "" {
					cloud.roles["cmp-1"] = []core.Role{tt.of}
				}
				if tt.away != nil {
					cloud.roles["cmp-2"], cloud.locks["cmp-2"].InnerState = tt.away, core.InnerActive
				}
				settings := scene.PlaysOpenStack()
				settings.MaxParallelNodes = core.DefaultSettings().MaxParallelNodes
				if tt.settings != nil {
					tt.settings(&settings)
				}
				b := newBenchWith(t, t.TempDir(), cloud, settings)
				defer b.end()
				b.arm()
				st := step.Plan(b.engine.Snapshot(), core.Intent{Kind: core.IntentActBegin, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				if got := st.Blocker(); (tt.says == "") != st.Doable() || !strings.Contains(got, tt.says) {
					t.Errorf("it is %s, blocked by %q; want %q", st.State, got, tt.says)
				}
			})
		})
	}
}
