package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/recording"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// stateOf is how a cloud stands, as far as a simulation holds it: nodes, locks, requests, instances, services and steps of the plan.
func stateOf(s *core.Snapshot) map[string]int {
	m := map[string]int{}
	for name, n := range s.Nodes {
		m[fmt.Sprintf("node %s %s %v ready %s, cordoned %t, kubelet %s, %d instances, mode %s", name, n.ShortName, n.Roles, n.Ready, n.Cordoned,
			n.KubeletVersion, len(s.InstancesOn(name)), n.Annotations[core.AnnotationMigrationMode])]++
		for _, l := range s.NodeLocks.At(name) {
			m[fmt.Sprintf("lock %s of %s is %s %s", l.Name, l.Controller, l.State(), l.InnerState)]++
		}
		if r := s.NodeRequest(name); r != nil {
			m[fmt.Sprintf("request %s to %s, deleted %t", r.Name, r.Release, !r.Deleting.IsZero())]++
		}
	}
	for _, l := range s.ClusterLocks {
		m[fmt.Sprintf("lock %s of %s is %s at %s", l.Name, l.Controller, l.State(), l.Release)]++
	}
	for _, r := range s.ClusterRequests {
		m["request "+r.Name+" to "+r.Release]++
	}
	for id, in := range s.Instances.All() {
		m[fmt.Sprintf("instance %s %s in %s on %s, %s", id, in.Name, s.Project(in.ProjectID), in.Host, in.Status)]++
	}
	for host, service := range s.Services {
		m[fmt.Sprintf("service of %s, enabled %t, up %t", host, service.Enabled, service.Up)]++
	}
	if s.Management != nil && s.Management.Plan() != nil {
		for _, st := range s.Management.Plan().Steps {
			status := st.Status
			if st.Commence && status == core.PlanScheduled {
				status = core.PlanNotStarted // LCM says so of a step that is commenced once its clock runs
			}
			m[fmt.Sprintf("step %s %s, commenced %t", st.ID, status, st.Commence)]++
		}
	}
	return m
}

// recordBegin records the first minutes of a scenario.
func recordBegin(t *testing.T, scenario string) string {
	t.Helper()
	st := newStory(t, sim.Options{Scenario: told(t, scenario), Speed: 20, Paused: true})
	st.place.RecordPath, st.place.Management = t.TempDir(), simManagement(st.Cloud)
	st.begin()
	st.until("all is live", sessiontest.AllKnown)
	st.Clock.Resume()
	time.Sleep(30 * time.Second) // ten minutes of the cloud
	synctest.Wait()
	st.stop()
	st.Clock.Pause() // nobody looks at it any more
	files, err := filepath.Glob(filepath.Join(st.place.RecordPath, "*.lockrec"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the recording is in %v", files)
	}
	return files[0]
}

// Two clouds are built from a recording of the middle of an update: one begins where the recording does, the other eight minutes later.
func TestCloudsOfARecordingBeginAsItWasAndGoOn(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		file := recordBegin(t, "manual-nodes")
		beginsAsItWasAndGoesOn(t, file, "", 0)
		beginsAsItWasAndGoesOn(t, file, "+8m", 8*time.Minute)
	})
}

// A cloud that is built from a recording in the middle of an update begins as the recording has it at that moment, and its controllers go
// on with the update. What it cannot have of a recording is told.
func beginsAsItWasAndGoesOn(t *testing.T, file, at string, after time.Duration) {
	t.Helper()
	rec, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	var says bytes.Buffer
	made, err := recordedCloud(file, at, &says)
	if err != nil {
		t.Fatal(err)
	}
	was, err := settled(rec, rec.From.Add(after))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Built from a recording", fmt.Sprintf("%d nodes", len(was.Nodes)), "left out: server groups",
		"the simulation has its own: pods"} {
		if !strings.Contains(says.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &says)
		}
	}
	st := newStory(t, sim.Options{Scenario: made, Speed: 60, Paused: true})
	st.place.Management = simManagement(st.Cloud)
	st.begin()
	is := st.until("all is live", sessiontest.AllKnown)
	if diff := cmp.Diff(stateOf(was), stateOf(is)); diff != "" {
		t.Fatalf("it begins in another way (-recorded +built):\n%s", diff)
	}
	st.Clock.Resume()
	st.until("another node is done", func(s *core.Snapshot) bool {
		for name, n := range s.Nodes {
			if n.KubeletVersion != was.Nodes[name].KubeletVersion && s.NodeRequest(name) == nil {
				return true
			}
		}
		return false
	})
	st.stop()
	st.Clock.Pause()
}

// What is no recording, or has no such time, is refused with a word of why.
func TestWhatNoCloudIsBuiltFrom(t *testing.T) {
	other := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(other, []byte("nodes: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ from, at, want string }{
		{"testdata/recording-1.lockrec", "23:59", "is not in the recording"},
		{"testdata/recording-1.lockrec", "2026-03-14 02:15:07+01:00", "2026-03-14 02:15:07+01:00 is not in the recording"},
		{"testdata/found.yaml", "02:15", "--at is a time of a recording"},
		{"", "02:15", "--at is a time of a recording"},
		{other, "", "nodes"},
	} {
		f := simFlags{speed: 1, from: tt.from, at: tt.at, scenario: "smooth"}
		if _, err := f.options(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("from %q at %q: %v, want %q", tt.from, tt.at, err, tt.want)
		}
	}
}
