package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// One row for each thing on the management cluster that can need a person (docs/mosk.md#management-objects).
func TestAttentionToTheManagementCluster(t *testing.T) {
	for _, tt := range managedScenes() {
		t.Run(tt.name, func(t *testing.T) {
			m := scene.Healthy().Managed()
			var got []row
			sc := m.Join(tt.given(m)...)
			for _, a := range Of(sc.Snapshot) {
				got = append(got, row{a.Severity, string(a.Rule), a.Reason})
			}
			matches := func(a, b row) bool {
				return a.severity == b.severity && a.rule == b.rule && strings.Contains(a.reason, b.reason)
			}
			if !slices.EqualFunc(got, tt.want, matches) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// managedScene changes a management cluster, and says which entries are expected.
type managedScene struct {
	name  string
	given func(m *scene.Managed) []core.Object
	want  []row
}

func managedScenes() []managedScene {
	return []managedScene{
		{"all at rest", func(*scene.Managed) []core.Object { return nil }, nil},
		{"a drain that is refused for the first time", func(m *scene.Managed) []core.Object {
			m.Handed("cmp-01")
			return []core.Object{scene.Drain("m-cmp-01", scene.BudgetText, 1)}
		}, []row{{core.SeverityWarning, "drain-blocked", "drain blocked: budget exporter keeps pod stacklight/exporter-0"}}},
		{"a drain that is refused again and again", func(m *scene.Managed) []core.Object {
			m.Handed("cmp-01")
			return []core.Object{scene.Drain("m-cmp-01", scene.BudgetText, 3)}
		}, []row{{core.SeverityUrgent, "drain-blocked", "attempt 3"}}},
		{"LCM and the plan only repeat it", func(m *scene.Managed) []core.Object {
			m.Handed("cmp-01")
			says := "machine cmp-01: drain failed 3 times: " + scene.BudgetText
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, says
			st := &m.Planned(3).Steps[3]
			st.Status, st.Commence, st.Started, st.Message = core.PlanStuck, true, scene.Ago(time.Hour), says
			m.Agents["cmp-01"].DrainError = scene.BudgetText
			return []core.Object{scene.Drain("m-cmp-01", scene.BudgetText, 3)}
		}, []row{{core.SeverityUrgent, "drain-blocked", ""}}},
		{"LCM repeats a long one", func(m *scene.Managed) []core.Object {
			long := strings.Repeat("no space is left on the device, ", 40)
			m.Agents["cmp-01"].State, m.Agents["cmp-01"].Items = core.LCMDeploy, scene.FailedItems(3, time.Minute)
			m.Agents["cmp-01"].Items[1].Message = long
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, "machine cmp-01: state item host-packages failed 3 times: "+long
			return nil
		}, []row{{core.SeverityUrgent, "state-item", "no space is left"}}},
		{"LCM says more than that", func(m *scene.Managed) []core.Object {
			m.Handed("cmp-01")
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, "machine cmp-01: drain failed 3 times: "+scene.BudgetText+"; machine cmp-02: node is not Ready"
			return []core.Object{scene.Drain("m-cmp-01", scene.BudgetText, 3)}
		}, []row{{core.SeverityUrgent, "drain-blocked", ""},
			{core.SeverityUrgent, "lcm-stuck", "an operation of LCM is stuck: machine cmp-02: node is not Ready"}}},
		{"LCM waits for the node's locks, and Swarm for Kubernetes", func(m *scene.Managed) []core.Object {
			m.Update(time.Hour)
			m.Maintained("cmp-01", "")
			m.Agents["cmp-01"].DrainError, m.Agents["cmp-01"].SwarmError = scene.LocksWaitText, scene.SwarmWaitText
			return []core.Object{scene.Drain("m-cmp-01", scene.LocksWaitText, 0), scene.Swarm("m-cmp-01", scene.SwarmWaitText, 0)}
		}, nil},
		{"LCM goes on waiting for locks that are long inactive", func(m *scene.Managed) []core.Object {
			m.Handed("cmp-01")
			for _, l := range m.NodeLocks.At("cmp-01") {
				m.History.Locks[l.UID] = &core.LockRecord{State: core.LockInactive, Since: core.Since{At: scene.Ago(20 * time.Minute), Exact: true}}
			}
			return []core.Object{scene.Drain("m-cmp-01", scene.LocksWaitText, 0)}
		}, []row{{core.SeverityWarning, "drain-waits",
			"LCM waits for: ceph UpdatingController, openstack InProgress; the node's locks are inactive since"}}},
		{"LCM has not looked at the locks again yet", func(m *scene.Managed) []core.Object {
			m.Handed("cmp-01")
			for _, l := range m.NodeLocks.At("cmp-01") {
				m.History.Locks[l.UID] = &core.LockRecord{State: core.LockInactive, Since: core.Since{At: scene.Ago(time.Minute), Exact: true}}
			}
			return []core.Object{scene.Drain("m-cmp-01", scene.LocksWaitText, 0)}
		}, nil},
		{"LCM waits at one attempt after another", func(m *scene.Managed) []core.Object {
			m.Update(time.Hour)
			m.Maintained("cmp-01", "")
			return []core.Object{scene.Swarm("m-cmp-01", scene.SwarmWaitText, 4)}
		}, []row{{core.SeverityWarning, "drain-waits",
			"swarm-drain: LCM waits until node kaas-node-5222a92f-5523-457c-8c69-b7aa0ffc235c is drained; attempt 4"}}},
		{"a drain that succeeded has nothing to say", func(m *scene.Managed) []core.Object {
			d := scene.Drain("m-cmp-01", scene.BudgetText, 4)
			d.Value = "true"
			return []core.Object{d}
		}, nil},
		{"a drain that is given up", func(m *scene.Managed) []core.Object {
			d := scene.Drain("m-cmp-01", scene.BudgetText, 4)
			d.Wanted = "false"
			return []core.Object{d}
		}, nil},
		{"an error of a drain beside it", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].SwarmError = "cannot drain: rpc error"
			return nil
		}, []row{{core.SeverityWarning, "swarm-error", "the drain of Swarm says: cannot drain: rpc error"}}},
		{"a state item that fails", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].State, m.Agents["cmp-01"].Items = core.LCMPrepare, scene.FailedItems(2, time.Minute)
			return nil
		}, []row{{core.SeverityWarning, "state-item",
			"state item host-packages (prepare) failed, attempt 2, exit code 100: E: Failed to fetch linux-image 503"}}},
		{"a state item that fails for the third time", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].State, m.Agents["cmp-01"].Items = core.LCMPrepare, scene.FailedItems(3, time.Minute)
			return nil
		}, []row{{core.SeverityUrgent, "state-item", "attempt 3"}}},
		{"what failed once on a machine that is Ready", func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].Items = scene.FailedItems(3, time.Minute)
			return nil
		}, nil},
		{"LCM is stuck", func(m *scene.Managed) []core.Object {
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, "kubelet of ctl-01"
			return nil
		}, []row{{core.SeverityUrgent, "lcm-stuck", "kubelet of ctl-01"}}},
		{"the step of a plan is Stuck", func(m *scene.Managed) []core.Object {
			st := &m.Planned(3).Steps[3]
			st.Status, st.Commence, st.Started, st.Message = core.PlanStuck, true, scene.Ago(time.Hour), "takes longer than estimated"
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, "takes longer than estimated"
			return nil
		}, []row{{core.SeverityUrgent, "plan-stuck", "group mos-default is Stuck: takes longer than estimated"}}},
		{"the next step is not commenced", func(m *scene.Managed) []core.Object {
			m.Planned(3)
			return nil
		}, []row{{core.SeverityWarning, "plan-waits", "until somebody commences group mos-default"}}},
		{"the next step is scheduled", func(m *scene.Managed) []core.Object {
			m.Planned(3).Steps[3].Status = core.PlanScheduled
			return nil
		}, nil},
		{"a plan that nobody has begun", func(m *scene.Managed) []core.Object {
			m.Planned(0)
			m.Plan.Status, m.Plan.Started = core.PlanNotStarted, time.Time{}
			return nil
		}, nil},
		{"an alert has paused the update", func(m *scene.Managed) []core.Object {
			m.Planned(3).Status, m.Plan.Steps[3].Status = core.PlanAutoPaused, core.PlanAutoPaused
			return []core.Object{&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"A", "B"}, Firing: []string{"B"}}}
		}, []row{{core.SeverityUrgent, "auto-pause", "the update is paused: B is firing"}}},
		{"the alert is over, and nothing goes on by itself", func(m *scene.Managed) []core.Object {
			m.Planned(3).Status, m.Plan.Steps[3].Status = core.PlanAutoPaused, core.PlanAutoPaused
			return []core.Object{&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"A", "B"}}}
		}, []row{{core.SeverityUrgent, "auto-pause", "when the step is commenced again"}}},
		{"whether the alert is over is not known", func(m *scene.Managed) []core.Object {
			m.Planned(3).Status, m.Plan.Steps[3].Status = core.PlanAutoPaused, core.PlanAutoPaused
			m.Source(core.SourceAutoPauses, core.SourceAbsent)
			return nil
		}, []row{{core.SeverityUrgent, "auto-pause", "whether it still fires is not known: the API does not have the resource"}}},
		{"a step of a status that nobody knows", func(m *scene.Managed) []core.Object {
			st := &m.Planned(3).Steps[3]
			st.Status, st.Commence, st.Started, st.Message = "Failed", true, scene.Ago(time.Hour), "no more retries"
			return nil
		}, []row{{core.SeverityUrgent, "plan-status",
			`group mos-default has a status that no document lists: "Failed"; no more retries`}}},
		{"machines that were not rebooted", func(m *scene.Managed) []core.Object {
			m.Machines["cmp-01"].Reboot, m.Machines["cmp-02"].Reboot = true, true
			return nil
		}, []row{{core.SeverityNotice, "reboots-left", "2 machines have to be rebooted for what was installed: m-cmp-01, m-cmp-02"}}},
		{"machines whose turn comes", func(m *scene.Managed) []core.Object {
			m.Update(time.Hour)
			m.Machines["cmp-01"].Reboot = true
			return nil
		}, nil},
		{"machines whose reboot is asked for", func(m *scene.Managed) []core.Object {
			m.Machines["cmp-01"].Reboot = true
			return []core.Object{&core.RebootRequest{Meta: core.Meta{Name: "mos", Namespace: "prod"}, Machines: []string{"m-cmp-01"}}}
		}, nil},
		{"it is not configured", func(m *scene.Managed) []core.Object {
			for _, id := range core.ManagementSources() {
				m.Source(id, core.SourceOff)
			}
			return nil
		}, nil},
		{"an older release lacks a kind", func(m *scene.Managed) []core.Object { m.Source(core.SourceAutoPauses, core.SourceAbsent); return nil },
			nil},
		{"one kind is forbidden", func(m *scene.Managed) []core.Object { m.Source(core.SourceDrains, core.SourceForbidden); return nil },
			[]row{{core.SeverityWarning, "source", "forbidden: lcmclusterstates"}}},
	}
}

// The entry for an outage of the management cluster says what it means for the update.
func TestAnOutageOfTheManagementClusterSaysWhatItMeans(t *testing.T) {
	m := scene.Healthy().Managed()
	m.Update(time.Hour)
	for _, id := range core.ManagementSources() {
		m.Sources[id] = core.Source{ID: id, State: core.SourceStale, Since: scene.Ago(2 * time.Minute), AsOf: scene.Ago(2 * time.Minute),
			Err: &core.APIError{Kind: core.ErrUnreachable, Server: core.ServerManagement, Call: "watch " + string(id),
				Message: "connection refused"}}
	}
	all := Of(m.Join().Snapshot)
	if len(all) != 1 || all[0].Label != "management" || all[0].Severity != core.SeverityWarning ||
		!strings.Contains(all[0].Detail, "nothing new begins on the nodes") {
		t.Fatalf("%+v", all)
	}
	p, ok := procedure.Of(m.Scene.Snapshot, *all[0].Resolve)
	if !ok || len(p.Steps) != len(core.ManagementSources()) ||
		!slices.Equal(p.Steps[0].Commands, []string{"kubectl --context mgmt get --raw /readyz"}) {
		t.Errorf("%+v", p)
	}
}

// A cluster request for maintenance mode or a reboot is not an update: nothing is overdue or estimated.
func TestMaintenanceIsNoUpdate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given func(m *scene.Managed) []core.Object
		want  string
	}{
		{"maintenance mode", func(m *scene.Managed) []core.Object { m.InMode(); return nil }, "maintenance mode"},
		{"a reboot", func(m *scene.Managed) []core.Object {
			return []core.Object{&core.RebootRequest{Meta: core.Meta{Name: "mos", Namespace: "prod"}}}
		}, "a graceful reboot"},
		{"an update, by its plan", func(m *scene.Managed) []core.Object { m.Planned(2); m.InMode(); return nil }, ""},
		{"an update without a plan", func(m *scene.Managed) []core.Object { return nil }, ""},
	} {
		m := scene.Resting()
		m.Update(100 * time.Hour)
		sc := m.Join(tt.given(m)...)
		if u := progress.Update(sc.Snapshot); u.Beside != tt.want || u.Running != (tt.want == "") || u.ByHand {
			t.Errorf("%s: %+v", tt.name, u)
		}
		overdue := slices.ContainsFunc(Of(sc.Snapshot), func(a core.Attention) bool { return strings.HasPrefix(a.ID, "phase/") })
		if overdue != (tt.want == "") {
			t.Errorf("%s: a phase is overdue: %v", tt.name, overdue)
		}
	}
}

// The entry of a pause has an age, as far as the beginning was seen.
func TestAPauseHasAnAge(t *testing.T) {
	for _, firing := range [][]string{{"KubeletDown"}, nil} {
		m := scene.Healthy().Managed()
		m.Update(time.Hour)
		m.Planned(3).Status, m.Plan.Steps[3].Status = core.PlanAutoPaused, core.PlanAutoPaused
		pause := &core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"KubeletDown"}, Firing: firing}
		m.History.Stands = map[core.PhaseID][]core.Standstill{core.PhaseWorkers: {{Cause: core.StandsByAlert,
			Since: core.Since{At: scene.Ago(12 * time.Minute), Exact: true}}}}
		found := false
		for _, a := range Of(m.Join(pause).Snapshot) {
			if a.Rule != core.RuleAutoPause {
				continue
			}
			if found = true; !a.Since.At.Equal(scene.Ago(12 * time.Minute)) {
				t.Errorf("firing %v: since %v", firing, a.Since)
			}
		}
		if !found {
			t.Errorf("firing %v: there is no entry", firing)
		}
	}
}

// LCM takes commence away before its plan says that it is paused: in that moment nobody holds the step but the alert.
func TestAStepThatAnAlertPausesIsNotHeldByAPerson(t *testing.T) {
	for _, tt := range []struct {
		firing []string
		told   core.AttentionRule
		not    core.AttentionRule
	}{
		{[]string{"KubeletDown"}, core.RuleAutoPause, core.RulePlanWaits},
		{nil, core.RulePlanWaits, core.RuleAutoPause},
	} {
		m := scene.Healthy().Managed()
		m.Update(time.Hour)
		m.Planned(3)
		m.Plan.Steps[3].Status, m.Plan.Steps[3].Started = core.PlanInProgress, scene.Ago(time.Hour)
		if st, ok := m.Plan.Next(); !ok || !st.Held() {
			t.Fatalf("the scene has no step that lost its commence: %+v", st)
		}
		told := map[core.AttentionRule]bool{}
		pause := &core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"KubeletDown"}, Firing: tt.firing}
		for _, a := range Of(m.Join(pause).Snapshot) {
			told[a.Rule] = true
		}
		if !told[tt.told] || told[tt.not] {
			t.Errorf("firing %v: it tells %v", tt.firing, told)
		}
	}
}

// A step that is held is an entry with an age, as every other: since it was seen to stand still.
func TestAHeldStepHasAnAge(t *testing.T) {
	m := scene.Resting()
	m.Update(3 * time.Hour)
	held := &m.Planned(3).Steps[3]
	held.Status, held.Started, held.Commence = core.PlanInProgress, scene.Ago(time.Hour), false
	since := core.Since{At: scene.Ago(20 * time.Minute), Exact: true}
	m.History.Stands = map[core.PhaseID][]core.Standstill{
		core.PhaseMasters: {{Cause: core.StandsForStep, Since: core.Since{At: scene.Ago(2 * time.Hour)}, Until: scene.Ago(90 * time.Minute)}},
		core.PhaseWorkers: {{Cause: core.StandsForStep, Since: since}}}
	for _, a := range Of(m.Join().Snapshot) {
		if a.Rule == core.RulePlanWaits {
			if !strings.Contains(a.Reason, "is held") || a.Since != since {
				t.Errorf("%q since %+v, want %+v", a.Reason, a.Since, since)
			}
			return
		}
	}
	t.Error("there is no entry")
}

// Steps have IDs from MOSK 24.3 on. Without them the step that waits is the one that is commenced, not the first.
func TestTheStepThatWaitsIsCommencedAlsoWithoutIDs(t *testing.T) {
	for _, ids := range []bool{true, false} {
		m := scene.Healthy().Managed()
		m.Planned(3)
		for i := range m.Plan.Steps {
			if !ids {
				m.Plan.Steps[i].ID = ""
			}
		}
		var lines []string
		for _, a := range Of(m.Join().Snapshot) {
			if a.Rule != core.RulePlanWaits {
				continue
			}
			for _, c := range a.Commands {
				if c.Changes {
					lines = append(lines, c.Line)
				}
			}
		}
		if len(lines) != 1 || !strings.Contains(lines[0], "/spec/steps/3/commence") {
			t.Errorf("with IDs %v the entry shows %q", ids, lines)
		}
	}
}
