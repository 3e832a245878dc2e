package engine

import (
	"context"
	"slices"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// annotationChecker checks a change of a node's annotation.
type annotationChecker struct {
	e      *Engine
	step   core.Step
	change core.SetNodeAnnotation
}

func checkAnnotation(e *Engine, step core.Step, c core.SetNodeAnnotation) checker {
	return &annotationChecker{e: e, step: step, change: c}
}

func (w *annotationChecker) check(ctx context.Context) error {
	switch {
	case w.step.Intent.Kind == core.IntentDeclareSafe:
		return w.e.hostIsSafe(ctx, w.change.Node.Name)
	case step.IsSkip(w.change.Key, w.change.New):
		return w.mayGoDown(ctx)
	}
	return nil
}

// mayGoDown asks whether the node may go down with its instances at once: that is what skip means while LCM asks for it. Then no migration
// may be under way there, which the last records may not show yet.
func (w *annotationChecker) mayGoDown(ctx context.Context) error {
	e, node := w.e, w.change.Node.Name
	if e.cfg.OpenStack == nil || e.Snapshot().Services[e.Snapshot().HostOf(node)] == nil {
		return nil
	}
	requests, err := e.cfg.Kubernetes.Requests(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(requests, func(r *core.MaintenanceRequest) bool { return r.Node == node && r.Deleting.IsZero() }) {
		return nil
	}
	return e.nothingComes(ctx, node)
}

func (w *annotationChecker) outcome(ctx context.Context, _ sent) outcome {
	v, err := w.e.cfg.Kubernetes.NodeAnnotation(ctx, w.change.Node, w.change.Key)
	if err != nil {
		return outcome{err: err}
	}
	if step.EqualText(v, w.change.New) {
		return outcome{state: core.OperationDone, text: "the node shows " + step.AnnotationText(w.change.Key, v)}
	}
	return outcome{state: core.OperationVerifying, text: "the node shows " + step.AnnotationText(w.change.Key, v)}
}

func (w *annotationChecker) values() (string, string) {
	return wording.TextOr(w.change.Old, "(not set)"), wording.TextOr(w.change.New, "(not set)")
}

func annotationText(c core.SetNodeAnnotation) string {
	return step.AnnotationText(c.Key, c.New) + " instead of " + wording.TextOr(c.Old, "(not set)")
}

// annotationIsSet says that the node has the value already, or does not exist any more.
func annotationIsSet(s *core.Snapshot, c core.SetNodeAnnotation) string {
	n := s.Nodes[c.Node.Name]
	if n == nil || n.UID != c.Node.UID {
		return "the node does not exist any more"
	}
	v, set := n.Annotations[c.Key]
	if set && c.New != nil && v == *c.New || !set && c.New == nil {
		return "it is set already"
	}
	return ""
}
