package nova

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"lockstep/core"
)

// startsBefore is how much later than its migration record an instance action may have started: the clocks of Nova's hosts differ a
// little.
const startsBefore = 10 * time.Second

// actionsOf are the names of the instance actions that start a migration of a type.
var actionsOf = map[string][]string{
	core.MigrationLive:       {"live-migration"},
	core.MigrationCold:       {"migrate"},
	core.MigrationResize:     {"resize", "migrate"},
	core.MigrationEvacuation: {"evacuate"},
}

type actionRecord struct {
	Action    string `json:"action"`
	RequestID string `json:"request_id"`
	Message   string `json:"message"`
	Started   string `json:"start_time"`
	Events    []struct {
		Event     string `json:"event"`
		Result    string `json:"result"`
		Details   string `json:"details"` // since 2.84
		Traceback string `json:"traceback"`
		Finished  string `json:"finish_time"`
	} `json:"events"`
}

type actionPage struct {
	Actions []actionRecord `json:"instanceActions"`
}

func (p *actionPage) check() error {
	if p.Actions == nil {
		return errShape("a list of instance actions")
	}
	return nil
}

type actionDocument struct {
	Action *actionRecord `json:"instanceAction"`
}

func (d *actionDocument) check() error {
	if d.Action == nil {
		return errShape("an instance action")
	}
	return nil
}

// failureOf looks for Nova's own text of why a migration failed: in the events of the request that made it, else in the fault of
// the instance. It is empty where Nova has none, as for a live migration that the hypervisor gave up.
func (c *Client) failureOf(ctx context.Context, m *core.Migration) (string, error) {
	text := ""
	a := action{call: "find out why the migration of " + m.InstanceID + " failed", policy: "os_compute_api:os-instance-actions:show"}
	err := c.call(ctx, a, func(s *session) error {
		sc := at(s.compute, s.versions.best(vDeletedActions, vBase))
		var page actionPage
		if err := c.get(ctx, sc, sc.ServiceURL("servers", m.InstanceID, "os-instance-actions"), &page); err != nil {
			return err
		}
		request := requestOf(m, page.Actions)
		if request == "" {
			return nil
		}
		sc = at(s.compute, s.versions.best(vEventDetails, vActionEvents, vDeletedActions, vBase))
		var doc actionDocument
		if err := c.get(ctx, sc, sc.ServiceURL("servers", m.InstanceID, "os-instance-actions", request), &doc); err != nil {
			return err
		}
		text = doc.Action.failure()
		return nil
	})
	if notFound(err) {
		return "", nil // the instance is gone, and its actions with it
	}
	if err != nil || text != "" {
		return truncate(c.secrets.Redact(text)), err
	}
	server, err := c.getServer(ctx, m.InstanceID)
	switch {
	case notFound(err):
		return "", nil
	case err != nil:
		return "", err
	case server.Status == "ERROR" && !parseTime(server.Fault.Created).Before(m.Created.Add(-startsBefore)):
		return truncate(c.secrets.Redact(server.Fault.Message)), nil
	}
	return "", nil
}

// requestOf is the newest action of the migration's kind that started no later than the migration.
func requestOf(m *core.Migration, actions []actionRecord) string {
	names := actionsOf[m.Type]
	if names == nil {
		names = []string{"live-migration", "migrate", "resize", "evacuate"} // before 2.23 a record has no type
	}
	request, newest := "", time.Time{}
	for _, a := range actions {
		started := parseTime(a.Started)
		if slices.Contains(names, a.Action) && !started.After(m.Created.Add(startsBefore)) && (request == "" || started.After(newest)) {
			request, newest = a.RequestID, started
		}
	}
	return request
}

// failure is the text of the first event that failed: later ones only pass it on.
func (a *actionRecord) failure() string {
	text, first := "", time.Time{}
	for _, e := range a.Events {
		if e.Result != "Error" {
			continue
		}
		finished := parseTime(e.Finished)
		if t := cmp.Or(strings.TrimSpace(e.Details), lastLine(e.Traceback)); t != "" && (text == "" || finished.Before(first)) {
			text, first = t, finished
		}
	}
	if text == "" && a.Message != "Error" { // what Nova writes when it has no message
		text = strings.TrimSpace(a.Message)
	}
	return text
}

// lastLine is the exception at the end of a Python traceback.
func lastLine(traceback string) string {
	lines := strings.Split(strings.TrimSpace(traceback), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
