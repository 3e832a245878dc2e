package step

import (
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// A lock that Lockstep makes has the name by which Rockoon finds its own. Otherwise Rockoon would make another one when it is
// back, and release only that (docs/mosk.md#locks).
func TestThePlayedLockBearsRockoonsName(t *testing.T) {
	sc := scene.Healthy()
	sc.Settings = scene.PlaysOpenStack()
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
	sc.ClusterLocks = nil
	sc.NodeLocks = sc.NodeLocks.Without("cmp-01")
	for _, tt := range []struct {
		node string
		of   []*core.OpenStackStatus
		want string
	}{
		{"", []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev"}}}, "openstack-osh-dev"},
		{"", nil, "openstack-mos"},
		{"cmp-01", []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev"}}}, "openstack-cmp-01"},
	} {
		sc.OpenStack = tt.of
		st := Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentActCreateLock, Controller: core.ControllerOpenStack, Node: tt.node})
		if c, ok := st.Change.(core.CreateLock); !ok || c.Lock.Name != tt.want || st.Target.Name != tt.want {
			t.Errorf("of node %q it is %+v on %s, want %s", tt.node, st.Change, st.Target, tt.want)
		}
	}
}
