package core

import (
	"context"
)

// computeServiceChecker asks about a compute service.
type computeServiceChecker struct {
	nova   OpenStackChecker
	change SetComputeService
	before func(context.Context) error // what else has to hold; may be nil
}

func checkComputeService(e *Engine, step Step, c SetComputeService) checker {
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
		return refuse("nova-compute of %s has changed: %s", svc.Host, serviceText(svc))
	}
	return nil
}

func (w *computeServiceChecker) outcome(ctx context.Context, _ sent) outcome {
	svc, err := w.nova.ComputeService(ctx, w.change.Service.Name)
	if err != nil {
		return outcome{err: err}
	}
	if svc.Enabled == w.change.Enabled && (svc.Enabled || svc.DisabledReason == w.change.Reason) {
		return outcome{state: OperationDone, text: "nova-compute is " + serviceText(svc)}
	}
	return outcome{state: OperationVerifying, text: "nova-compute is " + serviceText(svc)}
}

func (w *computeServiceChecker) values() (string, string) {
	return serviceText(&ComputeService{Enabled: w.change.WasEnabled, DisabledReason: w.change.WasReason}),
		serviceText(&ComputeService{Enabled: w.change.Enabled, DisabledReason: w.change.Reason})
}

func serviceText(s *ComputeService) string {
	if s.Enabled {
		return "enabled"
	}
	if s.DisabledReason == "" {
		return "disabled, without a reason"
	}
	return "disabled: " + s.DisabledReason
}
