package forecast

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// For how long alerts are to be silenced: to the forecast end of what is left, with what the forecast can be wrong by.
func TestForHowLongToSilence(t *testing.T) {
	if q := QuietFor(scene.NewScene().Snapshot); q.What != "" && q.End.At.IsZero() {
		t.Errorf("a cluster without nodes: %+v", q)
	}
	rest := QuietFor(scene.Healthy().Snapshot)
	if rest.What != "the whole update" || !rest.End.At.After(scene.Noon.Add(time.Hour)) {
		t.Errorf("before an update: %+v", rest)
	}
	more := scene.Healthy()
	for _, name := range []string{"cmp-11", "cmp-12", "cmp-13", "cmp-14"} {
		more.Node(name, core.RoleCompute)
	}
	if q := QuietFor(more.Snapshot); !q.End.At.After(rest.End.At) {
		t.Errorf("four more nodes: %v, and %v without them", q.End, rest.End)
	}
	m := scene.Resting()
	m.Planned(0)
	whole := QuietFor(m.Join().Snapshot)
	m = scene.Resting()
	m.Planned(2)
	if q := QuietFor(m.Join().Snapshot); q.What != "the rest of the update" || !q.End.At.Before(whole.End.At) {
		t.Errorf("two steps are complete: %+v, and %+v before", q, whole)
	}
	sc := scene.Healthy()
	sc.Update(time.Hour)
	running := QuietFor(sc.Snapshot)
	if running.What != "the rest of the update" || running.End != Of(sc.Snapshot).Whole {
		t.Errorf("while an update runs: %+v", running)
	}
	s := sc.Snapshot
	at := scene.Noon
	for _, tt := range []struct {
		of   Moment
		want time.Time
	}{
		{Moment{}, time.Time{}},
		{Moment{At: at.Add(2 * time.Hour)}, at.Add(2 * time.Hour)},
		{Moment{At: at.Add(2 * time.Hour), Spread: 10 * time.Minute}, at.Add(2*time.Hour + 15*time.Minute)},
		{Moment{At: at.Add(5 * time.Hour), Unlearned: 5 * time.Hour}, at.Add(5*time.Hour + 30*time.Minute)},
		{Moment{At: at.Add(-time.Hour)}, at.Add(15 * time.Minute)}, // it should have ended
	} {
		if got := (Quiet{End: tt.of}).Until(s); !got.Equal(tt.want) {
			t.Errorf("%+v: until %v, want %v", tt.of, got, tt.want)
		}
	}
	sc.Alertmanager(nil, scene.Silence("short", "ann", "", time.Minute, core.NotNamed("Watchdog")),
		scene.Silence("narrow", "ann", "", 1000*time.Hour, core.Matcher{Name: "node", Value: "a", Equal: true}))
	if one, ok := running.Covering(s); ok {
		t.Errorf("%+v covers the update", one)
	}
	later := scene.Silence("later", "ann", "", 1000*time.Hour, core.NotNamed("Watchdog"))
	later.Starts = scene.Noon.Add(8 * time.Hour)
	sc.Alertmanager(nil, later)
	if one, ok := running.Covering(s); ok {
		t.Errorf("%+v begins in eight hours, and covers the update that runs", one)
	}
	if one, ok := (Quiet{End: running.End}).Covering(s); !ok {
		t.Errorf("%+v does not cover an update that is to come", one)
	}
	sc.Alertmanager(nil, scene.Silence("wide", "ann", "", 1000*time.Hour, core.NotNamed("Watchdog")))
	if one, ok := running.Covering(s); !ok || one.ID != "wide" {
		t.Errorf("%+v, %v", one, ok)
	}
}
