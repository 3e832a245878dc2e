package core

import (
	"maps"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var allKinds = []IntentKind{IntentSetMode, IntentSetAttempts, IntentDeclareSafe, IntentRestoreMode, IntentLiveMigrate, IntentLiveMigrateAll, IntentColdMigrate,
	IntentConfirmResize, IntentRevertResize, IntentStop, IntentStart, IntentAbortMigration, IntentForceComplete, IntentDisableCompute, IntentEnableCompute,
	IntentResume, IntentResetState, IntentShelve, IntentUnshelve, IntentTagPowerOff, IntentRestoreTags,
	IntentRestartPod, IntentRestartPods, IntentRestartAgent, IntentRestartAgents, IntentAddTempest, IntentRemoveTempest, IntentDeletePod, IntentDeletePods,
	IntentEnterCluster, IntentLeaveCluster, IntentEnterMachine, IntentLeaveMachine, IntentReboot, IntentDisableVolume, IntentEnableVolume}

// anyScene draws a cluster in which everything that a plan looks at can be otherwise: sources, modes, instances, migrations,
// locks, requests, operations. It leans towards what lets steps through, so that both answers are seen.
func anyScene(t *rapid.T) scene {
	sc := healthy()
	mostly := func(name string, often, seldom func()) {
		if rapid.IntRange(0, 5).Draw(t, name) < 5 { // rapid leans towards 0
			often()
		} else {
			seldom()
		}
	}
	nothing := func() {}
	one := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
	mostly("armed", nothing, func() { sc.Write = WriteMode{Barred: one("barred", "", "read-only")} })
	for _, id := range []SourceID{SourceNodes, SourceNodeRequests, SourceNodeLocks, SourceInstances, SourceComputeServices, SourceMigrations} {
		if rapid.IntRange(0, 19).Draw(t, string(id)) == 19 {
			sc.source(id, SourceState(one("state", "stale", "forbidden", "failed", "off", "connecting")))
		} else if rapid.IntRange(0, 19).Draw(t, string(id)+" age") == 19 {
			sc.aged(id, 2*time.Minute)
		}
	}
	mostly("asked", func() { sc.maintained("cmp-01", one("message", "", "Some servers are still present on the host.")) }, nothing)
	if r := sc.NodeRequest("cmp-01"); r != nil {
		mostly("returning", nothing, func() { r.Deleting = noon })
		r.Scope = Scope(one("scope", "os", "os", "drain", ""))
	}
	mostly("lock", nothing, func() {
		sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockState(one("lock state", "inactive", "failed", "odd"))
	})
	if mode := one("mode", "", "manual", "manual", "live", "skip", "odd"); mode != "" {
		sc.mode("cmp-01", MigrationMode(mode))
	}
	if rapid.Bool().Draw(t, "changed") {
		sc.changed("cmp-01", "manual", one("to", "skip", "live"))
	}
	for _, name := range []string{"web-1", "a-1", "b-2"}[:rapid.IntRange(1, 3).Draw(t, "instances")] {
		in := sc.named(name)
		if in == nil {
			in = sc.instance("cmp-01", name)
		}
		state := rapid.SampledFrom([][2]string{{"SHUTOFF", "stopped"}, {"SHUTOFF", "stopped"}, {"ACTIVE", "active"}, {"PAUSED", "paused"}, {"ERROR", "error"},
			{"VERIFY_RESIZE", "resized"}, {"SHELVED_OFFLOADED", "shelved_offloaded"}, {"RESCUE", "rescued"}}).Draw(t, "status")
		in.Status, in.VMState = state[0], state[1]
		in.Power = rapid.SampledFrom([]PowerState{PowerNoState, PowerRunning, PowerPaused, PowerShutdown, PowerCrashed, PowerSuspended}).Draw(t, "power")
		for _, tag := range rapid.SliceOfN(rapid.SampledFrom([]string{"live_migrate", "poweroff", "notify", "odd"}), 0, 2).Draw(t, "tags") {
			in.Tags = append(in.Tags, TagMaintenanceAction+tag)
		}
		mostly("task", nothing, func() { in.TaskState = one("task state", "migrating", "powering-off") })
		if rapid.IntRange(0, 3).Draw(t, "migrates") == 3 {
			m := sc.migration(in, one("migration", "preparing", "running", "error", "completed", "finished"), "cmp-02", time.Minute)
			m.Type = one("type", MigrationLive, MigrationLive, MigrationCold)
		}
	}
	if rapid.IntRange(0, 7).Draw(t, "operation") == 7 {
		kinds := map[string]IntentKind{"live-migrate/" + web1: IntentLiveMigrate, "live-migrate-all/uid-cmp-01": IntentLiveMigrateAll, "set-mode/uid-cmp-01/skip": IntentSetMode}
		step := one("step", slices.Sorted(maps.Keys(kinds))...)
		sc.doing(Operation{Step: step, Intent: Intent{Kind: kinds[step]}, Node: "cmp-01", Title: "something"})
	}
	if rapid.IntRange(0, 3).Draw(t, "tagged by Lockstep") == 3 {
		sc.History.Tags[web1] = TagChange{Instance: "web-1", Old: recognisedTags([]string{TagMaintenanceAction + one("former", "notify", "odd")}),
			New: []MaintenanceAction{ActionPowerOff}, At: ago(time.Hour)}
	}
	anyDaemons(t, sc)
	anyVolumeService(t, sc)
	for _, name := range []string{"cmp-01", "cmp-02"} {
		mostly("service "+name, nothing, func() {
			sc.Services[name].Up, sc.Services[name].Enabled = rapid.Bool().Draw(t, "up"), rapid.Bool().Draw(t, "enabled")
		})
	}
	return sc
}

func anyIntent(t *rapid.T, sc scene) Intent {
	i := Intent{Kind: rapid.SampledFrom(allKinds).Draw(t, "kind"), Mode: rapid.SampledFrom([]MigrationMode{"", ModeLive, ModeManual, ModeSkip, "odd"}).Draw(t, "new mode"),
		Attempts: rapid.IntRange(-1, 6).Draw(t, "attempts"), Reason: rapid.SampledFrom([]string{"a fan", "", "two\nlines"}).Draw(t, "reason")}
	ids := []string{"gone"}
	for id := range sc.Instances {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	i.Instance = rapid.SampledFrom(ids).Draw(t, "instance")
	i.Node = rapid.SampledFrom([]string{"cmp-01", "cmp-01", "cmp-02", "gtw-01", "gone", ""}).Draw(t, "node")
	i.Workload = rapid.SampledFrom([]string{"tf/tf-vrouter-agent", "openstack/neutron-ovs-agent-default", "tf/gone", ""}).Draw(t, "workload")
	i.Object = Ref{Kind: KindVolumeService, Name: rapid.SampledFrom([]string{"cmp-01@lvm", "cmp-01@lvm", "cmp-02@lvm", "gone@lvm", ""}).Draw(t, "volume service")}
	if rapid.IntRange(0, 3).Draw(t, "several") == 3 {
		i.Nodes = []string{"cmp-02", "cmp-03"}
	}
	return i
}

// A node is never declared safe while something is in the way, or while that is not known for sure. What is in the way is
// told here from docs/mosk.md#tags once more, not by the code under test.
func TestNodeIsNeverDeclaredSafeTooEarly(t *testing.T) {
	through := 0
	property := func(t *rapid.T) {
		sc := anyScene(t)
		st := Plan(sc.Snapshot, Intent{Kind: IntentDeclareSafe, Node: "cmp-01"})
		if !st.Doable() {
			return
		}
		through++
		mode := sc.Nodes["cmp-01"].Annotations[AnnotationMigrationMode]
		for _, in := range sc.ByHost["cmp-01"] {
			var tags []string
			for _, tag := range in.Tags {
				for _, known := range []string{"live_migrate", "poweroff", "notify"} {
					if tag == TagMaintenanceAction+known && !slices.Contains(tags, known) {
						tags = append(tags, known)
					}
				}
			}
			poweroff := len(tags) == 1 && tags[0] == "poweroff" || len(tags) != 1 && mode == "skip"
			stopped := slices.Contains([]string{"building", "deleted", "soft_deleted", "stopped", "suspended", "shelved", "shelve_offloaded", "shelved_offloaded"}, in.VMState) ||
				slices.Contains([]PowerState{4, 6, 7}, in.Power)
			if !poweroff && !stopped {
				t.Fatalf("%s is %s, power %s, tags %v: the node was declared safe", in.Name, in.VMState, in.Power, in.Tags)
			}
		}
		for _, id := range []SourceID{SourceInstances, SourceComputeServices, SourceMigrations, SourceNodes, SourceNodeRequests, SourceNodeLocks} {
			if src := sc.Sources[id]; src.State != SourceLive || sc.Wall.Sub(src.AsOf) > sc.Settings.StaleAfter {
				t.Fatalf("%s is %s, seen %s ago: the node was declared safe", id, src.State, sc.Wall.Sub(src.AsOf))
			}
		}
		for id, ms := range sc.Migrations {
			if ms[0].Running() {
				t.Fatalf("a migration of %s is %s: the node was declared safe", id, ms[0].Status)
			}
		}
		if r := sc.NodeRequest("cmp-01"); r == nil || !r.Deleting.IsZero() {
			t.Fatal("LCM does not ask for the node: it was declared safe")
		}
	}
	for range 20 { // chance lets few scenes through; go on until it has
		if rapid.Check(t, property); through > 0 {
			break
		}
	}
	if through == 0 {
		t.Error("no scene let the step through: the property was not tested")
	}
}

// What every plan of anything keeps.
func TestEveryPlanKeepsTheRules(t *testing.T) {
	through := map[IntentKind]int{}
	property := func(t *rapid.T) {
		sc := anyScene(t)
		i := anyIntent(t, sc)
		st := Plan(sc.Snapshot, i)
		if again := Plan(sc.again().Snapshot, i); !reflect.DeepEqual(st, again) {
			t.Fatalf("planned twice from the same facts:\n%+v\n%+v", st, again)
		}
		if st.ID == "" || st.Title == "" || st.State == "" || len(st.Guards) == 0 {
			t.Fatalf("%s has no ID, title, state or guards: %+v", i.Kind, st)
		}
		var ids []GuardID
		for _, g := range st.Guards {
			if g.ID == "" || g.Text == "" || !g.Holds && g.Answer == "" {
				t.Fatalf("%s: a guard says too little: %+v", i.Kind, g)
			}
			if slices.Contains(ids, g.ID) {
				t.Fatalf("%s has two guards %q", i.Kind, g.ID)
			}
			ids = append(ids, g.ID)
		}
		var facts []string
		for _, f := range st.Basis {
			if slices.Contains(facts, f.Name) {
				t.Fatalf("%s has two facts %q", i.Kind, f.Name)
			}
			facts = append(facts, f.Name)
		}
		if !st.Doable() {
			if st.State == StepReady {
				t.Fatalf("%s is ready, and cannot be done: %s", st.Title, st.Blocker())
			}
			return
		}
		through[i.Kind]++
		if !sc.Write.Armed || len(failing(st)) > 0 || len(st.Commands) == 0 || len(st.Basis) == 0 || st.Why == "" || st.Then == "" || st.Risk == "" {
			t.Fatalf("%s can be done: %+v", st.Title, st)
		}
		if st.Target.UID == "" && st.Target.Kind != KindCluster {
			t.Fatalf("%s: the target has no UID", st.Title)
		}
		if (st.Risk == RiskHigh) != (st.Type != "") {
			t.Fatalf("%s: risk %s, type %q", st.Title, st.Risk, st.Type)
		}
		for _, op := range sc.Operations {
			migration := op.is(IntentLiveMigrate) || op.is(IntentLiveMigrateAll)
			control := i.Kind == IntentAbortMigration || i.Kind == IntentForceComplete
			if !op.State.Ended() && op.Node == st.Node && !(control && migration) {
				t.Fatalf("%s can be done while %s runs", st.Title, op.Step)
			}
		}
		if b, ok := st.Change.(Batch); ok {
			for _, item := range b.Items { // the engine plans each again right before it, and insists on the same change
				if one := Plan(sc.Snapshot, item.Intent); !reflect.DeepEqual(one.Change, item.Change) || !one.Doable() {
					t.Fatalf("%s: item %s planned again is %+v (%s)", st.Title, item.Label, one.Change, one.Blocker())
				}
			}
		}
	}
	for range 20 { // chance lets few plans through; go on until it has
		if rapid.Check(t, property); len(through) >= 3 {
			break
		}
	}
	if len(through) < 3 {
		t.Errorf("hardly anything was let through: %v", through)
	}
}

// A confirmation goes stale with what it was given for.
func TestBasisChangesWithTheFacts(t *testing.T) {
	onInstance := []func(sc scene){
		func(sc scene) { sc.named("web-1").Host = "cmp-02" },
		func(sc scene) { sc.named("web-1").Status = "PAUSED" },
		func(sc scene) { sc.named("web-1").TaskState = "pausing" },
		func(sc scene) { sc.named("web-1").Power = PowerCrashed },
	}
	onNode := []func(sc scene){
		func(sc scene) { sc.Nodes["cmp-01"].UID = "uid-another" },
		func(sc scene) { sc.mode("cmp-01", ModeLive) },
		func(sc scene) { delete(sc.Nodes["cmp-01"].Annotations, AnnotationMigrationMode) },
	}
	onHost := []func(sc scene){
		func(sc scene) { sc.instance("cmp-01", "late-1") },
		func(sc scene) { sc.ByHost["cmp-01"] = nil },
		func(sc scene) { sc.named("web-1").Status = "ERROR" },
		func(sc scene) { sc.named("web-1").TaskState = "deleting" },
		func(sc scene) { sc.named("web-1").Tags = []string{TagMaintenanceAction + "notify"} },
		func(sc scene) { sc.named("web-1").Power = PowerRunning },
	}
	inRequest := []func(sc scene){
		func(sc scene) { sc.NodeRequest("cmp-01").UID = "another" },
		func(sc scene) { sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive },
	}
	onService := []func(sc scene){
		func(sc scene) { sc.Services["cmp-01"].ID = "another" },
		func(sc scene) { sc.Services["cmp-01"].DisabledReason = "a fan" },
		func(sc scene) { sc.Services["cmp-01"].Enabled = true },
	}
	onVolumes := []func(sc scene){
		func(sc scene) { sc.VolumeServices["cmp-01"][0].DisabledReason = "a dead disk" },
		func(sc scene) { sc.VolumeServices["cmp-01"][0].Enabled = true },
		func(sc scene) { sc.VolumeServices["cmp-01"] = nil },
	}
	cases := []struct {
		intent  Intent
		changes []func(scene)
	}{
		{Intent{Kind: IntentLiveMigrate, Instance: web1}, onInstance},
		{Intent{Kind: IntentColdMigrate, Instance: web1}, onInstance},
		{Intent{Kind: IntentStop, Instance: web1}, onInstance},
		{Intent{Kind: IntentStart, Instance: web1}, onInstance},
		{Intent{Kind: IntentShelve, Instance: web1}, onInstance},
		{Intent{Kind: IntentTagPowerOff, Instance: web1}, append(slices.Clone(onInstance), func(sc scene) {
			sc.named("web-1").Tags = []string{TagMaintenanceAction + "notify"}
		})},
		{Intent{Kind: IntentSetMode, Node: "cmp-01", Mode: ModeSkip}, slices.Concat(onNode, onHost, inRequest)},
		{Intent{Kind: IntentSetMode, Nodes: []string{"cmp-01", "cmp-02"}, Mode: ModeSkip}, onNode},
		{Intent{Kind: IntentDeclareSafe, Node: "cmp-01"}, slices.Concat(onNode, onHost, inRequest)},
		{Intent{Kind: IntentLiveMigrateAll, Node: "cmp-01"}, slices.Concat(onNode[:1], onHost, inRequest[:1])},
		{Intent{Kind: IntentEnableCompute, Node: "cmp-01"}, slices.Concat(onService, inRequest[:1])},
		{Intent{Kind: IntentDisableCompute, Node: "cmp-01", Reason: "x"}, onService},
		{Intent{Kind: IntentEnableVolume, Node: "cmp-01", Object: lvmOf("cmp-01")}, append(slices.Clone(inRequest[:1]), onVolumes...)},
		{Intent{Kind: IntentDisableVolume, Node: "cmp-01", Object: lvmOf("cmp-01"), Reason: "x"}, onVolumes},
	}
	for _, tc := range cases {
		for n, change := range tc.changes {
			sc := emptied()
			v := sc.volumeService("cmp-01@lvm")
			v.Enabled, v.DisabledReason = false, DisabledReasonMaintenance
			before := Plan(sc.Snapshot, tc.intent)
			if same := Plan(sc.again().Snapshot, tc.intent); len(ChangedFacts(before.Basis, same.Basis)) > 0 {
				t.Fatalf("%s: the basis changes by itself", tc.intent.Kind)
			}
			change(sc)
			after := Plan(sc.again().Snapshot, tc.intent)
			if len(ChangedFacts(before.Basis, after.Basis)) == 0 {
				t.Errorf("%s: change %d leaves the basis as it was: %v", tc.intent.Kind, n, after.Basis)
			}
		}
	}
}

// Plans and procedures are total: on nothing at all they say so.
func TestNothingIsKnown(t *testing.T) {
	for _, kind := range append(slices.Clone(allKinds), "", "odd") {
		for _, i := range []Intent{{Kind: kind}, {Kind: kind, Node: "n", Instance: "i"}, {Kind: kind, Nodes: []string{"a", "b"}, Mode: "odd", Attempts: -9, AtOnce: -9}} {
			if st := Plan(&Snapshot{}, i); st.Doable() || st.Change != nil || st.Blocker() == "" {
				t.Errorf("%+v on nothing: %+v", i, st)
			}
		}
	}
	for _, kind := range []ProcedureKind{ProcedureNode, ProcedureInstance, ProcedureSource, "odd"} {
		if p, ok := (&Snapshot{}).Procedure(ProcedureKey{Kind: kind, Subject: "x"}); ok {
			t.Errorf("a procedure %s of nothing: %+v", kind, p)
		}
	}
}

// Names come from APIs, and are pasted into a shell: bash itself says that each stays one word, on one line.
func TestCommandsAreSafeInAShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed: ", err)
	}
	word := rapid.OneOf(rapid.StringN(0, 30, -1), rapid.StringOf(rapid.RuneFrom([]rune("a'\"\\$`;&|<>(){}[]*?!#~ \n\r\t\x1b\x7f\u202eü"))))
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		for _, w := range rapid.SliceOfN(word, 1, 8).Draw(t, "words") {
			want = append(want, strings.ReplaceAll(w, "\x00", "")) // no argument can have it
		}
		line := shellCommand(want...)
		if strings.ContainsAny(line, "\n\r\t\x1b\x7f") {
			t.Fatalf("%q is not one line of printable text", line)
		}
		out, err := exec.Command(bash, "-c", `printf '%s\0' `+line).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, want) {
			t.Fatalf("%s\nis %q\nwant %q", line, got, want)
		}
	})
}
