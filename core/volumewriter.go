package core

import (
	"context"
	"slices"
	"strings"
)

// volumeServiceChecker asks about a cinder-volume service.
type volumeServiceChecker struct {
	cinder OpenStackChecker
	change SetVolumeService
	before func(context.Context) error // what else has to hold; may be nil
	up     bool                        // it has to be up
}

func checkVolumeService(e *Engine, step Step, c SetVolumeService) checker {
	return &volumeServiceChecker{cinder: e.cfg.OpenStack, change: c, before: e.actCheck(step), up: step.Intent.Kind == IntentActVolumeIn}
}

func (w *volumeServiceChecker) look(ctx context.Context) (*VolumeService, error) {
	all, err := w.cinder.VolumeServices(ctx, volumeMachine(w.change.Service.Name))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(v *VolumeService) bool { return v.Host == w.change.Service.Name })
	if i < 0 {
		return nil, &APIError{Kind: ErrNotFound, Server: ServerOpenStack, Call: "read the volume service " + w.change.Service.Name, Message: "Cinder has no such service"}
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
		return refuse("cinder-volume of %s has changed: %s", v.Host, v.stateText())
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
	return seen(v.Enabled == w.change.Enabled && (v.Enabled || v.DisabledReason == w.change.Reason), "cinder-volume is "+v.stateText())
}

func (w *volumeServiceChecker) values() (string, string) {
	was := VolumeService{Enabled: w.change.WasEnabled, DisabledReason: w.change.WasReason}
	return was.stateText(), w.change.text()
}

func (c SetVolumeService) text() string {
	return (&VolumeService{Enabled: c.Enabled, DisabledReason: c.Reason}).stateText()
}

// volumesOut asks whether no volumes can come to the node, right before its lock is released.
func (c actCheckAt) volumesOut(ctx context.Context) error { return c.volumesSettled(ctx, true) }

// volumesBack asks whether its volume services are back, right before its lock is taken back.
func (c actCheckAt) volumesBack(ctx context.Context) error { return c.volumesSettled(ctx, false) }

func (c actCheckAt) volumesSettled(ctx context.Context, release bool) error {
	node := c.step.Intent.Node
	if node == "" || c.a.Controller != ControllerOpenStack || c.s.noCinder() {
		return nil
	}
	if c.e.cfg.OpenStack == nil {
		return refuse("Cinder cannot be asked for the volume services of the host")
	}
	all, err := c.e.cfg.OpenStack.VolumeServices(ctx, c.s.volumeHostOf(node))
	if err != nil {
		return err
	}
	if known := c.s.VolumeServicesOn(node); len(all) < len(known) { // its API may have left the catalog for a moment
		return refuse("Cinder shows %s on %s now; known are %s", count(len(all), "volume service"), c.s.Label(node), clip(volumesText(known), 300))
	}
	if bad := volumesThat(all, release); len(bad) > 0 {
		return refuse("Cinder still shows on %s: %s", c.s.Label(node), clip(strings.Join(bad, ", "), 300))
	}
	return nil
}

// noVolumes asks Cinder itself, right before a node is let go for good, whether a volume is on its disks.
func (c actCheckAt) noVolumes(ctx context.Context) error {
	node := c.step.Intent.Node
	if !c.removal() || c.a.Controller != ControllerOpenStack || c.s.noCinder() {
		return nil
	}
	if c.e.cfg.OpenStack == nil {
		return refuse("Cinder cannot be asked for the volumes of the host")
	}
	volumes, err := c.e.cfg.OpenStack.VolumesOf(ctx, c.s.volumeHostOf(node))
	if err != nil {
		return err
	}
	if len(volumes) > 0 {
		names := make([]string, len(volumes))
		for i, v := range volumes {
			names[i] = volumeName(&v)
		}
		return refuse("Cinder still shows on the disks of %s: %s", c.s.Label(node), clip(some(names, 8), 300))
	}
	return nil
}

// volumesThat are the services, each with its state, that are not as a release or a return asks for: the one that the controller
// takes out of scheduling is out, to release a lock; to take it back, none disabled for the maintenance, and those that are enabled up.
func volumesThat(all []*VolumeService, release bool) []string {
	var bad []string
	for _, v := range all {
		if release && v.Enabled && !v.Behind || !release && (v.forMaintenance() || v.Enabled && !v.Up) {
			bad = append(bad, v.label()+" is "+v.text())
		}
	}
	return bad
}
