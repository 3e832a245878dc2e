package engine

import (
	"context"

	"lockstep/core"
	"lockstep/core/wording"
)

// releaseChecker checks a change of the release that a Cluster is to be at. It is done when the Cluster has it; the update takes hours.
type releaseChecker struct {
	management ManagementChecker
	change     core.SetRelease
}

func checkRelease(e *Engine, _ core.Step, c core.SetRelease) checker {
	return &releaseChecker{management: e.cfg.Management, change: c}
}

// check asks the server whether the Cluster is as it was, and the release still offered.
func (w *releaseChecker) check(ctx context.Context) error {
	c, err := readManaged[*core.ManagedCluster](ctx, w.management, w.change.Cluster)
	if err != nil {
		return err
	}
	switch _, offered := c.Offered(w.change.New); {
	case c.Target != w.change.Old:
		return refuse("the Cluster's release is %s now", wording.OneLine(c.Target, 60))
	case !offered:
		return refuse("%s is not offered any more", wording.OneLine(w.change.New, 60))
	case c.Release != "" && c.Release != c.Target:
		return refuse("the Cluster is at %s, on its way to %s", wording.OneLine(c.Release, 60), wording.OneLine(c.Target, 60))
	case c.Wanted() || c.InMaintenance:
		return refuse("the cluster is in maintenance mode, or is on its way")
	}
	return nil
}

func (w *releaseChecker) outcome(ctx context.Context, _ sent) outcome {
	c, err := readManaged[*core.ManagedCluster](ctx, w.management, w.change.Cluster)
	switch {
	case err != nil:
		return outcome{err: err}
	case c.Target != w.change.New && c.Target != w.change.Old:
		return outcome{state: core.OperationUnknown, text: "the Cluster's release is " + wording.OneLine(c.Target, 60) +
			": somebody else has set it, and whether this was set before is not known"}
	case c.Target != w.change.New:
		return outcome{state: core.OperationVerifying, text: "the Cluster's release is " + wording.OneLine(c.Target, 60)}
	}
	return outcome{state: core.OperationDone, text: "the release is set; LCM updates the cluster"}
}

func (w *releaseChecker) values() (string, string) { return w.change.Old, w.change.New }
