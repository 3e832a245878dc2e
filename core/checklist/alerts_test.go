package checklist_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/scene"
)

// The point about alerts says what fires, and whether silences last until the update's end.
func TestAlertsBeforeAnUpdate(t *testing.T) {
	wide := core.NotNamed("Watchdog")
	slow := core.Matcher{Name: "alertname", Value: "Slow", Equal: true}
	fires := []core.Alert{scene.Alert("Watchdog", "informational"), scene.Alert("Slow", "warning", "node", "a"),
		scene.Alert("Down", "critical")}
	quietly := []core.Alert{scene.Alert("Watchdog", "informational")}
	long := scene.Silence("11111111-a", "ann", "update", 100*time.Hour, wide)
	for _, tt := range []struct {
		name    string
		given   func(sc scene.Scene)
		verdict checklist.Verdict
		says    []string // findings, or why it is not known
	}{
		{"no Alertmanager", func(sc scene.Scene) { sc.Source(core.SourceAlertmanager, core.SourceAbsent) }, checklist.Unknown,
			[]string{"Alertmanager: the cluster has no such Service; silence them"}},
		{"no right", func(sc scene.Scene) {
			sc.Sources[core.SourceAlertmanager] = core.Source{State: core.SourceOff, Err: &core.APIError{Kind: core.ErrForbidden}}
		}, checklist.Unknown, []string{"deploy/rbac-alerts.yaml"}},
		{"nothing fires, and nothing is silenced", func(sc scene.Scene) { sc.Alertmanager(quietly) }, checklist.Warn,
			[]string{"silences: none lasts for the whole update, until about "}},
		{"no update is known to come", func(sc scene.Scene) {
			sc.Management = scene.Resting().Join().Management
			sc.Alertmanager(quietly)
		}, checklist.Pass, nil},
		{"an update is offered", func(sc scene.Scene) {
			m := scene.Resting()
			m.Cluster.Available = []core.OfferedRelease{{Name: "mosk-21-0-0-25-2", Version: "21.0.0"}}
			sc.Management = m.Join().Management
			sc.Alertmanager(quietly)
		}, checklist.Warn, []string{"silences: none lasts for the whole update, until about "}},
		{"two alerts", func(sc scene.Scene) { sc.Alertmanager(fires, long) }, checklist.Pass, nil},
		{"what pauses the update fires, though it is silenced", func(sc scene.Scene) {
			sc.Management = scene.Resting().Join(&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"},
				Alerts: []string{"Down"}}).Management
			sc.Alertmanager(fires, long)
		}, checklist.Warn, []string{"alert Down: critical since ", "; it pauses the update"}},
		{"a silence that ends before the update", func(sc scene.Scene) {
			sc.Alertmanager(fires, scene.Silence("22222222-b", "bob", "known", 5*time.Minute, slow))
		}, checklist.Warn, []string{"alert Down: critical since ", "silence 22222222: ends before the update, at ", `by bob: alertname="Slow"`,
			"silences: none lasts for"}},
		{"a silence that begins later, while the update runs", func(sc scene.Scene) {
			sc.Update(time.Hour)
			later := scene.Silence("44444444-d", "bob", "nights", 1000*time.Hour, wide)
			later.Starts, later.State = scene.Noon.Add(8*time.Hour), core.SilencePending
			sc.Alertmanager(quietly, later)
		}, checklist.Warn, []string{"silence 44444444: begins later, at ", "silences: none lasts for the rest of the update"}},
		{"a long silence of one alert is none for the update", func(sc scene.Scene) {
			sc.Alertmanager(quietly, scene.Silence("33333333-c", "bob", "known", 100*time.Hour, slow))
		}, checklist.Warn, []string{"silences: none lasts for"}},
	} {
		sc := scene.Healthy()
		sc.Node("cmp-01", core.RoleCompute)
		tt.given(sc)
		r := checklist.Of(sc.Snapshot, checklist.Room{})
		p := r.Points[slices.IndexFunc(r.Points, func(p checklist.Point) bool { return p.ID == "alerts" })]
		got := strings.Join(append(p.Said(), p.Unknown), "\n")
		if p.Verdict != tt.verdict {
			t.Errorf("%s: %s: %s", tt.name, p.Verdict, got)
		}
		for _, want := range tt.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", tt.name, want, got)
			}
		}
		if strings.Contains(got, "Watchdog:") {
			t.Errorf("%s: Watchdog always fires:\n%s", tt.name, got)
		}
		if p.Verdict != checklist.Unknown && (p.Resolve == nil || p.Resolve.Kind != core.ProcedureAlerts || len(p.Commands) != 2) {
			t.Errorf("%s: it leads to %v, %q", tt.name, p.Resolve, p.Commands)
		}
	}
}
