package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

func entryOf(s *core.Snapshot, rule string) (core.Attention, bool) {
	all := Of(s)
	i := slices.IndexFunc(all, func(a core.Attention) bool { return a.ID == rule || strings.HasPrefix(a.ID, rule+"/") })
	if i < 0 {
		return core.Attention{}, false
	}
	return all[i], true
}

// A pod that has ended holds the return of its node forever, and the controller does not say so. The entry names it at once, with
// its phase and its time, as long as the return waits for it.
func TestPodsThatHaveEndedAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(sc scene.Scene)
		told   bool
	}{
		"one pod":            {func(sc scene.Scene) { scene.EndedOn(sc, "cmp-01", "octavia-1") }, true},
		"played by Lockstep": {func(sc scene.Scene) { scene.EndedOn(sc, "cmp-01", "octavia-1"); sc.Settings = scene.PlaysOpenStack() }, true},
		"another is not ready": {func(sc scene.Scene) {
			p := scene.EndedOn(sc, "cmp-01", "octavia-1")
			p.NotReady = append(p.NotReady, core.PodName{Namespace: "openstack", Name: "ovs"})
		}, false},
		"it is being deleted": {func(sc scene.Scene) {
			scene.EndedOn(sc, "cmp-01", "octavia-1").Ended[0].Deleting = scene.Ago(time.Second)
		}, false},
		"the node is not back": {func(sc scene.Scene) { scene.EndedOn(sc, "cmp-01", "octavia-1"); sc.Nodes["cmp-01"].Ready = "False" }, false},
		"the node leaves yet": {func(sc scene.Scene) {
			scene.EndedOn(sc, "cmp-01", "octavia-1")
			sc.NodeRequests["cmp-01"][0].Deleting = time.Time{}
		}, false},
		"it was never begun": {func(sc scene.Scene) {
			scene.EndedOn(sc, "cmp-01", "octavia-1")
			sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = core.InnerInactive
		}, false},
		"the pods are not known": {func(sc scene.Scene) {
			scene.EndedOn(sc, "cmp-01", "octavia-1")
			sc.Source(core.SourceNodePods, core.SourceForbidden)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Returning()
			tt.change(sc)
			s := sc.Again().Snapshot
			a, told := entryOf(s, "ended-pods")
			if told != tt.told {
				t.Fatalf("told %v: %+v", told, Of(s))
			}
			if told && (a.Severity != core.SeverityUrgent || a.Node != "cmp-01" || a.Resolve == nil ||
				!strings.Contains(a.Reason,
					"its return waits for 1 pod that has ended: openstack/octavia-1 (Failed (Evicted), since 2026-03-13 06:00)")) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// While they hold the return, the entry about the node's slow return does not repeat them.
func TestPodsThatHaveEndedAreToldOnce(t *testing.T) {
	sc := scene.Returning()
	sc.NodeRequests["cmp-01"][0].Deleting = scene.Ago(2 * time.Hour)
	scene.EndedOn(sc, "cmp-01", "octavia-1", "octavia-2")
	s := sc.Again().Snapshot
	var own []string
	for _, a := range Of(s) {
		if a.Node == "cmp-01" {
			own = append(own, a.ID)
		}
	}
	if !slices.Equal(own, []string{"ended-pods/uid-cmp-01"}) {
		t.Errorf("entries: %q", own)
	}
	v, _ := progress.NodeView(s, "cmp-01")
	if !strings.Contains(v.What, "pods ended: octavia-1 and 1 more") {
		t.Errorf("the node says %q", v.What)
	}
}
