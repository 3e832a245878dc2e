package session

import (
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/kube"
)

// openAlertmanager prepares what is asked of Alertmanager, through the client's cluster.
func (s *Session) openAlertmanager(p Place, client *kube.Client, cfg *engine.Config) {
	sources := []core.SourceID{core.SourceAlertmanager}
	switch at := p.Alertmanager; {
	case at.Service == "":
		s.down = append(s.down, core.Delta{Source: core.SourceAlertmanager, State: core.SourceOff})
	case client == nil:
		s.unavailable(sources, &core.APIError{Kind: core.ErrConfiguration, Call: "ask Alertmanager",
			Message: "there is no cluster to reach it through"})
	default:
		cfg.Alerts, cfg.Writers.Alerts = kube.NewAlertChecker(client, at), kube.NewAlertWriter(client, at)
	}
}

// watchAlerts makes what polls Alertmanager.
func (s *Session) watchAlerts(p Place, client *kube.Client) {
	if client == nil || p.Alertmanager.Service == "" {
		return
	}
	o := kube.AlertOptions{Log: s.Log.Logger}
	if p.Pace > 1 {
		o.Interval = max(time.Duration(float64(30*time.Second)/p.Pace), time.Second)
		o.AbsentWait = max(time.Duration(float64(2*time.Minute)/p.Pace), 4*time.Second)
	}
	s.alerts = kube.NewAlertPoller(client, p.Alertmanager, s.Engine.Apply, o)
}
