package step

import (
	"reflect"
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/scene"
	"pgregory.net/rapid"
)

func anyIntent(t *rapid.T, sc scene.Scene) core.Intent {
	i := core.Intent{Kind: rapid.SampledFrom(scene.AllKinds).Draw(t, "kind"),
		Mode:     rapid.SampledFrom([]core.MigrationMode{"", core.ModeLive, core.ModeManual, core.ModeSkip, "odd"}).Draw(t, "new mode"),
		Attempts: rapid.IntRange(-1, 6).Draw(t, "attempts"), Reason: rapid.SampledFrom([]string{"a fan", "", "two\nlines"}).Draw(t, "reason")}
	ids := []string{"gone"}
	for id := range sc.Instances.All() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	i.Instance = rapid.SampledFrom(ids).Draw(t, "instance")
	i.Node = rapid.SampledFrom([]string{"cmp-01", "cmp-01", "cmp-02", "gtw-01", "gone", ""}).Draw(t, "node")
	i.Workload = rapid.SampledFrom([]string{"tf/tf-vrouter-agent", "openstack/neutron-ovs-agent-default", "tf/gone", ""}).Draw(t, "workload")
	i.Object = core.Ref{Kind: core.KindVolumeService,
		Name: rapid.SampledFrom([]string{"cmp-01@lvm", "cmp-01@lvm", "cmp-02@lvm", "gone@lvm", ""}).Draw(t, "volume service")}
	i.PlanStep = rapid.SampledFrom([]string{"k8s-controllers", "k8s-workers-mos-default", "openstack", "gone", ""}).Draw(t, "plan step")
	i.Release = rapid.SampledFrom([]string{"mosk-21-0-0-25-2", "gone", ""}).Draw(t, "release")
	i.Alerts = rapid.SampledFrom([][]string{nil, {"A"}, {"B", "C"}, {"no alert"}}).Draw(t, "alerts")
	i.PastStops = rapid.IntRange(0, 3).Draw(t, "past") == 3
	if rapid.IntRange(0, 3).Draw(t, "several") == 3 {
		i.Nodes = []string{"cmp-02", "cmp-03"}
	}
	return i
}

// A node is never declared safe while something is in the way, or while that is not certain. The test derives what is in the way
// from docs/mosk.md#tags itself, without the code under test.
func TestNodeIsNeverDeclaredSafeTooEarly(t *testing.T) {
	through := 0
	property := func(t *rapid.T) {
		sc := scene.AnyScene(t)
		st := Plan(sc.Snapshot, core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"})
		if !st.Doable() {
			return
		}
		through++
		mode := sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationMode]
		for _, in := range sc.ByHost["cmp-01"] {
			var tags []string
			for _, tag := range in.Tags {
				for _, known := range []string{"live_migrate", "poweroff", "notify"} {
					if tag == core.TagMaintenanceAction+known && !slices.Contains(tags, known) {
						tags = append(tags, known)
					}
				}
			}
			poweroff := len(tags) == 1 && tags[0] == "poweroff" || len(tags) != 1 && mode == "skip"
			stopped := slices.Contains([]string{"building", "deleted", "soft_deleted", "stopped", "suspended", "shelved", "shelve_offloaded",
				"shelved_offloaded"}, in.VMState) ||
				slices.Contains([]core.PowerState{4, 6, 7}, in.Power)
			if !poweroff && !stopped {
				t.Fatalf("%s is %s, power %s, tags %v: the node was declared safe", in.Name, in.VMState, in.Power, in.Tags)
			}
		}
		for _, id := range []core.SourceID{core.SourceInstances, core.SourceComputeServices, core.SourceMigrations, core.SourceNodes,
			core.SourceNodeRequests, core.SourceNodeLocks} {
			if src := sc.Sources[id]; src.State != core.SourceLive || sc.Wall.Sub(src.AsOf) > sc.Settings.StaleAfter {
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
	for range 20 { // random scenes rarely get through; go on until one has
		if rapid.Check(t, property); through > 0 {
			break
		}
	}
	if through == 0 {
		t.Error("no scene let the step through: the property was not tested")
	}
}

// The rules that every plan keeps.
func TestEveryPlanKeepsTheRules(t *testing.T) {
	through := map[core.IntentKind]int{}
	property := func(t *rapid.T) {
		sc := scene.AnyScene(t)
		i := anyIntent(t, sc)
		st := Plan(sc.Snapshot, i)
		if again := Plan(sc.Again().Snapshot, i); !reflect.DeepEqual(st, again) {
			t.Fatalf("planned twice from the same facts:\n%+v\n%+v", st, again)
		}
		if st.ID == "" || st.Title == "" || st.State == "" || len(st.Guards) == 0 {
			t.Fatalf("%s has no ID, title, state or guards: %+v", i.Kind, st)
		}
		var ids []core.GuardID
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
			if st.State == core.StepReady {
				t.Fatalf("%s is ready, and cannot be done: %s", st.Title, st.Blocker())
			}
			return
		}
		through[i.Kind]++
		if !sc.Write.Armed || len(scene.Failing(st)) > 0 || len(st.Commands) == 0 || len(st.Basis) == 0 || st.Why == "" || st.Then == "" ||
			st.Risk == "" {
			t.Fatalf("%s can be done: %+v", st.Title, st)
		}
		if st.Target.UID == "" && st.Target.Kind != core.KindCluster {
			t.Fatalf("%s: the target has no UID", st.Title)
		}
		if (st.Risk == core.RiskHigh) != (st.Type != "") {
			t.Fatalf("%s: risk %s, type %q", st.Title, st.Risk, st.Type)
		}
		for _, op := range sc.Operations {
			migration := op.Is(core.IntentLiveMigrate) || op.Is(core.IntentLiveMigrateAll)
			control := i.Kind == core.IntentAbortMigration || i.Kind == core.IntentForceComplete
			if !op.State.Ended() && op.Node == st.Node && !(control && migration) {
				t.Fatalf("%s can be done while %s runs", st.Title, op.Step)
			}
		}
		if b, ok := st.Change.(core.Batch); ok {
			for _, item := range b.Items { // the engine plans each item again right before it, and insists on the same change
				if one := Plan(sc.Snapshot, item.Intent); !reflect.DeepEqual(one.Change, item.Change) || !one.Doable() {
					t.Fatalf("%s: item %s planned again is %+v (%s)", st.Title, item.Label, one.Change, one.Blocker())
				}
			}
		}
	}
	for range 20 { // random plans rarely get through; go on until enough have
		if rapid.Check(t, property); len(through) >= 3 {
			break
		}
	}
	if len(through) < 3 {
		t.Errorf("hardly anything was let through: %v", through)
	}
}

// A confirmation goes stale with the facts that it was given for.
func TestBasisChangesWithTheFacts(t *testing.T) {
	onInstance := []func(sc scene.Scene){
		func(sc scene.Scene) { sc.Named("web-1").Host = "cmp-02" },
		func(sc scene.Scene) { sc.Named("web-1").Status = "PAUSED" },
		func(sc scene.Scene) { sc.Named("web-1").TaskState = "pausing" },
		func(sc scene.Scene) { sc.Named("web-1").Power = core.PowerCrashed },
	}
	onNode := []func(sc scene.Scene){
		func(sc scene.Scene) { sc.Nodes["cmp-01"].UID = "uid-another" },
		func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeLive) },
		func(sc scene.Scene) { delete(sc.Nodes["cmp-01"].Annotations, core.AnnotationMigrationMode) },
	}
	onHost := []func(sc scene.Scene){
		func(sc scene.Scene) { sc.Instance("cmp-01", "late-1") },
		func(sc scene.Scene) { sc.ByHost["cmp-01"] = nil },
		func(sc scene.Scene) { sc.Named("web-1").Status = "ERROR" },
		func(sc scene.Scene) { sc.Named("web-1").TaskState = "deleting" },
		func(sc scene.Scene) { sc.Named("web-1").Tags = []string{core.TagMaintenanceAction + "notify"} },
		func(sc scene.Scene) { sc.Named("web-1").Power = core.PowerRunning },
	}
	inRequest := []func(sc scene.Scene){
		func(sc scene.Scene) { sc.NodeRequest("cmp-01").UID = "another" },
		func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive },
	}
	onService := []func(sc scene.Scene){
		func(sc scene.Scene) { sc.Services["cmp-01"].ID = "another" },
		func(sc scene.Scene) { sc.Services["cmp-01"].DisabledReason = "a fan" },
		func(sc scene.Scene) { sc.Services["cmp-01"].Enabled = true },
	}
	onVolumes := []func(sc scene.Scene){
		func(sc scene.Scene) { sc.VolumeServices["cmp-01"][0].DisabledReason = "a dead disk" },
		func(sc scene.Scene) { sc.VolumeServices["cmp-01"][0].Enabled = true },
		func(sc scene.Scene) { sc.VolumeServices["cmp-01"] = nil },
	}
	cases := []struct {
		intent  core.Intent
		changes []func(scene.Scene)
	}{
		{core.Intent{Kind: core.IntentLiveMigrate, Instance: scene.Web1}, onInstance},
		{core.Intent{Kind: core.IntentColdMigrate, Instance: scene.Web1}, onInstance},
		{core.Intent{Kind: core.IntentStop, Instance: scene.Web1}, onInstance},
		{core.Intent{Kind: core.IntentStart, Instance: scene.Web1}, onInstance},
		{core.Intent{Kind: core.IntentShelve, Instance: scene.Web1}, onInstance},
		{core.Intent{Kind: core.IntentTagPowerOff, Instance: scene.Web1}, append(slices.Clone(onInstance), func(sc scene.Scene) {
			sc.Named("web-1").Tags = []string{core.TagMaintenanceAction + "notify"}
		})},
		{core.Intent{Kind: core.IntentSetMode, Node: "cmp-01", Mode: core.ModeSkip}, slices.Concat(onNode, onHost, inRequest)},
		{core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-01", "cmp-02"}, Mode: core.ModeSkip}, onNode},
		{core.Intent{Kind: core.IntentDeclareSafe, Node: "cmp-01"}, slices.Concat(onNode, onHost, inRequest)},
		{core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-01"}, slices.Concat(onNode[:1], onHost, inRequest[:1])},
		{core.Intent{Kind: core.IntentEnableCompute, Node: "cmp-01"}, slices.Concat(onService, inRequest[:1])},
		{core.Intent{Kind: core.IntentDisableCompute, Node: "cmp-01", Reason: "x"}, onService},
		{core.Intent{Kind: core.IntentEnableVolume, Node: "cmp-01", Object: scene.LvmOf("cmp-01")},
			append(slices.Clone(inRequest[:1]), onVolumes...)},
		{core.Intent{Kind: core.IntentDisableVolume, Node: "cmp-01", Object: scene.LvmOf("cmp-01"), Reason: "x"}, onVolumes},
	}
	for _, tc := range cases {
		for n, change := range tc.changes {
			sc := scene.Emptied()
			v := sc.VolumeService("cmp-01@lvm")
			v.Enabled, v.DisabledReason = false, core.DisabledReasonMaintenance
			before := Plan(sc.Snapshot, tc.intent)
			if same := Plan(sc.Again().Snapshot, tc.intent); len(ChangedFacts(before.Basis, same.Basis)) > 0 {
				t.Fatalf("%s: the basis changes by itself", tc.intent.Kind)
			}
			change(sc)
			after := Plan(sc.Again().Snapshot, tc.intent)
			if len(ChangedFacts(before.Basis, after.Basis)) == 0 {
				t.Errorf("%s: change %d leaves the basis as it was: %v", tc.intent.Kind, n, after.Basis)
			}
		}
	}
}

// A step of the plan is commenced only where the plan leads on from the Cluster's release, the plan is seen, and all before it is complete
// or commenced: whatever the operator goes past. The test reads the plan itself, without the code under test.
func TestNoStepIsCommencedThatDoesNotComeNext(t *testing.T) {
	through := 0
	property := func(t *rapid.T) {
		sc := scene.AnyScene(t)
		i := anyIntent(t, sc)
		i.Kind = core.IntentCommence
		if rapid.IntRange(0, 3).Draw(t, "the next one") > 0 && sc.Management != nil && len(sc.Management.Plans) > 0 {
			if at := sc.Management.Plans[0].ToCommence(); at >= 0 {
				i.PlanStep = sc.Management.Plans[0].Steps[at].ID
			}
		}
		st := Plan(sc.Snapshot, i)
		if _, stopped := st.Unmet(core.GuardNoStops); stopped {
			i.PastStops = !i.PastStops
			st = Plan(sc.Snapshot, i)
		}
		if !st.Doable() {
			return
		}
		through++
		c, p := sc.Management.Cluster, sc.Management.Plans[0]
		there := c.Target == p.Source || c.Target == p.Target
		at := c.Release == p.Source || c.Release == "" || c.Release == p.Target && p.Status != core.PlanNotStarted
		if !there || !at || p.Status == core.PlanCompleted && c.Release == p.Target || c.InMaintenance {
			t.Fatalf("the plan is %s from %s to %s, the Cluster at %s, to be at %s", p.Status, p.Source, p.Target, c.Release, c.Target)
		}
		if sc.Sources[core.SourcePlans].State != core.SourceLive || sc.Sources[core.SourceGroups].State != core.SourceLive {
			t.Fatal("what it shows was not seen")
		}
		for _, st := range p.Steps {
			switch {
			case st.ID == i.PlanStep:
				if st.Commence || st.Status == core.PlanCompleted {
					t.Fatalf("%+v is commenced again", st)
				}
				return
			case st.Status == core.PlanNotStarted && !st.Commence:
				t.Fatalf("%s is before it", st.ID)
			}
		}
	}
	for range 20 { // few of the drawn clusters are ready for a step
		if rapid.Check(t, property); through > 0 {
			return
		}
	}
	t.Error("no step was ever commenced")
}
