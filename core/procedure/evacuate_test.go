package procedure

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// On a host whose kubelet reports, the way out of a silent nova-compute is to restart it: its guests live. On a dead host the way
// out is to evacuate them.
func TestASilentNovaComputeOnALivingHost(t *testing.T) {
	for name, sn := range map[string]func() scene.Scene{"a maintenance": scene.InMaintenance,
		"a removal": func() scene.Scene { sc := scene.Healthy(); sc.Removes("cmp-01"); return sc }} {
		for _, dead := range []bool{false, true} {
			sc := sn()
			sc.DaemonSet("openstack/nova-compute-default", "compute", false, "cmp-01").Application = "nova"
			sc.Dies("cmp-01")
			if !dead {
				sc.Nodes["cmp-01"].Ready = "True"
			}
			p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
			doable := func(kind core.IntentKind) bool {
				return slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == kind && st.Doable() })
			}
			if got := doable(core.IntentRestartAgent); got == dead {
				t.Errorf("%s, dead %t: nova-compute can be started anew: %t; %q", name, dead, got, scene.Outline(p))
			}
			if got := doable(core.IntentEvacuate); got != dead {
				t.Errorf("%s, dead %t: evacuated: %t; %q", name, dead, got, scene.Outline(p))
			}
		}
	}
}

// What Nova does not evacuate as it is off a dead host has a way on by hand, in a maintenance as in a removal: written down as failed, it
// is evacuated. What is being evacuated is left alone, and that the record of its migration still runs holds up nothing.
func TestWhatIsOnADeadHost(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(in *core.Instance) *core.Migration // its newest migration
		want string                                  // evacuate, by hand or wait
	}{
		"it runs": {func(*core.Instance) *core.Migration { return nil }, "evacuate"},
		"it was on its way": {func(in *core.Instance) *core.Migration {
			in.Status, in.TaskState = "MIGRATING", "migrating"
			return &core.Migration{Type: core.MigrationLive, Status: "running"}
		}, "by hand"},
		"it was on its way, and was written down as failed": {func(in *core.Instance) *core.Migration {
			in.Status, in.VMState = "ERROR", "error"
			return &core.Migration{Type: core.MigrationLive, Status: "running"}
		}, "evacuate"},
		"it waits for a decision": {func(in *core.Instance) *core.Migration { in.Status = "VERIFY_RESIZE"; return nil }, "by hand"},
		"it is paused":            {func(in *core.Instance) *core.Migration { in.Status = "PAUSED"; return nil }, "by hand"},
		"it is being evacuated": {func(in *core.Instance) *core.Migration {
			in.Status, in.TaskState = "REBUILD", "rebuilding"
			return &core.Migration{Type: core.MigrationEvacuation, Status: "accepted"}
		}, "wait"},
		"it is being evacuated, and that is not known yet": {func(in *core.Instance) *core.Migration {
			in.Status, in.TaskState, in.Updated = "REBUILD", "rebuild_spawning", scene.Ago(30*time.Second)
			return nil
		}, "wait"},
		"its owner was rebuilding it": {func(in *core.Instance) *core.Migration {
			in.Status, in.TaskState, in.Updated = "REBUILD", "rebuild_spawning", scene.Ago(5*time.Minute)
			return nil
		}, "by hand"},
		"it was being evacuated, to a host that is dead, too": {func(in *core.Instance) *core.Migration {
			in.Status, in.TaskState = "REBUILD", "rebuild_spawning"
			return &core.Migration{Type: core.MigrationEvacuation, Status: "accepted", DestHost: "cmp-03"}
		}, "by hand"},
		"it was to be evacuated, and no host has taken it": {func(in *core.Instance) *core.Migration {
			in.Status, in.TaskState = "REBUILD", "rebuilding"
			return &core.Migration{Type: core.MigrationEvacuation, Status: "accepted", DestHost: "none", Created: scene.Ago(time.Hour)}
		}, "by hand"},
		"it was being stopped": {func(in *core.Instance) *core.Migration { in.TaskState = "powering-off"; return nil }, "by hand"},
		"it was rebooting": {func(in *core.Instance) *core.Migration {
			in.Status, in.TaskState = "REBOOT", "rebooting"
			return nil
		}, "by hand"},
		"it was being saved as an image": {func(in *core.Instance) *core.Migration { in.TaskState = "image_uploading"; return nil }, "by hand"},
		"it is being deleted":            {func(in *core.Instance) *core.Migration { in.TaskState = "deleting"; return nil }, "wait"},
	} {
		for of, sn := range map[string]func() scene.Scene{"a maintenance": scene.InMaintenance,
			"a removal": func() scene.Scene { sc := scene.Healthy(); sc.Removes("cmp-01"); return sc }} {
			sc := sn()
			sc.Mode("cmp-01", core.ModeManual)
			in := sc.Instance("cmp-01", "db-1")
			m := tt.set(in)
			if m != nil {
				m.ID, m.InstanceID, m.SourceHost, m.DestHost = 9, in.ID, "cmp-01", cmp.Or(m.DestHost, "cmp-02")
				if m.Created.IsZero() {
					m.Created = scene.Ago(time.Minute)
				}
				if m.DestHost == "none" {
					m.DestHost = ""
				}
				sc.Migrations[in.ID] = []*core.Migration{m}
			}
			sc.Dies("cmp-01")
			sc.Dies("cmp-03")
			p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
			safe := step.Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"})
			if _, unmet := safe.Unmet(core.GuardNoMigration); unmet != (m != nil && in.TaskState != "") {
				t.Errorf("%s, in %s: a migration holds up that the node is declared safe: %t", name, of, unmet)
			}
			own, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureInstance, Subject: in.ID})
			for page, steps := range map[string][]core.Step{"the node": p.Steps, "the instance": own.Steps} {
				got := "nothing"
				for _, st := range steps {
					switch {
					case st.Target.UID == in.ID && st.Intent.Kind == core.IntentEvacuate && st.Doable():
						got = "evacuate"
					case st.Target.UID != in.ID || got != "nothing":
					case slices.Contains(st.Commands, "openstack server set --state error "+in.ID):
						got = "by hand"
						const elsewhere = "first make sure that no guest of it runs there, either"
						if strings.Contains(st.Why, elsewhere) != (m != nil && m.DestHost != "") {
							t.Errorf("%s, in %s: %s", name, of, st.Why)
						}
					case st.State == core.StepWaiting, st.State == core.StepBlocked:
						got = "wait"
					}
				}
				if got != tt.want {
					t.Errorf("%s, in %s, by the steps of %s: %s, want %s; %q", name, of, page, got, tt.want, scene.Outline(p))
				}
			}
		}
	}
}

// A node that LCM reboots is not dead: its nova-compute sees to what was under way when it is back, and not where an instance was written
// down as ERROR. Only a node that is late is given up.
func TestATaskOnANodeThatRebootsIsLeftToItsHost(t *testing.T) {
	for name, tt := range map[string]struct {
		down time.Duration
		hand bool
	}{"it reboots": {5 * time.Minute, false}, "it does not come back": {3 * time.Hour, true}} {
		sc := scene.Healthy()
		sc.Maintained("cmp-01", "").RawState = core.LockInactive
		sc.NodeRequest("cmp-01").Created = scene.Ago(4 * time.Hour)
		sc.Dies("cmp-01")
		sc.Nodes["cmp-01"].ReadySince = scene.Ago(tt.down)
		in := sc.ByHost["cmp-01"][0]
		in.TaskState = "powering-on"
		s := sc.Again().Snapshot
		p, _ := Of(s, core.ProcedureKey{Kind: core.ProcedureInstance, Subject: in.ID})
		hand := slices.ContainsFunc(p.Steps, func(st core.Step) bool {
			return slices.ContainsFunc(st.Commands, func(line string) bool { return strings.Contains(line, "--state error") })
		})
		if hand != tt.hand {
			t.Errorf("%s: written down as ERROR: %t; %q", name, hand, scene.Outline(p))
		}
	}
}
