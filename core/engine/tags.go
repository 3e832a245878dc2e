package engine

import (
	"context"
	"slices"

	"lockstep/core"
	"lockstep/core/step"
)

// tagChecker checks a change of the maintenance_action tags of an instance. It reads all tags right before the write, which sets all of
// them in one call: so nothing is lost between a removal and an addition, and nobody sees half of it.
type tagChecker struct {
	nova   OpenStackChecker
	change core.SetMaintenanceTags

	all []string // the tags to write
}

func checkTags(e *Engine, _ core.Step, c core.SetMaintenanceTags) checker {
	return &tagChecker{nova: e.cfg.OpenStack, change: c}
}

// withAllTags adds to the change all tags that the instance will have.
func withAllTags(c core.SetMaintenanceTags, by checker) core.SetMaintenanceTags {
	c.All = by.(*tagChecker).all
	return c
}

func (w *tagChecker) check(ctx context.Context) error {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return err
	}
	switch found := core.RecognisedTags(in.Tags); {
	case !in.TagsKnown:
		return refuse("the cloud does not show the tags of %s", in.Name)
	case !step.SameActions(found, w.change.Old):
		return refuse("the maintenance tags of %s have changed: it is %s now", in.Name, step.ActionWords(found))
	case !slices.Contains(step.TagStatuses, in.Status):
		return refuse("%s is %s now: Nova lets no tag of it change", in.Name, in.Status)
	}
	w.all = step.WithActions(in.Tags, w.change.New)
	return nil
}

func (w *tagChecker) outcome(ctx context.Context, _ sent) outcome {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return outcome{err: err}
	}
	found := core.RecognisedTags(in.Tags)
	if step.SameActions(found, w.change.New) {
		return outcome{state: core.OperationDone, text: "it is " + step.ActionWords(found)}
	}
	return outcome{state: core.OperationVerifying, text: "it is " + step.ActionWords(found)}
}

func (w *tagChecker) values() (string, string) {
	return step.ActionWords(w.change.Old), step.ActionWords(w.change.New)
}
