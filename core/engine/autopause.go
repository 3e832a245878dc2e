package engine

import (
	"context"
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// autoPauseChecker checks which alerts pause the update.
type autoPauseChecker struct {
	management ManagementChecker
	change     core.SetAutoPause
}

func checkAutoPause(e *Engine, _ core.Step, c core.SetAutoPause) checker {
	return &autoPauseChecker{management: e.cfg.Management, change: c}
}

// alerts are those of the UpdateAutoPause on the server, whatever its UID, and that UID; empty when there is none.
func (w *autoPauseChecker) alerts(ctx context.Context) (alerts []string, uid string, err error) {
	ref := w.change.Pause
	ref.UID = ""
	pause, err := readManaged[*core.AutoPause](ctx, w.management, ref)
	switch {
	case notThere(err):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	return pause.Alerts, pause.UID, nil
}

func (w *autoPauseChecker) check(ctx context.Context) error {
	alerts, uid, err := w.alerts(ctx)
	switch {
	case err != nil:
		return err
	case uid != w.change.Pause.UID:
		return refuse("the UpdateAutoPause was made or removed meanwhile")
	case !slices.Equal(alerts, w.change.Old):
		return refuse("its alerts are %s now", wording.TextOf(wording.OneLine(wording.Some(alerts, 4), 200), "none"))
	}
	return nil
}

func (w *autoPauseChecker) outcome(ctx context.Context, _ sent) outcome {
	alerts, uid, err := w.alerts(ctx)
	switch {
	case err != nil:
		return outcome{err: err}
	case len(w.change.New) == 0 && uid == "":
		return outcome{state: core.OperationDone, text: "it is removed"}
	case len(w.change.New) > 0 && uid != "" && slices.Equal(alerts, w.change.New):
		return outcome{state: core.OperationDone, text: "its alerts are set"}
	}
	return outcome{state: core.OperationVerifying,
		text: "its alerts are " + wording.TextOf(wording.OneLine(wording.Some(alerts, 4), 200), "none")}
}

func (w *autoPauseChecker) values() (string, string) {
	return "alerts " + wording.TextOf(wording.Some(w.change.Old, 20), "none"),
		"alerts " + wording.TextOf(wording.Some(w.change.New, 20), "none")
}
