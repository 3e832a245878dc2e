package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A compute that Nova has no nova-compute service of makes the controller fail without a word. Asked for, that is urgent; before, it is
// told while there is time (docs/mosk.md#no-compute-service).
func TestAComputeWithoutItsService(t *testing.T) {
	asked := func(inner string) func(scene) {
		return func(sc scene) {
			sc.update(time.Hour)
			sc.request("cmp-01", 10*time.Minute)
			sc.NodeLock("cmp-01", ControllerOpenStack).InnerState = inner
		}
	}
	for name, tt := range map[string]struct {
		with     func(scene)
		severity Severity // 0: nothing is told
		says     string
		stage    Stage
	}{
		"at rest":                        {func(scene) {}, SeverityNotice, "would fail on its maintenance without a word", StageIdle},
		"an update runs":                 {func(sc scene) { sc.update(time.Hour) }, SeverityWarning, "will fail on its maintenance without a word", StageIdle},
		"asked for, and begun":           {asked(InnerActive), SeverityUrgent, "fails on its request without a word", StageWaiting},
		"asked for, its turn is not yet": {asked(InnerInactive), SeverityUrgent, "fails on its request without a word", StageQueued},
		"it returns": {func(sc scene) {
			asked(InnerActive)(sc)
			sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive
			sc.NodeRequest("cmp-01").Deleting = ago(5 * time.Minute)
		}, SeverityUrgent, "fails on its return without a word", StageReturning},
		"it is being set up":   {func(sc scene) { sc.Nodes["cmp-01"].Created = ago(5 * time.Minute) }, 0, "", StageIdle},
		"Nova does not answer": {func(sc scene) { sc.source(SourceComputeServices, SourceForbidden) }, 0, "", StageIdle},
		"it is no compute":     {func(sc scene) { sc.Nodes["cmp-01"].Roles = []Role{RoleGateway} }, 0, "", StageIdle},
	} {
		sc := healthy()
		delete(sc.Services, "cmp-01")
		tt.with(sc)
		s := sc.again().Snapshot
		a, told := entryAbout(s, "no-compute-service", "cmp-01")
		if told != (tt.severity != 0) || told && (a.Severity != tt.severity || !strings.Contains(a.Reason, tt.says) || a.Resolve == nil) {
			t.Errorf("%s: told %v as %+v", name, told, a)
		}
		if v, _ := s.NodeView("cmp-01"); v.Stage != tt.stage {
			t.Errorf("%s: its stage is %s: %s", name, v.Stage, v.Reason)
		}
		if _, twice := entryAbout(s, "node-waits", "cmp-01"); twice {
			t.Errorf("%s: it is told twice", name)
		}
		titles, by := stepsOf(s.Procedure(ofNode("cmp-01")))
		st, offered := by["Nova shows a nova-compute of cmp-01"]
		if told && (!offered || !slices.ContainsFunc(st.Commands, func(c string) bool { return strings.Contains(c, "delete pods") })) || offered != s.serviceless("cmp-01") {
			t.Errorf("%s: the steps are %q: %+v", name, titles, st)
		}
	}
}

// Where the pod of its nova-compute is known, it is restarted by a confirmed step: a new one announces itself.
func TestANovaComputeThatNovaDoesNotShowIsRestarted(t *testing.T) {
	sc := healthy()
	d := sc.daemonSet(namespaceOpenStack+"/nova-compute-default", "compute", false, "cmp-01", "cmp-02", "cmp-03")
	d.Application = "nova"
	delete(sc.Services, "cmp-01")
	_, by := stepsOf(sc.again().Snapshot.Procedure(ofNode("cmp-01")))
	found := false
	for _, st := range by {
		if st.Intent.Kind == IntentRestartAgent {
			found = true
			if st.State != StepReady {
				t.Errorf("it is %s: %s", st.State, st.Blocker())
			}
		}
	}
	if !found {
		t.Errorf("nothing restarts it: %v", by)
	}
}

// Who plays the controller does not begin such a compute while another one is worked on: its zone is not known. The stage and the
// entry say what is missing.
func TestAPlayedControllerAndAComputeWithoutItsService(t *testing.T) {
	sc := quorate("ctl-01", "ctl-02", "ctl-03")
	delete(sc.Services, "cmp-01")
	zone := func(s *Snapshot) Guard {
		st := Plan(s, Intent{Kind: IntentActBegin, Controller: ControllerOpenStack, Node: "cmp-01"})
		return st.Guards[slices.IndexFunc(st.Guards, func(g Guard) bool { return g.ID == GuardZone })]
	}
	if g := zone(sc.again().Snapshot); !g.Holds {
		t.Errorf("alone it is blocked: %s", g.Answer)
	}
	sc.NodeLock("cmp-02", ControllerOpenStack).InnerState = InnerActive
	s := sc.again().Snapshot
	if g := zone(s); g.Holds || !strings.Contains(g.Answer, "its zone is not known") {
		t.Errorf("beside another the guard says %+v", g)
	}
	if v, _ := s.NodeView("cmp-01"); v.Stage != StageWaiting || v.What != "no compute service" {
		t.Errorf("it is %s: %s", v.Stage, v.What)
	}
	sc.NodeLock("cmp-01", ControllerOpenStack).InnerState = InnerActive
	if st := Plan(sc.again().Snapshot, Intent{Kind: IntentActRelease, Controller: ControllerOpenStack, Node: "cmp-01"}); st.Doable() {
		t.Error("its lock can be released")
	}
}

// Nor is such a compute released because its scope is the narrow one, nor is its lock taken back: the controller fails on both. What brings
// the service back is shown.
func TestAPlayedControllerWaitsForNovaCompute(t *testing.T) {
	for name, tt := range map[string]struct {
		scene func() scene
		kind  IntentKind
		says  string
	}{
		"release, scope drain":             {atReleaseDrain.scene, IntentActRelease, "no nova-compute service is known for it"},
		"taken back":                       {returnedScene, IntentActRearm, "it shows none of cmp-01"},
		"taken back, its request went":     {func() scene { sc := returnedScene(); clear(sc.NodeRequests); return sc }, IntentActRearm, "it shows none of cmp-01"},
		"taken back, while Nova is silent": {func() scene { sc := returnedScene(); sc.source(SourceComputeServices, SourceForbidden); return sc }, IntentActRearm, "compute services: forbidden"},
	} {
		sc := tt.scene()
		intent := Intent{Kind: tt.kind, Controller: ControllerOpenStack, Node: "cmp-01"}
		known := sc.known(SourceComputeServices)
		if st := Plan(sc.again().Snapshot, intent); known && !st.Doable() {
			t.Errorf("%s: with one it is %s: %s", name, st.State, st.Blocker())
		}
		delete(sc.Services, "cmp-01")
		if st := Plan(sc.again().Snapshot, intent); st.Doable() || !strings.Contains(st.Blocker(), tt.says) {
			t.Errorf("%s: it is %s: %s", name, st.State, st.Blocker())
		}
		if titles, by := stepsOf(sc.again().Snapshot.Procedure(ofNode("cmp-01"))); tt.kind == IntentActRearm && known && len(by["Nova shows a nova-compute of cmp-01"].Commands) == 0 {
			t.Errorf("%s: the steps are %q", name, titles)
		}
	}
}
