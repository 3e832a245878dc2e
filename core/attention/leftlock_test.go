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

// A lock that was left inactive without a request is dangerous: the controller prepares nothing at the next maintenance. Its entry
// is urgent, says what it means, and never calls it a return; its first step sets the lock active again
// (docs/mosk.md#left-over-locks).
func TestALockThatWasLeftInactive(t *testing.T) {
	s := scene.Left().Snapshot
	const means = "the next maintenance of cmp-01 will drain and reboot it without moving anything"
	v, _ := progress.NodeView(s, "cmp-01")
	if v.Stage != core.StageWaiting || !strings.Contains(v.Reason, means) {
		t.Errorf("its stage is %s: %s", v.Stage, v.Reason)
	}
	said := 0
	for _, a := range Of(s) {
		if a.Node == "cmp-01" && a.Severity == core.SeverityUrgent {
			said++
			if !strings.Contains(a.Reason, means) || a.Resolve == nil {
				t.Errorf("it says %+v", a)
			}
		}
	}
	if said != 1 {
		t.Errorf("it is said %d times: %+v", said, Of(s))
	}
	titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-01")))
	for _, title := range []string{"set the lock of openstack on cmp-01 active again", "enable nova-compute of cmp-01"} {
		if st := by[title]; st.State != core.StepReady {
			t.Errorf("%s is %q, %s; the steps are %q", title, st.State, st.Blocker(), titles)
		}
	}
}

// A lock that was left inactive with inner_state=active takes a place among those that the controller handles at a time
// (docs/mosk.md#concurrency): its entry names the nodes that wait for the place, and is their cause.
func TestALockThatWasLeftTakesAPlace(t *testing.T) {
	for inner, holds := range map[string]bool{core.InnerActive: true, core.InnerInactive: false} {
		sc := scene.Left()
		sc.Update(5 * time.Hour)
		sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = inner
		sc.Maintained("cmp-02", deferredByF).InnerState = core.InnerInactive
		s := sc.Again().Snapshot
		i := slices.IndexFunc(Of(s), func(a core.Attention) bool { return a.Rule == core.RuleLockLeft })
		if i < 0 || strings.Contains(Of(s)[i].Reason, "holds up cmp-02") != holds {
			t.Errorf("inner_state=%s: %+v", inner, Of(s))
		}
	}
}

// A request and its lock are two streams, and either can be ahead: in the Snapshot in which the request is gone, and for a while after it,
// the lock can be one of before.
func TestALockIsNotCalledLeftWhileItsRequestHasJustGone(t *testing.T) {
	for name, tt := range map[string]struct {
		round core.Round
		left  bool
	}{
		"the end is not noted yet": {core.Round{Request: "r", Started: scene.Ago(time.Hour)}, false},
		"it ended just now":        {core.Round{Request: "r", Started: scene.Ago(time.Hour), Ended: scene.Ago(time.Second)}, false},
		"it ended a while ago":     {core.Round{Request: "r", Started: scene.Ago(time.Hour), Ended: scene.Ago(2 * time.Minute)}, true},
		"nobody saw one":           {core.Round{}, true},
	} {
		for rule, sc := range map[core.AttentionRule]scene.Scene{core.RuleLockLeft: scene.Left(), core.RuleStaleInner: scene.Healthy()} {
			if rule == core.RuleStaleInner {
				sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = core.InnerActive
			}
			sc.History.Rounds = map[string]core.Round{sc.Nodes["cmp-01"].UID: tt.round}
			told := slices.ContainsFunc(Of(sc.Snapshot), func(a core.Attention) bool { return a.Rule == rule && a.Node == "cmp-01" })
			if told != tt.left {
				t.Errorf("%s: %s is told: %t, want %t", name, rule, told, tt.left)
			}
		}
	}
}
