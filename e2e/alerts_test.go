package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/e2e/stacklight"
)

// Alerts of a real Alertmanager are shown, silenced and no longer silenced, through the API server's proxy and with the rights of
// deploy/rbac-alerts.yaml.
func TestAlertsAreSilencedInTheRealAlertmanager(t *testing.T) {
	t.Parallel()
	address, err := stacklight.Address()
	if err != nil {
		t.Fatal(err)
	}
	a, err := stacklight.Start(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, labels := range []map[string]string{
		{"alertname": "KubernetesNodeNotReady", "severity": "critical", "node": "kaas-node-1"},
		{"alertname": "Watchdog", "severity": "none"},
	} {
		if err := a.Fire(t.Context(), labels, "it fires"); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, nil)
	if err := a.Publish(t.Context(), w.Cluster); err != nil {
		t.Fatal(err)
	}
	p := w.launch(t, start{})
	p.Wants("phase ") // the dashboard is there
	p.Arm()
	p.Press(":")
	p.Type("silences")
	p.Press("enter")
	p.Wants("Alerts and silences", "KubernetesNodeNotReady: critical")
	p.Press("s")
	p.Wants("until, why {matchers}")
	p.Press("ctrl+u")
	p.Type(`90m a reboot {alertname="KubernetesNodeNotReady"}`)
	p.Press("enter")
	p.Wants("Before this may happen", "it matches 1: KubernetesNodeNotReady")
	p.Confirm()
	p.WantsRow("ready", "expire silence", "active until", "KubernetesNodeNotReady")
	p.Wants("KubernetesNodeNotReady: critical since", ", silenced")

	type silence struct {
		ID                 string
		Status             struct{ State string }
		CreatedBy, Comment string
	}
	told := func() silence {
		resp, err := http.Get(a.URL() + "/api/v2/silences")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var all []silence
		if err := json.NewDecoder(resp.Body).Decode(&all); err != nil || len(all) != 1 {
			t.Fatalf("%d silences, %v", len(all), err)
		}
		return all[0]
	}
	made := told()
	if made.Status.State != "active" || made.CreatedBy == "" || !strings.HasPrefix(made.Comment, "a reboot") {
		t.Errorf("the silence: %+v", made)
	}
	p.OpenStep("expire silence " + core.ShortID(made.ID) + " by " + made.CreatedBy)
	p.Confirm()
	await(t, "the silence has expired", func() bool { return told().Status.State == "expired" })
	p.WantsGone("silenced")
	p.KeepsNoSecret(w.secrets)
}
