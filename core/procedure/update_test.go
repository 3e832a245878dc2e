package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// What the page that drives the update offers at each point of a plan: "next" is what comes next, "may" what is offered besides.
func TestThePageThatDrivesTheUpdate(t *testing.T) {
	runs := func(m *scene.Managed, i int) {
		m.Plan.Steps[i].Status, m.Plan.Steps[i].Commence, m.Plan.Steps[i].Started = core.PlanInProgress, true, scene.Ago(time.Minute)
	}
	for _, tt := range []struct {
		name     string
		complete int
		given    func(m *scene.Managed)
		next     string
		may      []string
	}{
		{"nothing is begun", 0, func(m *scene.Managed) { m.Plan.Status, m.Plan.Started = core.PlanNotStarted, time.Time{} },
			"commence step openstack", nil},
		{"between two steps", 2, func(*scene.Managed) {}, "commence step k8s-controllers", nil},
		{"a step is commenced, and LCM has not begun it", 2, func(m *scene.Managed) { m.Plan.Steps[2].Commence = true }, "",
			[]string{"withdraw the commence of step k8s-controllers", "commence group mos-default"}},
		{"a step is under way", 2, func(m *scene.Managed) { runs(m, 2) }, "", []string{"commence group mos-default"}},
		{"a step is under way, the next is commenced", 2, func(m *scene.Managed) { runs(m, 2); m.Plan.Steps[3].Commence = true }, "",
			[]string{"withdraw the commence of group mos-default", "commence step mcc-components"}},
		{"workers are under way", 3, func(m *scene.Managed) { runs(m, 3) }, "", []string{"hold group mos-default",
			"commence step mcc-components"}},
		{"workers are held", 3, func(m *scene.Managed) { runs(m, 3); m.Plan.Steps[3].Commence = false }, "commence group mos-default again", nil},
		{"an alert has paused the workers", 3, func(m *scene.Managed) {
			runs(m, 3)
			m.Plan.Steps[3].Commence, m.Plan.Steps[3].Status, m.Plan.Status = false, core.PlanAutoPaused, core.PlanAutoPaused
		}, "commence group mos-default again", nil},
		{"something stops it", 3, func(m *scene.Managed) { m.Nodes["cmp-01"].Cordoned = true }, "",
			[]string{"commence group mos-default, past what stops it"}},
		{"all is done", 5, func(m *scene.Managed) { m.Plan.Status = core.PlanCompleted }, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scene.Resting()
			m.Planned(tt.complete)
			tt.given(m)
			p, _ := Of(m.Join().Snapshot, *UpdateKey())
			next, _ := p.Next()
			var may []string
			for _, st := range p.Steps {
				for _, way := range append([]core.Step{st}, st.Alternatives...) {
					if way.Doable() && way.ID != next.ID {
						may = append(may, way.Title)
					}
				}
			}
			if next.Title != tt.next || !slices.Equal(may, tt.may) {
				t.Errorf("%q comes next, and %q may be done:\n%v", next.Title, may, scene.Outline(p))
			}
			for _, st := range p.Steps {
				if st.Doable() && st.Intent.Kind == core.IntentUncommence && st.Status == "" {
					t.Errorf("nothing beside %q says what it stops", st.Title)
				}
				if strings.Contains(st.Title, "past") {
					t.Errorf("going past is a step of its own kind, not an other way: %s", st.Title)
				}
			}
		})
	}
	if p, ok := Of(scene.Healthy().Snapshot, *UpdateKey()); !ok || len(p.Steps) != 1 || p.Steps[0].Doable() {
		t.Errorf("without a management cluster: %+v", p)
	}
}

// A step that was commenced here, past what stops it or not, and that LCM took back says so: "done" alone would be only half of it.
func TestAStepWhoseCommenceWasTakenAwaySaysSo(t *testing.T) {
	const workers = "k8s-workers-mos-default"
	commenced := core.Operation{Intent: core.Intent{Kind: core.IntentCommence, PlanStep: workers, PastStops: true}, State: core.OperationDone,
		Ended: scene.Ago(time.Minute)}
	held, other, failed := commenced, commenced, commenced
	held.Intent.Kind, other.Intent.PlanStep, failed.State = core.IntentUncommence, "k8s-controllers", core.OperationFailed
	for name, tt := range map[string]struct {
		operations []core.Operation
		commenced  bool
		told       bool
	}{
		"taken away":               {[]core.Operation{commenced}, false, true},
		"commenced still":          {[]core.Operation{commenced}, true, false},
		"held here after it":       {[]core.Operation{held, commenced}, false, false},
		"held here, then again":    {[]core.Operation{commenced, held}, false, true},
		"nobody commenced it here": {nil, false, false},
		"another step":             {[]core.Operation{other}, false, false},
		"it was refused":           {[]core.Operation{failed}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := scene.Resting()
			m.Planned(3)
			m.Plan.Steps[3].Status, m.Plan.Steps[3].Commence, m.Plan.Status = core.PlanAutoPaused, tt.commenced, core.PlanAutoPaused
			m.Nodes["cmp-01"].Cordoned = true
			m.Operations = tt.operations
			p, _ := Of(m.Join().Snapshot, *UpdateKey())
			told := 0
			for _, st := range p.Steps {
				for _, way := range append([]core.Step{st}, st.Alternatives...) {
					if way.Intent.Kind == core.IntentCommence && way.Intent.PlanStep == workers &&
						strings.HasPrefix(way.Status, "commenced here "+progress.MomentText(m.Snapshot, scene.Ago(time.Minute))) {
						told++
					}
				}
			}
			if want := map[bool]int{true: 2}[tt.told]; told != want {
				t.Errorf("it is told of %d ways, want %d:\n%v", told, want, scene.Outline(p))
			}
		})
	}
}

// Without a plan the page says that a release begins everything. Of several that are offered none comes next: the operator chooses. An
// offer that lacks its name is told, and is no step.
func TestTheReleaseIsChosenWhereSeveralAreOffered(t *testing.T) {
	offer := func(name, version string, reboot bool) core.OfferedRelease {
		return core.OfferedRelease{Name: name, Version: version, Reboot: reboot}
	}
	for name, tt := range map[string]struct {
		offers  []core.OfferedRelease
		steps   []string
		next    string
		summary string
	}{
		"one": {[]core.OfferedRelease{offer("mosk-21-0-0-25-2", "21.0.0", true)},
			[]string{"offered, hosts are to be rebooted; nobody has begun the update"}, "update the cluster to mosk-21-0-0-25-2", ""},
		"two": {[]core.OfferedRelease{offer("mosk-17-5-0-25-1-1", "17.5.0", false), offer("mosk-21-0-0-25-2", "21.0.0", true)},
			[]string{"offered; nobody has begun the update", "offered, hosts are to be rebooted; nobody has begun the update"}, "",
			"2 releases are offered: choose one, by their release notes; only that one is taken"},
		"one without its name": {[]core.OfferedRelease{offer("", "22.0.0", false)}, []string{"no release is offered by its name"}, "",
			"offered without its name, by which alone it could be set: 22.0.0"},
		"none": {nil, []string{"no release is offered"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := scene.Resting()
			m.Cluster.Available = tt.offers
			p, _ := Of(m.Join().Snapshot, *UpdateKey())
			var status []string
			for _, st := range p.Steps {
				if st.Intent.Kind == core.IntentSetRelease || st.ID == "update/none" {
					status = append(status, st.Status)
				}
			}
			next, _ := p.Next()
			if !slices.Equal(status, tt.steps) || tt.next != "" && next.Title != tt.next || tt.next == "" && next.Doable() {
				t.Errorf("%q, next %q", status, next.Title)
			}
			if !strings.Contains(p.Goal, "no update plan") || tt.summary != "" && !slices.Contains(p.Summary, tt.summary) {
				t.Errorf("%s\n%q", p.Goal, p.Summary)
			}
		})
	}
}

// A release that was set is followed: there is nothing more to confirm, and what held before it was set says nothing against it.
func TestAReleaseThatWasSetIsFollowed(t *testing.T) {
	m := scene.Resting()
	m.Cluster.Available = []core.OfferedRelease{{Name: "mosk-21-0-0-25-2", Version: "21.0.0"}}
	m.Cluster.Target = "mosk-21-0-0-25-2"
	m.Update(time.Minute)
	p, _ := Of(m.Join().Snapshot, *UpdateKey())
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return strings.HasPrefix(st.Title, "update the cluster to ") })
	if i < 0 {
		t.Fatalf("it is not there:\n%v", scene.Outline(p))
	}
	if st := p.Steps[i]; st.State != core.StepWaiting || st.Intent.Kind != "" || len(st.Guards) > 0 || st.Doable() {
		t.Errorf("it is %s, to be confirmed as %q, with the guards %v", st.State, st.Intent.Kind, st.Guards)
	}
}
