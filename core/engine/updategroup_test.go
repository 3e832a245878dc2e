package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/permittest"
	"lockstep/scene"
)

// Right before a group or a machine's place is changed, the server is asked whether all is as it was and LCM lets it be changed;
// afterwards it shows the change.
func TestUpdateGroupsAreCheckedOnTheServer(t *testing.T) {
	was, to := core.GroupSettings{Index: 2, Concurrent: 1}, core.GroupSettings{Index: 2, Concurrent: 3}
	first := core.GroupSettings{Index: 1, Concurrent: 1}
	ref := core.Ref{Kind: core.KindUpdateGroup, Namespace: "prod", Name: "canary", UID: "made"}
	none := core.Ref{Kind: core.KindUpdateGroup, Namespace: "prod", Name: "canary"}
	machine := core.Ref{Kind: core.KindMachine, Namespace: "prod", Name: "m-cmp-01", UID: "uid-m-cmp-01"}
	changed := core.SetGroup{Group: ref, Cluster: "mos", Old: &was, New: &to}
	moved := core.SetMachineGroup{Machine: machine, Old: "canary", New: "rack-a"}
	index := core.SetUpgradeIndex{Machine: machine, Old: new(3), New: new(1)}
	nothing := func(*fakeManagement) {}
	status := func(group, status string, commence bool) func(*fakeManagement) {
		return func(f *fakeManagement) {
			plan := f.objects[core.KindUpdatePlan].(*core.UpdatePlan)
			for i, st := range plan.Steps {
				if st.Group() == group {
					plan.Steps[i].Status, plan.Steps[i].Commence = status, commence
				}
			}
		}
	}
	on := func(do func(*core.ManagedMachine)) func(*fakeManagement) {
		return func(f *fakeManagement) { do(f.objects[core.KindMachine].(*core.ManagedMachine)) }
	}
	for _, tt := range []struct {
		name   string
		change core.Change
		given  func(*fakeManagement)
		why    string
	}{
		{"changed", changed, nothing, ""},
		{"changed meanwhile", changed, func(f *fakeManagement) {
			f.objects[core.KindUpdateGroup].(*core.MachineGroup).Concurrent = 2
		}, "concurrentUpdates=2"},
		{"removed meanwhile", changed, func(f *fakeManagement) { delete(f.objects, core.KindUpdateGroup) }, "made or removed"},
		{"commenced meanwhile", changed, status("canary", core.PlanScheduled, true), "group canary is Scheduled"},
		{"held, and more at a time", changed, status("canary", core.PlanInProgress, false), ""},
		{"held, and another index", core.SetGroup{Group: ref, Cluster: "mos", Old: &was, New: &first},
			status("canary", core.PlanInProgress, false), "group canary is InProgress"},
		{"first", core.SetGroup{Group: ref, Cluster: "mos", Old: &was, New: &first}, nothing, ""},
		{"first, and another was commenced meanwhile", core.SetGroup{Group: ref, Cluster: "mos", Old: &was, New: &first},
			status("rack-a", core.PlanScheduled, true), "group rack-a has the index 3"},
		{"the whole update was begun meanwhile", changed, func(f *fakeManagement) {
			plan := f.objects[core.KindUpdatePlan].(*core.UpdatePlan)
			plan.Status = core.PlanInProgress
			for i := range plan.Steps {
				plan.Steps[i].Commence = false
			}
		}, "under way as a whole"},
		{"made", core.SetGroup{Group: none, Cluster: "mos", New: &to}, func(f *fakeManagement) { delete(f.objects, core.KindUpdateGroup) }, ""},
		{"made meanwhile", core.SetGroup{Group: none, Cluster: "mos", New: &to}, nothing, "made or removed"},
		{"removed", core.SetGroup{Group: ref, Cluster: "mos", Old: &was}, nothing, ""},
		{"removed, and a machine was moved into it meanwhile", core.SetGroup{Group: ref, Cluster: "mos", Old: &was},
			func(f *fakeManagement) { f.inGroup = []string{"m-cmp-01"} }, "machines belong to it: m-cmp-01"},

		{"moved", moved, nothing, ""},
		{"moved meanwhile", moved, on(func(o *core.ManagedMachine) { o.Group = "rack-b" }), "group is rack-b now"},
		{"moved, in maintenance meanwhile", moved, on(func(o *core.ManagedMachine) { o.InMaintenance = true }), "maintenance mode"},
		{"moved, of the control plane meanwhile", moved, on(func(o *core.ManagedMachine) { o.Control = true }), "control plane"},
		{"moved, and its group was commenced meanwhile", moved, status("canary", core.PlanScheduled, true), "group canary is Scheduled"},
		{"moved, and the other group has begun meanwhile", moved, status("rack-a", core.PlanInProgress, true), "group rack-a is InProgress"},
		{"moved, and the group is gone", moved, func(f *fakeManagement) { delete(f.objects, core.KindUpdateGroup) }, "no update group rack-a"},

		{"an index", index, nothing, ""},
		{"an index, changed meanwhile", index, on(func(o *core.ManagedMachine) { o.IndexAsked = nil }), "index is not set now"},
		{"an index, commenced meanwhile", index, status("canary", core.PlanScheduled, true), "group canary is Scheduled"},
		{"no index any more", core.SetUpgradeIndex{Machine: machine, Old: new(3)}, nothing, ""},
	} {
		m := scene.Resting()
		plan := m.Planned(2)
		for _, name := range []string{"canary", "rack-a"} {
			plan.Steps = append(plan.Steps, core.PlanStep{ID: core.PlanStepWorkers + name, Status: core.PlanNotStarted, Granularity: "machine"})
		}
		m.Machines["cmp-01"].Group, m.Machines["cmp-01"].IndexAsked = "canary", new(3)
		s := m.Join((&core.MachineGroup{Meta: core.Meta{Name: "canary", Namespace: "prod", UID: "made"}, Cluster: "mos"}).With(was),
			&core.MachineGroup{Meta: core.Meta{Name: "rack-a", Namespace: "prod"}, Cluster: "mos", Index: 3}).Snapshot
		own, steps, of := *m.Machines["cmp-01"], *plan, *m.Cluster
		steps.Steps = append([]core.PlanStep(nil), plan.Steps...)
		server := &fakeManagement{objects: map[core.Kind]core.Object{core.KindUpdatePlan: &steps, core.KindCluster: &of, core.KindMachine: &own,
			core.KindUpdateGroup: (&core.MachineGroup{Meta: core.Meta{UID: "made"}}).With(was)}}
		tt.given(server)
		resting := restingGroups{server, s.Management}
		var w checker
		switch c := tt.change.(type) {
		case core.SetGroup:
			w = &groupChecker{resting, c}
		case core.SetMachineGroup:
			w = &machineGroupChecker{resting, c}
		case core.SetUpgradeIndex:
			w = &upgradeIndexChecker{resting, c}
		}
		err := w.check(t.Context())
		if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			continue
		}
		if o := w.outcome(t.Context(), sent{}); o.state != core.OperationVerifying {
			t.Errorf("%s, before it is written: %+v", tt.name, o)
		}
		if err := server.Write(t.Context(), permittest.For(t, tt.change), tt.change); err != nil {
			t.Fatal(err)
		}
		if o := w.outcome(t.Context(), sent{}); o.state != core.OperationDone {
			t.Errorf("%s: %+v", tt.name, o)
		}
		if before, after := w.values(); before == after || before == "" {
			t.Errorf("%s: the journal has %q and %q", tt.name, before, after)
		}
	}
}
