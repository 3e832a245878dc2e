package nova

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"lockstep/core"
)

// Writer carries out what the operator confirmed. It implements core.OpenStackWriter: every error is a *core.APIError
// with Nova's own words, and one whose Uncertain is true may have been carried out. No write is ever repeated.
type Writer struct {
	c     *Client
	wrote func()
}

var _ core.OpenStackWriter = (*Writer)(nil)

// NewWriter makes a Writer on the client. After each write wrote is called, if it is not nil: Poller.Nudge, so that the
// result is seen soon.
func NewWriter(c *Client, wrote func()) *Writer {
	if wrote == nil {
		wrote = func() {}
	}
	return &Writer{c: c, wrote: wrote}
}

// Instance implements core.OpenStackWriter.
func (w *Writer) Instance(ctx context.Context, id string) (*core.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	r, err := w.c.getServer(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.deleted() {
		return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerOpenStack, Call: actionGetServer.call + " " + id, Message: "it was deleted"}
	}
	return r.instance(), nil
}

// InstancesOf implements core.OpenStackWriter.
func (w *Writer) InstancesOf(ctx context.Context, host string) ([]*core.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	if host == "" {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: actionListServers.call, Message: "no host was named"}
	}
	records, err := w.c.listServers(ctx, serverQuery{host: host})
	if err != nil {
		return nil, err
	}
	instances := make([]*core.Instance, 0, len(records))
	for i := range records {
		if !records[i].deleted() {
			instances = append(instances, records[i].instance())
		}
	}
	return instances, nil
}

const (
	newestRecords  = 20 // migration records of one instance
	explainedFails = 3  // the failed ones among them whose reason is looked up
)

// MigrationsOf implements core.OpenStackWriter. It reads the 20 newest records.
func (w *Writer) MigrationsOf(ctx context.Context, instanceID string) ([]*core.Migration, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	all, err := w.c.listMigrations(ctx, migrationQuery{instance: instanceID, limit: newestRecords})
	if err != nil {
		return nil, err
	}
	failed := 0
	for _, m := range all {
		if m.Failed() && failed < explainedFails {
			failed++
			// The reason is a courtesy: the records are worth having without it.
			if text, err := w.c.failureOf(ctx, m); err == nil {
				m.Failure = text
			}
		}
	}
	return all, nil
}

// MigrationsOn implements core.OpenStackWriter. It reads the 100 newest records.
func (w *Writer) MigrationsOn(ctx context.Context, host string) ([]*core.Migration, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	if host == "" {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: actionListMigrations.call, Message: "no host was named"}
	}
	return w.c.listMigrations(ctx, migrationQuery{host: host, limit: hostMigrations})
}

// LiveMigrate implements core.OpenStackWriter. The scheduler chooses the destination, and Nova the kind of migration.
//
// It asks for 2.25, the oldest microversion that knows block_migration "auto", on purpose: from 2.25 to 2.33 Nova checks
// and schedules before it answers, so that "no valid host was found" is a 400 with its reason. From 2.34 on it answers
// 202 to everything, the instance returns to ACTIVE, and only a migration record with the status error tells.
func (w *Writer) LiveMigrate(ctx context.Context, instanceID string) error {
	a := action{call: "live-migrate instance " + instanceID, policy: "os_compute_api:os-migrate-server:migrate_live", limit: scheduleLimit}
	body := map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "auto"}}
	return w.act(ctx, a, instanceID, vLiveMigrate, body, http.StatusAccepted)
}

// ColdMigrate implements core.OpenStackWriter. Nova schedules it before it answers, as a live migration.
func (w *Writer) ColdMigrate(ctx context.Context, instanceID string) error {
	a := action{call: "migrate instance " + instanceID, policy: "os_compute_api:os-migrate-server:migrate", limit: scheduleLimit}
	return w.act(ctx, a, instanceID, vBase, map[string]any{"migrate": nil}, http.StatusAccepted)
}

// ConfirmResize implements core.OpenStackWriter.
func (w *Writer) ConfirmResize(ctx context.Context, instanceID string) error {
	a := action{call: "confirm the migration of instance " + instanceID, policy: "os_compute_api:servers:confirm_resize"}
	return w.act(ctx, a, instanceID, vBase, map[string]any{"confirmResize": nil}, http.StatusNoContent, http.StatusAccepted)
}

// RevertResize implements core.OpenStackWriter.
func (w *Writer) RevertResize(ctx context.Context, instanceID string) error {
	return w.order(ctx, instanceID, "revertResize", "revert the migration of", "os_compute_api:servers:revert_resize")
}

// Stop implements core.OpenStackWriter.
func (w *Writer) Stop(ctx context.Context, instanceID string) error {
	return w.order(ctx, instanceID, "os-stop", "stop", "os_compute_api:servers:stop")
}

// Start implements core.OpenStackWriter.
func (w *Writer) Start(ctx context.Context, instanceID string) error {
	return w.order(ctx, instanceID, "os-start", "start", "os_compute_api:servers:start")
}

// Evacuate implements core.OpenStackWriter. Before 2.14 Nova wants to be told whether the storage is shared; from then on it
// finds out by itself.
func (w *Writer) Evacuate(ctx context.Context, instanceID string) error {
	a := action{call: "evacuate instance " + instanceID, policy: "os_compute_api:os-evacuate"}
	return w.act(ctx, a, instanceID, vEvacuate, map[string]any{"evacuate": map[string]any{}}, http.StatusOK)
}

// AbortMigration implements core.OpenStackWriter. A queued migration can be aborted from 2.65 on, a running one from 2.24.
func (w *Writer) AbortMigration(ctx context.Context, instanceID string, migrationID int) error {
	a := action{call: fmt.Sprintf("abort migration %d of instance %s", migrationID, instanceID), policy: "os_compute_api:servers:migrations:delete"}
	return w.write(ctx, a, vAbort, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(vAbortQueued, vAbort))
		return w.c.send(ctx, sc, http.MethodDelete, sc.ServiceURL("servers", instanceID, "migrations", fmt.Sprint(migrationID)), nil, http.StatusAccepted)
	})
}

// ForceCompleteMigration implements core.OpenStackWriter.
func (w *Writer) ForceCompleteMigration(ctx context.Context, instanceID string, migrationID int) error {
	a := action{call: fmt.Sprintf("force migration %d of instance %s to complete", migrationID, instanceID), policy: "os_compute_api:servers:migrations:force_complete"}
	return w.write(ctx, a, vForceComplete, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(vForceComplete))
		url := sc.ServiceURL("servers", instanceID, "migrations", fmt.Sprint(migrationID), "action")
		return w.c.send(ctx, sc, http.MethodPost, url, map[string]any{"force_complete": nil}, http.StatusAccepted)
	})
}

// ComputeService implements core.OpenStackWriter. A host without nova-compute is core.ErrNotFound.
func (w *Writer) ComputeService(ctx context.Context, host string) (*core.ComputeService, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	services, err := w.c.listServices(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(services) == 0 {
		return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerOpenStack,
			Call: "read the compute service of " + host, Message: "the host has no " + computeBinary + " service"}
	}
	return services[0], nil
}

// SetComputeService implements core.OpenStackWriter. Nova takes a reason only when it disables.
func (w *Writer) SetComputeService(ctx context.Context, serviceID string, enabled bool, reason string) error {
	a := action{call: "enable compute service " + serviceID, policy: "os_compute_api:os-services:update"}
	body := map[string]any{"status": "enabled"}
	if !enabled {
		a.call = "disable compute service " + serviceID
		body["status"] = "disabled"
		if reason != "" {
			body["disabled_reason"] = reason
		}
	}
	return w.write(ctx, a, vServiceUUID, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(vServiceUUID))
		return w.c.send(ctx, sc, http.MethodPut, sc.ServiceURL("os-services", serviceID), body, http.StatusOK)
	})
}

func (w *Writer) act(ctx context.Context, a action, id string, v microversion, body map[string]any, ok ...int) error {
	return w.write(ctx, a, v, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(v))
		return w.c.send(ctx, sc, http.MethodPost, sc.ServiceURL("servers", id, "action"), body, ok...)
	})
}

// order has an instance do what every Nova knows and what needs no arguments; what says it in words, "stop".
func (w *Writer) order(ctx context.Context, instanceID, name, what, policy string) error {
	a := action{call: what + " instance " + instanceID, policy: policy}
	return w.act(ctx, a, instanceID, vBase, map[string]any{name: nil}, http.StatusAccepted)
}

// write refuses what the cloud is too old for, and else sends it once, with a deadline.
func (w *Writer) write(ctx context.Context, a action, needs microversion, do func(context.Context, *session) error) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.limit, writeLimit))
	defer cancel()
	err := w.c.call(ctx, a, func(s *session) error {
		if err := s.versions.require(a.call, needs); err != nil {
			return err
		}
		defer w.wrote()
		return do(ctx, s)
	})
	return err
}

// apiStatus is the HTTP status of a translated error, 0 when there is none.
func apiStatus(err error) int {
	var e *core.APIError
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}
