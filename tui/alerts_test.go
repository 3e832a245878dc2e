package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// alertedWorld is the fixture with a management cluster and an Alertmanager, and writing is armed.
func alertedWorld() *core.Snapshot {
	s := armedWorld()
	alert := func(name, severity string, since time.Duration, labels ...string) core.Alert {
		a := core.Alert{Labels: map[string]string{core.LabelAlert: name, core.LabelSeverity: severity}, Since: s.Now.Add(-since)}
		for i := 0; i+1 < len(labels); i += 2 {
			a.Labels[labels[i]] = labels[i+1]
		}
		return a
	}
	silence := func(id, by, comment, name string, in time.Duration) core.Silence {
		return core.Silence{ID: id, State: core.SilenceActive, By: by, Comment: comment, Starts: s.Now.Add(-time.Hour), Ends: s.Now.Add(in),
			Matchers: []core.Matcher{{Name: core.LabelAlert, Value: name, Equal: true}}}
	}
	disk := alert("CephClusterHealthWarning", "warning", 3*time.Hour, "namespace", "rook-ceph")
	disk.SilencedBy = []string{"362e84ad-47da-47a4-b84d-75defe6b726d"}
	s.Alertmanager = &core.Alertmanager{
		Place: core.AlertmanagerPlace{Namespace: "stacklight", Service: "prometheus-alertmanager", Port: "9093"},
		Alerts: []core.Alert{alert("KubernetesNodeNotReady", "critical", 4*time.Minute, "node", "kaas-node-cmp07"),
			alert("NovaServiceDown", "major", 3*time.Minute, "binary", "nova-compute"), disk,
			alert("Watchdog", "informational", 900*time.Hour), alert("\x1b[31mOdd\nname", "none", time.Minute)},
		Silences: []core.Silence{silence("362e84ad-47da-47a4-b84d-75defe6b726d", "ann", "a slow disk is known", "CephClusterHealthWarning",
			40*time.Minute), silence("9c01d2f3-47da-47a4-b84d-75defe6b726d", "ops@jump", core.OwnComment("update"), "NovaServiceDown",
			5*time.Hour)}}
	s.Sources[core.SourceAlertmanager] = core.Source{ID: core.SourceAlertmanager, State: core.SourceLive, Since: s.Wall, AsOf: s.Wall}
	return s
}

func TestScreensOfAlerts(t *testing.T) {
	page := []string{":", "silences", "enter"}
	for _, size := range sizes {
		for _, screen := range []struct {
			name string
			keys []string
		}{
			{"page", page},
			{"form", append(page[:3:3], "s", "down")},
			{"confirm", append(page[:3:3], "s", "down", "enter")},
			{"expire", append(page[:3:3], "down", "enter")},
		} {
			name := fmt.Sprintf("alerts-%s-%dx%d", screen.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				shown := drive(alertedWorld(), size.w, size.h).keys(screen.keys...).shows()
				if strings.Contains(shown, "\x1b[31mOdd") {
					t.Error("a name from the API reaches the terminal as it is")
				}
				golden(t, name, stripped(shown))
			})
		}
	}
}

// While the form is filled in it says what stands against it. Matchers in braces count instead of the chosen alert.
func TestTheFormOfASilence(t *testing.T) {
	s := alertedWorld()
	for _, tt := range []struct {
		name, text string
		at         int
		says       string // empty: nothing stands against it
		matchers   string
		until      time.Duration // from now
	}{
		{name: "for a while", text: "90m a reboot", at: 1, matchers: `alertname="KubernetesNodeNotReady"`, until: 90 * time.Minute},
		{name: "for the update", text: "2h the update", matchers: `alertname!~"Watchdog`, until: 2 * time.Hour},
		{name: "a time of day", text: s.Now.Add(3*time.Hour).Local().Format("15:04") + " x", at: 1, until: 3 * time.Hour,
			matchers: "KubernetesNodeNotReady"},
		{name: "a day", text: s.Now.Add(50*time.Hour).Local().Format(silenceTimes) + " x", at: 1, until: 50 * time.Hour,
			matchers: "KubernetesNodeNotReady"},
		{name: "own matchers", text: `1h disk {node="a", alertname=~"B|C"}`, at: 1, matchers: `node="a", alertname=~"B|C"`, until: time.Hour},
		{name: "broken matchers", text: `1h disk {node="a}`, says: "the quotes are not closed"},
		{name: "no matchers", text: `1h disk {}`, says: "there is no matcher"},
		{name: "no reason", text: "1h", says: "a reason is needed"},
		{name: "no end", text: "update", says: `"update" is no end`},
		{name: "an end that has passed", text: s.Now.Add(-50*time.Hour).Local().Format(silenceTimes) + " x", says: "it ends in the days to come"},
		{name: "too long", text: "1000h x", says: "it ends in the days to come"},
		{name: "less than nothing", text: "-1h x", says: "is no end"},
	} {
		f := newSilenceForm(s, func() *core.Snapshot { return s })
		f.at = tt.at
		f.input.SetValue(tt.text)
		if got := f.mind(s); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: it says %q, want %q", tt.name, got, tt.says)
		}
		i, err := f.proposes()
		if tt.says != "" {
			continue
		}
		if got := i.Until.Sub(s.Now); err != nil || got > tt.until || got <= tt.until-time.Minute {
			t.Errorf("%s: until %v from now (%v), want %v", tt.name, got, err, tt.until)
		}
		if got := core.MatchersText(i.Matchers); !strings.Contains(got, tt.matchers) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.matchers)
		}
	}
	if f := newSilenceForm(s, func() *core.Snapshot { return s }); len(f.choices) != 5 || f.mind(s) != "" {
		t.Errorf("as it is opened: %d choices, it says %q", len(f.choices), f.mind(s))
	}
}

// Without Alertmanager no silence is asked for, and the key of the page says why; on other pages of steps it says that it does nothing.
func TestSilencesWithoutAlertmanager(t *testing.T) {
	s := armedWorld()
	s.Sources[core.SourceAlertmanager] = core.Source{ID: core.SourceAlertmanager, State: core.SourceAbsent}
	d := drive(s, 120, 40).keys(":", "silences", "enter")
	if got := stripped(d.shows()); !strings.Contains(got, "alerts are not known: the cluster has no such Service") {
		t.Errorf("it shows\n%s", got)
	}
	if got := stripped(d.keys("s").shows()); !strings.Contains(got, "Alertmanager is not known: the cluster has no such Service") ||
		strings.Contains(got, "until, why") {
		t.Errorf("it shows\n%s", got)
	}
	if got := stripped(drive(alertedWorld(), 120, 40).keys("2", "u", "s").shows()); !strings.Contains(got, "no steps about alerts") {
		t.Errorf("it shows\n%s", got)
	}
}
