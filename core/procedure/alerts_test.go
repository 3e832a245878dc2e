package procedure_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/scene"
)

var slow = core.Matcher{Name: "alertname", Value: "Slow", Equal: true}

// What fires is told by name, and each silence has its step, which nobody waits for.
func TestAlertsAndSilences(t *testing.T) {
	m := scene.Resting()
	sc := m.Join(&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"}, Alerts: []string{"Down"}})
	sc.Alertmanager([]core.Alert{scene.Alert("Slow", "warning", "node", "a"), scene.Alert("Slow", "warning", "node", "b"),
		scene.Alert("Down", "critical"), scene.Alert("\x1b[31mRed", "")},
		scene.Silence("s1", "bob", "known", time.Hour, core.Matcher{Name: "node", Value: "a", Equal: true}))
	p, ok := procedure.Of(sc.Snapshot, *procedure.AlertsKey())
	if !ok || len(p.Steps) != 1 || p.Steps[0].Intent.Kind != core.IntentExpireSilence || !p.Steps[0].Optional {
		t.Fatalf("%v %+v", ok, p)
	}
	got := strings.Join(p.Summary, "\n")
	for _, want := range []string{"Down: critical since ", "; it pauses the update", "Slow: warning, 2 since ", ", 1 of them silenced",
		"these pause the update when they fire: Down"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Index(got, "Down:") > strings.Index(got, "Slow:") {
		t.Errorf("the gravest comes first:\n%s", got)
	}
	sc.Alertmanager(nil)
	if p, ok := procedure.Of(sc.Snapshot, *procedure.AlertsKey()); !ok || len(p.Steps) > 0 ||
		!strings.Contains(p.Nothing, "no silence to expire") {
		t.Errorf("without a silence the page does not say that one can be made: %+v", p)
	}
	sc = scene.Healthy()
	if p, ok := procedure.Of(sc.Snapshot, *procedure.AlertsKey()); !ok || len(p.Steps) > 0 || !strings.Contains(p.Summary[0], "not watched") {
		t.Errorf("without Alertmanager: %+v", p)
	}
	sc.Source(core.SourceAlertmanager, core.SourceAbsent)
	if p, ok := procedure.Of(sc.Snapshot, *procedure.AlertsKey()); !ok || len(p.Steps) != 1 ||
		!strings.Contains(p.Summary[0], "no such Service") {
		t.Errorf("without StackLight: %+v", p)
	}
}

// A silence that Lockstep made before the update ended is left when it has ended, among what needs a person, with the step that expires it.
func TestASilenceThatIsLeft(t *testing.T) {
	own := scene.Silence("s1", "ann", core.OwnComment("update"), time.Hour, slow)
	others := scene.Silence("s2", "bob", "known", time.Hour, slow)
	next := own
	next.ID, next.Starts = "s3", scene.Noon.Add(-time.Minute)
	for _, tt := range []struct {
		name     string
		ended    time.Time
		silences []core.Silence
		left     int
	}{
		{"over", scene.Ago(30 * time.Minute), []core.Silence{own, others, next}, 1},
		{"not over", time.Time{}, []core.Silence{own, others}, 0},
		{"expired", scene.Ago(30 * time.Minute), []core.Silence{others}, 0},
	} {
		sc := scene.Healthy()
		sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(5 * time.Hour), Ended: tt.ended}
		sc.Alertmanager(nil, tt.silences...)
		var open []string
		for _, p := range procedure.AfterUpdate(sc.Snapshot) {
			if p.ID == "silences" {
				open = p.OpenTexts()
			}
		}
		if len(open) != tt.left {
			t.Errorf("%s: %q", tt.name, open)
		}
		p, _ := procedure.Of(sc.Snapshot, *procedure.AfterKey())
		steps := 0
		for _, st := range p.Steps {
			if st.Intent.Kind == core.IntentExpireSilence && st.Intent.Object.UID == "s1" && st.Doable() {
				steps++
			}
		}
		if steps != tt.left {
			t.Errorf("%s: %d steps that expire it", tt.name, steps)
		}
		entry, there := attention.ByID(sc.Snapshot, string(core.RuleAfterUpdate))
		if there != (tt.left > 0) || there && (entry.Severity != core.SeverityNotice || !strings.Contains(entry.Reason, "silences")) {
			t.Errorf("%s: %v %+v", tt.name, there, entry)
		}
	}
}
