package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// A run is asked for by the list of services, and only when nothing else is to be applied.
func TestTempestIsAskedFor(t *testing.T) {
	deployment := func(services ...string) *OpenStackDeployment {
		return &OpenStackDeployment{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh-dev", UID: "osdpl"}, Services: services}
	}
	cases := []struct {
		name, says string
		change     func(sc scene)
	}{
		{"at rest", "", func(sc scene) { sc.Deployments = []*OpenStackDeployment{deployment("compute")} }},
		{"it is there", "remove", func(sc scene) { sc.Deployments = []*OpenStackDeployment{deployment("compute", "tempest")} }},
		{"an update runs", "no update runs", func(sc scene) { sc.Deployments = []*OpenStackDeployment{deployment("compute")}; sc.update(time.Hour) }},
		{"something is being applied", "OpenStack is APPLIED: APPLYING", func(sc scene) {
			sc.Deployments, sc.OpenStack[0].State = []*OpenStackDeployment{deployment("compute")}, "APPLYING"
		}},
		{"no right to read it", "deploy/rbac-operator.yaml", func(sc scene) {
			sc.source(SourceOpenStackDeployment, SourceOff)
			src := sc.Sources[SourceOpenStackDeployment]
			src.Err = &APIError{Kind: ErrForbidden}
			sc.Sources[SourceOpenStackDeployment] = src
		}},
		{"none is there", "0 OpenStackDeployments", func(sc scene) { sc.Deployments = nil }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := over()
			tc.change(sc)
			st := Plan(sc.Snapshot, Intent{Kind: IntentAddTempest})
			switch {
			case tc.says == "" && !st.Doable():
				t.Error(st.Blocker())
			case tc.says == "remove":
				if st.State != StepDone || !Plan(sc.Snapshot, Intent{Kind: IntentRemoveTempest}).Doable() {
					t.Errorf("%s", st.State)
				}
			case tc.says != "" && !strings.Contains(st.Blocker(), tc.says):
				t.Errorf("%q, want %q", st.Blocker(), tc.says)
			}
		})
	}
}

// How the run goes is read off its Job; a run from before the end of the update says nothing.
func TestTempestIsFollowed(t *testing.T) {
	job := func(change func(*Job)) *Job {
		j := &Job{Meta: Meta{Namespace: namespaceOpenStack, Name: jobTempest, Created: ago(30 * time.Minute)}, Started: ago(30 * time.Minute), Active: 1, State: JobRunning}
		change(j)
		return j
	}
	cases := []struct {
		name   string
		state  StepState
		says   string
		change func(sc scene)
	}{
		{"no run", StepLater, "no run", func(scene) {}},
		{"asked for", StepWaiting, "is to make the Job — APPLYING", func(sc scene) {
			sc.Deployments = []*OpenStackDeployment{{Services: []string{"tempest"}}}
			sc.OpenStack[0].Services = []OpenStackService{{Name: "tempest", State: "APPLYING"}}
		}},
		{"runs", StepWaiting, "runs for 30 m, 1 pod", func(sc scene) { sc.TempestJob = job(func(*Job) {}) }},
		{"passed", StepDone, "passed at 11:50, took 20 m", func(sc scene) {
			sc.TempestJob = job(func(j *Job) { j.State, j.Completed = JobComplete, ago(10*time.Minute) })
		}},
		{"failed", StepFailed, "the tests failed: Job has reached the specified backoff limit; the logs say which", func(sc scene) {
			sc.TempestJob = job(func(j *Job) { j.State, j.Message = JobFailed, "Job has reached the specified backoff limit" })
		}},
		{"an old run", StepLater, "the last run, complete, was before the end of the update", func(sc scene) {
			sc.TempestJob = job(func(j *Job) { j.State, j.Created = JobComplete, ago(3*time.Hour) })
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := over()
			tc.change(sc)
			if st := sc.tempestStep(); st.State != tc.state || !strings.Contains(st.Status, tc.says) || !strings.Contains(strings.Join(st.Commands, "\n"), "logs -l") {
				t.Errorf("%s: %q", st.State, st.Status)
			}
		})
	}
}

// The list of services is changed as a compare-and-swap, tried first, and verified.
func TestTempestIsAddedAndRemoved(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud().withVRouters()
		cloud.daemons.services = []string{"compute"}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.engine.call(func() { b.engine.world.remove(SourceClusterRequests, "mos") })
		b.arm()
		for _, kind := range []IntentKind{IntentAddTempest, IntentRemoveTempest} {
			if p := b.engine.Preview(t.Context(), Intent{Kind: kind}); p.Err != nil || p.DryRun == "" {
				t.Fatalf("%+v", p)
			}
			id, err := b.confirm(Intent{Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			if op := b.awaitEnd(id); op.State != OperationDone {
				t.Fatalf("%s: %s", op.State, op.Text)
			}
			b.sync()
			b.engine.call(func() { b.engine.world.remove(SourceClusterRequests, "mos") })
		}
		if got := cloud.written(); !slices.Equal(got, []string{"services tempest true", "services tempest false"}) {
			t.Errorf("%q", got)
		}
	})
}
