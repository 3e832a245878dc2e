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

// hostIsSafe asks Nova, right before the node is let go, whether anything is still in the way: what runs there goes down with the host.
func (e *Engine) hostIsSafe(ctx context.Context, node string) error {
	if e.cfg.OpenStack == nil {
		return refuse("Nova cannot be asked what is on the host")
	}
	s := e.Snapshot()
	host := s.HostOf(node)
	found, err := e.instancesOn(ctx, host)
	if err != nil {
		return err
	}
	var names []string
	for _, v := range step.InTheWay(s.WithInstances(host, found), node) {
		names = append(names, progress.InstanceLabel(v.Instance))
	}
	if len(names) > 0 {
		return refuse("Nova still shows on %s: %s", s.Label(node), wording.Clip(strings.Join(names, ", "), 300))
	}
	return e.nothingComes(ctx, node)
}

// instancesOn is what Nova shows on a host.
func (e *Engine) instancesOn(ctx context.Context, host string) ([]*core.Instance, error) {
	return twice(ctx, e, host, e.cfg.OpenStack.InstancesOf)
}

// twice asks Nova twice what a host has, and in between whether the host's cell answers: what either answer shows is there, as the later
// one shows it. One query that a cell's database did not answer makes the host seem empty, and the next one is answered again.
func twice[T core.Object](ctx context.Context, e *Engine, host string,
	ask func(ctx context.Context, host string) ([]T, error)) ([]T, error) {
	before, err := ask(ctx, host)
	if err != nil {
		return nil, err
	}
	if err := e.cellAnswers(ctx, host); err != nil {
		return nil, err
	}
	found, err := ask(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, one := range before {
		if !slices.ContainsFunc(found, func(other T) bool { return other.Key() == one.Key() }) {
			found = append(found, one)
		}
	}
	return found, nil
}

// cellAnswers asks Nova for the host's nova-compute, if the host has one. Nova silently leaves a cell out of its lists when the cell's
// database does not answer. The host then seems empty; its nova-compute is missing too, because it is in the same database.
func (e *Engine) cellAnswers(ctx context.Context, host string) error {
	s := e.Snapshot()
	if s.Services[host] == nil {
		return nil
	}
	_, err := e.cfg.OpenStack.ComputeService(ctx, host)
	if err != nil && isGone(err) {
		return refuse("Nova shows nothing of %s any more, not even its nova-compute: the database of its cell may not answer",
			progress.HostLabel(s, host))
	}
	return err
}

// nothingComes asks Nova whether a migration is under way from or to the node's host: until it ends, Nova lists the instance on its
// source. As in a Snapshot, only an instance's newest record counts. What Nova has shown as under way counts until a newer record is seen.
func (e *Engine) nothingComes(ctx context.Context, node string) error {
	s, nova := e.Snapshot(), e.cfg.OpenStack
	host := s.HostOf(node)
	records, err := twice(ctx, e, host, nova.MigrationsOn)
	if err != nil {
		return err
	}
	var names []string
	for _, m := range records {
		if !m.Touches(host) {
			continue
		}
		in, err := nova.Instance(ctx, m.InstanceID)
		switch {
		case err != nil && isGone(err):
			continue
		case err != nil:
			return err
		}
		own, err := nova.MigrationsOf(ctx, m.InstanceID)
		if err != nil {
			return err
		}
		followed := len(own) > 0 && own[0].ID != m.ID && !own[0].Created.Before(m.Created)
		if !followed && !(m.SourceHost == host && progress.LeftRunning(s, in)) {
			names = append(names, progress.InstanceLabel(in)+" ("+m.Status+")")
		}
	}
	if len(names) > 0 {
		return refuse("Nova shows migrations from or to %s: %s", s.Label(node), wording.Clip(strings.Join(names, ", "), 300))
	}
	return nil
}
