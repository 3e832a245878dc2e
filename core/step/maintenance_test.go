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

// The order of maintenance mode, and what must not run at the same time (docs/mosk.md#maintenance-mode): which guard of a step
// does not hold.
func TestGuardsOfMaintenance(t *testing.T) {
	enter, leave := core.Intent{Kind: core.IntentEnterCluster}, core.Intent{Kind: core.IntentLeaveCluster}
	enterMachine, leaveMachine := core.Intent{Kind: core.IntentEnterMachine, Node: "cmp-01"},
		core.Intent{Kind: core.IntentLeaveMachine, Node: "cmp-01"}
	reboot := core.Intent{Kind: core.IntentReboot, Nodes: []string{"cmp-01", "cmp-02"}}
	none := func(*scene.Managed) []core.Object { return nil }
	asked := func(*scene.Managed) []core.Object {
		return []core.Object{&core.RebootRequest{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "r", Created: scene.Ago(time.Minute)},
			Machines: []string{"m-cmp-03"}}}
	}
	inMode := func(nodes ...string) func(*scene.Managed) []core.Object {
		return func(m *scene.Managed) []core.Object { m.InMode(nodes...); return nil }
	}
	tests := []struct {
		name   string
		intent core.Intent
		given  func(*scene.Managed) []core.Object
		fails  string // the guard's ID; empty: it can be done
	}{
		{"cluster enters", enter, none, ""},
		{"cluster enters, it is in", enter, inMode(), "differs"},
		{"cluster enters, a plan runs", enter, func(m *scene.Managed) []core.Object { m.Planned(3); return nil }, "no-update"},
		{"cluster enters, a plan is not begun", enter, func(m *scene.Managed) []core.Object {
			m.Planned(0).Status, m.Plan.Started = core.PlanNotStarted, time.Time{}
			return nil
		}, ""},
		{"cluster enters, a step is commenced", enter, func(m *scene.Managed) []core.Object {
			m.Planned(0).Status, m.Plan.Started = core.PlanNotStarted, time.Time{}
			m.Plan.Steps[0].Commence = true
			return nil
		}, "no-update"},
		{"cluster enters, its release is set", enter,
			func(m *scene.Managed) []core.Object { m.Cluster.Target = "mosk-21-0-0-25-2"; return nil }, "no-update"},
		{"cluster enters, its maintenance is asked for", enter, func(m *scene.Managed) []core.Object { m.Update(time.Hour); return nil },
			"no-request"},
		{"cluster enters, machines are rebooted", enter, asked, "no-reboot"},
		{"cluster enters, the Clusters are old", enter,
			func(m *scene.Managed) []core.Object { m.Aged(core.SourceClusters, time.Hour); return nil }, "fresh"},
		{"cluster enters, an older release has no plans", enter,
			func(m *scene.Managed) []core.Object { m.Source(core.SourcePlans, core.SourceAbsent); return nil }, ""},
		{"cluster enters, the plans are forbidden", enter,
			func(m *scene.Managed) []core.Object { m.Source(core.SourcePlans, core.SourceForbidden); return nil }, "fresh"},
		{"cluster enters, not armed", enter, func(m *scene.Managed) []core.Object { m.Write.Armed = false; return nil }, "armed"},
		{"cluster leaves", leave, inMode(), ""},
		{"cluster leaves before a machine", leave, inMode("cmp-02"), "machines-out"},
		{"cluster leaves before a machine that goes in", leave, func(m *scene.Managed) []core.Object {
			m.InMode()
			m.Machines["cmp-02"].Maintenance = new(true)
			return nil
		}, "machines-out"},
		{"machine enters", enterMachine, inMode(), ""},
		{"machine enters, its flag is not there yet", enterMachine,
			func(m *scene.Managed) []core.Object { m.InMode(); m.Machines["cmp-01"].Maintenance = nil; return nil }, ""},
		{"machine enters before the cluster", enterMachine, none, "cluster-first"},
		{"machine enters while the cluster is on its way", enterMachine,
			func(m *scene.Managed) []core.Object { m.Cluster.Maintenance = new(true); return nil }, "cluster-first"},
		{"machine enters, the cluster leaves", enterMachine,
			func(m *scene.Managed) []core.Object { m.InMode(); m.Cluster.Maintenance = new(false); return nil }, "cluster-first"},
		{"machine enters, it is in", enterMachine, inMode("cmp-01"), "differs"},
		{"machine enters, nobody knows it", enterMachine,
			func(m *scene.Managed) []core.Object { m.InMode(); delete(m.Machines, "cmp-01"); return nil }, "exists"},
		{"machine leaves", leaveMachine, inMode("cmp-01"), ""},
		{"machine leaves, it is out", leaveMachine, inMode(), "differs"},
		{"reboot", reboot, none, ""},
		{"reboot, one is asked for", reboot, asked, "no-reboot"},
		{"reboot in maintenance mode", reboot, inMode(), "no-maintenance"},
		{"reboot during an update", reboot, func(m *scene.Managed) []core.Object { m.Planned(3); return nil }, "no-update"},
		{"reboot, a step is scheduled", reboot, func(m *scene.Managed) []core.Object {
			m.Planned(0).Status, m.Plan.Started = core.PlanNotStarted, time.Time{}
			m.Plan.Steps[0].Status = core.PlanScheduled
			return nil
		}, "no-update"},
		{"reboot, the release is set", reboot,
			func(m *scene.Managed) []core.Object { m.Cluster.Target = "mosk-21-0-0-25-2"; return nil }, "no-update"},
		{"reboot of a machine that is not Ready", reboot, func(m *scene.Managed) []core.Object { m.Machines["cmp-02"].Ready = false; return nil },
			"ready"},
		{"reboot of a machine on which LCM works", reboot,
			func(m *scene.Managed) []core.Object { m.Agents["cmp-02"].State = core.LCMDeploy; return nil }, "ready"},
		{"reboot, the cluster is not Ready", reboot, func(m *scene.Managed) []core.Object { m.Cluster.Ready = false; return nil }, "ready"},
		{"reboot of a machine that nobody knows", reboot, func(m *scene.Managed) []core.Object { delete(m.Machines, "cmp-02"); return nil },
			"machines"},
		{"reboot of nothing", core.Intent{Kind: core.IntentReboot}, none, "machines"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := scene.Resting()
			objects := tt.given(m)
			step := Plan(m.Join(objects...).Snapshot, tt.intent)
			var fails []string
			for _, g := range step.Guards {
				if !g.Holds {
					fails = append(fails, string(g.ID))
				}
			}
			if want := strings.Fields(tt.fails); !slices.Equal(fails, want) || (step.Doable() != (tt.fails == "")) {
				t.Errorf("the guards %v do not hold, want %v; doable %v", fails, want, step.Doable())
			}
		})
	}
	s := scene.Healthy()
	for _, id := range core.ManagementSources() {
		s.Sources[id] = core.Source{ID: id, State: core.SourceOff}
	}
	for _, i := range []core.Intent{enter, leave, enterMachine, leaveMachine, reboot} {
		if st := Plan(s.Snapshot, i); st.Doable() ||
			!slices.ContainsFunc(st.Guards, func(g core.Guard) bool {
				return g.ID == "exists" &&
					strings.Contains(g.Answer, "--management-context")
			}) {
			t.Errorf("%s without a management cluster: %+v", i.Kind, st.Guards)
		}
	}
}

// A graceful reboot names every node whose instances go down with it, and rests on the nodes' migration modes.
func TestAGracefulRebootNamesEachNodeWhoseInstancesGoDown(t *testing.T) {
	m := scene.Resting()
	var names []string
	for i := range 7 {
		name := fmt.Sprintf("cmp-%02d", i+11)
		names = append(names, name)
		m.Node(name, core.RoleCompute)
	}
	m = m.Scene.Managed()
	plan := func() core.Step { return Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentReboot, Nodes: names}) }
	before := plan()
	if !strings.Contains(before.Then, "and 3 more") || strings.Contains(before.Then, "skip") {
		t.Errorf("then %q", before.Then)
	}
	for _, name := range names[2:] {
		m.Nodes[name].Annotations = map[string]string{core.AnnotationMigrationMode: string(core.ModeSkip)}
	}
	now := plan()
	for _, name := range names[2:] {
		if !strings.Contains(now.Then, name+": its 0 instances stay there and go down with the host") {
			t.Errorf("%s is not named: %q", name, now.Then)
		}
	}
	changed := strings.Join(ChangedFacts(before.Basis, now.Basis), "; ")
	if !strings.Contains(now.Then, "and 2 more") || !strings.Contains(changed, "migration mode of m-"+names[6]+": live → skip") {
		t.Errorf("then %q; changed %q", now.Then, changed)
	}
}

// Shows each step's command, how it is confirmed, and how it is undone.
func TestStepsOfMaintenance(t *testing.T) {
	flag := func(resource, name, on string) string {
		return "kubectl --context mgmt -n prod patch " + resource + " " + name +
			` --type=merge -p '{"spec":{"providerSpec":{"value":{"maintenance":` + on + `}}}}'`
	}
	for _, tt := range []struct {
		intent  core.Intent
		in      []string
		mode    bool
		risk    core.Risk
		typed   string
		command string
		undo    string
	}{
		{core.Intent{Kind: core.IntentEnterCluster}, nil, false, core.RiskHigh, "mos", flag("clusters.cluster.k8s.io", "mos", "true"),
			flag("clusters.cluster.k8s.io", "mos", "false")},
		{core.Intent{Kind: core.IntentLeaveCluster}, nil, true, core.RiskMedium, "", flag("clusters.cluster.k8s.io", "mos", "false"),
			flag("clusters.cluster.k8s.io", "mos", "true")},
		{core.Intent{Kind: core.IntentEnterMachine, Node: "cmp-01"}, nil, true, core.RiskHigh, "cmp-01",
			flag("machines.cluster.k8s.io", "m-cmp-01", "true"), flag("machines.cluster.k8s.io", "m-cmp-01", "false")},
		{core.Intent{Kind: core.IntentLeaveMachine, Node: "cmp-01"}, []string{"cmp-01"}, true, core.RiskMedium, "",
			flag("machines.cluster.k8s.io", "m-cmp-01", "false"), flag("machines.cluster.k8s.io", "m-cmp-01", "true")},
		{core.Intent{Kind: core.IntentReboot, Nodes: []string{"cmp-01"}}, nil, false, core.RiskHigh, "cmp-01",
			`echo '{"apiVersion":"kaas.mirantis.com/v1alpha1","kind":"GracefulRebootRequest","metadata":{"name":"mos","namespace":"prod"},` +
				`"spec":{"machines":["m-cmp-01"]}}' | kubectl --context mgmt create -f -`, ""},
		{core.Intent{Kind: core.IntentReboot, Nodes: []string{"cmp-02", "cmp-01"}}, nil, false, core.RiskHigh, "2 machines",
			`echo '{"apiVersion":"kaas.mirantis.com/v1alpha1","kind":"GracefulRebootRequest","metadata":{"name":"mos","namespace":"prod"},` +
				`"spec":{"machines":["m-cmp-01","m-cmp-02"]}}' | kubectl --context mgmt create -f -`, ""},
	} {
		m := scene.Resting()
		if tt.mode {
			m.InMode(tt.in...)
		}
		step := Plan(m.Join().Snapshot, tt.intent)
		if step.Risk != tt.risk || step.Type != tt.typed || !slices.Equal(step.Commands, []string{tt.command}) ||
			strings.TrimPrefix(step.Undo, "set it back: ") != tt.undo {
			t.Errorf("%s: risk %s, typed %q,\n%s\nundo %s", tt.intent.Kind, step.Risk, step.Type, step.Commands, step.Undo)
		}
		if step.Why == "" || step.Then == "" || step.Target.UID == "" {
			t.Errorf("%s: why %q, then %q, target %+v", tt.intent.Kind, step.Why, step.Then, step.Target)
		}
	}
}

// A reboot always names machines, because none would mean all of them.
func TestARebootIsNeverOfAllMachines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := scene.Resting()
		names := append(m.NodeNames(), "nobody", "")
		for _, gone := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(rt, "gone") {
			delete(m.Machines, gone)
		}
		nodes := rapid.SliceOf(rapid.SampledFrom(names)).Draw(rt, "nodes")
		step := Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentReboot, Nodes: nodes})
		change, ok := step.Change.(core.RequestReboot)
		if !ok {
			return
		}
		if len(change.Machines) == 0 {
			rt.Fatalf("%v leads to a reboot of all machines", nodes)
		}
		for _, name := range change.Machines {
			if !slices.Contains(nodes, strings.TrimPrefix(name, "m-")) {
				rt.Fatalf("%v leads to a reboot of %s", nodes, name)
			}
		}
	})
}
