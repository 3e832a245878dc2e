package step

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The commands are those of the documents (docs/mosk.md#commands) and of python-openstackclient, ready to be pasted.
func TestCommandsAreThoseThatOperatorsType(t *testing.T) {
	annotate := "kubectl annotate node cmp-01 openstack.lcm.mirantis.com/"
	cases := []struct {
		name   string
		make   func() scene.Scene
		intent core.Intent
		want   []string
	}{
		{"declare safe", scene.Emptied, core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"},
			[]string{annotate + "instance_migration_mode=skip --overwrite"}},
		{"set a mode", scene.Healthy, core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-01"}, Mode: core.ModeManual},
			[]string{annotate + "instance_migration_mode=manual --overwrite"}},
		{"remove the mode", scene.InMaintenance, core.Intent{Kind: core.IntentSetMode, Node: "cmp-01"},
			[]string{annotate + "instance_migration_mode-"}},
		{"set attempts", scene.Healthy, core.Intent{Kind: core.IntentSetAttempts, Node: "cmp-01", Attempts: 5},
			[]string{annotate + "instance_migration_attempts=5 --overwrite"}},
		{"live-migrate", scene.Healthy, core.Intent{Kind: core.IntentLiveMigrate, Instance: scene.Web1},
			[]string{"openstack --os-compute-api-version 2.30 server migrate --live-migration " + scene.Web1}},
		{"cold-migrate", scene.Healthy, core.Intent{Kind: core.IntentColdMigrate, Instance: scene.Web1},
			[]string{"openstack server migrate " + scene.Web1}},
		{"confirm", func() scene.Scene { sc := scene.Healthy(); sc.CameFrom("web-1", "cmp-02"); return sc },
			core.Intent{Kind: core.IntentConfirmResize, Instance: scene.Web1},
			[]string{"openstack server migration confirm " + scene.Web1}},
		{"revert", func() scene.Scene { sc := scene.Healthy(); sc.CameFrom("web-1", "cmp-02"); return sc },
			core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1},
			[]string{"openstack server migration revert " + scene.Web1}},
		{"stop", scene.Healthy, core.Intent{Kind: core.IntentStop, Instance: scene.Web1}, []string{"openstack server stop " + scene.Web1}},
		{"start", scene.Healthy, core.Intent{Kind: core.IntentStart, Instance: scene.Web1}, []string{"openstack server start " + scene.Web1}},
		{"abort", func() scene.Scene { sc := scene.Healthy(); sc.Migrates("web-1"); return sc },
			core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1},
			[]string{"openstack --os-compute-api-version 2.65 server migration abort " + scene.Web1 + " 100"}},
		{"force", func() scene.Scene { sc := scene.Healthy(); sc.Migrates("web-1"); return sc },
			core.Intent{Kind: core.IntentForceComplete, Instance: scene.Web1},
			[]string{"openstack --os-compute-api-version 2.22 server migration force complete " + scene.Web1 + " 100"}},
		{"disable", scene.Healthy, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-01", Reason: "a dead fan; it's loud"},
			[]string{`openstack compute service set --disable --disable-reason 'a dead fan; it'\''s loud' cmp-01 nova-compute`}},
		{"disable for a reason that looks like an option", scene.Healthy,
			core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-01", Reason: "--fan"},
			[]string{"openstack compute service set --disable --disable-reason=--fan cmp-01 nova-compute"}},
		{"enable", scene.InMaintenance, core.Intent{Kind: core.IntentEnableCompute, Node: "cmp-01"},
			[]string{"openstack compute service set --enable cmp-01 nova-compute"}},
		{"all of a host", func() scene.Scene { sc := scene.Healthy(); sc.Instance("cmp-01", "a-1"); return sc },
			core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-01"},
			[]string{"openstack --os-compute-api-version 2.30 server migrate --live-migration 00000004-0000-4000-8000-000000000004",
				"openstack --os-compute-api-version 2.30 server migrate --live-migration " + scene.Web1}},
		{"the mode of two nodes", scene.Healthy,
			core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-02", "cmp-01"}, Mode: core.ModeManual},
			[]string{annotate + "instance_migration_mode=manual --overwrite",
				strings.Replace(annotate, "cmp-01", "cmp-02", 1) + "instance_migration_mode=manual --overwrite"}},
	}
	for _, tc := range cases {
		if got := Plan(tc.make().Snapshot, tc.intent).Commands; !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

// Each guard alone blocks what it is meant to block.
func TestGuards(t *testing.T) {
	declare := core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"}
	live := core.Intent{Kind: core.IntentLiveMigrate, Instance: scene.Web1}
	cold := core.Intent{Kind: core.IntentColdMigrate, Instance: scene.Web1}
	enable := core.Intent{Kind: core.IntentEnableCompute, Node: "cmp-01"}
	cases := []struct {
		name   string
		make   func() scene.Scene
		change func(sc scene.Scene)
		intent core.Intent
		fails  []core.GuardID
	}{
		// Guards of every step.
		{"nothing stands against it", scene.Healthy, func(scene.Scene) {}, live, nil},
		{"not armed", scene.Healthy, func(sc scene.Scene) { sc.Write.Armed = false }, live, []core.GuardID{"armed"}},
		{"barred", scene.Healthy, func(sc scene.Scene) { sc.Write.Barred = "started with --read-only" }, live, []core.GuardID{"armed"}},
		{"instances not seen for long", scene.Healthy, func(sc scene.Scene) { sc.Aged(core.SourceInstances, 61*time.Second) }, live,
			[]core.GuardID{"fresh"}},
		{"instances seen just now", scene.Healthy, func(sc scene.Scene) { sc.Aged(core.SourceInstances, 60*time.Second) }, live, nil},
		{"migrations failing", scene.Healthy, func(sc scene.Scene) { sc.Source(core.SourceMigrations, core.SourceFailed) }, live,
			[]core.GuardID{"fresh"}},
		{"nodes not seen, and they do not matter", scene.Healthy, func(sc scene.Scene) { sc.Source(core.SourceNodes, core.SourceForbidden) },
			live, nil},
		{"an operation on its node", scene.Healthy, func(sc scene.Scene) {
			sc.Doing(core.Operation{Step: "set-mode/uid-cmp-01/skip", Intent: core.Intent{Kind: core.IntentSetMode}, Node: "cmp-01"})
		}, live, []core.GuardID{"alone"}},
		{"an operation on another node", scene.Healthy, func(sc scene.Scene) {
			sc.Doing(core.Operation{Step: "set-mode/uid-cmp-02/skip", Intent: core.Intent{Kind: core.IntentSetMode}, Node: "cmp-02"})
		}, live, nil},
		{"a batch over nodes, its among them", scene.Healthy, func(sc scene.Scene) {
			sc.Doing(core.Operation{Step: "set-mode/2-nodes-x", Intent: core.Intent{Kind: core.IntentSetMode},
				Items: []core.OperationItem{{Label: "cmp-01", Node: "cmp-01", State: core.OperationRunning}}})
		}, live, []core.GuardID{"alone"}},
		{"no such instance", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentLiveMigrate, Instance: "gone"},
			[]core.GuardID{"exists"}},
		{"no such node", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentSetMode, Node: "gone", Mode: core.ModeManual},
			[]core.GuardID{"exists"}},
		{"no such intent", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: "reboot-everything"}, []core.GuardID{"exists"}},

		// Instances: Nova's API reference lists the statuses in which an action is possible.
		{"live: paused", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "PAUSED", "paused") }, live, nil},
		{"live: stopped", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "SHUTOFF", "stopped") }, live, []core.GuardID{"status"}},
		{"live: error", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "ERROR", "error") }, live, []core.GuardID{"status"}},
		{"live: waits for a decision", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "VERIFY_RESIZE", "resized") }, live,
			[]core.GuardID{"status"}},
		{"live: a task", scene.Healthy, func(sc scene.Scene) { sc.Named("web-1").TaskState = "image_snapshot" }, live, []core.GuardID{"no-task"}},
		{"live: migrates already", scene.Healthy, func(sc scene.Scene) { sc.Migration(sc.Named("web-1"), "preparing", "", time.Minute) }, live,
			[]core.GuardID{"no-migration"}},
		{"live: an older record that never ended", scene.Healthy, func(sc scene.Scene) {
			sc.Migration(sc.Named("web-1"), "running", "cmp-02", time.Hour)
			sc.Migration(sc.Named("web-1"), "error", "cmp-02", time.Minute)
		}, live, nil},
		{"live: on no host", scene.Healthy, func(sc scene.Scene) { sc.Named("web-1").Host = "" }, live, []core.GuardID{"on-host"}},
		{"live: locked by its owner is only a note", scene.Healthy, func(sc scene.Scene) { sc.Named("web-1").Locked = true }, live, nil},
		{"live: nova-compute of its host is down", scene.Healthy, func(sc scene.Scene) { sc.Services["cmp-01"].Up = false }, live,
			[]core.GuardID{"compute-up"}},
		{"live: Nova knows no nova-compute of its host", scene.Healthy, func(sc scene.Scene) { delete(sc.Services, "cmp-01") }, live,
			[]core.GuardID{"compute-up"}},
		{"unshelve: it is on no host", scene.Healthy,
			func(sc scene.Scene) { sc.Status("web-1", "SHELVED_OFFLOADED", "shelved_offloaded").Host = "" },
			core.Intent{Kind: core.IntentUnshelve, Instance: scene.Web1}, nil},
		{"live: all others are disabled", scene.Healthy,
			func(sc scene.Scene) { sc.Services["cmp-02"].Enabled, sc.Services["cmp-03"].Enabled = false, false }, live, []core.GuardID{"target"}},
		{"live: all others are in another zone", scene.Healthy,
			func(sc scene.Scene) { sc.Services["cmp-02"].Zone, sc.Services["cmp-03"].Zone = "edge", "edge" }, live, []core.GuardID{"target"}},
		{"live: one other is up", scene.Healthy, func(sc scene.Scene) { sc.Services["cmp-02"].Up = false }, live, nil},
		{"live: a released host is enabled", scene.Healthy, func(sc scene.Scene) {
			sc.Maintained("cmp-02", "").RawState, sc.Services["cmp-02"].Enabled = core.LockInactive, true
		}, live, []core.GuardID{"target"}},
		{"live: a host that was let go for its removal is enabled", scene.Healthy, func(sc scene.Scene) {
			sc.Removes("cmp-02")
			sc.NodeLock("cmp-02", core.ControllerOpenStack).RawState = core.LockInactive
		}, live, []core.GuardID{"target"}},
		{"live: a released host is disabled", scene.Healthy, func(sc scene.Scene) {
			sc.Maintained("cmp-02", "").RawState, sc.Services["cmp-02"].Enabled = core.LockInactive, false
		}, live, nil},
		{"live: a released host is only drained", scene.Healthy, func(sc scene.Scene) {
			sc.Maintained("cmp-02", "").RawState, sc.Services["cmp-02"].Enabled = core.LockInactive, true
			sc.NodeRequest("cmp-02").Scope = core.ScopeDrain
		}, live, nil},
		{"live: a released host returns", scene.Healthy, func(sc scene.Scene) {
			sc.Maintained("cmp-02", "").RawState, sc.Services["cmp-02"].Enabled = core.LockInactive, true
			sc.NodeRequest("cmp-02").Deleting = scene.Ago(time.Minute)
		}, live, nil},
		{"cold: stopped", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "SHUTOFF", "stopped") }, cold, nil},
		{"cold: paused", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "PAUSED", "paused") }, cold, []core.GuardID{"status"}},
		{"confirm: not waiting", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentConfirmResize, Instance: scene.Web1},
			[]core.GuardID{"status"}},
		{"confirm: waiting", scene.Healthy, func(sc scene.Scene) { sc.CameFrom("web-1", "cmp-02") },
			core.Intent{Kind: core.IntentConfirmResize, Instance: scene.Web1}, nil},
		{"confirm: nobody knows from where it came", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "VERIFY_RESIZE", "resized") },
			core.Intent{Kind: core.IntentConfirmResize, Instance: scene.Web1}, []core.GuardID{"known"}},
		{"confirm: only an older migration of it is known", scene.Healthy, func(sc scene.Scene) {
			sc.Migration(sc.Status("web-1", "VERIFY_RESIZE", "resized"), "completed", "cmp-01", time.Hour)
		}, core.Intent{Kind: core.IntentConfirmResize, Instance: scene.Web1}, []core.GuardID{"known"}},
		{"confirm: its source is down", scene.Healthy, func(sc scene.Scene) {
			m := sc.Migration(sc.Status("web-1", "VERIFY_RESIZE", "resized"), "finished", "cmp-01", time.Minute)
			m.Type, m.SourceHost, sc.Services["cmp-02"].Up = core.MigrationCold, "cmp-02", false
		}, core.Intent{Kind: core.IntentConfirmResize, Instance: scene.Web1}, []core.GuardID{"compute-up"}},
		{"revert: nobody knows from where it came", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "VERIFY_RESIZE", "resized") },
			core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1}, []core.GuardID{"known"}},
		{"revert: its source is held", scene.Healthy, func(sc scene.Scene) { sc.CameFrom("web-1", "cmp-02"); sc.Maintained("cmp-02", "") },
			core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1}, nil},
		{"revert: its source is released to LCM", scene.Healthy, func(sc scene.Scene) {
			sc.CameFrom("web-1", "cmp-02")
			sc.Maintained("cmp-02", "").RawState = core.LockInactive
		}, core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1}, []core.GuardID{"stays-up"}},
		{"revert: its source is to be removed", scene.Healthy, func(sc scene.Scene) { sc.CameFrom("web-1", "cmp-02"); sc.Removes("cmp-02") },
			core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1}, []core.GuardID{"stays-up"}},
		{"revert: its source is being released", scene.Healthy, func(sc scene.Scene) {
			sc.CameFrom("web-1", "cmp-02")
			sc.Maintained("cmp-02", "")
			sc.Doing(core.Operation{Step: "act-release/openstack/cmp-02", Intent: core.Intent{Kind: core.IntentActRelease, Node: "cmp-02"},
				Node: "cmp-02", State: core.OperationRunning})
		}, core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1}, []core.GuardID{"alone"}},
		{"what is done on a node while an instance is taken back to it", scene.Healthy, func(sc scene.Scene) {
			sc.CameFrom("web-1", "cmp-02")
			sc.Doing(core.Operation{Step: "revert-resize/" + scene.Web1, Intent: core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1},
				Node: "cmp-01", Instance: scene.Web1, State: core.OperationRunning})
		}, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-02", Reason: "a fan"}, []core.GuardID{"alone"}},
		{"what is done on a third node meanwhile", scene.Healthy, func(sc scene.Scene) {
			sc.CameFrom("web-1", "cmp-02")
			sc.Doing(core.Operation{Step: "revert-resize/" + scene.Web1, Intent: core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1},
				Node: "cmp-01", Instance: scene.Web1, State: core.OperationRunning})
		}, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-03", Reason: "a fan"}, nil},
		{"revert: its own host is released to LCM", scene.Healthy, func(sc scene.Scene) {
			sc.CameFrom("web-1", "cmp-02")
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
		}, core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1}, nil},
		{"evacuate: its host is dead", scene.Healthy, func(sc scene.Scene) { sc.Dies("cmp-01") },
			core.Intent{Kind: core.IntentEvacuate, Instance: scene.Web1}, nil},
		{"evacuate: the kubelet reports", scene.Healthy, func(sc scene.Scene) { sc.Dies("cmp-01"); sc.Nodes["cmp-01"].Ready = "True" },
			core.Intent{Kind: core.IntentEvacuate, Instance: scene.Web1}, []core.GuardID{"host-dead"}},
		{"evacuate: the kubelet reports that it is not Ready", scene.Healthy,
			func(sc scene.Scene) { sc.Dies("cmp-01"); sc.Nodes["cmp-01"].Ready = "False" },
			core.Intent{Kind: core.IntentEvacuate, Instance: scene.Web1}, []core.GuardID{"host-dead"}},
		{"evacuate: nobody knows what the kubelet reports", scene.Healthy,
			func(sc scene.Scene) { sc.Dies("cmp-01"); sc.Aged(core.SourceNodes, time.Hour) },
			core.Intent{Kind: core.IntentEvacuate, Instance: scene.Web1}, []core.GuardID{"fresh"}},
		{"evacuate: its node has left the cluster", scene.Healthy, func(sc scene.Scene) { sc.Dies("cmp-01"); delete(sc.Nodes, "cmp-01") },
			core.Intent{Kind: core.IntentEvacuate, Instance: scene.Web1}, nil},
		{"stop: in error", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "ERROR", "error") },
			core.Intent{Kind: core.IntentStop, Instance: scene.Web1}, nil},
		{"stop: stopped", scene.Healthy, func(sc scene.Scene) { sc.Status("web-1", "SHUTOFF", "stopped") },
			core.Intent{Kind: core.IntentStop, Instance: scene.Web1}, []core.GuardID{"status"}},
		{"start: runs", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentStart, Instance: scene.Web1}, []core.GuardID{"status"}},
		{"abort: its state was reset", scene.Healthy, func(sc scene.Scene) {
			sc.Migration(sc.Instances.At(scene.Web1), "running", "cmp-02", time.Minute)
		}, core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1}, []core.GuardID{"migration"}},
		{"force: its state was reset", scene.Healthy, func(sc scene.Scene) {
			sc.Migration(sc.Instances.At(scene.Web1), "running", "cmp-02", time.Minute)
		}, core.Intent{Kind: core.IntentForceComplete, Instance: scene.Web1}, []core.GuardID{"migration"}},
		{"abort: nothing migrates", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1},
			[]core.GuardID{"migration"}},
		{"abort: Lockstep itself migrates it", scene.Healthy, func(sc scene.Scene) {
			sc.Migrates("web-1")
			sc.Doing(core.Operation{Step: "live-migrate/" + scene.Web1, Intent: core.Intent{Kind: core.IntentLiveMigrate}, Node: "cmp-01",
				Instance: scene.Web1})
		}, core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1}, nil},
		{"abort: in a batch of Lockstep's", scene.Healthy, func(sc scene.Scene) {
			sc.Migrates("web-1")
			sc.Doing(core.Operation{Step: "live-migrate-all/uid-cmp-01", Intent: core.Intent{Kind: core.IntentLiveMigrateAll}, Node: "cmp-01",
				Items: []core.OperationItem{{Instance: scene.Web1, State: core.OperationVerifying}}})
		}, core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1}, nil},
		{"abort: twice", scene.Healthy, func(sc scene.Scene) {
			sc.Migrates("web-1")
			sc.Doing(core.Operation{Step: "abort-migration/" + scene.Web1, Intent: core.Intent{Kind: core.IntentAbortMigration}, Node: "cmp-01",
				Instance: scene.Web1})
		}, core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1}, []core.GuardID{"alone"}},
		{"abort: over the point of no return", scene.Healthy, func(sc scene.Scene) { sc.Migrates("web-1").Status = "post-migrating" },
			core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1}, []core.GuardID{"migration"}},
		{"force: only prepared", scene.Healthy, func(sc scene.Scene) { sc.Migrates("web-1").Status = "preparing" },
			core.Intent{Kind: core.IntentForceComplete, Instance: scene.Web1}, []core.GuardID{"migration"}},
		{"force: a cold migration", scene.Healthy, func(sc scene.Scene) { sc.Migrates("web-1").Type = core.MigrationCold },
			core.Intent{Kind: core.IntentForceComplete, Instance: scene.Web1}, []core.GuardID{"migration"}},

		// Declare safe (docs/mosk.md#manual-migration, #tags).
		{"safe: only a stopped instance is left", scene.Emptied, func(scene.Scene) {}, declare, nil},
		{"safe: one runs", scene.InMaintenance, func(scene.Scene) {}, declare, []core.GuardID{"host-empty"}},
		{"safe: one is tagged notify", scene.Emptied, func(sc scene.Scene) { sc.Instance("cmp-01", "batch-17", "notify") }, declare,
			[]core.GuardID{"host-empty"}},
		{"safe: one is tagged poweroff", scene.Emptied, func(sc scene.Scene) { sc.Instance("cmp-01", "ci", "poweroff") }, declare, nil},
		{"safe: one in error, power unknown", scene.Emptied, func(sc scene.Scene) {
			sc.Instance("cmp-01", "bad")
			sc.Status("bad", "ERROR", "error").Power = core.PowerNoState
		}, declare, []core.GuardID{"host-empty"}},
		{"safe: one is being started", scene.Emptied, func(sc scene.Scene) { sc.Named("web-1").TaskState = "powering-on" }, declare,
			[]core.GuardID{"host-empty"}},
		{"safe: one is on its way here", scene.Emptied,
			func(sc scene.Scene) { sc.Migration(sc.Named("web-2"), "running", "cmp-01", time.Minute) }, declare, []core.GuardID{"no-migration"}},
		{"safe: one leaves", scene.Emptied, func(sc scene.Scene) { sc.Migrates("web-1") }, declare, []core.GuardID{"no-migration"}},
		{"safe: one is on its way back", scene.Emptied, func(sc scene.Scene) {
			sc.Status("web-2", "REVERT_RESIZE", "resized").TaskState = "resize_reverting"
			m := sc.Migration(sc.Named("web-2"), "reverting", "cmp-02", time.Minute)
			m.Type, m.SourceHost = core.MigrationCold, "cmp-01"
		}, declare, []core.GuardID{"no-migration"}},
		{"safe: one is built here, its disks first", scene.Emptied, func(sc scene.Scene) { sc.Builds("cmp-01", "new", "block_device_mapping") },
			declare, []core.GuardID{"host-empty"}},
		{"safe: one is built here, before its first task", scene.Emptied, func(sc scene.Scene) { sc.Builds("cmp-01", "new", "") }, declare,
			[]core.GuardID{"host-empty"}},
		{"safe: one in error is rebuilt", scene.Emptied, func(sc scene.Scene) {
			in := sc.Status("web-1", "REBUILD", "error")
			in.TaskState = "rebuild_block_device_mapping"
		}, declare, []core.GuardID{"host-empty"}},
		{"safe: LCM does not ask", scene.Emptied, func(sc scene.Scene) { delete(sc.NodeRequests, "cmp-01") }, declare, []core.GuardID{"request"}},
		{"safe: it returns", scene.Emptied, func(sc scene.Scene) { sc.NodeRequest("cmp-01").Deleting = scene.Noon }, declare,
			[]core.GuardID{"request"}},
		{"safe: released already", scene.Emptied,
			func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive },
			declare, []core.GuardID{"lock"}},
		{"safe: no lock", scene.Emptied, func(sc scene.Scene) { sc.NodeLocks = sc.NodeLocks.Without("cmp-01") }, declare, []core.GuardID{"lock"}},
		{"safe: declared already", scene.Emptied, func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeSkip) }, declare, []core.GuardID{"differs"}},
		{"safe: instances not fresh", scene.Emptied, func(sc scene.Scene) { sc.Aged(core.SourceInstances, time.Hour) }, declare,
			[]core.GuardID{"fresh"}},
		{"safe: services not fresh", scene.Emptied, func(sc scene.Scene) { sc.Source(core.SourceComputeServices, core.SourceStale) }, declare,
			[]core.GuardID{"fresh"}},
		{"safe: requests not fresh", scene.Emptied, func(sc scene.Scene) { sc.Source(core.SourceNodeRequests, core.SourceStale) }, declare,
			[]core.GuardID{"fresh"}},
		{"safe: instances forbidden", scene.Emptied, func(sc scene.Scene) { sc.Source(core.SourceInstances, core.SourceForbidden) }, declare,
			[]core.GuardID{"fresh", "host-empty"}},
		{"safe: Nova knows the host under no name of ours", scene.Emptied, func(sc scene.Scene) {
			sc.Services["host7.example"] = sc.Services["cmp-01"]
			delete(sc.Services, "cmp-01")
			delete(sc.ByHost, "cmp-01")
		}, declare, []core.GuardID{"host-known"}},
		{"safe: running, in scope drain", scene.InMaintenance, func(sc scene.Scene) { sc.NodeRequest("cmp-01").Scope = core.ScopeDrain }, declare,
			[]core.GuardID{"host-empty"}},

		// Modes and attempts (docs/mosk.md#migration-mode).
		{"mode: none that Rockoon knows", scene.Healthy, func(scene.Scene) {},
			core.Intent{Kind: core.IntentSetMode, Node: "cmp-01", Mode: "cold"}, []core.GuardID{"known"}},
		{"mode: set already", scene.InMaintenance, func(scene.Scene) {},
			core.Intent{Kind: core.IntentSetMode, Node: "cmp-01", Mode: core.ModeManual}, []core.GuardID{"differs"}},
		{"mode: skip while something leaves", scene.InMaintenance, func(sc scene.Scene) { sc.Migrates("web-1") },
			core.Intent{Kind: core.IntentSetMode, Node: "cmp-01", Mode: core.ModeSkip}, []core.GuardID{"no-migration"}},
		{"mode: skip, and nobody knows what LCM asks for", scene.Healthy,
			func(sc scene.Scene) { sc.Source(core.SourceNodeRequests, core.SourceFailed) },
			core.Intent{Kind: core.IntentSetMode, Node: "cmp-01", Mode: core.ModeSkip}, []core.GuardID{"fresh"}},
		{"mode: manual, and nobody knows what LCM asks for", scene.Healthy,
			func(sc scene.Scene) { sc.Source(core.SourceNodeRequests, core.SourceFailed) },
			core.Intent{Kind: core.IntentSetMode, Node: "cmp-01", Mode: core.ModeManual}, nil},
		{"modes: one node is not there", scene.Healthy, func(scene.Scene) {},
			core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-01", "gone"}, Mode: core.ModeManual}, []core.GuardID{"exists"}},
		{"modes: no nodes", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentSetMode, Mode: core.ModeManual},
			[]core.GuardID{"exists", "differs"}},
		{"modes: all have it", scene.Healthy, func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeManual); sc.Mode("cmp-02", core.ModeManual) },
			core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-01", "cmp-02"}, Mode: core.ModeManual}, []core.GuardID{"differs"}},
		{"attempts: negative", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentSetAttempts, Node: "cmp-01", Attempts: -1},
			[]core.GuardID{"known"}},
		{"restore: nothing was changed", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentRestoreMode, Node: "cmp-01"},
			[]core.GuardID{"changed"}},
		{"restore: changed by Lockstep", scene.Healthy,
			func(sc scene.Scene) { sc.Changed("cmp-01", "manual", "skip"); sc.Mode("cmp-01", core.ModeSkip) },
			core.Intent{Kind: core.IntentRestoreMode, Node: "cmp-01"}, nil},
		{"restore: changed by another since", scene.Healthy,
			func(sc scene.Scene) { sc.Changed("cmp-01", "manual", "skip"); sc.Mode("cmp-01", core.ModeLive) },
			core.Intent{Kind: core.IntentRestoreMode, Node: "cmp-01"}, []core.GuardID{"unchanged"}},

		// Compute services (docs/mosk.md#rockoon: enabled again only when the reason is the literal).
		{"disable: no reason", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-01"},
			[]core.GuardID{"reason"}},
		{"disable: two lines", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-01", Reason: "a\nb"},
			[]core.GuardID{"reason"}},
		{"disable: the literal", scene.Healthy, func(scene.Scene) {},
			core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-01", Reason: core.DisabledReasonMaintenance}, []core.GuardID{"not-literal"}},
		{"disable: disabled", scene.InMaintenance, func(scene.Scene) {},
			core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-01", Reason: "fan"}, []core.GuardID{"enabled"}},
		{"disable: a gateway", scene.Healthy, func(scene.Scene) {}, core.Intent{Kind: core.IntentDisableCompute, Node: "gtw-01", Reason: "fan"},
			[]core.GuardID{"exists"}},
		{"enable: enabled", scene.Healthy, func(scene.Scene) {}, enable, []core.GuardID{"disabled"}},
		{"enable: the controller's, in maintenance", scene.InMaintenance, func(scene.Scene) {}, enable, []core.GuardID{"not-owned"}},
		{"enable: the controller's, left over", scene.InMaintenance, func(sc scene.Scene) { delete(sc.NodeRequests, "cmp-01") }, enable, nil},
		{"enable: another's, in maintenance", scene.InMaintenance, func(sc scene.Scene) { sc.Services["cmp-01"].DisabledReason = "fan" }, enable,
			nil},
		{"enable: another's, released to LCM", scene.InMaintenance, func(sc scene.Scene) {
			sc.Services["cmp-01"].DisabledReason = "fan"
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
		}, enable, []core.GuardID{"stays-up"}},
		{"enable: another's, on its way back", scene.InMaintenance, func(sc scene.Scene) {
			sc.Services["cmp-01"].DisabledReason = "fan"
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState, sc.NodeRequest("cmp-01").Deleting = core.LockInactive, scene.Noon
		}, enable, nil},
		{"enable: to be removed", scene.InMaintenance, func(sc scene.Scene) { delete(sc.NodeRequests, "cmp-01"); sc.Removes("cmp-01") }, enable,
			[]core.GuardID{"stays-up"}},
		{"enable: nobody knows whether it is to be removed", scene.InMaintenance, func(sc scene.Scene) {
			delete(sc.NodeRequests, "cmp-01")
			sc.Source(core.SourceDeletionRequests, core.SourceFailed)
		}, enable, []core.GuardID{"fresh"}},
		{"enable: a release without removals", scene.InMaintenance, func(sc scene.Scene) {
			delete(sc.NodeRequests, "cmp-01")
			sc.Source(core.SourceDeletionRequests, core.SourceAbsent)
		}, enable, nil},

		{"ask: a release without removals", scene.Healthy, func(sc scene.Scene) {
			sc.Source(core.SourceDeletionRequests, core.SourceAbsent)
		}, core.Intent{Kind: core.IntentAskNode, Node: "cmp-01", Scope: core.ScopeOS}, []core.GuardID{"cluster"}},
		{"ask: removals cannot be seen", scene.Healthy, func(sc scene.Scene) {
			sc.Source(core.SourceDeletionRequests, core.SourceFailed)
		}, core.Intent{Kind: core.IntentAskNode, Node: "cmp-01", Scope: core.ScopeOS},
			[]core.GuardID{"fresh", "cluster"}},

		// Whole hosts.
		{"all: nothing in the way", scene.Emptied, func(scene.Scene) {}, core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-01"},
			[]core.GuardID{"something"}},
		{"all: only one whose owner decides", scene.Emptied, func(sc scene.Scene) { sc.Instance("cmp-01", "batch-17", "notify") },
			core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-01"}, []core.GuardID{"something"}},
		{"all: no other host", scene.InMaintenance, func(sc scene.Scene) { delete(sc.Services, "cmp-02"); delete(sc.Services, "cmp-03") },
			core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-01"}, []core.GuardID{"target"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := tc.make()
			tc.change(sc)
			st := Plan(sc.Snapshot, tc.intent)
			if got := scene.Failing(st); !slices.Equal(got, tc.fails) {
				t.Errorf("guards that do not hold: %q, want %q (%s)", got, tc.fails, st.Blocker())
			}
			if doable := len(tc.fails) == 0; st.Doable() != doable {
				t.Errorf("doable %v, want %v", st.Doable(), doable)
			}
		})
	}
}

// The guard on the host lists what is left and what to do with each instance.
func TestDeclareSafeNamesWhatIsInTheWay(t *testing.T) {
	sc := scene.InMaintenance()
	sc.Instance("cmp-01", "batch-17", "notify")
	sc.Instance("cmp-01", "half")
	sc.Status("half", "VERIFY_RESIZE", "resized")
	st := Plan(sc.Snapshot, core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"})
	i := slices.IndexFunc(st.Guards, func(g core.Guard) bool { return g.ID == "host-empty" })
	g := st.Guards[i]
	if want := "3 left: batch-17 (notify), half (notify), web-1 (notify)"; g.Answer != want {
		t.Errorf("answer %q, want %q", g.Answer, want)
	}
	if want := "batch-17: tell its owner, then live-migrate, cold-migrate or stop it; half: confirm or revert its migration; web-1: " +
		"live-migrate, cold-migrate or stop it"; g.Remedy != want {
		t.Errorf("remedy %q, want %q", g.Remedy, want)
	}
}

// The confirmation matches the possible damage.
func TestRisksAndWhatIsTyped(t *testing.T) {
	sc := scene.Emptied()
	sc.Instance("cmp-02", "other").Name = "no \x1b[31m name"
	other := sc.Named("no \x1b[31m name").ID
	sc.Migration(sc.Named("web-3"), "running", "cmp-01", time.Minute)
	cases := []struct {
		intent core.Intent
		risk   core.Risk
		typed  string
	}{
		{core.Intent{Kind: core.IntentSetMode, Node: "cmp-02", Mode: core.ModeManual}, core.RiskLow, ""},
		{core.Intent{Kind: core.IntentSetMode, Node: "cmp-02", Mode: core.ModeSkip}, core.RiskHigh, "cmp-02"},
		{core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-01", "cmp-02"}, Mode: core.ModeLive}, core.RiskHigh, "2 nodes"},
		{core.Intent{Kind: core.IntentSetAttempts, Node: "cmp-02", Attempts: 5}, core.RiskLow, ""},
		{core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"}, core.RiskHigh, "cmp-01"},
		{core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-02"}, core.RiskHigh, "cmp-02"},
		{core.Intent{Kind: core.IntentLiveMigrate, Instance: scene.Web1}, core.RiskMedium, ""},
		{core.Intent{Kind: core.IntentColdMigrate, Instance: scene.Web1}, core.RiskMedium, ""},
		{core.Intent{Kind: core.IntentConfirmResize, Instance: scene.Web1}, core.RiskMedium, ""},
		{core.Intent{Kind: core.IntentRevertResize, Instance: scene.Web1}, core.RiskMedium, ""},
		{core.Intent{Kind: core.IntentStop, Instance: scene.Web1}, core.RiskHigh, "web-1"},
		{core.Intent{Kind: core.IntentStop, Instance: other}, core.RiskHigh, other[:8]}, // such a name cannot be typed
		{core.Intent{Kind: core.IntentAbortMigration, Instance: scene.Web1}, core.RiskMedium, ""},
		{core.Intent{Kind: core.IntentForceComplete, Instance: scene.Web1}, core.RiskMedium, ""},
		{core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-02", Reason: "fan"}, core.RiskLow, ""},
		{core.Intent{Kind: core.IntentEnableCompute, Node: "cmp-01"}, core.RiskMedium, ""},
	}
	for _, tc := range cases {
		st := Plan(sc.Snapshot, tc.intent)
		if st.Risk != tc.risk || st.Type != tc.typed {
			t.Errorf("%s: risk %s, type %q; want %s, %q", st.Title, st.Risk, st.Type, tc.risk, tc.typed)
		}
	}
}

// The effects of skip are counted before it is set (docs/mosk.md#tags: a notify tag still holds a node in mode skip).
func TestThenOfSkipCountsWhatGoesDown(t *testing.T) {
	skip := core.Intent{Kind: core.IntentSetMode, Node: "cmp-01", Mode: core.ModeSkip}
	sc := scene.InMaintenance()
	if then := Plan(sc.Snapshot, skip).Then; !strings.Contains(then, "within 60 s") ||
		!strings.Contains(then, "1 instance goes down with it (web-1)") {
		t.Errorf("with one that runs: %q", then)
	}
	sc.Instance("cmp-01", "batch-17", "notify")
	if then := Plan(sc.Again().Snapshot, skip).Then; !strings.Contains(then, "still waits for 1 instance (batch-17)") {
		t.Errorf("with one whose owner decides: %q", then)
	}
	if then := Plan(scene.Healthy().Snapshot, skip).Then; then != "It counts when the node's turn comes." {
		t.Errorf("outside a maintenance: %q", then)
	}
}

// A step shows its progress: what Lockstep does comes before what could be done, and a failure stays until it was seen.
func TestStepStatesFollowOperations(t *testing.T) {
	live := core.Intent{Kind: core.IntentLiveMigrate, Instance: scene.Web1}
	batch := func(op, item core.OperationState, text string) core.Operation {
		return core.Operation{Step: "live-migrate-all/uid-cmp-01", Intent: core.Intent{Kind: core.IntentLiveMigrateAll},
			Title: "live-migrate 2 instances", State: op, Items: []core.OperationItem{{Instance: scene.Web1, State: item, Text: text}}}
	}
	cases := []struct {
		name   string
		op     core.Operation
		state  core.StepState
		status string
	}{
		{"running", core.Operation{Step: "live-migrate/" + scene.Web1, Intent: core.Intent{Kind: core.IntentLiveMigrate}, Node: "cmp-01",
			State: core.OperationVerifying, Text: "running, 12 %"}, core.StepRunning, "running, 12 %"},
		{"failed", core.Operation{Step: "live-migrate/" + scene.Web1, Intent: core.Intent{Kind: core.IntentLiveMigrate},
			State: core.OperationFailed,
			Text:  "No valid host was found."}, core.StepFailed, "No valid host was found."},
		{"failed and seen", core.Operation{Step: "live-migrate/" + scene.Web1, Intent: core.Intent{Kind: core.IntentLiveMigrate},
			State: core.OperationFailed,
			Text:  "No valid host was found.", Acknowledged: true}, core.StepReady, "manual: the operator moves it"},
		{"done", core.Operation{Step: "live-migrate/" + scene.Web1, Intent: core.Intent{Kind: core.IntentLiveMigrate}, State: core.OperationDone},
			core.StepReady,
			"manual: the operator moves it"},
		{"its end was not seen", core.Operation{Step: "live-migrate/" + scene.Web1, Intent: core.Intent{Kind: core.IntentLiveMigrate},
			State: core.OperationUnknown, Text: "lost"}, core.StepFailed, "lost"},
		{"next in a batch", batch(core.OperationRunning, core.OperationQueued, ""), core.StepWaiting, "its turn comes: live-migrate 2 instances"},
		{"moved by a batch", batch(core.OperationRunning, core.OperationVerifying, "running"), core.StepRunning, "running"},
		{"failed in a batch", batch(core.OperationPaused, core.OperationFailed, "No valid host"), core.StepFailed, "No valid host"},
		{"left out of a batch that ended", batch(core.OperationStopped, core.OperationStopped, "not begun"), core.StepReady,
			"manual: the operator moves it"},
		{"something else", core.Operation{Step: "live-migrate/other", Intent: core.Intent{Kind: core.IntentLiveMigrate},
			State: core.OperationFailed, Text: "no"}, core.StepReady, "manual: the operator moves it"},
	}
	for _, tc := range cases {
		sc := scene.InMaintenance()
		tc.op.ID = "op"
		sc.Operations = []core.Operation{tc.op}
		if st := Plan(sc.Snapshot, live); st.State != tc.state || st.Status != tc.status {
			t.Errorf("%s: %s, %q; want %s, %q", tc.name, st.State, st.Status, tc.state, tc.status)
		}
	}
}

// Nova's own failures count as the step's, and so do those of the OpenStack controller's tries.
func TestFailedMigrationsShowOnTheStep(t *testing.T) {
	sc := scene.InMaintenance()
	for range 2 {
		sc.Migration(sc.Named("web-1"), "error", "", 4*time.Minute).Failure = "migration of disk vda failed: Input/output error"
	}
	st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentLiveMigrate))
	if st.State != core.StepFailed || st.Status != "failed twice: migration of disk vda failed: Input/output error" {
		t.Errorf("%s, %q", st.State, st.Status)
	}
	if !st.Doable() {
		t.Errorf("a failed step cannot be tried again: %s", st.Blocker())
	}
}

// A batch for a whole host leaves out what it cannot do, and says so.
func TestBatchLeavesOutWhatAPersonHasToDecide(t *testing.T) {
	sc := scene.InMaintenance()
	sc.Instance("cmp-01", "a-1")
	sc.Instance("cmp-01", "batch-17", "notify")
	sc.Instance("cmp-01", "bad")
	sc.Status("bad", "ERROR", "error")
	sc.Instance("cmp-01", "ci", "poweroff")
	st := Plan(sc.Snapshot, core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-01", AtOnce: 2})
	b, ok := st.Change.(core.Batch)
	if !ok || b.AtOnce != 2 {
		t.Fatalf("the change is %#v", st.Change)
	}
	var names []string
	for _, item := range b.Items {
		names = append(names, item.Label)
	}
	if want := []string{"a-1", "web-1"}; !slices.Equal(names, want) {
		t.Errorf("it moves %q, want %q", names, want)
	}
	if !strings.Contains(st.Why, "Left out: bad") || !strings.Contains(st.Why, "batch-17") {
		t.Errorf("it does not say what it leaves out: %q", st.Why)
	}
}
