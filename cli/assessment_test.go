package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The first sentence of a status does not say that the update goes on while it stands still: where it stands, and where its next step
// waits for somebody.
func TestAStatusSaysThatTheUpdateStandsStill(t *testing.T) {
	assessed := func(change func(*core.UpdatePlan)) string {
		sc := scene.Healthy()
		sc.Update(3 * time.Hour)
		m := sc.Managed()
		change(m.Planned(3))
		return statusOf(m.Join().Snapshot, nil).Update.Assessment
	}
	for _, tt := range []struct {
		name, want string
		change     func(*core.UpdatePlan)
	}{
		{"nobody has commenced the workers", "stands still before phase 4, worker nodes", func(*core.UpdatePlan) {}},
		{"an alert has paused the workers", "stands still before phase 4, worker nodes", func(p *core.UpdatePlan) {
			p.Steps[3].Status, p.Steps[3].Started = core.PlanAutoPaused, scene.Ago(time.Minute)
		}},
		{"the workers are commenced", "goes on, in phase ", func(p *core.UpdatePlan) {
			p.Steps[3].Status, p.Steps[3].Commence, p.Steps[3].Started = core.PlanInProgress, true, scene.Ago(time.Minute)
		}},
	} {
		if got := assessed(tt.change); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Nothing of the update waits for a node whose lock was left inactive (docs/mosk.md#left-over-locks), so the update does not stand still.
func TestALockThatWasLeftDoesNotHoldTheUpdateUp(t *testing.T) {
	sc := scene.Left()
	sc.Update(10 * time.Minute)
	if got := statusOf(sc.Snapshot, nil).Update.Assessment; !strings.HasPrefix(got, "goes on, in phase 2") {
		t.Errorf("%q", got)
	}
}

// A step that was commenced and is held is not told to be one that nobody has commenced.
func TestAStatusSaysThatTheNextStepIsHeld(t *testing.T) {
	for want, started := range map[string]time.Time{"next is group mos-default, which nobody has commenced": {},
		"next is group mos-default, which is held": scene.Ago(time.Minute)} {
		m := scene.Resting()
		p := m.Planned(3)
		if p.Steps[3].Started = started; !started.IsZero() {
			p.Steps[3].Status = core.PlanInProgress
		}
		if got := planText(m.Join().Snapshot, p); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Whether an update runs is not known where the requests may not be read: a script must not take that for an update that is over. Lists
// without anything in them are empty ones.
func TestAStatusSaysThatNothingIsKnown(t *testing.T) {
	sc := scene.Healthy()
	if st := statusOf(sc.Snapshot, nil); !st.Update.Known || st.Update.Running {
		t.Errorf("at rest: %+v", st.Update)
	}
	sc = scene.Healthy()
	sc.Source(core.SourceClusterRequests, core.SourceForbidden)
	if st := statusOf(sc.Snapshot, nil); st.Update.Known || st.Update.Running {
		t.Errorf("without the requests: %+v", st.Update)
	}
	var out bytes.Buffer
	if err := printJSON(&out, statusOf(&core.Snapshot{}, nil)); err != nil || strings.Contains(out.String(), "null") {
		t.Errorf("%v: %s", err, &out)
	}
}
