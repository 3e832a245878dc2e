package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// When a node blocks the update for longer than the documents allow for the whole update, its steps end with the documents' only
// way out, its cost and its command. Lockstep does not run it.
func TestTheLastWayOutOfANodeIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(sc scene.Scene, r *core.MaintenanceRequest)
		told   bool
	}{
		"for 20 minutes": {func(scene.Scene, *core.MaintenanceRequest) {}, false},
		"for two hours":  {func(_ scene.Scene, r *core.MaintenanceRequest) { r.Created = scene.Ago(2 * time.Hour) }, true},
		"it comes back": {func(_ scene.Scene, r *core.MaintenanceRequest) {
			r.Created, r.Deleting = scene.Ago(2*time.Hour), scene.Ago(time.Hour)
		}, false},
		"asked for by hand": {func(_ scene.Scene, r *core.MaintenanceRequest) {
			r.Created, r.MadeBy = scene.Ago(2*time.Hour), core.MadeByLockstep
		}, false},
		"its lock says failed": {func(sc scene.Scene, _ *core.MaintenanceRequest) {
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockFailed
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Maintained("cmp-01", "")
			tt.change(sc, sc.NodeRequests["cmp-01"][0])
			p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
			i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return strings.HasPrefix(st.ID, "last-resort/") })
			if (i >= 0) != tt.told {
				t.Fatalf("told %v", i >= 0)
			}
			if !tt.told {
				return
			}
			st := p.Steps[i]
			if st.Change != nil || st.State != core.StepLater || !strings.Contains(st.Why, "no rollback of an update") ||
				!strings.Contains(st.Why, "What it costs") ||
				len(st.Commands) != 1 || !strings.Contains(st.Commands[0], "kubectl -n PROJECT edit machines.cluster.k8s.io MACHINE") {
				t.Errorf("%+v", st)
			}
		})
	}
}
