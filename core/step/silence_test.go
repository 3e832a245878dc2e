package step

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

func matchers(t *testing.T, text string) []core.Matcher {
	t.Helper()
	all, err := core.ParseMatchers(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A silence is made with matchers that Alertmanager takes, an end that is ahead, and a reason; what it hides is said.
func TestMakingASilence(t *testing.T) {
	hour := scene.Noon.Add(time.Hour)
	for _, tt := range []struct {
		name   string
		text   string // matchers; empty: none
		until  time.Time
		reason string
		fails  string
		risk   core.Risk
		says   []string
	}{
		{"of one node", `node=cmp-01`, hour, "update", "", core.RiskMedium, []string{"Of the 3 alerts that fire now it matches 1: Slow",
			"expire the silence", "UpdateAutoPause names Down"}},
		{"of two alerts", `alertname=~"Slow|Other"`, hour, "update", "", core.RiskMedium, []string{"matches 1: Slow"}},
		{"of nothing that fires", `alertname=Other`, hour, "update", "", core.RiskMedium, []string{"it matches none."}},
		{"of everything", `alertname=~".+"`, hour, "update", "", core.RiskHigh, []string{"matches 3: Down, Slow, Watchdog", "It names no alert",
			"It silences Watchdog", "UpdateAutoPause names Down"}},
		{"for an update", `alertname!~"Watchdog|Down"`, hour, "update", "", core.RiskHigh, []string{"matches 1: Slow.", "It names no alert"}},
		{"of the alert that pauses", `alertname=Down`, hour, "update", "", core.RiskMedium, []string{"UpdateAutoPause names Down"}},
		{"no matcher", "", hour, "update", "known", core.RiskMedium, nil},
		{"no end", `node=cmp-01`, time.Time{}, "update", "silence-end", core.RiskMedium, nil},
		{"an end that has passed", `node=cmp-01`, scene.Noon.Add(-time.Second), "update", "silence-end", core.RiskMedium, nil},
		{"far too long", `node=cmp-01`, scene.Noon.Add(LongestSilence + time.Hour), "update", "silence-end", core.RiskMedium, nil},
		{"no reason", `node=cmp-01`, hour, "", "reason", core.RiskMedium, nil},
		{"a reason of two lines", `node=cmp-01`, hour, "a\nb", "reason", core.RiskMedium, nil},
		{"there already", `alertname=There`, hour, "update", "not-asked", core.RiskMedium, nil},
	} {
		m := scene.Resting()
		sc := m.Join(&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"}, Alerts: []string{"Down"}})
		sc.Operator = "ann@desk"
		sc.Alertmanager([]core.Alert{scene.Alert("Slow", "warning", "node", "cmp-01"), scene.Alert("Down", "critical"),
			scene.Alert("Watchdog", "informational")},
			scene.Silence("s1", "ann@desk", core.OwnComment("update"), time.Hour, matchers(t, "alertname=There")...))
		i := core.Intent{Kind: core.IntentMakeSilence, Until: tt.until, Reason: tt.reason}
		if tt.text != "" {
			i.Matchers = matchers(t, tt.text)
		}
		st := Plan(sc.Snapshot, i)
		var fails []string
		for _, g := range st.Guards {
			if !g.Holds {
				fails = append(fails, string(g.ID))
			}
		}
		if !slices.Equal(fails, strings.Fields(tt.fails)) || st.Doable() != (tt.fails == "") || st.Risk != tt.risk ||
			(st.Type != "") != (tt.risk == core.RiskHigh) {
			t.Errorf("%s: the guards %v do not hold; risk %s, to type %q", tt.name, fails, st.Risk, st.Type)
		}
		all := strings.Join([]string{st.Why, st.Then, st.Undo}, "\n")
		for _, want := range tt.says {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not said in\n%s", tt.name, want, all)
			}
		}
		if tt.name == "of one node" && strings.Contains(all, "It silences Watchdog") {
			t.Errorf("%s: Watchdog fires, and has no such label:\n%s", tt.name, all)
		}
		if tt.name == "for an update" && strings.Contains(all, "UpdateAutoPause") {
			t.Errorf("%s: it does not hide what pauses the update:\n%s", tt.name, all)
		}
		if tt.fails == "" {
			c, ok := st.Change.(core.MakeSilence)
			if !ok || c.By != "ann@desk" || !c.Until.Equal(hour) || c.Comment != "update (made with Lockstep)" {
				t.Errorf("%s: %+v", tt.name, st.Change)
			}
			if len(st.Commands) != 3 || !strings.Contains(st.Commands[1], `"endsAt":"2026-`) ||
				!strings.Contains(st.Commands[1], "'Content-Type: application/json'") || !strings.HasSuffix(st.Commands[1], " http://localhost"+
				"/api/v1/namespaces/stacklight/services/prometheus-alertmanager:9093/proxy/api/v2/silences") {
				t.Errorf("%s: %q", tt.name, st.Commands)
			}
		}
		// The same intent gives the same change and basis a minute later, whatever fires then: what was confirmed stays good.
		later := sc.Again()
		later.Now, later.Wall = later.Now.Add(20*time.Second), later.Wall.Add(20*time.Second)
		later.Alertmanager(nil, sc.Snapshot.Alertmanager.Silences...)
		if again := Plan(later.Snapshot, i); !slices.Equal(again.Basis, st.Basis) || again.ID != st.ID {
			t.Errorf("%s: %v is %v later", tt.name, st.Basis, again.Basis)
		}
	}
}

// A silence is expired as it was seen. One that Lockstep has not made is somebody's who may rely on it.
func TestExpiringASilence(t *testing.T) {
	sc := scene.Healthy()
	own := scene.Silence("11111111-aaaa", "ann@desk", core.OwnComment("update"), time.Hour, matchers(t, "alertname=Slow")...)
	other := scene.Silence("22222222-bbbb", "bob", "a slow disk", time.Hour, matchers(t, "alertname=Disk")...)
	sc.Alertmanager([]core.Alert{scene.Alert("Slow", "warning")}, own, other)
	plan := func(one core.Silence) core.Step {
		return Plan(sc.Snapshot, core.Intent{Kind: core.IntentExpireSilence, Object: one.Ref()})
	}
	st := plan(own)
	if !st.Doable() || st.Risk != core.RiskMedium || st.Type != "" || !strings.Contains(st.Then, "now of Slow") ||
		!slices.Equal(st.Commands, []string{"kubectl delete --raw " +
			"/api/v1/namespaces/stacklight/services/prometheus-alertmanager:9093/proxy/api/v2/silence/11111111-aaaa"}) {
		t.Errorf("%+v", st)
	}
	if st := plan(other); !st.Doable() || st.Risk != core.RiskHigh || st.Type != "22222222" || !strings.Contains(st.Why, "has not made it") {
		t.Errorf("somebody else's: %+v", st)
	}
	if st := plan(core.Silence{ID: "gone"}); st.Doable() || st.State != core.StepDone {
		t.Errorf("one that is gone: %+v", st)
	}
	sc.Source(core.SourceAlertmanager, core.SourceStale)
	if st := plan(own); st.Doable() || st.Blocker() == "" {
		t.Errorf("while Alertmanager is away: %+v", st)
	}
	if st := Plan(scene.Healthy().Snapshot, core.Intent{Kind: core.IntentExpireSilence, Object: own.Ref()}); st.Doable() ||
		!strings.Contains(st.Blocker(), "not watched") {
		t.Errorf("without Alertmanager: %+v", st)
	}
}
