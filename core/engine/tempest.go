package engine

import (
	"context"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// tempestChecker checks adding tempest to the list of services, or removing it.
type tempestChecker struct {
	e      *Engine
	change core.SetTempest
}

func checkTempest(e *Engine, _ core.Step, c core.SetTempest) checker {
	return &tempestChecker{e: e, change: c}
}

// check asks nothing, because the dry-run compares the whole list.
func (w *tempestChecker) check(context.Context) error { return nil }

func (w *tempestChecker) outcome(ctx context.Context, _ sent) outcome {
	services, err := w.e.cfg.Kubernetes.OpenStackServices(ctx, w.change.Deployment)
	if err != nil {
		return outcome{err: err}
	}
	has := slices.Contains(services, step.ServiceTempest)
	text := "the OpenStackDeployment " + wording.TextIf(has, "asks for tempest", "does not ask for tempest")
	if has == w.change.Add {
		return outcome{state: core.OperationDone, text: text}
	}
	return outcome{state: core.OperationVerifying, text: text}
}

func (w *tempestChecker) values() (string, string) {
	return strings.Join(w.change.Services, " "), w.change.Text()
}
