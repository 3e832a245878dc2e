package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Past is the part of an update that was done before the controllers run.
type Past struct {
	Machines map[string]time.Time // updated Machines, with the time
	Steps    []PastStep           // in the plan's order
}

// PastStep is a step of the plan that is commenced, and may have started or be complete.
type PastStep struct {
	ID      string
	Started time.Time     // zero: not started
	Took    time.Duration // zero: not complete
}

// PopulateManagement creates, on the management cluster of opts, the objects that LCM creates by itself, without
// letting time pass, and writes what an update has done. The Cluster, its Machines and UpdateGroups must exist. It may
// be called again.
func PopulateManagement(ctx context.Context, opts Options, past Past) error {
	e, err := newEnv(opts)
	if err != nil {
		return err
	}
	m, err := newManagement(e, opts.Update.Cluster, opts.Management)
	if err != nil || m == nil {
		return err
	}
	m.load = opts.Management.Load
	if err := m.view.look(ctx); err != nil {
		return fmt.Errorf("populate the management cluster: %w", err)
	}
	if err := m.provide(ctx); err != nil {
		return fmt.Errorf("populate the management cluster: %w", err)
	}
	errs := []error{m.writePast(ctx, past.Steps)}
	for _, machine := range sortedKeys(past.Machines) {
		errs = append(errs, m.patchStatus(ctx, lcmMachines, machine, m.updatedMachine(past.Machines[machine])))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("populate the management cluster: write its past: %w", err)
	}
	return nil
}

// updatedMachine is the status of an LCMMachine whose update ended at a moment.
func (m *management) updatedMachine(over time.Time) map[string]any {
	items := map[string]any{}
	at := over.Add(-m.timing.Reboot - m.timing.Update)
	for _, item := range stateItems {
		end := at.Add(time.Duration(float64(m.timing.Update) * item.share))
		items[item.name] = map[string]any{"hash": item.hash(m.Target), "attempt": 1, "exitCode": 0, "message": "",
			"startedAt": at.Format(time.RFC3339), "finishedAt": end.Format(time.RFC3339)}
		at = end
	}
	return map[string]any{"state": machineReady, "release": m.Target, "agentVersion": agentVersion(m.Version), "stateItemStatuses": items,
		"reboot": map[string]any{"requestedAt": at.Format(time.RFC3339), "completed": true, "errorMessage": ""}}
}

// writePast commences steps of the plan and writes their progress.
func (m *management) writePast(ctx context.Context, past []PastStep) error {
	if len(past) == 0 {
		return nil
	}
	plan, err := m.objects(plansResource).Get(ctx, m.planName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read ClusterUpdatePlan %s: %w", m.planName(), err)
	}
	steps, statuses := stepsOf(plan), m.stepStatuses(plan)
	for i, step := range steps {
		status := statuses[i].(map[string]any)
		for _, p := range past {
			if p.ID != step["id"] {
				continue
			}
			step["commence"] = true
			if !p.Started.IsZero() {
				status["startedAt"], status["status"], status["message"] = p.Started.UTC().Format(time.RFC3339), planInProgress, ""
			}
			if p.Took > 0 {
				status["status"], status["message"], status["duration"] = planCompleted, "Ready", p.Took.String()
			}
		}
	}
	if err := m.writeSteps(ctx, plan, steps); err != nil {
		return err
	}
	if err := m.writePlan(ctx, plan, statuses, nil); err != nil || past[0].Started.IsZero() {
		return err
	}
	return m.toTarget(ctx, plan)
}
