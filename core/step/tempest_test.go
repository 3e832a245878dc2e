package step

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A run is requested with the list of services, and only when nothing else is to be applied.
func TestTempestIsAskedFor(t *testing.T) {
	deployment := func(services ...string) *core.OpenStackDeployment {
		return &core.OpenStackDeployment{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "osh-dev", UID: "osdpl"}, Services: services}
	}
	cases := []struct {
		name, says string
		change     func(sc scene.Scene)
	}{
		{"at rest", "", func(sc scene.Scene) { sc.Deployments = []*core.OpenStackDeployment{deployment("compute")} }},
		{"it is there", "remove", func(sc scene.Scene) { sc.Deployments = []*core.OpenStackDeployment{deployment("compute", "tempest")} }},
		{"an update runs", "no update runs", func(sc scene.Scene) {
			sc.Deployments = []*core.OpenStackDeployment{deployment("compute")}
			sc.Update(time.Hour)
		}},
		{"something is being applied", "OpenStack is APPLIED: APPLYING", func(sc scene.Scene) {
			sc.Deployments, sc.OpenStack[0].State = []*core.OpenStackDeployment{deployment("compute")}, "APPLYING"
		}},
		{"no right to read it", "deploy/rbac-operator.yaml", func(sc scene.Scene) {
			sc.Source(core.SourceOpenStackDeployment, core.SourceOff)
			src := sc.Sources[core.SourceOpenStackDeployment]
			src.Err = &core.APIError{Kind: core.ErrForbidden}
			sc.Sources[core.SourceOpenStackDeployment] = src
		}},
		{"none is there", "0 OpenStackDeployments", func(sc scene.Scene) { sc.Deployments = nil }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := scene.Over()
			tc.change(sc)
			st := Plan(sc.Snapshot, core.Intent{Kind: core.IntentAddTempest})
			switch {
			case tc.says == "" && !st.Doable():
				t.Error(st.Blocker())
			case tc.says == "remove":
				if st.State != core.StepDone || !Plan(sc.Snapshot, core.Intent{Kind: core.IntentRemoveTempest}).Doable() {
					t.Errorf("%s", st.State)
				}
			case tc.says != "" && !strings.Contains(st.Blocker(), tc.says):
				t.Errorf("%q, want %q", st.Blocker(), tc.says)
			}
		})
	}
}

// The progress of the run comes from its Job; a run from before the end of the update counts for nothing.
func TestTempestIsFollowed(t *testing.T) {
	job := func(change func(*core.Job)) *core.Job {
		j := &core.Job{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: jobTempest, Created: scene.Ago(30 * time.Minute)},
			Started: scene.Ago(30 * time.Minute), Active: 1, State: core.JobRunning}
		change(j)
		return j
	}
	cases := []struct {
		name   string
		state  core.StepState
		says   string
		change func(sc scene.Scene)
	}{
		{"no run", core.StepLater, "no run", func(scene.Scene) {}},
		{"asked for", core.StepWaiting, "is to make the Job — APPLYING", func(sc scene.Scene) {
			sc.Deployments = []*core.OpenStackDeployment{{Services: []string{"tempest"}}}
			sc.OpenStack[0].Services = []core.OpenStackService{{Name: "tempest", State: "APPLYING"}}
		}},
		{"runs", core.StepWaiting, "runs for 30 m, 1 pod", func(sc scene.Scene) { sc.TempestJob = job(func(*core.Job) {}) }},
		{"passed", core.StepDone, "passed at 11:50, took 20 m", func(sc scene.Scene) {
			sc.TempestJob = job(func(j *core.Job) { j.State, j.Completed = core.JobComplete, scene.Ago(10*time.Minute) })
		}},
		{"failed", core.StepFailed, "the tests failed: Job has reached the specified backoff limit; the logs say which", func(sc scene.Scene) {
			sc.TempestJob = job(func(j *core.Job) { j.State, j.Message = core.JobFailed, "Job has reached the specified backoff limit" })
		}},
		{"an old run", core.StepLater, "the last run, complete, was before the end of the update", func(sc scene.Scene) {
			sc.TempestJob = job(func(j *core.Job) { j.State, j.Created = core.JobComplete, scene.Ago(3*time.Hour) })
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := scene.Over()
			tc.change(sc)
			if st := TempestStep(sc.Snapshot); st.State != tc.state || !strings.Contains(st.Status, tc.says) ||
				!strings.Contains(strings.Join(st.Commands, "\n"), "logs -l") {
				t.Errorf("%s: %q", st.State, st.Status)
			}
		})
	}
}
