package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// restartPatience is how long a new pod may take to be ready, and its agents to report. The documents give the L3 agent 10 to 15
// minutes (docs/mosk.md#maintenance-window).
const restartPatience = 20 * time.Minute

// shownWithin is how long a write that is done waits for the Snapshots to show it: the next one is judged by them.
const shownWithin = 10 * time.Second

// podChecker checks the restart of one pod.
type podChecker struct {
	e      *Engine
	change core.RestartPod

	ready time.Time // wall time since when the server has shown the new pod ready
}

func checkRestartPod(e *Engine, _ core.Step, c core.RestartPod) checker {
	return &podChecker{e: e, change: c}
}

func (w *podChecker) check(ctx context.Context) error {
	pods, err := w.e.cfg.Kubernetes.DaemonPods(ctx, w.change.Set, w.change.Selector)
	if err != nil {
		return err
	}
	found := false
	var bad []string
	for _, p := range pods {
		switch {
		case p.UID == w.change.Pod.UID:
			found = p.Deleting.IsZero()
		case w.change.OneAtATime && (!p.Ready || !p.Deleting.IsZero()):
			bad = append(bad, wording.OneLine(w.e.Snapshot().Label(p.Node), 64)+" ("+step.ReadyText(p)+")")
		}
	}
	if v, ok := progress.DaemonView(w.e.Snapshot(), w.change.Set.UID); ok && w.change.OneAtATime && len(pods) < v.Set.Desired {
		return refuse("%d of %d pods of %s are there", len(pods), v.Set.Desired, w.change.Set.Name)
	}
	switch {
	case !found:
		return refuse("pod %s is gone or being deleted", w.change.Pod.Name)
	case len(bad) > 0:
		return refuse("another pod of %s is not ready: %s", w.change.Set.Name, wording.Some(bad, 4))
	}
	return nil
}

// outcome waits for the new pod, and then for the agents that run in it.
func (w *podChecker) outcome(ctx context.Context, of sent) outcome {
	pods, err := w.e.cfg.Kubernetes.DaemonPods(ctx, w.change.Set, w.change.Selector)
	if err != nil {
		return outcome{err: err}
	}
	var old, made *core.DaemonPod
	for _, p := range pods {
		switch {
		case p.UID == w.change.Pod.UID:
			old = p
		case p.Node == w.change.Node && (made == nil || p.Created.After(made.Created)):
			made = p
		}
	}
	patient := w.e.cfg.Clock().Sub(of.began) < restartPatience
	waits := func(format string, args ...any) outcome {
		return outcome{state: core.OperationVerifying, moving: patient, text: fmt.Sprintf(format, args...)}
	}
	switch {
	case old != nil && old.Deleting.IsZero():
		return outcome{state: core.OperationVerifying, text: "the old pod is still there"}
	case old != nil:
		return waits("the old pod ends")
	case made == nil:
		return waits("the old pod is gone; no new one is there yet")
	case w.change.Revision != "" && made.Hash != "" && made.Hash != w.change.Revision:
		return outcome{state: core.OperationFailed,
			text: fmt.Sprintf("the new pod runs %s, not %s: the DaemonSet has changed meanwhile", wording.OneLine(made.Hash, 20),
				wording.OneLine(w.change.Revision, 20))}
	case !made.Ready || !made.Deleting.IsZero():
		return waits("the new pod %s is %s", wording.OneLine(made.Name, 64), step.ReadyText(made))
	}
	if silent := w.silent(made.Created); silent != "" {
		return waits("the new pod is ready; %s yet", silent)
	}
	if w.ready.IsZero() {
		w.ready = w.e.cfg.Wall()
	}
	if !w.shown(made) && w.e.cfg.Wall().Sub(w.ready) < shownWithin {
		return outcome{state: core.OperationVerifying, moving: true, text: "the new pod is ready"}
	}
	return outcome{state: core.OperationDone,
		text: wording.OneLine(made.Name, 64) + " is ready, " + step.RevisionText(made.Hash, made.Template)}
}

// shown tells whether the Snapshots show the new pod ready: the next restart is judged by them.
func (w *podChecker) shown(made *core.DaemonPod) bool {
	for _, p := range w.e.Snapshot().DaemonPods[w.change.Set.UID] {
		if p.UID == made.UID {
			return p.Ready
		}
	}
	return false
}

// heardBefore tells whether a service or an agent reported last before a moment; not where nobody knows when it did.
func heardBefore(s *core.Snapshot, r core.Reporter, at time.Time) bool {
	last := s.LastHeard(r)
	return !last.IsZero() && last.Before(at)
}

// silent says which of the agents in the new pod have not reported since it was created; empty when all have, or when Nova or Neutron
// is not live.
func (w *podChecker) silent(since time.Time) string {
	s := w.e.Snapshot()
	v, ok := progress.DaemonView(s, w.change.Set.UID)
	if ok && v.Set.IsNovaCompute() && s.Sources[core.SourceComputeServices].State == core.SourceLive {
		if progress.Serviceless(s, w.change.Node) {
			return "Nova does not show nova-compute"
		}
		if svc := s.Services[s.HostOf(w.change.Node)]; svc != nil && !svc.ForcedDown &&
			(!svc.Up || heardBefore(s, svc, since)) {
			return "Nova does not hear from nova-compute"
		}
		return ""
	}
	if !ok || s.Sources[core.SourceNetworkAgents].State != core.SourceLive {
		return ""
	}
	var names []string
	for _, a := range progress.AgentsTouched(s, v.Set, w.change.Node) {
		if !a.Alive || heardBefore(s, a, since) {
			names = append(names, wording.OneLine(a.Type, 40))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Neutron does not hear from " + strings.Join(names, ", ")
}

func (w *podChecker) values() (string, string) {
	return w.change.Pod.Name, "a new pod of " + w.change.Set.Name + ", " + step.RevisionText(w.change.Revision, 0)
}

func restartText(c core.RestartPod) string { return "restart pod " + c.Pod.Name + " on " + c.Node }

// podIsNew says that a pod of the newest revision is ready in its place.
func podIsNew(s *core.Snapshot, c core.RestartPod) string {
	v, ok := progress.DaemonView(s, c.Set.UID)
	if !ok {
		return ""
	}
	if p := v.On(c.Node); p != nil && p.UID != c.Pod.UID && p.Ready {
		if old, known := v.IsOld(p); known && !old {
			return "a new pod is there already"
		}
	}
	return ""
}
