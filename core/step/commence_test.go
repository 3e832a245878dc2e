package step

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// atStep is a cluster whose plan has n steps complete; the others are not commenced.
func atStep(n int) *scene.Managed {
	m := scene.Resting()
	plan := m.Planned(n)
	if n == 0 {
		plan.Status, plan.Started = core.PlanNotStarted, time.Time{}
	}
	plan.Steps[3].Granularity = "machine"
	return m
}

// under puts the plan's step i under way.
func under(m *scene.Managed, i int) *core.PlanStep {
	st := &m.Plan.Steps[i]
	st.Status, st.Commence, st.Started = core.PlanInProgress, true, scene.Ago(20*time.Minute)
	return st
}

// Which guards of commencing a step, of withdrawing that, and of holding workers do not hold.
func TestGuardsOfDrivingTheUpdate(t *testing.T) {
	const openstack, ceph, masters, workers, rest = "openstack", "ceph", "k8s-controllers", "k8s-workers-mos-default", "mcc-components"
	nothing := func(*scene.Managed) []core.Object { return nil }
	firing := func(alerts ...string) func(*scene.Managed) []core.Object {
		return func(m *scene.Managed) []core.Object {
			return []core.Object{&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"}, Alerts: []string{"A"}, Firing: alerts}}
		}
	}
	tests := []struct {
		name     string
		complete int
		does     core.IntentKind
		step     string
		past     bool
		given    func(*scene.Managed) []core.Object
		fails    string // IDs of guards; empty: it can be done
		risk     core.Risk
		typed    string
	}{
		{"the first step", 0, core.IntentCommence, openstack, false, nothing, "", core.RiskHigh, openstack},
		{"the first step, in maintenance mode", 0, core.IntentCommence, openstack, false,
			func(m *scene.Managed) []core.Object { m.InMode(); return nil }, "no-maintenance", core.RiskHigh, openstack},
		{"the first step, somebody has asked for the cluster by hand", 0, core.IntentCommence, openstack, false,
			func(m *scene.Managed) []core.Object { m.Update(time.Minute); return nil }, "no-request", core.RiskHigh, openstack},
		{"the plan begins at another release", 0, core.IntentCommence, openstack, false,
			func(m *scene.Managed) []core.Object { m.Plan.Source = "mosk-17-3-0-24-3"; return nil }, "from-here", core.RiskHigh, openstack},
		{"the cluster is there already", 0, core.IntentCommence, openstack, false, func(m *scene.Managed) []core.Object {
			m.Cluster.Release, m.Cluster.Target = m.Plan.Target, m.Plan.Target
			return nil
		}, "from-here", core.RiskHigh, openstack},
		{"the cluster goes somewhere else", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Cluster.Target = "mosk-22-0-0-26-1"; return nil }, "from-here", core.RiskHigh, masters},
		{"the cluster goes there, and shows it", 2, core.IntentCommence, masters, false, func(m *scene.Managed) []core.Object {
			m.Cluster.Release, m.Cluster.Target = m.Plan.Target, m.Plan.Target
			return nil
		}, "", core.RiskHigh, masters},
		{"the plan does not say from where", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Plan.Source = ""; return nil }, "from-here", core.RiskHigh, masters},
		{"the cluster does not say where it is", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Cluster.Release = ""; return nil }, "", core.RiskHigh, masters},
		{"the next step", 2, core.IntentCommence, masters, false, nothing, "", core.RiskHigh, masters},
		{"not armed", 2, core.IntentCommence, masters, false, func(m *scene.Managed) []core.Object { m.Write.Armed = false; return nil }, "armed",
			core.RiskHigh, masters},
		{"the plan is old", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Aged(core.SourcePlans, time.Hour); return nil }, "fresh", core.RiskHigh, masters},
		{"the nodes are not seen", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Source(core.SourceNodes, core.SourceStale); return nil }, "fresh", core.RiskHigh, masters},
		{"an older release has no automatic pause", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Source(core.SourceAutoPauses, core.SourceAbsent); return nil }, "", core.RiskHigh, masters},
		{"a step after the next one", 2, core.IntentCommence, workers, false, nothing, "plan-order", core.RiskHigh, workers},
		{"a step that is complete", 2, core.IntentCommence, ceph, false, nothing, "differs turn", core.RiskHigh, ceph},
		{"a step that is commenced", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Plan.Steps[2].Commence = true; return nil }, "differs", core.RiskHigh, masters},
		{"no such step", 2, core.IntentCommence, "else", false, nothing, "exists", core.RiskHigh, ""},
		{"two steps of one name", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Plan.Steps[4].ID = masters; return nil }, "exists", core.RiskHigh, ""},
		{"ahead of the step under way", 2, core.IntentCommence, workers, false,
			func(m *scene.Managed) []core.Object { under(m, 2); return nil }, "", core.RiskHigh, workers},
		{"ahead, a node is in maintenance", 2, core.IntentCommence, workers, false,
			func(m *scene.Managed) []core.Object { under(m, 2); m.Maintained("cmp-01", ""); return nil }, "", core.RiskHigh, workers},
		{"a node of the step before is not back", 3, core.IntentCommence, workers, false,
			func(m *scene.Managed) []core.Object { m.Maintained("cmp-01", ""); return nil }, "no-stops", core.RiskHigh, workers},
		{"a node is not Ready", 3, core.IntentCommence, workers, false,
			func(m *scene.Managed) []core.Object { m.Nodes["cmp-01"].Ready = "False"; return nil }, "no-stops", core.RiskHigh, workers},
		{"a node is cordoned, past it", 3, core.IntentCommence, workers, true,
			func(m *scene.Managed) []core.Object { m.Nodes["cmp-01"].Cordoned = true; return nil }, "", core.RiskHighest,
			"mos-21.0.0/" + workers},
		{"past nothing", 3, core.IntentCommence, workers, true, nothing, "no-stops", core.RiskHighest, "mos-21.0.0/" + workers},
		{"the plan is Stuck", 2, core.IntentCommence, workers, false,
			func(m *scene.Managed) []core.Object { under(m, 2).Status = core.PlanStuck; return nil }, "no-stops", core.RiskHigh, workers},
		{"LCM is stuck", 2, core.IntentCommence, masters, false,
			func(m *scene.Managed) []core.Object { m.Lcm.Stuck = true; return nil }, "no-stops", core.RiskHigh, masters},
		{"an alert fires", 2, core.IntentCommence, masters, false, firing("A"), "no-stops", core.RiskHigh, masters},
		{"no alert fires", 2, core.IntentCommence, masters, false, firing(), "", core.RiskHigh, masters},
		{"something else stops it", 2, core.IntentCommence, masters, false, func(m *scene.Managed) []core.Object {
			m.MoreStops = &core.StopFinder{Find: func(*core.Snapshot) []core.Stop { return []core.Stop{{Key: "check/backup", Text: "no backup"}} }}
			return nil
		}, "no-stops", core.RiskHigh, masters},
		{"workers again after an automatic pause", 3, core.IntentCommence, workers, false, func(m *scene.Managed) []core.Object {
			st := under(m, 3)
			st.Status, st.Commence, m.Plan.Status = core.PlanAutoPaused, false, core.PlanAutoPaused
			m.Maintained("cmp-01", "")
			return nil
		}, "", core.RiskHigh, workers},
		{"workers again, and one of theirs is dead", 3, core.IntentCommence, workers, false, func(m *scene.Managed) []core.Object {
			under(m, 3).Commence = false
			m.Maintained("cmp-01", "")
			m.Nodes["cmp-01"].Ready = "Unknown"
			return nil
		}, "no-stops", core.RiskHigh, workers},
		{"the groups are not seen", 3, core.IntentCommence, workers, false,
			func(m *scene.Managed) []core.Object { m.Source(core.SourceGroups, core.SourceStale); return nil }, "fresh", core.RiskHigh, workers},
		{"withdraw what has not begun", 2, core.IntentUncommence, workers, false, func(m *scene.Managed) []core.Object {
			under(m, 2)
			m.Plan.Steps[3].Commence, m.Plan.Steps[3].Status = true, core.PlanScheduled
			return nil
		}, "", core.RiskMedium, ""},
		{"withdraw what is not commenced", 2, core.IntentUncommence, masters, false, nothing, "differs", core.RiskMedium, ""},
		{"withdraw what has begun", 2, core.IntentUncommence, masters, false,
			func(m *scene.Managed) []core.Object { under(m, 2); return nil }, "revocable", core.RiskMedium, ""},
		{"hold workers that are under way", 3, core.IntentUncommence, workers, false,
			func(m *scene.Managed) []core.Object { under(m, 3); return nil }, "", core.RiskMedium, ""},
		{"hold workers that are through", 4, core.IntentUncommence, workers, false, nothing, "revocable", core.RiskMedium, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := atStep(tt.complete)
			objects := tt.given(m)
			st := Plan(m.Join(objects...).Snapshot, core.Intent{Kind: tt.does, PlanStep: tt.step, PastStops: tt.past})
			var fails []string
			for _, g := range st.Guards {
				if !g.Holds {
					fails = append(fails, string(g.ID))
				}
			}
			if want := strings.Fields(tt.fails); !slices.Equal(fails, want) || st.Doable() != (tt.fails == "") {
				t.Errorf("the guards %v do not hold, want %v; doable %v\n%+v", fails, want, st.Doable(), st.Guards)
			}
			if st.Risk != tt.risk || st.Type != tt.typed {
				t.Errorf("risk %s, typed %q", st.Risk, st.Type)
			}
		})
	}
}

// What each step says: the command, what follows from it, and what cannot be undone.
func TestDrivingTheUpdateSaysWhatCannotBeUndone(t *testing.T) {
	command := func(at, id, on string) string {
		return `kubectl --context mgmt -n prod patch clusterupdateplans mos-21.0.0 --type=json -p '[{"op":"test","path":"/spec/steps/` + at +
			`/id","value":"` + id + `"},{"op":"add","path":"/spec/steps/` + at + `/commence","value":` + on + `}]'`
	}
	for _, tt := range []struct {
		name    string
		m       func() *scene.Managed
		intent  core.Intent
		title   string
		command string
		undo    string
		then    []string
	}{
		{"the first", func() *scene.Managed { return atStep(0) }, core.Intent{Kind: core.IntentCommence, PlanStep: "openstack"},
			"commence step openstack", command("0", "openstack", "true"), "",
			[]string{"release becomes mosk-21-0-0-25-2", "cannot be cancelled", "no way back to mosk-17-4-0-25-1", "waits until step ceph"}},
		{"ahead", func() *scene.Managed { m := atStep(2); under(m, 2); return m },
			core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-workers-mos-default"}, "commence group mos-default",
			command("3", "k8s-workers-mos-default", "true"), command("3", "k8s-workers-mos-default", "false"),
			[]string{"as soon as step k8s-controllers is complete", "only be held"}},
		{"behind one that is only scheduled", func() *scene.Managed { m := atStep(2); m.Plan.Steps[2].Commence = true; return m },
			core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-workers-mos-default"}, "commence group mos-default",
			command("3", "k8s-workers-mos-default", "true"), command("3", "k8s-workers-mos-default", "false"),
			[]string{"as soon as step k8s-controllers is complete"}},
		{"again", func() *scene.Managed { m := atStep(3); under(m, 3).Commence = false; return m },
			core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-workers-mos-default"}, "commence group mos-default again",
			command("3", "k8s-workers-mos-default", "true"), "only held between two machines",
			[]string{"goes on with the machines that are left"}},
		{"workers, which begin at once", func() *scene.Managed { return atStep(3) },
			core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-workers-mos-default"}, "commence group mos-default",
			command("3", "k8s-workers-mos-default", "true"), "only held between two machines",
			[]string{"begins it at once", "only be held"}},
		{"hold", func() *scene.Managed { m := atStep(3); under(m, 3); return m },
			core.Intent{Kind: core.IntentUncommence, PlanStep: "k8s-workers-mos-default"}, "hold group mos-default",
			command("3", "k8s-workers-mos-default", "false"), command("3", "k8s-workers-mos-default", "true"),
			[]string{"under way are finished", "more than a day"}},
		{"withdraw", func() *scene.Managed { m := atStep(2); m.Plan.Steps[2].Commence = true; return m },
			core.Intent{Kind: core.IntentUncommence, PlanStep: "k8s-controllers"}, "withdraw the commence of step k8s-controllers",
			command("2", "k8s-controllers", "false"), command("2", "k8s-controllers", "true"), []string{"between two releases"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := Plan(tt.m().Join().Snapshot, tt.intent)
			if st.Title != tt.title || !slices.Equal(st.Commands, []string{tt.command}) || !strings.HasSuffix(st.Undo, tt.undo) ||
				(st.Undo == "") != (tt.undo == "") {
				t.Errorf("%q\n%q\nundo %q", st.Title, st.Commands, st.Undo)
			}
			for _, want := range tt.then {
				if !strings.Contains(st.Then, want) {
					t.Errorf("%q is not in: %s", want, st.Then)
				}
			}
		})
	}
	m := atStep(1) // a release without IDs
	for i := range m.Plan.Steps {
		m.Plan.Steps[i].ID = ""
	}
	st := Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentCommence, PlanStep: "Update of ceph"})
	if !st.Doable() || !strings.Contains(st.Commands[0], `"path":"/spec/steps/1/name","value":"Update of ceph"`) {
		t.Errorf("%q %q", st.Blocker(), st.Commands)
	}
}

// A confirmation past what stops the update rests on exactly what stood there: when something else comes up, it goes stale.
func TestGoingPastRestsOnWhatStopped(t *testing.T) {
	basis := func(change func(m *scene.Managed)) []core.Fact {
		m := atStep(3)
		m.Nodes["cmp-01"].Cordoned = true
		change(m)
		return Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-workers-mos-default", PastStops: true}).Basis
	}
	was := basis(func(*scene.Managed) {})
	if is := basis(func(m *scene.Managed) { m.Nodes["cmp-01"].ReadyReason = "else" }); !slices.Equal(was, is) {
		t.Errorf("the basis has changed without a reason: %v, %v", was, is)
	}
	if is := basis(func(m *scene.Managed) { m.Nodes["cmp-02"].Cordoned = true }); slices.Equal(was, is) {
		t.Errorf("another node is out, and the basis is still %v", is)
	}
}

// A confirmation rests on the releases that the Cluster is at and is to be at: when somebody sets another one, it goes stale.
func TestCommencingRestsOnTheClustersRelease(t *testing.T) {
	for name, change := range map[string]func(m *scene.Managed){
		"what follows it":   func(m *scene.Managed) { m.Plan.Steps[3].Commence = true },
		"how long it takes": func(m *scene.Managed) { m.Plan.Steps[2].Estimate = "9h" },
		"whom it hits":      func(m *scene.Managed) { m.Plan.Steps[2].Users = "major" },
		"where it is":       func(m *scene.Managed) { m.Cluster.Release = m.Plan.Target },
		"where it is to be": func(m *scene.Managed) { m.Cluster.Target = m.Plan.Target },
		"the plan's source": func(m *scene.Managed) { m.Plan.Source = "else" },
		"the plan's target": func(m *scene.Managed) { m.Plan.Target = "else" },
	} {
		intent := core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-controllers"}
		m := atStep(2)
		was := Plan(m.Join().Snapshot, intent).Basis
		change(m)
		if is := Plan(m.Join().Snapshot, intent).Basis; slices.Equal(was, is) {
			t.Errorf("%s: the basis is still %v", name, is)
		}
	}
}

// Two plans may lead on from one release. Whoever commences a first step chooses between them, so the confirmation names the others, and
// rests on them.
func TestCommencingNamesThePlansBeside(t *testing.T) {
	beside := func(m *scene.Managed, change func(p *core.UpdatePlan)) core.Step {
		m.Cluster.Target = m.Plan.Source
		other := &core.UpdatePlan{Meta: core.Meta{Name: "z-plan", Namespace: m.Plan.Namespace}, Cluster: m.Plan.Cluster, Source: m.Plan.Source,
			Target: "else", Status: core.PlanNotStarted}
		change(other)
		return Plan(m.Join(other).Snapshot, core.Intent{Kind: core.IntentCommence, PlanStep: "openstack"})
	}
	const says = "Others lead on from here too, and are not followed then: z-plan to else."
	step := beside(atStep(0), func(*core.UpdatePlan) {})
	if !strings.Contains(step.Why, says) || !slices.Contains(step.Basis, core.Fact{Name: "beside", Value: step.Why[:strings.Index(step.Why,
		says)+len(says)]}) {
		t.Errorf("%q does not say %q, or does not rest on it: %v", step.Why, says, step.Basis)
	}
	for name, step := range map[string]core.Step{
		"from elsewhere":         beside(atStep(0), func(p *core.UpdatePlan) { p.Source = "else" }),
		"to the same release":    beside(atStep(0), func(p *core.UpdatePlan) { p.Target = atStep(0).Plan.Target }),
		"complete":               beside(atStep(0), func(p *core.UpdatePlan) { p.Status = core.PlanCompleted }),
		"the plan is on its way": beside(atStep(2), func(*core.UpdatePlan) {}),
	} {
		if strings.Contains(step.Why, "Others lead on") {
			t.Errorf("a plan %s: %q", name, step.Why)
		}
	}
}

// A confirmation of workers rests on how their group is updated, which it shows.
func TestCommencingWorkersRestsOnTheirGroup(t *testing.T) {
	basis := func(change func(g *core.MachineGroup)) []core.Fact {
		g := &core.MachineGroup{Meta: core.Meta{Name: "mos-default", Namespace: "prod"}, Cluster: "mos", Index: 1, Concurrent: 1}
		change(g)
		return Plan(atStep(3).Join(g).Snapshot, core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-workers-mos-default"}).Basis
	}
	was := basis(func(*core.MachineGroup) {})
	if is := basis(func(g *core.MachineGroup) { g.Concurrent = 20 }); slices.Equal(was, is) {
		t.Errorf("20 at a time, and the basis is still %v", is)
	}
	if is := basis(func(g *core.MachineGroup) { g.Reboot = true }); slices.Equal(was, is) {
		t.Errorf("they are rebooted, and the basis is still %v", is)
	}
}

// What is typed says what it is about, and is another text for each step of a plan, however long the names are.
func TestWhatIsTypedForALongName(t *testing.T) {
	m := atStep(3)
	m.Plan.Name = "production-west-europe-1-cluster-with-a-long-name-21.0.0"
	group := "k8s-workers-production-west-europe-1-cluster-with-a-long-name-"
	m.Plan.Steps[3].ID = group + "computes-rack-12"
	twin := m.Plan.Steps[3]
	twin.ID = group + "of-the-other-hall-computes-rack-12"
	m.Plan.Steps = append(m.Plan.Steps[:4:4], twin)
	m.Nodes["cmp-01"].Cordoned = true
	typed := map[string]bool{}
	for _, past := range []bool{false, true} {
		for _, st := range m.Plan.Steps[3:] {
			got := Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentCommence, PlanStep: st.ID, PastStops: past}).Type
			if typed[got] || len(got) > 70 || !strings.Contains(got, "k8s-workers") || !strings.Contains(got, "rack-12") ||
				past && !strings.Contains(got, "21.0.0/") {
				t.Errorf("%s: %q is typed", st.ID, got)
			}
			typed[got] = true
		}
	}
	for name, want := range map[string]string{
		"cmp-01":                         "cmp-01",
		strings.Repeat("x", 64):          strings.Repeat("x", 64),
		strings.Repeat("production-", 7): "production-production..production-production- 01234567",
		"name\u202e":                     "01234567",
		" name":                          "01234567",
	} {
		if got := typable(name, "0123456789"); got != want {
			t.Errorf("%q: %q is typed, want %q", name, got, want)
		}
	}
}
