package progress_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// What keeps a phase from going on, by its cause, with the reason in words.
func TestWhatAnUpdateStandsStillBy(t *testing.T) {
	rackA := core.PlanStepWorkers + "rack-a"
	workers := func(status string) core.PlanStep {
		return core.PlanStep{ID: rackA, Status: status, Message: "2 machines are left"}
	}
	planned := func(sc scene.Scene, steps ...core.PlanStep) *core.Management {
		sc.Sources[core.SourceAutoPauses] = core.Source{ID: core.SourceAutoPauses, State: core.SourceLive, AsOf: scene.Ago(time.Second)}
		sc.Management = &core.Management{Found: true, Plans: []*core.UpdatePlan{{Status: core.PlanInProgress, Started: scene.Ago(time.Hour),
			Steps: steps}}}
		return sc.Management
	}
	masters := core.PlanStep{ID: "k8s-controllers", Status: core.PlanCompleted, Started: scene.Ago(50 * time.Minute), Duration: "20m"}
	held := func(sc scene.Scene) { // LCM has begun it, and commence was taken away
		first, then := masters, workers(core.PlanInProgress)
		first.Commence, then.Started = true, scene.Ago(20*time.Minute)
		planned(sc, first, then)
	}
	for _, tt := range []struct {
		name  string
		cause core.StandstillCause
		why   string
		about string
		spoil func(sc scene.Scene)
	}{
		{"it goes on", "", "", "", func(scene.Scene) {}},
		{"a node waits for the operator", core.StandsForPerson, "cmp-01: ", "cmp-01", func(sc scene.Scene) {
			sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationMode] = string(core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Instance("cmp-01", "web-1")
		}},
		{"one waits, and another one's lock is left from before", core.StandsForPerson, "cmp-02: ", "cmp-02", func(sc scene.Scene) {
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
			sc.Mode("cmp-02", core.ModeManual)
			sc.Maintained("cmp-02", scene.StillPresent)
			sc.Instance("cmp-02", "web-1")
		}},
		{"a lock says failed", core.StandsFailed, "cmp-01: ", "cmp-01", func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockFailed
		}},
		{"it takes much longer than the documents allow", core.StandsOverdue, "overdue: ", "", func(sc scene.Scene) {
			sc.History.Phases = map[core.PhaseID]core.PhaseRecord{core.PhaseWorkers: {Started: core.Since{At: scene.Ago(99 * time.Hour)}}}
		}},
		{"an alert fires", core.StandsByAlert, "auto-pause: KubeletDown", "KubeletDown", func(sc scene.Scene) {
			planned(sc, workers(core.PlanAutoPaused)).Pause = &core.AutoPause{Firing: []string{"KubeletDown"}}
		}},
		{"the alert is over", core.StandsByAlert, "group rack-a waits to be commenced again", rackA, func(sc scene.Scene) {
			planned(sc, workers(core.PlanAutoPaused))
		}},
		{"LCM says that the step is stuck", core.StandsByPlan, "group rack-a is Stuck: 2 machines are left", rackA, func(sc scene.Scene) {
			planned(sc, workers(core.PlanStuck))
		}},
		{"the next step is not commenced", core.StandsForStep, "group rack-a is not commenced", rackA, func(sc scene.Scene) {
			planned(sc, masters, workers(core.PlanNotStarted))
		}},
		{"a step is held, and nothing of it is under way any more", core.StandsForStep, "group rack-a is held", rackA,
			func(sc scene.Scene) {
				held(sc)
				sc.NodeRequests = nil
			}},
		{"a step is held, and a machine of it is finished", "", "", "", func(sc scene.Scene) { held(sc) }},
		{"a step is held, and the machine that is to be finished waits", core.StandsForPerson, "cmp-01: ", "cmp-01", func(sc scene.Scene) {
			held(sc)
			sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationMode] = string(core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.Instance("cmp-01", "web-1")
		}},
		{"the plan goes on by itself", "", "", "", func(sc scene.Scene) { planned(sc, masters, workers(core.PlanInProgress)) }},
		{"no update runs any more", "", "", "", func(sc scene.Scene) {
			planned(sc, workers(core.PlanStuck))
			sc.ClusterRequests = nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.History.Update.UID = sc.Update(time.Hour).UID
			sc.Lock("", core.ControllerOpenStack, core.LockInactive)
			sc.Node("cmp-01", core.RoleCompute)
			sc.Node("cmp-02", core.RoleCompute)
			sc.Maintained("cmp-02", "")
			tt.spoil(sc)
			st := progress.StandsStill(sc.Snapshot, progress.Phases(sc.Snapshot)[core.PhaseWorkers-1])
			if st.Cause != tt.cause || !strings.Contains(st.Why, tt.why) || tt.why == "" && st.Why != "" {
				t.Errorf("%q: %q; want %q: …%s…", st.Cause, st.Why, tt.cause, tt.why)
			}
			if about := strings.Join(st.Subjects, " "); about != tt.about {
				t.Errorf("it is about %q, want %q", about, tt.about)
			}
		})
	}
}

// While OpenStack is updated, services of which none gets further are a standstill: the phase itself says that it goes on until all of
// the documents' time is over.
func TestServicesThatGetNoFurtherStandStill(t *testing.T) {
	for _, tt := range []struct {
		last  time.Duration // since one of them got further
		state string        // of OpenStack
		why   string
	}{
		{70 * time.Minute, "APPLYING", "no service of OpenStack has got further since "},
		{20 * time.Minute, "APPLYING", ""},
		{70 * time.Minute, "APPLIED", ""},
	} {
		sc := scene.NewScene()
		sc.History.Update.UID = sc.Update(80 * time.Minute).UID
		sc.Lock("", core.ControllerOpenStack, core.LockActive).Message = "Waiting osdpl status APPLIED, current state is APPLYING"
		sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", Namespace: "openstack", UID: "osdplst"}, State: tt.state,
			Services: []core.OpenStackService{{Name: "compute", State: "APPLIED", Since: scene.Ago(75 * time.Minute)},
				{Name: "image", State: "WAITING", Since: scene.Ago(75 * time.Minute)},
				{Name: "dns", State: "APPLYING", Since: scene.Ago(tt.last)}}}}
		p := progress.Phases(sc.Snapshot)[core.PhaseServices-1]
		st := progress.StandsStill(sc.Snapshot, p)
		if tt.why == "" {
			if st.Cause == core.StandsOverdue {
				t.Errorf("%s, %s: %+v", tt.state, tt.last, st)
			}
			continue
		}
		if st.Cause != core.StandsOverdue || !strings.HasPrefix(st.Why, tt.why) || !strings.HasSuffix(st.Why, ": dns APPLYING, image WAITING") {
			t.Errorf("%s, %s: %q: %q; the phase is %s", tt.state, tt.last, st.Cause, st.Why, p.State)
		}
	}
}

// A pause lasts from when the first alert of it was seen: that another alert holds it, or that none fires any more, begins no other.
func TestAPauseLastsFromItsFirstAlert(t *testing.T) {
	at := func(ago time.Duration) time.Time { return scene.Ago(ago) }
	stood := func(cause core.StandstillCause, since, until time.Duration) core.Standstill {
		st := core.Standstill{Cause: cause, Since: core.Since{At: at(since), Exact: true}}
		if until > 0 {
			st.Until = at(until)
		}
		return st
	}
	const alert, person = core.StandsByAlert, core.StandsForPerson
	tests := []struct {
		name string
		list []core.Standstill
		want time.Duration // ago; 0 when it is not known
	}{
		{"it was not seen", nil, 0},
		{"one alert", []core.Standstill{stood(alert, 30*time.Minute, 0)}, 30 * time.Minute},
		{"another alert, at the same moment", []core.Standstill{stood(alert, 50*time.Minute, 30*time.Minute),
			stood(alert, 30*time.Minute, 0)}, 50 * time.Minute},
		{"an earlier pause, and it went on between", []core.Standstill{stood(alert, 90*time.Minute, 60*time.Minute),
			stood(alert, 30*time.Minute, 0)}, 30 * time.Minute},
		{"something else came before", []core.Standstill{stood(person, 50*time.Minute, 30*time.Minute), stood(alert, 30*time.Minute, 0)},
			30 * time.Minute},
		{"it is over", []core.Standstill{stood(alert, 50*time.Minute, 30*time.Minute)}, 0},
		{"something else holds it", []core.Standstill{stood(alert, 50*time.Minute, 30*time.Minute), stood(person, 30*time.Minute, 0)}, 0},
	}
	for _, tt := range tests {
		sc := scene.Healthy()
		sc.History.Stands = map[core.PhaseID][]core.Standstill{core.PhaseWorkers: tt.list}
		got := progress.StandsSince(sc.Snapshot, alert)
		if want := scene.Ago(tt.want); tt.want == 0 && !got.At.IsZero() || tt.want > 0 && (!got.At.Equal(want) || !got.Exact) {
			t.Errorf("%s: since %v, want %v", tt.name, got, want)
		}
	}
}
