package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// inMaintenance is a cluster whose manual node cmp-01 LCM asks for, with these instances on it: web-1 (runs), and what the
// test adds.
func inMaintenance() scene {
	sc := healthy()
	sc.mode("cmp-01", ModeManual)
	sc.maintained("cmp-01", "Some servers are still present on the host.")
	return sc
}

// emptied is the same node with nothing but a stopped instance left.
func emptied() scene {
	sc := inMaintenance()
	in := sc.named("web-1")
	in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", PowerShutdown
	return sc
}

func (sc scene) named(name string) *Instance {
	for _, in := range sc.Instances {
		if in.Name == name {
			return in
		}
	}
	return nil
}

// status puts an instance into one of Nova's states, with the vm_state that goes with it.
func (sc scene) status(name, status, vmState string) *Instance {
	in := sc.named(name)
	in.Status, in.VMState = status, vmState
	return in
}

func (sc scene) migrates(name string) *Migration {
	in := sc.status(name, "MIGRATING", "active")
	in.TaskState = "migrating"
	m := sc.migration(in, "running", "cmp-02", time.Minute)
	m.Memory = &Progress{Total: 100, Remaining: 19}
	return m
}

func (sc scene) asked(name string, kind IntentKind) Intent {
	return Intent{Kind: kind, Instance: sc.named(name).ID}
}

func failing(st Step) []GuardID {
	var ids []GuardID
	for _, g := range st.Guards {
		if !g.Holds {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

const web1 = "00000001-0000-4000-8000-000000000001"

// The commands are those of the documents (docs/mosk.md#commands) and of python-openstackclient, ready to be pasted.
func TestCommandsAreThoseThatOperatorsType(t *testing.T) {
	annotate := "kubectl annotate node cmp-01 openstack.lcm.mirantis.com/"
	cases := []struct {
		name   string
		make   func() scene
		intent Intent
		want   []string
	}{
		{"declare safe", emptied, Intent{Kind: IntentDeclareSafe, Node: "cmp-01"}, []string{annotate + "instance_migration_mode=skip --overwrite"}},
		{"set a mode", healthy, Intent{Kind: IntentSetMode, Nodes: []string{"cmp-01"}, Mode: ModeManual}, []string{annotate + "instance_migration_mode=manual --overwrite"}},
		{"remove the mode", inMaintenance, Intent{Kind: IntentSetMode, Node: "cmp-01"}, []string{annotate + "instance_migration_mode-"}},
		{"set attempts", healthy, Intent{Kind: IntentSetAttempts, Node: "cmp-01", Attempts: 5}, []string{annotate + "instance_migration_attempts=5 --overwrite"}},
		{"live-migrate", healthy, Intent{Kind: IntentLiveMigrate, Instance: web1}, []string{"openstack --os-compute-api-version 2.30 server migrate --live-migration " + web1}},
		{"cold-migrate", healthy, Intent{Kind: IntentColdMigrate, Instance: web1}, []string{"openstack server migrate " + web1}},
		{"confirm", healthy, Intent{Kind: IntentConfirmResize, Instance: web1}, []string{"openstack server migration confirm " + web1}},
		{"revert", healthy, Intent{Kind: IntentRevertResize, Instance: web1}, []string{"openstack server migration revert " + web1}},
		{"stop", healthy, Intent{Kind: IntentStop, Instance: web1}, []string{"openstack server stop " + web1}},
		{"start", healthy, Intent{Kind: IntentStart, Instance: web1}, []string{"openstack server start " + web1}},
		{"abort", func() scene { sc := healthy(); sc.migrates("web-1"); return sc }, Intent{Kind: IntentAbortMigration, Instance: web1},
			[]string{"openstack --os-compute-api-version 2.65 server migration abort " + web1 + " 100"}},
		{"force", func() scene { sc := healthy(); sc.migrates("web-1"); return sc }, Intent{Kind: IntentForceComplete, Instance: web1},
			[]string{"openstack --os-compute-api-version 2.22 server migration force complete " + web1 + " 100"}},
		{"disable", healthy, Intent{Kind: IntentDisableCompute, Node: "cmp-01", Reason: "a dead fan; it's loud"},
			[]string{`openstack compute service set --disable --disable-reason 'a dead fan; it'\''s loud' cmp-01 nova-compute`}},
		{"disable for a reason that looks like an option", healthy, Intent{Kind: IntentDisableCompute, Node: "cmp-01", Reason: "--fan"},
			[]string{"openstack compute service set --disable --disable-reason=--fan cmp-01 nova-compute"}},
		{"enable", inMaintenance, Intent{Kind: IntentEnableCompute, Node: "cmp-01"}, []string{"openstack compute service set --enable cmp-01 nova-compute"}},
		{"all of a host", func() scene { sc := healthy(); sc.instance("cmp-01", "a-1"); return sc }, Intent{Kind: IntentLiveMigrateAll, Node: "cmp-01"},
			[]string{"openstack --os-compute-api-version 2.30 server migrate --live-migration 00000004-0000-4000-8000-000000000004",
				"openstack --os-compute-api-version 2.30 server migrate --live-migration " + web1}},
		{"the mode of two nodes", healthy, Intent{Kind: IntentSetMode, Nodes: []string{"cmp-02", "cmp-01"}, Mode: ModeManual},
			[]string{annotate + "instance_migration_mode=manual --overwrite", strings.Replace(annotate, "cmp-01", "cmp-02", 1) + "instance_migration_mode=manual --overwrite"}},
	}
	for _, tc := range cases {
		if got := Plan(tc.make().Snapshot, tc.intent).Commands; !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

// Each guard stands in the way of what it is there for, alone.
func TestGuards(t *testing.T) {
	declare := Intent{Kind: IntentDeclareSafe, Node: "cmp-01"}
	live := Intent{Kind: IntentLiveMigrate, Instance: web1}
	cold := Intent{Kind: IntentColdMigrate, Instance: web1}
	enable := Intent{Kind: IntentEnableCompute, Node: "cmp-01"}
	cases := []struct {
		name   string
		make   func() scene
		change func(sc scene)
		intent Intent
		fails  []GuardID
	}{
		// What every step asks.
		{"nothing stands against it", healthy, func(scene) {}, live, nil},
		{"not armed", healthy, func(sc scene) { sc.Write.Armed = false }, live, []GuardID{"armed"}},
		{"barred", healthy, func(sc scene) { sc.Write.Barred = "started with --read-only" }, live, []GuardID{"armed"}},
		{"instances not seen for long", healthy, func(sc scene) { sc.aged(SourceInstances, 61*time.Second) }, live, []GuardID{"fresh"}},
		{"instances seen just now", healthy, func(sc scene) { sc.aged(SourceInstances, 60*time.Second) }, live, nil},
		{"migrations failing", healthy, func(sc scene) { sc.source(SourceMigrations, SourceFailed) }, live, []GuardID{"fresh"}},
		{"nodes not seen, and they do not matter", healthy, func(sc scene) { sc.source(SourceNodes, SourceForbidden) }, live, nil},
		{"an operation on its node", healthy, func(sc scene) {
			sc.doing(Operation{Step: "set-mode/uid-cmp-01/skip", Intent: Intent{Kind: IntentSetMode}, Node: "cmp-01"})
		}, live, []GuardID{"alone"}},
		{"an operation on another node", healthy, func(sc scene) {
			sc.doing(Operation{Step: "set-mode/uid-cmp-02/skip", Intent: Intent{Kind: IntentSetMode}, Node: "cmp-02"})
		}, live, nil},
		{"a batch over nodes, its among them", healthy, func(sc scene) {
			sc.doing(Operation{Step: "set-mode/2-nodes-x", Intent: Intent{Kind: IntentSetMode},
				Items: []OperationItem{{Label: "cmp-01", Node: "cmp-01", State: OperationRunning}}})
		}, live, []GuardID{"alone"}},
		{"no such instance", healthy, func(scene) {}, Intent{Kind: IntentLiveMigrate, Instance: "gone"}, []GuardID{"exists"}},
		{"no such node", healthy, func(scene) {}, Intent{Kind: IntentSetMode, Node: "gone", Mode: ModeManual}, []GuardID{"exists"}},
		{"no such intent", healthy, func(scene) {}, Intent{Kind: "reboot-everything"}, []GuardID{"exists"}},

		// Instances: Nova's API reference says in which status an action is taken.
		{"live: paused", healthy, func(sc scene) { sc.status("web-1", "PAUSED", "paused") }, live, nil},
		{"live: stopped", healthy, func(sc scene) { sc.status("web-1", "SHUTOFF", "stopped") }, live, []GuardID{"status"}},
		{"live: error", healthy, func(sc scene) { sc.status("web-1", "ERROR", "error") }, live, []GuardID{"status"}},
		{"live: waits for a decision", healthy, func(sc scene) { sc.status("web-1", "VERIFY_RESIZE", "resized") }, live, []GuardID{"status"}},
		{"live: a task", healthy, func(sc scene) { sc.named("web-1").TaskState = "image_snapshot" }, live, []GuardID{"no-task"}},
		{"live: migrates already", healthy, func(sc scene) { sc.migration(sc.named("web-1"), "preparing", "", time.Minute) }, live, []GuardID{"no-migration"}},
		{"live: an older record that never ended", healthy, func(sc scene) {
			sc.migration(sc.named("web-1"), "running", "cmp-02", time.Hour)
			sc.migration(sc.named("web-1"), "error", "cmp-02", time.Minute)
		}, live, nil},
		{"live: on no host", healthy, func(sc scene) { sc.named("web-1").Host = "" }, live, []GuardID{"on-host"}},
		{"live: locked by its owner is only a note", healthy, func(sc scene) { sc.named("web-1").Locked = true }, live, nil},
		{"live: nova-compute of its host is down", healthy, func(sc scene) { sc.Services["cmp-01"].Up = false }, live, []GuardID{"compute-up"}},
		{"live: Nova knows no nova-compute of its host", healthy, func(sc scene) { delete(sc.Services, "cmp-01") }, live, []GuardID{"compute-up"}},
		{"unshelve: it is on no host", healthy, func(sc scene) { sc.status("web-1", "SHELVED_OFFLOADED", "shelved_offloaded").Host = "" }, Intent{Kind: IntentUnshelve, Instance: web1}, nil},
		{"live: all others are disabled", healthy, func(sc scene) { sc.Services["cmp-02"].Enabled, sc.Services["cmp-03"].Enabled = false, false }, live, []GuardID{"target"}},
		{"live: all others are in another zone", healthy, func(sc scene) { sc.Services["cmp-02"].Zone, sc.Services["cmp-03"].Zone = "edge", "edge" }, live, []GuardID{"target"}},
		{"live: one other is up", healthy, func(sc scene) { sc.Services["cmp-02"].Up = false }, live, nil},
		{"cold: stopped", healthy, func(sc scene) { sc.status("web-1", "SHUTOFF", "stopped") }, cold, nil},
		{"cold: paused", healthy, func(sc scene) { sc.status("web-1", "PAUSED", "paused") }, cold, []GuardID{"status"}},
		{"confirm: not waiting", healthy, func(scene) {}, Intent{Kind: IntentConfirmResize, Instance: web1}, []GuardID{"status"}},
		{"confirm: waiting", healthy, func(sc scene) { sc.status("web-1", "VERIFY_RESIZE", "resized") }, Intent{Kind: IntentConfirmResize, Instance: web1}, nil},
		{"confirm: its source is down", healthy, func(sc scene) {
			m := sc.migration(sc.status("web-1", "VERIFY_RESIZE", "resized"), "finished", "cmp-01", time.Minute)
			m.Type, m.SourceHost, sc.Services["cmp-02"].Up = MigrationCold, "cmp-02", false
		}, Intent{Kind: IntentConfirmResize, Instance: web1}, []GuardID{"compute-up"}},
		{"revert: its source is held", healthy, func(sc scene) { sc.cameFrom("web-1", "cmp-02"); sc.maintained("cmp-02", "") }, Intent{Kind: IntentRevertResize, Instance: web1}, nil},
		{"revert: its source is released to LCM", healthy, func(sc scene) {
			sc.cameFrom("web-1", "cmp-02")
			sc.maintained("cmp-02", "").RawState = LockInactive
		}, Intent{Kind: IntentRevertResize, Instance: web1}, []GuardID{"stays-up"}},
		{"revert: its source is to be removed", healthy, func(sc scene) { sc.cameFrom("web-1", "cmp-02"); sc.removes("cmp-02") }, Intent{Kind: IntentRevertResize, Instance: web1}, []GuardID{"stays-up"}},
		{"revert: its own host is released to LCM", healthy, func(sc scene) {
			sc.cameFrom("web-1", "cmp-02")
			sc.maintained("cmp-01", "").RawState = LockInactive
		}, Intent{Kind: IntentRevertResize, Instance: web1}, nil},
		{"evacuate: its host is dead", healthy, func(sc scene) { sc.dies("cmp-01") }, Intent{Kind: IntentEvacuate, Instance: web1}, nil},
		{"evacuate: the kubelet reports", healthy, func(sc scene) { sc.dies("cmp-01"); sc.Nodes["cmp-01"].Ready = "True" }, Intent{Kind: IntentEvacuate, Instance: web1}, []GuardID{"host-dead"}},
		{"evacuate: the kubelet reports that it is not Ready", healthy, func(sc scene) { sc.dies("cmp-01"); sc.Nodes["cmp-01"].Ready = "False" }, Intent{Kind: IntentEvacuate, Instance: web1}, []GuardID{"host-dead"}},
		{"evacuate: nobody knows what the kubelet reports", healthy, func(sc scene) { sc.dies("cmp-01"); sc.aged(SourceNodes, time.Hour) }, Intent{Kind: IntentEvacuate, Instance: web1}, []GuardID{"fresh"}},
		{"evacuate: its node has left the cluster", healthy, func(sc scene) { sc.dies("cmp-01"); delete(sc.Nodes, "cmp-01") }, Intent{Kind: IntentEvacuate, Instance: web1}, nil},
		{"stop: in error", healthy, func(sc scene) { sc.status("web-1", "ERROR", "error") }, Intent{Kind: IntentStop, Instance: web1}, nil},
		{"stop: stopped", healthy, func(sc scene) { sc.status("web-1", "SHUTOFF", "stopped") }, Intent{Kind: IntentStop, Instance: web1}, []GuardID{"status"}},
		{"start: runs", healthy, func(scene) {}, Intent{Kind: IntentStart, Instance: web1}, []GuardID{"status"}},
		{"abort: nothing migrates", healthy, func(scene) {}, Intent{Kind: IntentAbortMigration, Instance: web1}, []GuardID{"migration"}},
		{"abort: Lockstep itself migrates it", healthy, func(sc scene) {
			sc.migrates("web-1")
			sc.doing(Operation{Step: "live-migrate/" + web1, Intent: Intent{Kind: IntentLiveMigrate}, Node: "cmp-01", Instance: web1})
		}, Intent{Kind: IntentAbortMigration, Instance: web1}, nil},
		{"abort: in a batch of Lockstep's", healthy, func(sc scene) {
			sc.migrates("web-1")
			sc.doing(Operation{Step: "live-migrate-all/uid-cmp-01", Intent: Intent{Kind: IntentLiveMigrateAll}, Node: "cmp-01", Items: []OperationItem{{Instance: web1, State: OperationVerifying}}})
		}, Intent{Kind: IntentAbortMigration, Instance: web1}, nil},
		{"abort: twice", healthy, func(sc scene) {
			sc.migrates("web-1")
			sc.doing(Operation{Step: "abort-migration/" + web1, Intent: Intent{Kind: IntentAbortMigration}, Node: "cmp-01", Instance: web1})
		}, Intent{Kind: IntentAbortMigration, Instance: web1}, []GuardID{"alone"}},
		{"abort: over the point of no return", healthy, func(sc scene) { sc.migrates("web-1").Status = "post-migrating" }, Intent{Kind: IntentAbortMigration, Instance: web1}, []GuardID{"migration"}},
		{"force: only prepared", healthy, func(sc scene) { sc.migrates("web-1").Status = "preparing" }, Intent{Kind: IntentForceComplete, Instance: web1}, []GuardID{"migration"}},
		{"force: a cold migration", healthy, func(sc scene) { sc.migrates("web-1").Type = MigrationCold }, Intent{Kind: IntentForceComplete, Instance: web1}, []GuardID{"migration"}},

		// Declare safe (docs/mosk.md#manual-migration, #tags).
		{"safe: only a stopped instance is left", emptied, func(scene) {}, declare, nil},
		{"safe: one runs", inMaintenance, func(scene) {}, declare, []GuardID{"host-empty"}},
		{"safe: one is tagged notify", emptied, func(sc scene) { sc.instance("cmp-01", "batch-17", "notify") }, declare, []GuardID{"host-empty"}},
		{"safe: one is tagged poweroff", emptied, func(sc scene) { sc.instance("cmp-01", "ci", "poweroff") }, declare, nil},
		{"safe: one in error, power unknown", emptied, func(sc scene) { sc.instance("cmp-01", "bad"); sc.status("bad", "ERROR", "error").Power = PowerNoState }, declare, []GuardID{"host-empty"}},
		{"safe: one is being started", emptied, func(sc scene) { sc.named("web-1").TaskState = "powering-on" }, declare, []GuardID{"host-empty"}},
		{"safe: one is on its way here", emptied, func(sc scene) { sc.migration(sc.named("web-2"), "running", "cmp-01", time.Minute) }, declare, []GuardID{"no-migration"}},
		{"safe: one leaves", emptied, func(sc scene) { sc.migrates("web-1") }, declare, []GuardID{"no-migration"}},
		{"safe: one is on its way back", emptied, func(sc scene) {
			sc.status("web-2", "REVERT_RESIZE", "resized").TaskState = "resize_reverting"
			m := sc.migration(sc.named("web-2"), "reverting", "cmp-02", time.Minute)
			m.Type, m.SourceHost = MigrationCold, "cmp-01"
		}, declare, []GuardID{"no-migration"}},
		{"safe: one is built here, its disks first", emptied, func(sc scene) { sc.builds("cmp-01", "new", "block_device_mapping") }, declare, []GuardID{"host-empty"}},
		{"safe: one is built here, before its first task", emptied, func(sc scene) { sc.builds("cmp-01", "new", "") }, declare, []GuardID{"host-empty"}},
		{"safe: one in error is rebuilt", emptied, func(sc scene) {
			in := sc.status("web-1", "REBUILD", "error")
			in.TaskState = "rebuild_block_device_mapping"
		}, declare, []GuardID{"host-empty"}},
		{"safe: LCM does not ask", emptied, func(sc scene) { delete(sc.NodeRequests, "cmp-01") }, declare, []GuardID{"request"}},
		{"safe: it returns", emptied, func(sc scene) { sc.NodeRequest("cmp-01").Deleting = noon }, declare, []GuardID{"request"}},
		{"safe: released already", emptied, func(sc scene) { sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive },
			declare, []GuardID{"lock"}},
		{"safe: no lock", emptied, func(sc scene) { delete(sc.NodeLocks, "cmp-01") }, declare, []GuardID{"lock"}},
		{"safe: declared already", emptied, func(sc scene) { sc.mode("cmp-01", ModeSkip) }, declare, []GuardID{"differs"}},
		{"safe: instances not fresh", emptied, func(sc scene) { sc.aged(SourceInstances, time.Hour) }, declare, []GuardID{"fresh"}},
		{"safe: services not fresh", emptied, func(sc scene) { sc.source(SourceComputeServices, SourceStale) }, declare,
			[]GuardID{"fresh"}},
		{"safe: requests not fresh", emptied, func(sc scene) { sc.source(SourceNodeRequests, SourceStale) }, declare, []GuardID{"fresh"}},
		{"safe: instances forbidden", emptied, func(sc scene) { sc.source(SourceInstances, SourceForbidden) }, declare,
			[]GuardID{"fresh", "host-empty"}},
		{"safe: Nova knows the host under no name of ours", emptied, func(sc scene) {
			sc.Services["host7.example"] = sc.Services["cmp-01"]
			delete(sc.Services, "cmp-01")
			delete(sc.ByHost, "cmp-01")
		}, declare, []GuardID{"host-known"}},
		{"safe: running, in scope drain", inMaintenance, func(sc scene) { sc.NodeRequest("cmp-01").Scope = ScopeDrain }, declare, []GuardID{"host-empty"}},

		// Modes and attempts (docs/mosk.md#migration-mode).
		{"mode: none that Rockoon knows", healthy, func(scene) {}, Intent{Kind: IntentSetMode, Node: "cmp-01", Mode: "cold"}, []GuardID{"known"}},
		{"mode: set already", inMaintenance, func(scene) {}, Intent{Kind: IntentSetMode, Node: "cmp-01", Mode: ModeManual}, []GuardID{"differs"}},
		{"mode: skip while something leaves", inMaintenance, func(sc scene) { sc.migrates("web-1") }, Intent{Kind: IntentSetMode, Node: "cmp-01", Mode: ModeSkip}, []GuardID{"no-migration"}},
		{"mode: skip, and nobody knows what LCM asks for", healthy, func(sc scene) { sc.source(SourceNodeRequests, SourceFailed) }, Intent{Kind: IntentSetMode, Node: "cmp-01", Mode: ModeSkip}, []GuardID{"fresh"}},
		{"mode: manual, and nobody knows what LCM asks for", healthy, func(sc scene) { sc.source(SourceNodeRequests, SourceFailed) }, Intent{Kind: IntentSetMode, Node: "cmp-01", Mode: ModeManual}, nil},
		{"modes: one node is not there", healthy, func(scene) {}, Intent{Kind: IntentSetMode, Nodes: []string{"cmp-01", "gone"}, Mode: ModeManual}, []GuardID{"exists"}},
		{"modes: no nodes", healthy, func(scene) {}, Intent{Kind: IntentSetMode, Mode: ModeManual}, []GuardID{"exists", "differs"}},
		{"modes: all have it", healthy, func(sc scene) { sc.mode("cmp-01", ModeManual); sc.mode("cmp-02", ModeManual) },
			Intent{Kind: IntentSetMode, Nodes: []string{"cmp-01", "cmp-02"}, Mode: ModeManual}, []GuardID{"differs"}},
		{"attempts: negative", healthy, func(scene) {}, Intent{Kind: IntentSetAttempts, Node: "cmp-01", Attempts: -1}, []GuardID{"known"}},
		{"restore: nothing was changed", healthy, func(scene) {}, Intent{Kind: IntentRestoreMode, Node: "cmp-01"}, []GuardID{"changed"}},
		{"restore: changed by Lockstep", healthy, func(sc scene) { sc.changed("cmp-01", "manual", "skip"); sc.mode("cmp-01", ModeSkip) }, Intent{Kind: IntentRestoreMode, Node: "cmp-01"}, nil},
		{"restore: changed by another since", healthy, func(sc scene) { sc.changed("cmp-01", "manual", "skip"); sc.mode("cmp-01", ModeLive) },
			Intent{Kind: IntentRestoreMode, Node: "cmp-01"}, []GuardID{"unchanged"}},

		// Compute services (docs/mosk.md#rockoon: enabled again only when the reason is the literal).
		{"disable: no reason", healthy, func(scene) {}, Intent{Kind: IntentDisableCompute, Node: "cmp-01"}, []GuardID{"reason"}},
		{"disable: two lines", healthy, func(scene) {}, Intent{Kind: IntentDisableCompute, Node: "cmp-01", Reason: "a\nb"}, []GuardID{"reason"}},
		{"disable: the literal", healthy, func(scene) {}, Intent{Kind: IntentDisableCompute, Node: "cmp-01", Reason: DisabledReasonMaintenance}, []GuardID{"not-literal"}},
		{"disable: disabled", inMaintenance, func(scene) {}, Intent{Kind: IntentDisableCompute, Node: "cmp-01", Reason: "fan"}, []GuardID{"enabled"}},
		{"disable: a gateway", healthy, func(scene) {}, Intent{Kind: IntentDisableCompute, Node: "gtw-01", Reason: "fan"}, []GuardID{"exists"}},
		{"enable: enabled", healthy, func(scene) {}, enable, []GuardID{"disabled"}},
		{"enable: the controller's, in maintenance", inMaintenance, func(scene) {}, enable, []GuardID{"not-owned"}},
		{"enable: the controller's, left over", inMaintenance, func(sc scene) { delete(sc.NodeRequests, "cmp-01") }, enable, nil},
		{"enable: another's, in maintenance", inMaintenance, func(sc scene) { sc.Services["cmp-01"].DisabledReason = "fan" }, enable, nil},
		{"enable: another's, released to LCM", inMaintenance, func(sc scene) {
			sc.Services["cmp-01"].DisabledReason = "fan"
			sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive
		}, enable, []GuardID{"stays-up"}},
		{"enable: another's, on its way back", inMaintenance, func(sc scene) {
			sc.Services["cmp-01"].DisabledReason = "fan"
			sc.NodeLock("cmp-01", ControllerOpenStack).RawState, sc.NodeRequest("cmp-01").Deleting = LockInactive, noon
		}, enable, nil},
		{"enable: to be removed", inMaintenance, func(sc scene) { delete(sc.NodeRequests, "cmp-01"); sc.removes("cmp-01") }, enable, []GuardID{"stays-up"}},
		{"enable: nobody knows whether it is to be removed", inMaintenance, func(sc scene) {
			delete(sc.NodeRequests, "cmp-01")
			sc.source(SourceDeletionRequests, SourceFailed)
		}, enable, []GuardID{"fresh"}},
		{"enable: a release without removals", inMaintenance, func(sc scene) {
			delete(sc.NodeRequests, "cmp-01")
			sc.source(SourceDeletionRequests, SourceAbsent)
		}, enable, nil},

		// A whole host.
		{"all: nothing in the way", emptied, func(scene) {}, Intent{Kind: IntentLiveMigrateAll, Node: "cmp-01"}, []GuardID{"something"}},
		{"all: only one whose owner decides", emptied, func(sc scene) { sc.instance("cmp-01", "batch-17", "notify") }, Intent{Kind: IntentLiveMigrateAll, Node: "cmp-01"}, []GuardID{"something"}},
		{"all: no other host", inMaintenance, func(sc scene) { delete(sc.Services, "cmp-02"); delete(sc.Services, "cmp-03") }, Intent{Kind: IntentLiveMigrateAll, Node: "cmp-01"}, []GuardID{"target"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := tc.make()
			tc.change(sc)
			st := Plan(sc.Snapshot, tc.intent)
			if got := failing(st); !slices.Equal(got, tc.fails) {
				t.Errorf("guards that do not hold: %q, want %q (%s)", got, tc.fails, st.Blocker())
			}
			if doable := len(tc.fails) == 0; st.Doable() != doable {
				t.Errorf("doable %v, want %v", st.Doable(), doable)
			}
		})
	}
}

// builds adds an instance that Nova is building on the host.
func (sc scene) builds(host, name, task string) {
	in := sc.instance(host, name)
	in.Status, in.VMState, in.Power, in.TaskState = "BUILD", "building", PowerNoState, task
}

// cameFrom makes an instance one that was cold-migrated from a host, and waits for a decision.
func (sc scene) cameFrom(name, host string) {
	in := sc.status(name, "VERIFY_RESIZE", "resized")
	m := sc.migration(in, "finished", in.Host, time.Minute)
	m.Type, m.SourceHost = MigrationCold, host
}

// removes has LCM ask for the removal of a node.
func (sc scene) removes(node string) {
	sc.Deletions[node] = &NodeNotice{Meta: Meta{Name: node, UID: "ndr-" + node, Created: ago(time.Hour)}, Kind: KindNodeDeletionRequest, Node: node}
}

// dies switches a host off: neither its kubelet nor its nova-compute reports.
func (sc scene) dies(node string) {
	sc.Nodes[node].Ready, sc.Nodes[node].ReadyReason, sc.Services[node].Up = "Unknown", "NodeStatusUnknown", false
}

func (sc scene) aged(id SourceID, age time.Duration) {
	src := sc.Sources[id]
	src.AsOf = sc.Wall.Add(-age)
	sc.Sources[id] = src
}

func (sc scene) doing(op Operation) {
	op.ID, op.State = "op-"+itoa(len(sc.Operations)), OperationRunning
	sc.Operations = append([]Operation{op}, sc.Operations...)
}

func (sc scene) changed(node, from, to string) {
	sc.History.Changes["uid-"+node] = AnnotationChange{Node: node, Key: AnnotationMigrationMode, Old: &from, New: &to, At: ago(time.Hour)}
}

// The guard on the host says what is left and what to do with each of them.
func TestDeclareSafeNamesWhatIsInTheWay(t *testing.T) {
	sc := inMaintenance()
	sc.instance("cmp-01", "batch-17", "notify")
	sc.instance("cmp-01", "half")
	sc.status("half", "VERIFY_RESIZE", "resized")
	st := Plan(sc.Snapshot, Intent{Kind: IntentDeclareSafe, Node: "cmp-01"})
	i := slices.IndexFunc(st.Guards, func(g Guard) bool { return g.ID == "host-empty" })
	g := st.Guards[i]
	if want := "3 left: batch-17 (notify), half (notify), web-1 (notify)"; g.Answer != want {
		t.Errorf("answer %q, want %q", g.Answer, want)
	}
	if want := "batch-17: tell its owner, then live-migrate, cold-migrate or stop it; half: confirm or revert its migration; web-1: live-migrate, cold-migrate or stop it"; g.Remedy != want {
		t.Errorf("remedy %q, want %q", g.Remedy, want)
	}
}

// Confirmation is scaled to the damage.
func TestRisksAndWhatIsTyped(t *testing.T) {
	sc := emptied()
	sc.instance("cmp-02", "other").Name = "no \x1b[31m name"
	other := sc.named("no \x1b[31m name").ID
	sc.migration(sc.named("web-3"), "running", "cmp-01", time.Minute)
	cases := []struct {
		intent Intent
		risk   Risk
		typed  string
	}{
		{Intent{Kind: IntentSetMode, Node: "cmp-02", Mode: ModeManual}, RiskLow, ""},
		{Intent{Kind: IntentSetMode, Node: "cmp-02", Mode: ModeSkip}, RiskHigh, "cmp-02"},
		{Intent{Kind: IntentSetMode, Nodes: []string{"cmp-01", "cmp-02"}, Mode: ModeLive}, RiskHigh, "2 nodes"},
		{Intent{Kind: IntentSetAttempts, Node: "cmp-02", Attempts: 5}, RiskLow, ""},
		{Intent{Kind: IntentDeclareSafe, Node: "cmp-01"}, RiskHigh, "cmp-01"},
		{Intent{Kind: IntentLiveMigrateAll, Node: "cmp-02"}, RiskHigh, "cmp-02"},
		{Intent{Kind: IntentLiveMigrate, Instance: web1}, RiskMedium, ""},
		{Intent{Kind: IntentColdMigrate, Instance: web1}, RiskMedium, ""},
		{Intent{Kind: IntentConfirmResize, Instance: web1}, RiskMedium, ""},
		{Intent{Kind: IntentRevertResize, Instance: web1}, RiskMedium, ""},
		{Intent{Kind: IntentStop, Instance: web1}, RiskHigh, "web-1"},
		{Intent{Kind: IntentStop, Instance: other}, RiskHigh, other[:8]}, // nobody can type that name
		{Intent{Kind: IntentAbortMigration, Instance: web1}, RiskMedium, ""},
		{Intent{Kind: IntentForceComplete, Instance: web1}, RiskMedium, ""},
		{Intent{Kind: IntentDisableCompute, Node: "cmp-02", Reason: "fan"}, RiskLow, ""},
		{Intent{Kind: IntentEnableCompute, Node: "cmp-01"}, RiskMedium, ""},
	}
	for _, tc := range cases {
		st := Plan(sc.Snapshot, tc.intent)
		if st.Risk != tc.risk || st.Type != tc.typed {
			t.Errorf("%s: risk %s, type %q; want %s, %q", st.Title, st.Risk, st.Type, tc.risk, tc.typed)
		}
	}
}

// What follows from skip is counted out before it is set (docs/mosk.md#tags: a notify tag holds a skip node all the same).
func TestThenOfSkipCountsWhatGoesDown(t *testing.T) {
	skip := Intent{Kind: IntentSetMode, Node: "cmp-01", Mode: ModeSkip}
	sc := inMaintenance()
	if then := Plan(sc.Snapshot, skip).Then; !strings.Contains(then, "within 60 s") || !strings.Contains(then, "1 instance goes down with it (web-1)") {
		t.Errorf("with one that runs: %q", then)
	}
	sc.instance("cmp-01", "batch-17", "notify")
	if then := Plan(sc.again().Snapshot, skip).Then; !strings.Contains(then, "still waits for 1 instance (batch-17)") {
		t.Errorf("with one whose owner decides: %q", then)
	}
	if then := Plan(healthy().Snapshot, skip).Then; then != "It counts when the node's turn comes." {
		t.Errorf("outside a maintenance: %q", then)
	}
}

// A step shows how it goes: what Lockstep does comes before what could be done, and a failure stays until it was seen.
func TestStepStatesFollowOperations(t *testing.T) {
	live := Intent{Kind: IntentLiveMigrate, Instance: web1}
	batch := func(op, item OperationState, text string) Operation {
		return Operation{Step: "live-migrate-all/uid-cmp-01", Intent: Intent{Kind: IntentLiveMigrateAll}, Title: "live-migrate 2 instances", State: op, Items: []OperationItem{{Instance: web1, State: item, Text: text}}}
	}
	cases := []struct {
		name   string
		op     Operation
		state  StepState
		status string
	}{
		{"running", Operation{Step: "live-migrate/" + web1, Intent: Intent{Kind: IntentLiveMigrate}, Node: "cmp-01",
			State: OperationVerifying, Text: "running, 12 %"}, StepRunning, "running, 12 %"},
		{"failed", Operation{Step: "live-migrate/" + web1, Intent: Intent{Kind: IntentLiveMigrate}, State: OperationFailed,
			Text: "No valid host was found."}, StepFailed, "No valid host was found."},
		{"failed and seen", Operation{Step: "live-migrate/" + web1, Intent: Intent{Kind: IntentLiveMigrate}, State: OperationFailed,
			Text: "No valid host was found.", Acknowledged: true}, StepReady, "manual: the operator moves it"},
		{"done", Operation{Step: "live-migrate/" + web1, Intent: Intent{Kind: IntentLiveMigrate}, State: OperationDone}, StepReady,
			"manual: the operator moves it"},
		{"its end was not seen", Operation{Step: "live-migrate/" + web1, Intent: Intent{Kind: IntentLiveMigrate},
			State: OperationUnknown, Text: "lost"}, StepFailed, "lost"},
		{"next in a batch", batch(OperationRunning, OperationQueued, ""), StepWaiting, "its turn comes: live-migrate 2 instances"},
		{"moved by a batch", batch(OperationRunning, OperationVerifying, "running"), StepRunning, "running"},
		{"failed in a batch", batch(OperationPaused, OperationFailed, "No valid host"), StepFailed, "No valid host"},
		{"left out of a batch that ended", batch(OperationStopped, OperationStopped, "not begun"), StepReady, "manual: the operator moves it"},
		{"something else", Operation{Step: "live-migrate/other", Intent: Intent{Kind: IntentLiveMigrate}, State: OperationFailed, Text: "no"}, StepReady, "manual: the operator moves it"},
	}
	for _, tc := range cases {
		sc := inMaintenance()
		tc.op.ID = "op"
		sc.Operations = []Operation{tc.op}
		if st := Plan(sc.Snapshot, live); st.State != tc.state || st.Status != tc.status {
			t.Errorf("%s: %s, %q; want %s, %q", tc.name, st.State, st.Status, tc.state, tc.status)
		}
	}
}

// Nova's own failures count as the step's, also those of the OpenStack controller's tries.
func TestFailedMigrationsShowOnTheStep(t *testing.T) {
	sc := inMaintenance()
	for range 2 {
		sc.migration(sc.named("web-1"), "error", "", 4*time.Minute).Failure = "migration of disk vda failed: Input/output error"
	}
	st := Plan(sc.Snapshot, sc.asked("web-1", IntentLiveMigrate))
	if st.State != StepFailed || st.Status != "failed twice: migration of disk vda failed: Input/output error" {
		t.Errorf("%s, %q", st.State, st.Status)
	}
	if !st.Doable() {
		t.Errorf("a failed step cannot be tried again: %s", st.Blocker())
	}
}

// A batch leaves out what it could not do for a whole host, and says so.
func TestBatchLeavesOutWhatAPersonHasToDecide(t *testing.T) {
	sc := inMaintenance()
	sc.instance("cmp-01", "a-1")
	sc.instance("cmp-01", "batch-17", "notify")
	sc.instance("cmp-01", "bad")
	sc.status("bad", "ERROR", "error")
	sc.instance("cmp-01", "ci", "poweroff")
	st := Plan(sc.Snapshot, Intent{Kind: IntentLiveMigrateAll, Node: "cmp-01", AtOnce: 2})
	b, ok := st.Change.(Batch)
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
