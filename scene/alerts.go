package scene

import (
	"slices"
	"time"

	"lockstep/core"
)

// Alert is an alert that fires since Noon, with labels in pairs of name and value.
func Alert(name, severity string, labels ...string) core.Alert {
	a := core.Alert{Labels: map[string]string{core.LabelAlert: name, core.LabelSeverity: severity}, Since: Noon, Fingerprint: name}
	for i := 0; i+1 < len(labels); i += 2 {
		a.Labels[labels[i]] = labels[i+1]
		a.Fingerprint += "," + labels[i+1]
	}
	return a
}

// Silence is an active silence, from an hour before Noon until some time after it.
func Silence(id, by, comment string, after time.Duration, matchers ...core.Matcher) core.Silence {
	return core.Silence{ID: id, State: core.SilenceActive, By: by, Comment: comment, Matchers: matchers, Starts: Noon.Add(-time.Hour),
		Ends: Noon.Add(after)}
}

// Alertmanager makes Alertmanager known, with what it has. What the silences match is silenced.
func (sc Scene) Alertmanager(alerts []core.Alert, silences ...core.Silence) {
	alerts = slices.Clone(alerts)
	for i := range alerts {
		for _, one := range silences {
			if one.State == core.SilenceActive && len(core.Matching(one.Matchers, alerts[i:i+1])) > 0 {
				alerts[i].SilencedBy = append(alerts[i].SilencedBy, one.ID)
			}
		}
	}
	slices.SortFunc(alerts, core.CompareAlerts)
	sc.Snapshot.Alertmanager = &core.Alertmanager{Alerts: alerts, Silences: silences,
		Place: core.AlertmanagerPlace{Namespace: "stacklight", Service: "prometheus-alertmanager", Port: "9093"}}
	sc.Sources[core.SourceAlertmanager] = core.Source{ID: core.SourceAlertmanager, State: core.SourceLive, Since: Ago(time.Hour),
		AsOf: Ago(2 * time.Second)}
}
