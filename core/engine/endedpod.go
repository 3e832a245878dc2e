package engine

import (
	"context"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// deletionPatience is how long a pod that has ended may take to go: nothing in it has to end first.
const deletionPatience = 5 * time.Minute

// endedPodChecker checks the deletion of a pod that has ended.
type endedPodChecker struct {
	e      *Engine
	change core.DeletePod

	gone time.Time // wall time since when the server has shown it gone
}

func checkDeletePod(e *Engine, _ core.Step, c core.DeletePod) checker {
	return &endedPodChecker{e: e, change: c}
}

func (w *endedPodChecker) check(ctx context.Context) error {
	now, err := w.e.cfg.Kubernetes.Pod(ctx, w.change.Pod.Namespace, w.change.Pod.Name)
	switch {
	case err != nil:
		return err
	case now == nil:
		return refuse("pod %s is gone", w.change.Pod.Name)
	case now.UID != w.change.Pod.UID:
		return refuse("pod %s is another one now, of the same name", w.change.Pod.Name)
	case !now.Over():
		return refuse("pod %s has not ended: it is %s", w.change.Pod.Name, wording.TextOf(wording.OneLine(now.Phase, 20), "in no phase"))
	case !now.Deleting.IsZero():
		return refuse("pod %s is being deleted already", w.change.Pod.Name)
	}
	return nil
}

// outcome waits until the pod is gone, and then for a moment until the Snapshots show it.
func (w *endedPodChecker) outcome(ctx context.Context, of sent) outcome {
	now, err := w.e.cfg.Kubernetes.Pod(ctx, w.change.Pod.Namespace, w.change.Pod.Name)
	switch {
	case err != nil:
		return outcome{err: err}
	case now != nil && now.UID == w.change.Pod.UID && now.Deleting.IsZero():
		return outcome{state: core.OperationVerifying, text: "it is still there"}
	case now != nil && now.UID == w.change.Pod.UID:
		return outcome{state: core.OperationVerifying, text: "it is being deleted, and still there",
			moving: w.e.cfg.Clock().Sub(of.began) < deletionPatience}
	}
	if w.gone.IsZero() {
		w.gone = w.e.cfg.Wall()
	}
	for _, e := range progress.EndedPodsOn(w.e.Snapshot(), w.change.Node) {
		if e.UID == w.change.Pod.UID && w.e.cfg.Wall().Sub(w.gone) < shownWithin {
			return outcome{state: core.OperationVerifying, moving: true, text: "it is gone"}
		}
	}
	return outcome{state: core.OperationDone, text: "it is gone" + wording.TextIf(now != nil, "; another one of its name is there", "")}
}

func (w *endedPodChecker) values() (string, string) { return "there", "deleted" }

func deletionText(c core.DeletePod) string { return "delete pod " + c.Pod.Name }

// podIsGone says that the pod is not on its node any more.
func podIsGone(s *core.Snapshot, c core.DeletePod) string {
	seen := s.Pods[c.Node] != nil && s.Known(core.SourceNodePods)
	if seen && !slices.ContainsFunc(progress.EndedPodsOn(s, c.Node), func(e core.EndedPod) bool { return e.UID == c.Pod.UID }) {
		return "it is gone already"
	}
	return ""
}
