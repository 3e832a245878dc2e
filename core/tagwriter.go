package core

import (
	"context"
	"slices"
	"time"
)

// tagWriter replaces the maintenance_action tags of an instance. It reads all tags right before it writes, and writes them
// in one call: between a removal and an addition nothing can be lost, and nobody sees half of it.
type tagWriter struct {
	nova   OpenStackWriter
	change SetMaintenanceTags

	tags []string // what is written
}

func (w *tagWriter) check(ctx context.Context) error {
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
	w.tags = withActions(in.Tags, w.change.New)
	return nil
}

func (w *tagWriter) write(ctx context.Context) error {
	return w.nova.SetTags(ctx, w.change.Instance.UID, w.tags)
}

func (w *tagWriter) outcome(ctx context.Context, _ time.Time) outcome {
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

func (w *tagWriter) values() (string, string) {
	return actionWords(w.change.Old), actionWords(w.change.New)
}
