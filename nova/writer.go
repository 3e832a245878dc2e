package nova

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"lockstep/core"
	"lockstep/core/engine"
)

// Checker reads instances, migrations and services from the servers themselves. It implements engine.OpenStackChecker.
type Checker struct{ c *Client }

// NewChecker makes a Checker on the client.
func NewChecker(c *Client) *Checker { return &Checker{c} }

// Writer carries out what the operator confirmed. It implements engine.ChangeWriter: it writes nothing without a Permit, which only
// the gate makes. Every error is a *core.APIError with Nova's own message; when Uncertain is true, the write may have been made. No
// write is ever repeated.
type Writer struct {
	c     *Client
	wrote func()
}

var (
	_ engine.OpenStackChecker = (*Checker)(nil)
	_ engine.ChangeWriter     = (*Writer)(nil)
)

// NewWriter makes a Writer on the client. It calls wrote after each write unless that is nil: Poller.Nudge, so that the result is
// seen soon.
func NewWriter(c *Client, wrote func()) *Writer {
	if wrote == nil {
		wrote = func() {}
	}
	return &Writer{c: c, wrote: wrote}
}

// Write implements engine.ChangeWriter.
func (w *Writer) Write(ctx context.Context, p engine.Permit, change core.Change) error {
	ctx = withNow(ctx)
	if _, err := w.c.session(ctx); err != nil { // a login takes up to half a minute: the permit is asked for after it, right before the write
		return err
	}
	if err := engine.TakePermit(p, change, core.ServerOpenStack); err != nil {
		return err
	}
	switch c := change.(type) {
	case core.InstanceAction:
		return w.act(ctx, c)
	case core.SetMaintenanceTags:
		return w.setTags(ctx, c)
	case core.SetComputeService:
		return w.setComputeService(ctx, c)
	case core.SetVolumeService:
		return w.setVolumeService(ctx, c)
	}
	return engine.NoSuchChange(change, core.ServerOpenStack)
}

// Instance implements engine.OpenStackChecker.
func (c *Checker) Instance(ctx context.Context, id string) (*core.Instance, error) {
	ctx, cancel := context.WithTimeout(withNow(ctx), readLimit)
	defer cancel()
	r, err := c.c.getServer(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.deleted() {
		return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerOpenStack, Call: actionGetServer.call + " " + id,
			Message: "it was deleted"}
	}
	return r.instance(), nil
}

// InstancesOf implements engine.OpenStackChecker.
func (c *Checker) InstancesOf(ctx context.Context, host string) ([]*core.Instance, error) {
	ctx, cancel := context.WithTimeout(withNow(ctx), readLimit)
	defer cancel()
	if host == "" {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: actionListServers.call,
			Message: "no host was named"}
	}
	records, err := c.c.listServers(ctx, serverQuery{host: host})
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

// MigrationsOf implements engine.OpenStackChecker. It reads the 20 newest records.
func (c *Checker) MigrationsOf(ctx context.Context, instanceID string) ([]*core.Migration, error) {
	ctx, cancel := context.WithTimeout(withNow(ctx), readLimit)
	defer cancel()
	all, err := c.c.listMigrations(ctx, migrationQuery{instance: instanceID, limit: newestRecords})
	if err != nil {
		return nil, err
	}
	failed := 0
	for _, m := range all {
		if m.Failed() && failed < explainedFails {
			failed++
			// The reason is optional: the records are useful without it.
			if text, err := c.c.failureOf(ctx, m); err == nil {
				m.Failure = text
			}
		}
	}
	return all, nil
}

// MigrationsOn implements engine.OpenStackChecker. It reads the 100 newest records.
func (c *Checker) MigrationsOn(ctx context.Context, host string) ([]*core.Migration, error) {
	ctx, cancel := context.WithTimeout(withNow(ctx), readLimit)
	defer cancel()
	if host == "" {
		return nil, &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: actionListMigrations.call,
			Message: "no host was named"}
	}
	return c.c.listMigrations(ctx, migrationQuery{host: host, limit: hostMigrations})
}

// ComputeService implements engine.OpenStackChecker. A host without nova-compute is core.ErrNotFound.
func (c *Checker) ComputeService(ctx context.Context, host string) (*core.ComputeService, error) {
	ctx, cancel := context.WithTimeout(withNow(ctx), readLimit)
	defer cancel()
	services, err := c.c.listServices(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(services) == 0 {
		return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerOpenStack,
			Call: "read the compute service of " + host, Message: "the host has no " + computeBinary + " service"}
	}
	return services[0], nil
}

// setComputeService enables a nova-compute service, or disables it. Nova takes a reason only when it disables.
func (w *Writer) setComputeService(ctx context.Context, c core.SetComputeService) error {
	id := c.Service.UID
	a := action{call: "enable compute service " + id, policy: "os_compute_api:os-services:update"}
	body := map[string]any{"status": "enabled"}
	if !c.Enabled {
		a.call = "disable compute service " + id
		body["status"] = "disabled"
		if c.Reason != "" {
			body["disabled_reason"] = c.Reason
		}
	}
	return w.send(ctx, a, vServiceUUID, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(vServiceUUID))
		return w.c.send(ctx, sc, http.MethodPut, sc.ServiceURL("os-services", id), body, http.StatusOK)
	})
}

// send refuses what the cloud is too old for. Otherwise it sends it once, with a deadline.
func (w *Writer) send(ctx context.Context, a action, needs microversion, do func(context.Context, *session) error) error {
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
