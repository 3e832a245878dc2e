package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/kube"
)

// objectName is what names a namespace, a Service or a port.
var objectName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// checkAlertmanager says what is wrong with where Alertmanager is said to be: the names become part of a path.
func checkAlertmanager(p core.AlertmanagerPlace) error {
	if p.Service == "" {
		return nil
	}
	for _, one := range []struct {
		field, value string
		may          bool // be empty
	}{{"namespace", p.Namespace, false}, {"service", p.Service, false}, {"port", p.Port, true}} {
		if !objectName.MatchString(one.value) && (one.value != "" || !one.may) {
			return fmt.Errorf("%s: want the name of an object", one.field)
		}
	}
	for _, part := range strings.Split(strings.Trim(p.Path, "/"), "/") {
		if part == ".." || part == "." || strings.ContainsAny(part, "?#%\\ ") {
			return errors.New("path: want a path, such as /alertmanager")
		}
	}
	return nil
}

// openAlertmanager prepares what is asked of Alertmanager, through the client's cluster.
func (s *session) openAlertmanager(p place, client *kube.Client, cfg *engine.Config) {
	sources := []core.SourceID{core.SourceAlertmanager}
	switch at := p.config.Alertmanager; {
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
func (s *session) watchAlerts(p place, client *kube.Client) {
	if client == nil || p.config.Alertmanager.Service == "" {
		return
	}
	o := kube.AlertOptions{Log: s.log.Logger}
	if p.pace > 1 {
		o.Interval = max(time.Duration(float64(30*time.Second)/p.pace), time.Second)
		o.AbsentWait = max(time.Duration(float64(2*time.Minute)/p.pace), 4*time.Second)
	}
	s.alerts = kube.NewAlertPoller(client, p.config.Alertmanager, s.engine.Apply, o)
}
