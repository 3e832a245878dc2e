package step

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The purpose of the cluster's request comes in another stream than the request itself: the request does not count as an update
// before that stream can have reported it.
func TestARequestIsNotTakenForAnUpdateTooEarly(t *testing.T) {
	for _, tt := range []struct {
		name  string
		age   time.Duration
		given func(m *scene.Managed)
		want  bool
	}{
		{"new, and no plan runs", 10 * time.Second, func(*scene.Managed) {}, true},
		{"new, and a plan runs", 10 * time.Second, func(m *scene.Managed) { m.Planned(1) }, false},
		{"old enough", 2 * time.Minute, func(*scene.Managed) {}, false},
		{"the plans have not come yet", time.Hour, func(m *scene.Managed) { m.Source(core.SourcePlans, core.SourceConnecting) }, true},
		{"the management cluster is away", 10 * time.Second, func(m *scene.Managed) { m.Source(core.SourceClusters, core.SourceStale) }, false},
	} {
		m := scene.Resting()
		r := m.Update(tt.age)
		tt.given(m)
		if got := PurposePending(m.Join().Snapshot, r); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	sc := scene.Healthy()
	if PurposePending(sc.Snapshot, sc.Update(time.Second)) {
		t.Error("without a management cluster there is nothing to wait for")
	}
}
