package step

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// group is an UpdateGroup of the scene's cluster.
func group(name string, index, concurrent int, reboot bool) *core.MachineGroup {
	return &core.MachineGroup{Meta: core.Meta{Name: name, Namespace: "prod", UID: "uid-" + name}, Cluster: "mos", Index: index,
		Concurrent: concurrent, Reboot: reboot}
}

// grouped is a cluster with a plan of which n steps are complete and whose workers are in three groups: canary has cmp-01, rack-a the other
// computes, rack-b nothing. What nobody has moved is in the default group.
func grouped(n int) (*scene.Managed, []core.Object) {
	m := scene.Resting()
	plan := m.Planned(n)
	plan.Source, plan.Target = "mosk-17-4-0-25-1", "mosk-21-0-0-25-2"
	if n == 0 {
		plan.Status, plan.Started = core.PlanNotStarted, time.Time{}
	}
	rest := plan.Steps[4]
	plan.Steps = plan.Steps[:3]
	for _, name := range []string{"mos-default", "canary", "rack-a", "rack-b"} {
		plan.Steps = append(plan.Steps, core.PlanStep{ID: core.PlanStepWorkers + name, Status: core.PlanNotStarted, Granularity: "machine"})
	}
	plan.Steps = append(plan.Steps, rest)
	m.Machines["cmp-01"].Group = "canary"
	m.Machines["cmp-02"].Group = "rack-a"
	m.Machines["cmp-02"].UpgradeIndex, m.Machines["cmp-02"].IndexAsked = 3, new(3)
	return m, []core.Object{group("mos-control", 1, 1, false), group("mos-default", 1, 1, false), group("canary", 2, 1, false),
		group("rack-a", 3, 2, false), group("rack-b", 3, 1, true)}
}

// Which guards of changing the order of machines do not hold, and what is written.
func TestGuardsOfUpdateGroups(t *testing.T) {
	const kubectl = "kubectl --context mgmt -n prod "
	move := func(to string, nodes ...string) core.Intent {
		return core.Intent{Kind: core.IntentMoveMachines, Nodes: nodes, Group: to}
	}
	set := func(kind core.IntentKind, name string, to core.GroupSettings) core.Intent {
		return core.Intent{Kind: kind, Group: name, GroupSettings: to}
	}
	at := func(name string, n int) core.Intent {
		return set(core.IntentSetGroupConcurrency, name, core.GroupSettings{Concurrent: n})
	}
	index := func(name string, n int) core.Intent {
		return set(core.IntentSetGroupIndex, name, core.GroupSettings{Index: n})
	}
	drop := func(name string) core.Intent { return core.Intent{Kind: core.IntentDeleteGroup, Group: name} }
	place := func(node string, n int) core.Intent {
		return core.Intent{Kind: core.IntentSetUpgradeIndex, Node: node, UpgradeIndex: n}
	}
	nothing := func(*scene.Managed) {}
	step := func(i int, status string, commence bool) func(*scene.Managed) {
		return func(m *scene.Managed) {
			st := &m.Plan.Steps[i]
			st.Status, st.Commence = status, commence
			if status != core.PlanScheduled && status != core.PlanNotStarted {
				st.Started = scene.Ago(20 * time.Minute)
			}
		}
	}
	for _, tt := range []struct {
		name    string
		given   func(*scene.Managed)
		intent  core.Intent
		fails   string
		command string
	}{
		{"moved", nothing, move("rack-b", "cmp-01"), "",
			kubectl + "label machines.cluster.k8s.io m-cmp-01 --overwrite kaas.mirantis.com/update-group=rack-b"},
		{"moved where it is", nothing, move("canary", "cmp-01"), "differs", ""},
		{"moved where nothing is", nothing, move("gone", "cmp-01"), "known", ""},
		{"moved out of the control plane", func(m *scene.Managed) { m.Machines["cmp-01"].Control = true },
			move("rack-b", "cmp-01"), "worker", ""},
		{"moved into the control plane", nothing, move("mos-control", "cmp-01"), "group-custom", ""},
		{"moved out of a group that is commenced", step(4, core.PlanScheduled, true), move("rack-b", "cmp-01"), "group-rests", ""},
		{"moved into a group that is under way", step(6, core.PlanInProgress, true), move("rack-b", "cmp-01"), "group-rests", ""},
		{"moved into a group that is through", step(6, core.PlanCompleted, true), move("rack-b", "cmp-01"), "group-rests", ""},
		{"moved beside one that is under way", step(4, core.PlanInProgress, true), move("rack-b", "cmp-02"), "",
			kubectl + "label machines.cluster.k8s.io m-cmp-02 --overwrite kaas.mirantis.com/update-group=rack-b"},
		{"moved in maintenance mode", func(m *scene.Managed) { m.InMode("cmp-01") }, move("rack-b", "cmp-01"), "machine-rests", ""},
		{"moved while LCM asks for it", func(m *scene.Managed) { m.Maintained("cmp-01", "") }, move("rack-b", "cmp-01"), "machine-rests", ""},
		{"moved, and the groups are not fresh", func(m *scene.Managed) { m.Source(core.SourceGroups, core.SourceStale) },
			move("rack-b", "cmp-01"), "fresh", ""},
		{"moved, not armed", func(m *scene.Managed) { m.Write.Armed = false }, move("rack-b", "cmp-01"), "armed", ""},
		{"a node that is none", nothing, move("rack-b", "gone"), "exists", ""},

		{"more at a time", nothing, at("canary", 3), "", kubectl + `patch updategroups canary --type=json -p ` +
			`'[{"op":"test","path":"/spec/concurrentUpdates","value":1},{"op":"add","path":"/spec/concurrentUpdates","value":3}]'`},
		{"as many as it is", nothing, at("rack-a", 2), "differs", ""},
		{"none at a time", nothing, at("canary", 0), "concurrency", ""},
		{"far too many", nothing, at("canary", 1001), "concurrency", ""},
		{"masters at a time", nothing, at("mos-control", 3), "group-custom", ""},
		{"more of a group that is held", step(4, core.PlanInProgress, false), at("canary", 3), "", ""},
		{"more of a group that is under way", step(4, core.PlanInProgress, true), at("canary", 3), "group-rests", ""},
		{"more of a group that does not exist", nothing, at("gone", 3), "exists", ""},

		{"first", nothing, index("rack-b", 1), "", kubectl + `patch updategroups rack-b --type=json -p ` +
			`'[{"op":"test","path":"/spec/index","value":3},{"op":"add","path":"/spec/index","value":1}]'`},
		{"before one that is commenced", step(4, core.PlanScheduled, true), index("rack-b", 2), "index-later", ""},
		{"behind one that is commenced", step(4, core.PlanScheduled, true), index("rack-b", 4), "", ""},
		{"another index of a group that is held", step(4, core.PlanInProgress, false), index("canary", 5), "group-rests", ""},
		{"no index", nothing, index("rack-b", 0), "known", ""},
		{"index of the control plane", nothing, index("mos-control", 2), "group-custom", ""},

		{"rebooted", nothing, set(core.IntentSetGroupReboot, "canary", core.GroupSettings{Reboot: true}), "", kubectl +
			`patch updategroups canary --type=json -p '[{"op":"add","path":"/spec/rebootIfUpdateRequires","value":true}]'`},
		{"masters rebooted", nothing, set(core.IntentSetGroupReboot, "mos-control", core.GroupSettings{Reboot: true}), "", ""},
		{"masters rebooted while they are updated", step(2, core.PlanInProgress, true),
			set(core.IntentSetGroupReboot, "mos-control", core.GroupSettings{Reboot: true}), "group-rests", ""},

		{"made", nothing, set(core.IntentMakeGroup, "rack-c", core.GroupSettings{Index: 4, Concurrent: 2}), "",
			`echo '{"apiVersion":"kaas.mirantis.com/v1alpha1","kind":"UpdateGroup","metadata":{"labels":{"cluster.sigs.k8s.io/cluster-name":` +
				`"mos"},"name":"rack-c","namespace":"prod"},"spec":{"concurrentUpdates":2,"index":4,"rebootIfUpdateRequires":false}}' | ` +
				`kubectl --context mgmt create -f -`},
		{"made, and it is there", nothing, set(core.IntentMakeGroup, "canary", core.GroupSettings{Index: 4, Concurrent: 2}), "differs", ""},
		{"made with a bad name", nothing, set(core.IntentMakeGroup, "Rack C", core.GroupSettings{Index: 4, Concurrent: 2}), "text", ""},
		{"made with a name that is too long", nothing, set(core.IntentMakeGroup, strings.Repeat("a", 64), core.GroupSettings{Index: 4,
			Concurrent: 1}), "text", ""},
		{"made before one that is through", step(4, core.PlanCompleted, true),
			set(core.IntentMakeGroup, "rack-c", core.GroupSettings{Index: 2, Concurrent: 1}), "index-later", ""},

		{"removed", nothing, drop("rack-b"), "", kubectl + "delete updategroups rack-b"},
		{"removed with machines", nothing, drop("canary"), "group-empty", kubectl + "delete updategroups canary"},
		{"the default removed", func(m *scene.Managed) {
			for name := range m.Machines {
				if !m.Machines[name].Control {
					m.Machines[name].Group = "rack-a"
				}
			}
		}, drop("mos-default"), "group-custom", ""},
		{"removed while it is commenced", step(6, core.PlanScheduled, true), drop("rack-b"), "group-rests", ""},

		{"an index", nothing, place("cmp-01", 7), "", kubectl + `patch machines.cluster.k8s.io m-cmp-01 --type=json -p ` +
			`'[{"op":"add","path":"/spec/providerSpec/value/upgradeIndex","value":7}]'`},
		{"another index", nothing, place("cmp-02", 1), "", kubectl + `patch machines.cluster.k8s.io m-cmp-02 --type=json -p ` +
			`'[{"op":"test","path":"/spec/providerSpec/value/upgradeIndex","value":3},` +
			`{"op":"add","path":"/spec/providerSpec/value/upgradeIndex","value":1}]'`},
		{"no index any more", nothing, place("cmp-02", 0), "", kubectl + `patch machines.cluster.k8s.io m-cmp-02 --type=json -p ` +
			`'[{"op":"test","path":"/spec/providerSpec/value/upgradeIndex","value":3},` +
			`{"op":"remove","path":"/spec/providerSpec/value/upgradeIndex"}]'`},
		{"the index that it has", nothing, place("cmp-02", 3), "differs", ""},
		{"an index below 1", nothing, place("cmp-02", -1), "known", ""},
		{"an index in a group that is under way", step(5, core.PlanInProgress, true), place("cmp-02", 1), "group-rests", ""},
		{"an index of a master while they are updated", func(m *scene.Managed) {
			m.Machines["cmp-02"].Control = true
			step(2, core.PlanInProgress, true)(m)
		}, place("cmp-02", 1), "group-rests", ""},
	} {
		m, objects := grouped(2)
		tt.given(m)
		st := Plan(m.Join(objects...).Snapshot, tt.intent)
		var fails []string
		for _, g := range st.Guards {
			if !g.Holds {
				fails = append(fails, string(g.ID))
			}
		}
		if !slices.Equal(fails, strings.Fields(tt.fails)) || st.Doable() != (tt.fails == "") {
			t.Errorf("%s: the guards %v do not hold", tt.name, fails)
		}
		if got := strings.Join(st.Commands, "; "); tt.command != "" && got != tt.command {
			t.Errorf("%s: %s", tt.name, got)
		}
		if st.Doable() && (st.Undo == "" || st.Why == "" || st.Then == "" || st.Risk != core.RiskMedium) {
			t.Errorf("%s: %+v", tt.name, st)
		}
	}
}

// A cluster that LCM updates as a whole has no group that could be changed; one at rest has.
func TestUpdateGroupsDuringAWholeUpdate(t *testing.T) {
	intent := core.Intent{Kind: core.IntentMoveMachines, Node: "cmp-01", Group: "rack-b"}
	for name, tt := range map[string]struct {
		given func(*scene.Managed)
		holds bool
	}{
		"no plan":                             {func(m *scene.Managed) { m.Plan = nil }, true},
		"no plan, on its way to a release":    {func(m *scene.Managed) { m.Plan, m.Cluster.Target = nil, "mosk-21-0-0-25-2" }, false},
		"a plan that is through":              {func(m *scene.Managed) { m.Plan.Status = core.PlanCompleted }, true},
		"a plan that nobody has commenced":    {func(*scene.Managed) {}, true},
		"a plan that runs without a commence": {func(m *scene.Managed) { m.Plan.Status = core.PlanInProgress }, false},
		"a plan without IDs, one of whose steps runs": {func(m *scene.Managed) {
			for i := range m.Plan.Steps {
				m.Plan.Steps[i].ID = ""
			}
			st := &m.Plan.Steps[3]
			st.Status, st.Commence, st.Granularity = core.PlanInProgress, true, "machine"
		}, false},
		"a plan without IDs, one of whose groups is through": {func(m *scene.Managed) {
			for i := range m.Plan.Steps {
				m.Plan.Steps[i].ID = ""
			}
			st := &m.Plan.Steps[3]
			st.Status, st.Commence, st.Granularity = core.PlanCompleted, true, "machine"
		}, false},
		"a plan without IDs that nobody has commenced": {func(m *scene.Managed) {
			for i := range m.Plan.Steps {
				m.Plan.Steps[i].ID = ""
			}
		}, true},
	} {
		m, objects := grouped(0)
		tt.given(m)
		if st := Plan(m.Join(objects...).Snapshot, intent); st.Doable() != tt.holds {
			t.Errorf("%s: %q", name, st.Blocker())
		}
	}
	m, objects := grouped(0)
	m.Source(core.SourceGroups, core.SourceAbsent)
	if st := Plan(m.Join(objects...).Snapshot, intent); st.Doable() {
		t.Error("a release that does not know UpdateGroup is given one")
	}
}

// What a step says of the order that follows.
func TestWhatFollowsFromUpdateGroups(t *testing.T) {
	for _, tt := range []struct {
		intent core.Intent
		says   string
	}{
		{core.Intent{Kind: core.IntentSetGroupIndex, Group: "rack-b", GroupSettings: core.GroupSettings{Index: 1}},
			"in this order: mos-default, rack-b (index 1) at the same time, then canary, then rack-a. LCM makes the workers' steps of plan"},
		{core.Intent{Kind: core.IntentMakeGroup, Group: "rack-c", GroupSettings: core.GroupSettings{Index: 3, Concurrent: 1}},
			"then canary, then rack-a, rack-b, rack-c (index 3) at the same time."},
		{core.Intent{Kind: core.IntentDeleteGroup, Group: "rack-b"}, "order: mos-default, then canary, then rack-a."},
		{core.Intent{Kind: core.IntentMoveMachines, Node: "cmp-01", Group: "rack-a"}, "Group canary is then empty."},
		{core.Intent{Kind: core.IntentSetUpgradeIndex, Node: "cmp-02", UpgradeIndex: 1}, "The order in group rack-a is then: m-cmp-02."},
		{core.Intent{Kind: core.IntentSetGroupConcurrency, Group: "mos-default", GroupSettings: core.GroupSettings{Concurrent: 2}},
			"changes maxWorkerUpgradeCount"},
	} {
		m, objects := grouped(0)
		if st := Plan(m.Join(objects...).Snapshot, tt.intent); !strings.Contains(st.Then, tt.says) {
			t.Errorf("%s: %s", st.Title, st.Then)
		}
	}
	unset, others := grouped(0)
	others[4].(*core.MachineGroup).Concurrent = 0
	wider := Plan(unset.Join(others...).Snapshot, core.Intent{Kind: core.IntentSetGroupConcurrency, Group: "rack-b",
		GroupSettings: core.GroupSettings{Concurrent: 3}})
	if !strings.Contains(wider.Undo, `{"op":"remove","path":"/spec/concurrentUpdates"}`) ||
		!strings.Contains(wider.Why, "has 0 machines now") {
		t.Errorf("a number that was not set: %s %s", wider.Why, wider.Undo)
	}
	m, objects := grouped(0)
	m.Machines["cmp-01"].Group = "rack-a"
	for i := range 3 {
		m.Instance("cmp-01", fmt.Sprint("one-", i))
	}
	n := len(m.InstancesOn("cmp-01")) + len(m.InstancesOn("cmp-02"))
	st := Plan(m.Join(objects...).Snapshot, core.Intent{Kind: core.IntentSetGroupConcurrency, Group: "rack-a",
		GroupSettings: core.GroupSettings{Concurrent: 3}})
	if !strings.Contains(st.Why, "Up to 2 of its 2 machines") || !strings.Contains(st.Why, fmt.Sprintf("The 2 fullest have %d instances", n)) {
		t.Errorf("%d instances: %s", n, st.Why)
	}
}

// Several machines are moved as one list, each as it would be alone; those that are there already are left out.
func TestMovingSeveralMachines(t *testing.T) {
	m, objects := grouped(2)
	s := m.Join(objects...).Snapshot
	intent := core.Intent{Kind: core.IntentMoveMachines, Nodes: []string{"cmp-01", "cmp-02"}, Group: "rack-b"}
	st := Plan(s, intent)
	b, ok := st.Change.(core.Batch)
	if !ok || len(b.Items) != 2 || !st.Doable() || len(st.Commands) != 2 || !st.MayGoPast() {
		t.Fatalf("%+v", st)
	}
	if !strings.Contains(st.Then, "one after another") { // one at a time
		t.Error(st.Then)
	}
	to := intent
	to.Group = "rack-a"
	if st := Plan(s, to); !strings.Contains(st.Then, "Up to 2 of its 2 machines") {
		t.Errorf("%s", st.Then)
	}
	for i, item := range b.Items {
		if one := Plan(s, item.Intent); !slices.Equal(one.Basis, item.Basis) || one.Change != item.Change {
			t.Errorf("item %d is not what its intent plans: %+v, %+v", i, item, one)
		}
	}
	intent.Group = "canary"
	if b, ok = Plan(s, intent).Change.(core.Batch); !ok || len(b.Items) != 1 {
		t.Errorf("one is there already: %+v", b)
	}
	m.Plan.Steps[4].Status, m.Plan.Steps[4].Commence = core.PlanScheduled, true
	intent.Group = "rack-b"
	if st = Plan(m.Join(objects...).Snapshot, intent); st.Doable() || !strings.Contains(st.Blocker(), "group canary is Scheduled") {
		t.Errorf("one of them is commenced: %q", st.Blocker())
	}
	intent.Nodes = nil
	if st = Plan(m.Snapshot, intent); st.Doable() {
		t.Error("nothing is moved")
	}
}

// Whatever the plan and the groups are, nothing of a group is changed that LCM has begun or is about to begin, except how a held one
// goes on.
func TestNoGroupIsChangedUnderLCM(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, objects := grouped(rapid.IntRange(0, 3).Draw(t, "complete"))
		states := []string{core.PlanNotStarted, core.PlanScheduled, core.PlanInProgress, core.PlanStuck, core.PlanAutoPaused, core.PlanCompleted}
		for i := 3; i < 7; i++ {
			st := &m.Plan.Steps[i]
			st.Status, st.Commence = rapid.SampledFrom(states).Draw(t, "state"), rapid.Bool().Draw(t, "commence")
		}
		names := []string{"mos-default", "canary", "rack-a", "rack-b", "rack-c", "mos-control"}
		i := core.Intent{
			Kind: rapid.SampledFrom([]core.IntentKind{core.IntentMoveMachines, core.IntentSetGroupConcurrency, core.IntentSetGroupIndex,
				core.IntentSetGroupReboot, core.IntentMakeGroup, core.IntentDeleteGroup, core.IntentSetUpgradeIndex}).Draw(t, "kind"),
			Node: rapid.SampledFrom([]string{"cmp-01", "cmp-02"}).Draw(t, "node"), Group: rapid.SampledFrom(names).Draw(t, "group"),
			GroupSettings: core.GroupSettings{Index: rapid.IntRange(-1, 6).Draw(t, "index"), Concurrent: rapid.IntRange(-1, 3).Draw(t, "at a time"),
				Reboot: rapid.Bool().Draw(t, "reboot")},
			UpgradeIndex: rapid.IntRange(-1, 4).Draw(t, "upgrade index"),
		}
		s := m.Join(objects...).Snapshot
		st := Plan(s, i)
		if !st.Doable() {
			return
		}
		touched := []string{i.Group}
		own := map[string]string{"cmp-01": "canary", "cmp-02": "rack-a"}[i.Node]
		switch i.Kind {
		case core.IntentMoveMachines:
			touched = append(touched, own)
		case core.IntentSetUpgradeIndex:
			touched = []string{own}
		}
		for _, ps := range m.Plan.Steps {
			mine := slices.Contains(touched, strings.TrimPrefix(ps.ID, core.PlanStepWorkers)) ||
				slices.Contains(touched, "mos-control") && ps.ID == "k8s-controllers"
			goesOn := !ps.Commence && ps.Status != core.PlanScheduled &&
				(i.Kind == core.IntentSetGroupConcurrency || i.Kind == core.IntentSetGroupReboot)
			if mine && (ps.Commence || ps.Status != core.PlanNotStarted) && !(goesOn && ps.Status != core.PlanCompleted) {
				t.Fatalf("%s is done while %s is %s, commence %t", st.Title, ps.ID, ps.Status, ps.Commence)
			}
		}
		if c, ok := st.Change.(core.SetGroup); ok && c.New != nil && (c.New.Index < 1 || c.New.Concurrent < 1) {
			t.Fatalf("%s sets %+v", st.Title, *c.New)
		}
	})
}
