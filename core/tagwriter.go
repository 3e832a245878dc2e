package core

import (
	"context"
	"slices"
)

// tagChecker asks about the maintenance_action tags of an instance. It reads all tags right before the write, which writes them in one
// call: between a removal and an addition nothing can be lost, and nobody sees half of it.
type tagChecker struct {
	nova   OpenStackChecker
	change SetMaintenanceTags

	all []string // the tags that are written
}

func checkTags(e *Engine, _ Step, c SetMaintenanceTags) checker {
	return &tagChecker{nova: e.cfg.OpenStack, change: c}
}

// withAllTags is the change with all tags that the instance has afterwards.
func withAllTags(c SetMaintenanceTags, by checker) SetMaintenanceTags {
	c.All = by.(*tagChecker).all
	return c
}

func (w *tagChecker) check(ctx context.Context) error {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return err
	}
	switch found := recognisedTags(in.Tags); {
	case !in.TagsKnown:
		return refuse("the cloud does not show the tags of %s", in.Name)
	case !sameActions(found, w.change.Old):
		return refuse("the maintenance tags of %s have changed: it is %s now", in.Name, actionWords(found))
	case !slices.Contains(tagStatuses, in.Status):
		return refuse("%s is %s now: Nova lets no tag of it change", in.Name, in.Status)
	}
	w.all = withActions(in.Tags, w.change.New)
	return nil
}

func (w *tagChecker) outcome(ctx context.Context, _ sent) outcome {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return outcome{err: err}
	}
	found := recognisedTags(in.Tags)
	if sameActions(found, w.change.New) {
		return outcome{state: OperationDone, text: "it is " + actionWords(found)}
	}
	return outcome{state: OperationVerifying, text: "it is " + actionWords(found)}
}

func (w *tagChecker) values() (string, string) {
	return actionWords(w.change.Old), actionWords(w.change.New)
}
