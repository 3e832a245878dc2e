package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// Instances elsewhere whose volumes lie on a node's own disks lose them while the node is down. The node's steps name them: before
// its turn, while it leaves, and when it is back and they need a reboot.
func TestInstancesElsewhereThatUseANodesDisksAreNamed(t *testing.T) {
	stp := func(s *core.Snapshot) (core.Step, bool) {
		p, _ := Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
		i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return strings.HasPrefix(st.ID, "elsewhere/") })
		if i < 0 {
			return core.Step{}, false
		}
		return p.Steps[i], true
	}
	for name, tt := range map[string]struct {
		change func(sc scene.Scene)
		state  core.StepState // empty: no step
		says   string
		hand   string
	}{
		"before its turn": {func(scene.Scene) {}, core.StepLater, "web-2 on cmp-02 (data-1), web-3 on cmp-03 (data-2)", "openstack server stop"},
		"it is asked for": {func(sc scene.Scene) { sc.Maintained("cmp-01", "") }, core.StepWaiting, "web-2 on cmp-02 (data-1)",
			"openstack server stop"},
		"it was released": {func(sc scene.Scene) { sc.Maintained("cmp-01", "").RawState = core.LockInactive }, core.StepWaiting,
			"web-2 on cmp-02", "openstack server reboot"},
		"it comes back": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = scene.Ago(time.Minute)
		}, core.StepWaiting, "web-2 on cmp-02", "openstack server reboot"},
		"one is stopped": {func(sc scene.Scene) { sc.ByHost["cmp-02"][0].VMState = "stopped" }, core.StepLater, "web-3 on cmp-03 (data-2)",
			"openstack server stop"},
		"nobody uses one from elsewhere": {func(sc scene.Scene) {
			sc.Volumes["cmp-01"].Volumes = sc.Volumes["cmp-01"].Volumes[:1]
		}, "", "", ""},
		"they are not known, and it is asked for": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.Source(core.SourceVolumes, core.SourceForbidden)
		}, core.StepWaiting, "not known: ", ""},
		"it has no disks of its own": {func(sc scene.Scene) { delete(sc.VolumeServices, "cmp-01") }, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			scene.WithOwnDisks(sc, sc.ByHost["cmp-01"][0], sc.ByHost["cmp-02"][0], sc.ByHost["cmp-03"][0])
			tt.change(sc)
			st, there := stp(sc.Again().Snapshot)
			if there != (tt.state != "") || st.State != tt.state || !strings.Contains(st.Status, tt.says) || strings.Contains(st.Status, "web-1") {
				t.Fatalf("%+v", st)
			}
			if tt.state == core.StepWaiting && tt.hand != "" {
				safe := step.Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"})
				if !strings.Contains(safe.Then, "2 instances elsewhere lose volumes that it serves, and need a reboot afterwards: web-2 on cmp-02") {
					t.Errorf("to declare it safe says %q", safe.Then)
				}
			}
			if tt.hand != "" && !strings.HasPrefix(st.Commands[0], tt.hand) {
				t.Errorf("by hand: %q", st.Commands)
			}
		})
	}
}
