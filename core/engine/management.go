package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// managedCluster is the Ref of the Cluster, from the latest Snapshot; the zero Ref when it is not known.
func (e *Engine) managedCluster() core.Ref {
	if m := e.Snapshot().Management; m != nil && m.Cluster != nil {
		return m.Cluster.Ref()
	}
	return core.Ref{}
}

// maintenanceChecker checks a change of the maintenance mode of a Cluster or a Machine. The change is done when the flag is set: what
// LCM does then takes as long as the node's instances need, and shows in the steps.
type maintenanceChecker struct {
	management ManagementChecker
	cluster    core.Ref
	change     core.SetMaintenance
}

func checkMaintenance(e *Engine, _ core.Step, c core.SetMaintenance) checker {
	return &maintenanceChecker{management: e.cfg.Management, cluster: e.managedCluster(), change: c}
}

// check asks the server whether the order is kept: the cluster is the first to enter and the last to leave.
func (w *maintenanceChecker) check(ctx context.Context) error {
	switch ofCluster := w.change.Object.Kind == core.KindCluster; {
	case ofCluster && !w.change.On:
		names, err := w.management.MachinesInMaintenance(ctx, w.change.Object)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return refuse("still in maintenance mode: %s", wording.Some(names, 6))
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
	return nil
}

func (w *maintenanceChecker) outcome(ctx context.Context, _ sent) outcome {
	wanted, is, err := w.management.Maintenance(ctx, w.change.Object)
	if err != nil {
		return outcome{err: err}
	}
	if (wanted != nil && *wanted) != w.change.On {
		return outcome{state: core.OperationVerifying, text: "the flag is " + step.TruthText(wanted)}
	}
	text := "the flag is set; LCM takes it there"
	if is == w.change.On {
		text = map[bool]string{true: "in maintenance mode", false: "out of maintenance mode"}[is]
	}
	return outcome{state: core.OperationDone, text: text}
}

func (w *maintenanceChecker) values() (string, string) {
	return "maintenance=" + step.TruthText(w.change.Old), "maintenance=" + step.TruthText(&w.change.On)
}

// rebootChecker checks a graceful reboot. It is done when the request exists.
type rebootChecker struct {
	management ManagementChecker
	change     core.RequestReboot
}

func checkReboot(e *Engine, _ core.Step, c core.RequestReboot) checker {
	return &rebootChecker{management: e.cfg.Management, change: c}
}

func (w *rebootChecker) check(ctx context.Context) error {
	if len(w.change.Machines) == 0 {
		return refuse("no machine is named, which would mean all")
	}
	found, err := w.management.RebootRequest(ctx, w.change.Cluster)
	var api *core.APIError
	switch {
	case err == nil:
		return refuse("a graceful reboot is asked for already, since %s", wording.ClockText(found.Created))
	case !errors.As(err, &api) || api.Kind != core.ErrNotFound:
		return err
	}
	_, is, err := w.management.Maintenance(ctx, w.change.Cluster)
	if err != nil {
		return err
	}
	if is {
		return refuse("the cluster is in maintenance mode")
	}
	return nil
}

func (w *rebootChecker) outcome(ctx context.Context, of sent) outcome {
	found, err := w.management.RebootRequest(ctx, w.change.Cluster)
	switch {
	case err == nil && slices.Equal(found.Machines, w.change.Machines):
		return outcome{state: core.OperationDone, text: "the request is there; LCM reboots them one after another"}
	case err == nil:
		return outcome{state: core.OperationFailed, text: "another request is there: " + wording.Some(found.Machines, 6)}
	case of.accepted && isGone(err):
		return outcome{state: core.OperationDone, text: "the request was made, and is gone again"}
	}
	return outcome{err: err}
}

func (w *rebootChecker) values() (string, string) {
	return "no request", strings.Join(w.change.Machines, ", ")
}
