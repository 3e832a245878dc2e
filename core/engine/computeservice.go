package engine

import (
	"context"

	"lockstep/core"
)

// computeServiceChecker checks a change of a compute service.
type computeServiceChecker struct {
	nova   OpenStackChecker
	change core.SetComputeService
	before func(context.Context) error // what else has to hold; may be nil
}

func checkComputeService(e *Engine, step core.Step, c core.SetComputeService) checker {
	return &computeServiceChecker{nova: e.cfg.OpenStack, change: c, before: e.actCheck(step)}
}

func (w *computeServiceChecker) check(ctx context.Context) error {
	if w.before != nil {
		if err := w.before(ctx); err != nil {
			return err
		}
	}
	svc, err := w.nova.ComputeService(ctx, w.change.Service.Name)
	if err != nil {
		return err
	}
	switch {
	case svc.ID != w.change.Service.UID:
		return refuse("nova-compute of %s is another service now (%s)", svc.Host, svc.ID)
	case svc.Enabled != w.change.WasEnabled || svc.DisabledReason != w.change.WasReason:
		return refuse("nova-compute of %s has changed: %s", svc.Host, core.ServiceText(svc))
	}
	return nil
}

func (w *computeServiceChecker) outcome(ctx context.Context, _ sent) outcome {
	svc, err := w.nova.ComputeService(ctx, w.change.Service.Name)
	if err != nil {
		return outcome{err: err}
	}
	if svc.Enabled == w.change.Enabled && (svc.Enabled || svc.DisabledReason == w.change.Reason) {
		return outcome{state: core.OperationDone, text: "nova-compute is " + core.ServiceText(svc)}
	}
	return outcome{state: core.OperationVerifying, text: "nova-compute is " + core.ServiceText(svc)}
}

func (w *computeServiceChecker) values() (string, string) {
	return core.ServiceText(&core.ComputeService{Enabled: w.change.WasEnabled, DisabledReason: w.change.WasReason}),
		core.ServiceText(&core.ComputeService{Enabled: w.change.Enabled, DisabledReason: w.change.Reason})
}

func computeServiceText(c core.SetComputeService) string {
	return core.ServiceText(&core.ComputeService{Enabled: c.Enabled, DisabledReason: c.Reason})
}
