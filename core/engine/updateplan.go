package engine

import (
	"context"
	"errors"
	"fmt"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// readManaged reads an object of the management cluster as the type that its kind has.
func readManaged[T core.Object](ctx context.Context, m ManagementChecker, ref core.Ref) (T, error) {
	var zero T
	o, err := m.Object(ctx, ref)
	if err != nil {
		return zero, err
	}
	t, ok := o.(T)
	if !ok {
		return zero, refuse("%s is a %T", ref.Name, o)
	}
	return t, nil
}

// notThere tells whether the error is that of an object that does not exist.
func notThere(err error) bool {
	var api *core.APIError
	return errors.As(err, &api) && api.Kind == core.ErrNotFound
}

// commenceChecker checks commence of a step of an update plan. It is done when the plan has it; what LCM does then takes hours, and
// shows in the plan.
type commenceChecker struct {
	management ManagementChecker
	cluster    core.Ref
	past       bool // the operator goes past what stops the update
	change     core.SetCommence
}

func checkCommence(e *Engine, step core.Step, c core.SetCommence) checker {
	return &commenceChecker{management: e.cfg.Management, cluster: e.managedCluster(), past: step.Intent.PastStops, change: c}
}

// step is the change's step as the server has it now.
func (w *commenceChecker) step(ctx context.Context) (*core.UpdatePlan, core.PlanStep, error) {
	plan, err := readManaged[*core.UpdatePlan](ctx, w.management, w.change.Plan)
	if err != nil {
		return nil, core.PlanStep{}, err
	}
	i := w.change.Index
	if i < 0 || i >= len(plan.Steps) || plan.Steps[i].ID != w.change.ID || plan.Steps[i].Name != w.change.Name {
		return nil, core.PlanStep{}, refuse("the plan's step %d is another one now", i+1)
	}
	return plan, plan.Steps[i], nil
}

// check asks the server whether the step is as it was, and what would stop it there: a step that is Stuck, an alert that fires.
func (w *commenceChecker) check(ctx context.Context) error {
	plan, st, err := w.step(ctx)
	switch {
	case err != nil:
		return err
	case st.Commence == w.change.On:
		return refuse("commence is %t already", st.Commence)
	case st.Status != w.change.Status:
		return refuse("the step is %s now", wording.TextOf(wording.OneLine(st.Status, 40), "without a status"))
	case !w.change.On:
		return nil
	}
	if err := w.checkCluster(ctx, plan); err != nil || w.past {
		return err
	}
	for _, other := range plan.Steps {
		if other.Status == core.PlanStuck {
			return refuse("%s is Stuck", progress.StepShort(other))
		}
	}
	pause, err := readManaged[*core.AutoPause](ctx, w.management, core.Ref{Kind: core.KindAutoPause, Namespace: w.cluster.Namespace,
		Name: w.cluster.Name})
	switch {
	case notThere(err): // none, or an older release that does not know them
	case err != nil:
		return err
	case len(pause.Firing) > 0:
		return refuse("an alert fires that pauses the update: %s", alertsText(pause.Firing, 4))
	}
	return nil
}

// checkCluster asks the server whether the plan still leads on from the Cluster, and the Cluster may be updated at all. Nobody goes past
// that.
func (w *commenceChecker) checkCluster(ctx context.Context, plan *core.UpdatePlan) error {
	ref := w.cluster
	ref.Kind = core.KindCluster
	c, err := readManaged[*core.ManagedCluster](ctx, w.management, ref)
	switch {
	case err != nil:
		return err
	case !plan.FromHere(c):
		return refuse("the plan does not lead on from the Cluster: it is at %s, to be at %s now",
			wording.TextOf(wording.OneLine(c.Release, 60), "no release that is said"),
			wording.TextOf(wording.OneLine(c.Target, 60), "no release that is said"))
	case c.Wanted() || c.InMaintenance:
		return refuse("the cluster is in maintenance mode, or is on its way")
	}
	return nil
}

// outcome looks for the step by its key: LCM changes the plan's list while the update goes on, and the write went to the step that was
// meant.
func (w *commenceChecker) outcome(ctx context.Context, of sent) outcome {
	plan, err := readManaged[*core.UpdatePlan](ctx, w.management, w.change.Plan)
	if err != nil {
		return outcome{err: err}
	}
	at := plan.StepAt(w.key())
	if at < 0 {
		return outcome{state: core.OperationUnknown, text: "the plan has no step " + wording.OneLine(w.key(), 64) + " any more, or several"}
	}
	st := plan.Steps[at]
	status := wording.TextOf(wording.OneLine(st.Status, 40), "without a status")
	paused := plan.Status == core.PlanAutoPaused || st.Status == core.PlanAutoPaused
	moved := st.Status != w.change.Status || !st.Started.Equal(w.change.Started)
	is := fmt.Sprintf("commence is %t; the step is %s", st.Commence, status)
	switch {
	case !of.accepted && paused && !st.Commence:
		return outcome{state: core.OperationUnknown, text: is + ", and an automatic pause takes commence away too: whether this did it is " +
			"not known"}
	case st.Commence != w.change.On && !of.accepted && moved:
		return outcome{state: core.OperationUnknown, text: is + " by now: whether it was done is not known"}
	case st.Commence != w.change.On && w.change.On && paused:
		return outcome{state: core.OperationFailed, text: "it was commenced, and an automatic pause has taken that away again"}
	case st.Commence != w.change.On:
		return outcome{state: core.OperationVerifying, text: fmt.Sprintf("commence is %t", st.Commence)}
	case w.change.On:
		return outcome{state: core.OperationDone, text: "commenced; the step is " + status}
	case st.Begun() && !st.Workers():
		return outcome{state: core.OperationFailed, text: "commence is taken away, but the step had begun: it goes on to its end"}
	case st.Begun():
		return outcome{state: core.OperationDone, text: "held: no further machine is begun; the step is " + status}
	}
	return outcome{state: core.OperationDone, text: "not commenced any more; the step is " + status}
}

// key is what the plan calls the step.
func (w *commenceChecker) key() string { return wording.TextOf(w.change.ID, w.change.Name) }

func (w *commenceChecker) values() (string, string) {
	key := wording.OneLine(w.key(), 64)
	return fmt.Sprintf("%s commence=%t", key, !w.change.On), fmt.Sprintf("%s commence=%t", key, w.change.On)
}
