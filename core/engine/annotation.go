package engine

import (
	"context"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// annotationChecker asks about a node's annotation.
type annotationChecker struct {
	e      *Engine
	step   core.Step
	change core.SetNodeAnnotation
}

func checkAnnotation(e *Engine, step core.Step, c core.SetNodeAnnotation) checker {
	return &annotationChecker{e: e, step: step, change: c}
}

func (w *annotationChecker) check(ctx context.Context) error {
	if w.step.Intent.Kind == core.IntentDeclareSafe {
		return w.e.hostIsSafe(ctx, w.change.Node.Name)
	}
	return nil
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
