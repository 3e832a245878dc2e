package core

import (
	"strings"
	"testing"

	"lockstep/sim/bubble"
)

// How many nodes a played controller works on at a time: by the roles of those that it works on already, whatever the roles of the
// next one are (docs/mosk.md#concurrency); where the old rule is wanted, one.
func TestHowManyNodesAreWorkedOnAtATime(t *testing.T) {
	for name, tt := range map[string]struct {
		away     []Role // of cmp-2, which is worked on
		of       Role   // of cmp-1, which is to be begun; empty: compute
		settings func(*Settings)
		says     string // empty: it can be begun
	}{
		"a compute beside a compute":                          {[]Role{RoleCompute}, "", nil, ""},
		"a compute beside a controller":                       {[]Role{RoleController}, "", nil, "controller: cmp-2"},
		"a compute beside a gateway":                          {[]Role{RoleGateway}, "", nil, "gateway: cmp-2"},
		"a compute beside one that is a gateway too":          {[]Role{RoleCompute, RoleGateway}, "", nil, "gateway: cmp-2"},
		"a controller beside a controller":                    {[]Role{RoleController}, RoleController, nil, "controller: cmp-2"},
		"a controller beside a compute":                       {[]Role{RoleCompute}, RoleController, nil, ""},
		"a controller beside a controller, where two may be":  {[]Role{RoleController}, RoleController, func(s *Settings) { s.MaxParallelNodes[RoleController] = 2 }, ""},
		"a compute beside a compute, where one may be":        {[]Role{RoleCompute}, "", func(s *Settings) { s.MaxParallelNodes[RoleCompute] = 1 }, "compute: cmp-2"},
		"a compute beside a compute, one at a time":           {[]Role{RoleCompute}, "", func(s *Settings) { s.ActAs[0].OneByOne = true }, "one at a time, and there is cmp-2"},
		"a controller beside a compute, one at a time":        {[]Role{RoleCompute}, RoleController, func(s *Settings) { s.ActAs[0].OneByOne = true }, "one at a time, and there is cmp-2"},
		"a compute while nothing is worked on, one at a time": {nil, "", func(s *Settings) { s.ActAs[0].OneByOne = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := atRest()
				cloud.requests["cmp-1"] = &MaintenanceRequest{Meta: Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: "cmp-1", Scope: ScopeOS}
				cloud.roles = map[string][]Role{"cmp-1": {RoleCompute}}
				if tt.of != "" {
					cloud.roles["cmp-1"] = []Role{tt.of}
				}
				if tt.away != nil {
					cloud.roles["cmp-2"], cloud.locks["cmp-2"].InnerState = tt.away, InnerActive
				}
				settings := playsOpenStack()
				settings.MaxParallelNodes = DefaultSettings().MaxParallelNodes
				if tt.settings != nil {
					tt.settings(&settings)
				}
				b := newBenchWith(t, t.TempDir(), cloud, settings)
				defer b.end()
				b.arm()
				st := Plan(b.engine.Snapshot(), Intent{Kind: IntentActBegin, Controller: ControllerOpenStack, Node: "cmp-1"})
				if got := st.Blocker(); (tt.says == "") != st.Doable() || !strings.Contains(got, tt.says) {
					t.Errorf("it is %s, blocked by %q; want %q", st.State, got, tt.says)
				}
			})
		})
	}
}
