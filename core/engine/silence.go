package engine

import (
	"context"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// makeSilenceChecker checks a silence that is made. Alertmanager gives it an ID of its own, so it is known by all that it says.
type makeSilenceChecker struct {
	alerts AlertChecker
	clock  func() time.Time
	moment func(time.Time) string
	change core.MakeSilence
	made   core.Silence // as Alertmanager shows it; without an ID until it does
}

// moment is a time of the cluster for the operator, with its day when it is not near.
func (e *Engine) moment(at time.Time) string {
	return progress.MomentText(&core.Snapshot{Facts: core.Facts{Now: e.cfg.Clock()}}, at)
}

func checkMakeSilence(e *Engine, _ core.Step, c core.MakeSilence) checker {
	return &makeSilenceChecker{alerts: e.cfg.Alerts, clock: e.cfg.Clock, moment: e.moment, change: c}
}

// find is the silence on the server; false when there is none.
func (w *makeSilenceChecker) find(ctx context.Context) (core.Silence, bool, error) {
	all, err := w.alerts.Silences(ctx)
	i := slices.IndexFunc(all, w.change.Is)
	if err != nil || i < 0 {
		return core.Silence{}, false, err
	}
	return all[i], true, nil
}

func (w *makeSilenceChecker) check(ctx context.Context) error {
	found, there, err := w.find(ctx)
	switch {
	case err != nil:
		return err
	case there:
		return refuse("the same silence is there already: %s", core.ShortID(found.ID))
	case !w.clock().Before(w.change.Until):
		return refuse("its end has passed")
	}
	return nil
}

func (w *makeSilenceChecker) outcome(ctx context.Context, _ sent) outcome {
	found, there, err := w.find(ctx)
	switch {
	case err != nil:
		return outcome{err: err}
	case !there:
		return outcome{state: core.OperationVerifying, text: "Alertmanager does not show the silence yet"}
	}
	w.made = found
	return outcome{state: core.OperationDone, text: "silence " + core.ShortID(found.ID) + " is " + found.State + " until " +
		w.moment(found.Ends)}
}

func (w *makeSilenceChecker) values() (string, string) {
	return "no silence", core.MatchersText(w.change.Matchers) + " until " + w.change.Until.UTC().Format(time.RFC3339)
}

// expireSilenceChecker checks a silence that is expired.
type expireSilenceChecker struct {
	alerts AlertChecker
	moment func(time.Time) string
	change core.ExpireSilence
}

func checkExpireSilence(e *Engine, _ core.Step, c core.ExpireSilence) checker {
	return &expireSilenceChecker{e.cfg.Alerts, e.moment, c}
}

func (w *expireSilenceChecker) check(ctx context.Context) error {
	found, err := w.alerts.Silence(ctx, w.change.Silence.ID)
	switch {
	case notThere(err):
		return refuse("Alertmanager does not know the silence any more")
	case err != nil:
		return err
	case found.State == core.SilenceExpired:
		return refuse("the silence has expired meanwhile")
	case !found.Same(w.change.Silence):
		return refuse("the silence is another one now: %s until %s", wording.OneLine(found.MatcherText(), 200), w.moment(found.Ends))
	}
	return nil
}

func (w *expireSilenceChecker) outcome(ctx context.Context, _ sent) outcome {
	found, err := w.alerts.Silence(ctx, w.change.Silence.ID)
	switch {
	case notThere(err):
		return outcome{state: core.OperationDone, text: "Alertmanager does not know it any more"}
	case err != nil:
		return outcome{err: err}
	case found.State == core.SilenceExpired:
		return outcome{state: core.OperationDone, text: "it has expired; its alerts are told again"}
	}
	return outcome{state: core.OperationVerifying, text: "the silence is still " + found.State}
}

func (w *expireSilenceChecker) values() (string, string) {
	return w.change.Silence.MatcherText() + " until " + w.change.Silence.Ends.UTC().Format(time.RFC3339), "expired"
}
