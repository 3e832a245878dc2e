package cli

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/checklist"
	"lockstep/core/forecast"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// Alerts are silenced until the forecast end of the update, fire silenced while its nodes are rebooted, and the silence is left over
// after it, until it is expired. While Alertmanager is away, nothing is written to it.
func TestASilencedUpdateIsDrivenByItsSteps(t *testing.T) {
	bubble.Story(t, silencedUpdate)
}

func silencedUpdate(t *testing.T) {
	st := newStory(t, sim.Options{Scenario: told(t, "silence-it"), Timing: brief})
	st.place.Management = simManagement(st.Cloud)
	st.begin()
	st.arm()
	st.until("the plan and the alerts are there", func(s *core.Snapshot) bool {
		return live(s, core.ServerManagement) && s.Management.Plan() != nil && s.Management.Pause != nil && s.Alertmanager != nil &&
			len(s.Alertmanager.Alerts) == 2 && len(s.Alertmanager.Silences) == 1
	})
	point := func() checklist.Point {
		r := checklist.Of(st.last, checklist.Room{})
		return r.Points[slices.IndexFunc(r.Points, func(p checklist.Point) bool { return p.ID == "alerts" })]
	}
	if p := point(); p.Verdict != checklist.Warn || !strings.Contains(strings.Join(p.Said(), "\n"), "ends before the update") ||
		!strings.Contains(strings.Join(p.Said(), "\n"), "none lasts for the whole update") {
		t.Errorf("before the silence: %s %q", p.Verdict, p.Said())
	}

	st.Kube.Behind("stacklight", "prometheus-alertmanager", nil)
	make := core.Intent{Kind: core.IntentMakeSilence, Matchers: progress.WideMatchers(st.last), Reason: "update",
		Until: forecast.QuietFor(st.last).Until(st.last)}
	st.until("Alertmanager is away", func(s *core.Snapshot) bool { return s.Sources[core.SourceAlertmanager].State == core.SourceStale })
	if stp := step.Plan(st.last, make); stp.Doable() || !strings.Contains(stp.Blocker(), "alertmanager: stale") {
		t.Errorf("while Alertmanager is away: %q", stp.Blocker())
	}
	st.Kube.Behind("stacklight", "prometheus-alertmanager", st.Cloud.Alertmanager)
	st.until("it is back", func(s *core.Snapshot) bool { return s.Sources[core.SourceAlertmanager].State == core.SourceLive })

	st.confirm(make)
	st.until("the silence is there", func(s *core.Snapshot) bool { return len(progress.OwnSilences(s)) == 1 })
	own := progress.OwnSilences(st.last)[0]
	if got := own.MatcherText(); got != `alertname!~"Watchdog|OpenstackServicePublicApiOutage"` || own.By == "" {
		t.Errorf("the silence: %+v", own)
	}
	if p := point(); p.Verdict != checklist.Pass || !strings.Contains(p.Note, core.ShortID(own.ID)) {
		t.Errorf("with the silence: %s %q, %s", p.Verdict, p.Said(), p.Note)
	}
	if stp := step.Plan(st.last, make); stp.State != core.StepDone {
		t.Errorf("the same silence could be made again: %s", stp.State)
	}

	fired := map[string]bool{}
	watch := func(s *core.Snapshot) {
		if s.Alertmanager == nil {
			return
		}
		for _, a := range s.Alertmanager.Alerts {
			fired[a.Name()] = true
			if a.Name() == "KubernetesNodeNotReady" && (a.Told() || !slices.Contains(a.SilencedBy, own.ID)) {
				t.Errorf("%v is told", a.Labels)
			}
		}
	}
	for _, key := range []string{"openstack", "k8s-controllers", "k8s-workers-mos-default", "mcc-components"} {
		st.confirm(core.Intent{Kind: core.IntentCommence, PlanStep: key})
	}
	st.until("the update is over", func(s *core.Snapshot) bool {
		watch(s)
		return s.Management.Plan().Status == core.PlanCompleted && s.ClusterRequest() == nil && !s.History.Update.Ended.IsZero()
	})
	if !fired["KubernetesNodeNotReady"] || !fired["NovaServiceDown"] {
		t.Errorf("these have fired: %v", fired)
	}
	st.until("the silence is left", func(s *core.Snapshot) bool {
		entry, there := attention.ByID(s, string(core.RuleAfterUpdate))
		return there && entry.Severity == core.SeverityNotice && strings.Contains(entry.Reason, "Lockstep's silences have expired")
	})
	if left := progress.SilencesLeft(st.last); len(left) != 1 || left[0].ID != own.ID {
		t.Fatalf("left are %+v", left)
	}
	st.confirm(core.Intent{Kind: core.IntentExpireSilence, Object: own.Ref()})
	st.until("it has expired", func(s *core.Snapshot) bool { return len(progress.OwnSilences(s)) == 0 })
}

// A silence that Lockstep made and that somebody else expires is missed, also by a run that only has the journal; it is made again by the
// step that the page has for it. One that Lockstep expires itself is not missed.
func TestASilenceThatSomebodyElseExpiresIsMissed(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "silence-it"), Timing: brief})
		st.place.Management = simManagement(st.Cloud)
		st.begin()
		st.arm()
		make := core.Intent{Kind: core.IntentMakeSilence, Reason: "update", Until: st.Clock.Now().Add(6 * time.Hour).UTC().Truncate(time.Second),
			Matchers: []core.Matcher{core.NotNamed(progress.AlertWatchdog)}}
		st.until("Alertmanager is known", func(s *core.Snapshot) bool { return s.Alertmanager != nil && step.Plan(s, make).Doable() })
		own := func() core.Silence { return progress.OwnSilences(st.last)[0] }
		missed := func(s *core.Snapshot) bool { return needs(s, string(core.RuleSilenceGone)) != nil }
		st.confirm(make)
		st.until("it is there", func(s *core.Snapshot) bool { return len(progress.OwnSilences(s)) == 1 })
		if missed(st.last) {
			t.Error("it is missed while it is there")
		}
		st.Cloud.Alertmanager.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodDelete, "/api/v2/silence/"+own().ID, nil))
		st.until("it is missed", missed)
		st.stop()
		st.begin()
		st.arm()
		st.until("the next run misses it, too", missed)
		p, _ := procedure.Of(st.last, *procedure.AlertsKey())
		again := p.Steps[0]
		if !again.Doable() || again.Intent.Kind != core.IntentMakeSilence || !strings.Contains(again.Status, "gone before its end") {
			t.Fatalf("the first step is %s: %s, %s", again.Title, again.Status, again.Blocker())
		}
		st.confirm(again.Intent)
		st.until("it is there again", func(s *core.Snapshot) bool { return len(progress.OwnSilences(s)) == 1 && !missed(s) })
		st.confirm(core.Intent{Kind: core.IntentExpireSilence, Object: own().Ref()})
		st.until("Lockstep has expired it", func(s *core.Snapshot) bool { return len(progress.OwnSilences(s)) == 0 })
		if missed(st.last) {
			t.Error("what Lockstep expired is missed")
		}
		st.stop()
		st.begin()
		st.until("the next run has seen Alertmanager", func(s *core.Snapshot) bool { return s.Alertmanager != nil })
		if missed(st.last) {
			t.Error("the next run misses what Lockstep expired")
		}
	})
}
