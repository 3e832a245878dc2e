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
		return refuse("its alerts are %s now", alertsText(alerts, 4))
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
	case len(w.change.New) == 0 && uid != w.change.Pause.UID:
		return outcome{state: core.OperationDone, text: "it is removed; there is another one, with the alerts " + alertsText(alerts, 4)}
	case w.change.Pause.UID != "" && uid != w.change.Pause.UID:
		return outcome{state: core.OperationUnknown, text: "the UpdateAutoPause was removed or made again: whether its alerts were set is not " +
			"known"}
	case uid != "" && !slices.Equal(alerts, w.change.New) && (w.change.Pause.UID == "" || !slices.Equal(alerts, w.change.Old)):
		return outcome{state: core.OperationUnknown, text: "its alerts are " + alertsText(alerts, 4) +
			": somebody else has set them, and whether these were set before is not known"}
	case len(w.change.New) > 0 && uid != "" && slices.Equal(alerts, w.change.New):
		return outcome{state: core.OperationDone, text: "its alerts are set"}
	}
	return outcome{state: core.OperationVerifying,
		text: "its alerts are " + alertsText(alerts, 4)}
}

func (w *autoPauseChecker) values() (string, string) {
	return "alerts " + alertsText(w.change.Old, 20),
		"alerts " + alertsText(w.change.New, 20)
}

// alertsText names alerts, each short enough for a line; "none" without any.
func alertsText(alerts []string, most int) string {
	names := make([]string, len(alerts))
	for i, a := range alerts {
		names[i] = wording.OneLine(a, 80)
	}
	return wording.TextOf(wording.Some(names, most), "none")
}
