package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

func (e *Engine) managementWriterFor(c Change) (writer, error) {
	if e.cfg.Management == nil {
		return nil, refuse("there is no management cluster to write to")
	}
	switch c := c.(type) {
	case SetMaintenance:
		return &maintenanceWriter{management: e.cfg.Management, cluster: e.managedCluster(), change: c}, nil
	case RequestReboot:
		return &rebootWriter{management: e.cfg.Management, change: c}, nil
	}
	return nil, refuse("a change of type %T is none on the management cluster", c)
}

// managementDryRun asks the management cluster what it makes of a change; nil where the change is none of its.
func (e *Engine) managementDryRun(c Change) func(context.Context) error {
	w := e.cfg.Management
	if w == nil {
		return nil
	}
	switch c := c.(type) {
	case SetMaintenance:
		return func(ctx context.Context) error { return w.SetMaintenance(ctx, c.Object, c.Old, c.On, true) }
	case RequestReboot:
		return func(ctx context.Context) error { return w.RequestReboot(ctx, c.Cluster, c.Machines, true) }
	}
	return nil
}

// managedCluster names the Cluster as it is known now.
func (e *Engine) managedCluster() Ref {
	if m := e.Snapshot().Management; m != nil && m.Cluster != nil {
		return m.Cluster.Ref()
	}
	return Ref{}
}

// maintenanceWriter sets maintenance mode of a Cluster or a Machine. It is done when the flag is set: what LCM makes of it
// takes as long as the node's instances do, and shows in the steps.
type maintenanceWriter struct {
	management ManagementWriter
	cluster    Ref
	change     SetMaintenance
}

// check asks the server whether the order is kept: the cluster is the first to enter and the last to leave.
func (w *maintenanceWriter) check(ctx context.Context) error {
	switch ofCluster := w.change.Object.Kind == KindCluster; {
	case ofCluster && !w.change.On:
		names, err := w.management.MachinesInMaintenance(ctx, w.change.Object)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return refuse("in maintenance mode still: %s", some(names, 6))
		}
	case !ofCluster && w.change.On:
		_, is, err := w.management.Maintenance(ctx, w.cluster)
		if err != nil {
			return err
		}
		if !is {
			return refuse("the cluster is not in maintenance mode")
		}
	}
	return w.management.SetMaintenance(ctx, w.change.Object, w.change.Old, w.change.On, true)
}

func (w *maintenanceWriter) write(ctx context.Context) error {
	return w.management.SetMaintenance(ctx, w.change.Object, w.change.Old, w.change.On, false)
}

func (w *maintenanceWriter) outcome(ctx context.Context, _ time.Time) outcome {
	wanted, is, err := w.management.Maintenance(ctx, w.change.Object)
	if err != nil {
		return outcome{err: err}
	}
	if (wanted != nil && *wanted) != w.change.On {
		return outcome{state: OperationVerifying, text: "the flag is " + truthText(wanted)}
	}
	text := "the flag is set; LCM takes it there"
	if is == w.change.On {
		text = map[bool]string{true: "in maintenance mode", false: "out of maintenance mode"}[is]
	}
	return outcome{state: OperationDone, text: text}
}

func (w *maintenanceWriter) values() (string, string) {
	return "maintenance=" + truthText(w.change.Old), "maintenance=" + truthText(&w.change.On)
}

// rebootWriter asks for a graceful reboot. It is done when the request is there.
type rebootWriter struct {
	management ManagementWriter
	change     RequestReboot
	accepted   bool
}

func (w *rebootWriter) check(ctx context.Context) error {
	if len(w.change.Machines) == 0 {
		return refuse("no machine is named, which would mean all")
	}
	found, err := w.management.RebootRequest(ctx, w.change.Cluster)
	var api *APIError
	switch {
	case err == nil:
		return refuse("a graceful reboot is asked for already, since %s", clockText(found.Created))
	case !errors.As(err, &api) || api.Kind != ErrNotFound:
		return err
	}
	_, is, err := w.management.Maintenance(ctx, w.change.Cluster)
	if err != nil {
		return err
	}
	if is {
		return refuse("the cluster is in maintenance mode")
	}
	return w.management.RequestReboot(ctx, w.change.Cluster, w.change.Machines, true)
}

func (w *rebootWriter) write(ctx context.Context) error {
	err := w.management.RequestReboot(ctx, w.change.Cluster, w.change.Machines, false)
	w.accepted = err == nil
	return err
}

func (w *rebootWriter) outcome(ctx context.Context, _ time.Time) outcome {
	found, err := w.management.RebootRequest(ctx, w.change.Cluster)
	switch {
	case err == nil && slices.Equal(found.Machines, w.change.Machines):
		return outcome{state: OperationDone, text: "the request is there; LCM reboots them one after another"}
	case err == nil:
		return outcome{state: OperationFailed, text: "another request is there: " + some(found.Machines, 6)}
	case w.accepted && isGone(err):
		return outcome{state: OperationDone, text: "the request was made, and is gone again"}
	}
	return outcome{err: err}
}

func (w *rebootWriter) values() (string, string) {
	return "no request", strings.Join(w.change.Machines, ", ")
}
