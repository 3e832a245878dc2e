package engine

import (
	"context"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// volumeServiceChecker checks a change of a cinder-volume service.
type volumeServiceChecker struct {
	cinder OpenStackChecker
	change core.SetVolumeService
	before func(context.Context) error // what else has to hold; may be nil
	up     bool                        // it has to be up
}

func checkVolumeService(e *Engine, step core.Step, c core.SetVolumeService) checker {
	return &volumeServiceChecker{cinder: e.cfg.OpenStack, change: c, before: e.actCheck(step), up: step.Intent.Kind == core.IntentActVolumeIn}
}

func (w *volumeServiceChecker) look(ctx context.Context) (*core.VolumeService, error) {
	all, err := w.cinder.VolumeServices(ctx, core.VolumeMachine(w.change.Service.Name))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(v *core.VolumeService) bool { return v.Host == w.change.Service.Name })
	if i < 0 {
		return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerOpenStack, Call: "read the volume service " + w.change.Service.Name,
			Message: "Cinder has no such service"}
	}
	return all[i], nil
}

func (w *volumeServiceChecker) check(ctx context.Context) error {
	if w.before != nil {
		if err := w.before(ctx); err != nil {
			return err
		}
	}
	v, err := w.look(ctx)
	if err != nil {
		return err
	}
	if v.Enabled != w.change.WasEnabled || v.DisabledReason != w.change.WasReason {
		return refuse("cinder-volume of %s has changed: %s", v.Host, v.StateText())
	}
	if w.up && !v.Up {
		return refuse("cinder-volume of %s is down now", v.Host)
	}
	return nil
}

func (w *volumeServiceChecker) outcome(ctx context.Context, _ sent) outcome {
	v, err := w.look(ctx)
	if err != nil {
		return outcome{err: err}
	}
	return seen(v.Enabled == w.change.Enabled && (v.Enabled || v.DisabledReason == w.change.Reason), "cinder-volume is "+v.StateText())
}

func (w *volumeServiceChecker) values() (string, string) {
	was := core.VolumeService{Enabled: w.change.WasEnabled, DisabledReason: w.change.WasReason}
	return was.StateText(), w.change.Text()
}

// volumesOut asks, right before the node's lock is released, whether its volume services are out of scheduling.
func (c actCheckAt) volumesOut(ctx context.Context) error { return c.volumesSettled(ctx, true) }

// volumesBack asks, right before the node's lock is taken back, whether its volume services are back in scheduling.
func (c actCheckAt) volumesBack(ctx context.Context) error { return c.volumesSettled(ctx, false) }

func (c actCheckAt) volumesSettled(ctx context.Context, release bool) error {
	node := c.step.Intent.Node
	if node == "" || c.a.Controller != core.ControllerOpenStack || c.s.NoCinder() {
		return nil
	}
	if c.e.cfg.OpenStack == nil {
		return refuse("Cinder cannot be asked for the volume services of the host")
	}
	all, err := c.e.cfg.OpenStack.VolumeServices(ctx, c.s.VolumeHostOf(node))
	if err != nil {
		return err
	}
	if known := c.s.VolumeServicesOn(node); len(all) < len(known) { // Cinder may be missing from the catalog for a moment
		return refuse("Cinder shows %s on %s now; before, it showed %s", wording.Count(len(all), "volume service"), c.s.Label(node),
			wording.Clip(step.VolumesText(known), 300))
	}
	if bad := progress.VolumesThat(all, release); len(bad) > 0 {
		return refuse("Cinder still shows on %s: %s", c.s.Label(node), wording.Clip(strings.Join(bad, ", "), 300))
	}
	return nil
}

// noVolumes asks Cinder, right before a node is let go for good, whether a volume is on its disks.
func (c actCheckAt) noVolumes(ctx context.Context) error {
	node := c.step.Intent.Node
	if !c.removal() || c.a.Controller != core.ControllerOpenStack || c.s.NoCinder() {
		return nil
	}
	if c.e.cfg.OpenStack == nil {
		return refuse("Cinder cannot be asked for the volumes of the host")
	}
	volumes, err := c.e.cfg.OpenStack.VolumesOf(ctx, c.s.VolumeHostOf(node))
	if err != nil {
		return err
	}
	if len(volumes) > 0 {
		names := make([]string, len(volumes))
		for i, v := range volumes {
			names[i] = progress.VolumeName(&v)
		}
		return refuse("Cinder still shows on the disks of %s: %s", c.s.Label(node), wording.Clip(wording.Some(names, 8), 300))
	}
	return nil
}
