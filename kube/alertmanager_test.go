package kube

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/permittest"
	"lockstep/sim/alertmanager"
	"lockstep/sim/bubble"
	"lockstep/sim/clock"
	"lockstep/sim/kubeapi"
)

var alertPlace = core.AlertmanagerPlace{Namespace: AlertmanagerNamespace, Service: AlertmanagerService}

// withAlertmanager is a cluster with StackLight's Service, and what answers behind it.
func withAlertmanager(t *testing.T, h http.Handler) *cluster {
	t.Helper()
	c := newCluster(t, kubeapi.Options{})
	c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: stacklight}}`)
	c.create(`{apiVersion: v1, kind: Service, metadata: {name: prometheus-alertmanager, namespace: stacklight},
	  spec: {ports: [{name: mesh, port: 6783}, {name: http, port: 80, targetPort: 9093}]}}`)
	c.Behind(AlertmanagerNamespace, AlertmanagerService, h)
	return c
}

// alertSteps collects what an AlertPoller tells.
type alertSteps chan core.Delta

func (a alertSteps) until(t *testing.T, state core.SourceState) core.Delta {
	t.Helper()
	for {
		select {
		case d := <-a:
			if d.State == state {
				return d
			}
		case <-t.Context().Done():
			t.Fatalf("it was never %s", state)
		}
	}
}

func (c *cluster) pollAlerts(user string) alertSteps {
	c.t.Helper()
	told := make(alertSteps, 100)
	p := NewAlertPoller(c.client(user), alertPlace, func(d core.Delta) { told <- d }, AlertOptions{})
	done := make(chan struct{})
	ctx, stop := context.WithCancel(c.t.Context())
	go func() { defer close(done); p.Run(ctx) }()
	c.t.Cleanup(func() { stop(); <-done })
	return told
}

// Alerts and silences are read, sorted, and without what changes with each evaluation.
func TestAlertsAreRead(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		clk := clock.New(time.Now(), 1)
		a := alertmanager.New(clk, nil)
		a.Fire(map[string]string{"alertname": "B", "severity": "warning", "node": "n1"}, "it is slow, token=abcdef0123456789")
		a.Fire(map[string]string{"alertname": "A", "severity": "critical"}, "it is down")
		a.Fire(map[string]string{"alertname": "A0"}, "")
		id := a.Silence("alertname", "B", "ann", "known", clk.Now().Add(time.Hour))
		gone := a.Silence("alertname", "C", "ann", "over", clk.Now().Add(-time.Hour))
		c := withAlertmanager(t, a)
		d := c.pollAlerts(kubeapi.Readonly).until(t, core.SourceLive)
		got := d.Upserts[0].(*core.Alertmanager)
		if got.Place.Port != "80" {
			t.Errorf("the port is %q", got.Place.Port)
		}
		var names []string
		for _, one := range got.Alerts {
			names = append(names, one.Name()+"/"+one.Severity()+"/"+strings.Join(one.About(), ","))
		}
		if want := "[A/critical/ B/warning/node=n1 A0//]"; fmt.Sprint(names) != want {
			t.Errorf("alerts: %v, want %s", names, want)
		}
		if b := got.Alerts[1]; b.Told() || b.SilencedBy[0] != id || strings.Contains(b.Summary, "abcdef") || b.Since.IsZero() {
			t.Errorf("alert B: %+v", b)
		}
		if len(got.Silences) != 1 || got.Silences[0].ID != id || got.Silences[0].MatcherText() != `alertname="B"` ||
			got.Silences[0].By != "ann" || got.Silences[0].State != core.SilenceActive {
			t.Errorf("silences (%s is over): %+v", gone, got.Silences)
		}
	})
}

// What is wrong with Alertmanager is a state of its source, and says what to do.
func TestWhyThereAreNoAlerts(t *testing.T) {
	says := func(code int, kind, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		})
	}
	long := `[{"labels":{"alertname":"A"},"annotations":{"summary":"` + strings.Repeat("é", mostAlertBytes) + `"}}]`
	large := `[{"labels":{"alertname":"A"},"annotations":{"summary":"` + strings.Repeat("é", 1<<20) + `"}}]`
	for _, tt := range []struct {
		what   string
		behind http.Handler
		broken func(*cluster)
		state  core.SourceState
		kind   core.ErrorKind
		says   string
	}{
		{"no Service", nil, func(c *cluster) { c.delete(gvrServices, "stacklight", "prometheus-alertmanager") }, core.SourceAbsent,
			core.ErrNotFound, "prometheus-alertmanager"},
		{"no right", nil, func(c *cluster) { _ = c.SetRules("ann", nil) }, core.SourceOff, core.ErrForbidden, alertRights},
		{"no pod", nil, nil, core.SourceFailed, core.ErrServer, "no endpoints"},
		{"a page", says(200, "text/html", "<html>login</html>"), nil, core.SourceFailed, core.ErrOther, "not the API's"},
		{"an object instead of a list", says(200, "application/json", `{"status":"success"}`), nil, core.SourceFailed, core.ErrOther, ""},
		{"another route", says(404, "text/plain", "404 page not found"), nil, core.SourceFailed, core.ErrConfiguration, "alertmanager.path"},
		{"too much", says(200, "application/json", long), nil, core.SourceFailed, core.ErrInvalid, "longer than 8 MiB"},
		{"its own error", says(500, "application/json", `"storage is broken"`), nil, core.SourceFailed, core.ErrServer, "storage is broken"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := withAlertmanager(t, tt.behind)
				if err := c.SetUser(kubeapi.User{Name: "ann", Rules: kubeapi.ReadonlyRules()}); err != nil {
					t.Fatal(err)
				}
				if tt.broken != nil {
					tt.broken(c)
				}
				d := c.pollAlerts("ann").until(t, tt.state)
				if d.Err == nil || d.Err.Kind != tt.kind || d.Err.Server != core.ServerAlertmanager ||
					!strings.Contains(d.Err.Error()+d.Err.Remedy, tt.says) {
					t.Errorf("%v, remedy %q: want %s with %q", d.Err, d.Err.Remedy, tt.kind, tt.says)
				}
				if len(d.Err.Message) > maxMessage+10 {
					t.Errorf("the message has %d bytes", len(d.Err.Message))
				}
			})
		})
	}
	t.Run("2 MiB are taken, and cut", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if strings.HasSuffix(r.URL.Path, "alerts") {
					_, _ = w.Write([]byte(large))
				} else {
					_, _ = w.Write([]byte(`[{"id":7,"matchers":"none"},{"id":"x","status":{"state":"active"},"comment":null}]`))
				}
			})
			d := withAlertmanager(t, h).pollAlerts(kubeapi.Readonly).until(t, core.SourceLive)
			got := d.Upserts[0].(*core.Alertmanager)
			if len(got.Alerts) != 1 || len(got.Alerts[0].Summary) > mostAlertText+3 || strings.Contains(got.Alerts[0].Summary, "\ufffd") {
				t.Errorf("%d alerts, a summary of %d bytes", len(got.Alerts), len(got.Alerts[0].Summary))
			}
			if len(got.Silences) != 2 {
				t.Errorf("silences with odd fields: %+v", got.Silences)
			}
		})
	})
}

// What was known stays, as stale, while Alertmanager is away, and is forgotten when its Service is gone.
func TestAlertsGrowStale(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		a := alertmanager.New(clock.New(time.Now(), 1), nil)
		c := withAlertmanager(t, a)
		told := c.pollAlerts(kubeapi.Readonly)
		told.until(t, core.SourceLive)
		c.Behind(AlertmanagerNamespace, AlertmanagerService, nil)
		if d := told.until(t, core.SourceStale); d.Replace || d.Err.Kind != core.ErrServer {
			t.Errorf("%+v", d)
		}
		c.Behind(AlertmanagerNamespace, AlertmanagerService, a)
		told.until(t, core.SourceLive)
		c.delete(gvrServices, "stacklight", "prometheus-alertmanager")
		if d := told.until(t, core.SourceAbsent); !d.Replace || len(d.Upserts) > 0 {
			t.Errorf("%+v", d)
		}
	})
}

// A silence is made and expired, as it was confirmed and only with a Permit; its answers are understood.
func TestASilenceIsMadeAndExpired(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		clk := clock.New(time.Now(), 1)
		c := withAlertmanager(t, alertmanager.New(clk, nil))
		client := c.client(kubeapi.Operator)
		checker, w := NewAlertChecker(client, alertPlace), NewAlertWriter(client, alertPlace)
		write := func(change core.Change) error { return w.Write(t.Context(), permittest.For(t, change), change) }
		matchers, err := core.ParseMatchers(`alertname!~"Watchdog|A.*", node="a \"b\""`)
		if err != nil {
			t.Fatal(err)
		}
		change := core.MakeSilence{Matchers: matchers, Until: clk.Now().UTC().Add(2 * time.Hour).Truncate(time.Second), By: "ann@desk",
			Comment: core.OwnComment("update")}
		if err := write(change); err != nil {
			t.Fatal(err)
		}
		all, err := checker.Silences(t.Context())
		if err != nil || len(all) != 1 || !change.Is(all[0]) || !all[0].Own() || all[0].Reason() != "update" ||
			all[0].State != core.SilenceActive {
			t.Fatalf("%v, %+v", err, all)
		}
		if err := write(core.ExpireSilence{Silence: all[0]}); err != nil {
			t.Fatal(err)
		}
		if s, err := checker.Silence(t.Context(), all[0].ID); err != nil || s.State != core.SilenceExpired {
			t.Errorf("%v, %+v", err, s)
		}
		if all, err := checker.Silences(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("%v, %+v", err, all)
		}
		change.Matchers = []core.Matcher{{Name: "a", Equal: true}}
		if err := write(change); kindOf(err) != core.ErrInvalid || !strings.Contains(err.Error(), "must not match the empty string") {
			t.Errorf("a refused silence: %v", err)
		}
		change.Matchers = nil
		if err := write(change); kindOf(err) != core.ErrInvalid ||
			!strings.HasSuffix(err.Error(), ": matchers in body should have at least 1 items") {
			t.Errorf("a silence that does not fit the API: %v", err)
		}
		const none = "00000000-0000-4000-8000-000000000000"
		if err := write(core.ExpireSilence{Silence: core.Silence{ID: none}}); kindOf(err) != core.ErrNotFound {
			t.Errorf("no such silence: %v", err)
		}
		if _, err := checker.Silence(t.Context(), none); kindOf(err) != core.ErrNotFound {
			t.Errorf("no such silence: %v", err)
		}
		if _, err := checker.Silence(t.Context(), "x/../y"); kindOf(err) == core.ErrNotFound {
			t.Errorf("what is no ID does not say that the silence is gone: %v", err)
		}
		c.delete(gvrServices, "stacklight", "prometheus-alertmanager")
		if _, err := checker.Silence(t.Context(), all[0].ID); kindOf(err) != core.ErrUnreachable {
			t.Errorf("without the Service it is not known whether the silence is there: %v", err)
		}
		if err := write(change); kindOf(err) != core.ErrInvalid || !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("without the Service: %v", err)
		}
		if err := w.Write(t.Context(), engine.Permit{}, change); kindOf(err) != core.ErrInvalid {
			t.Errorf("without a Permit: %v", err)
		}
	})
}
