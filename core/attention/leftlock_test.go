package attention

import (
	"strings"
	"testing"

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
