package progress

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// EndedPodText is the pod's state and its time: "Failed (Evicted), since 03:12".
func EndedPodText(s *core.Snapshot, e *core.EndedPod) string {
	text := wording.OneLine(wording.TextOf(e.Phase, "no phase"), 20) + wording.InBrackets(wording.OneLine(e.Reason, 40))
	switch {
	case e.Since.At.IsZero():
	case e.Since.Exact:
		text += ", since " + DayText(s, e.Since.At)
	default:
		text += ", begun at " + DayText(s, e.Since.At)
	}
	if !e.Deleting.IsZero() {
		text += ", being deleted since " + DayText(s, e.Deleting)
	}
	return text
}

// DayText is a time, with its day unless that is today or last night.
func DayText(s *core.Snapshot, at time.Time) string {
	if s.NearNow(at) {
		return wording.ClockText(at)
	}
	return at.Local().Format("2006-01-02 15:04")
}

// EndedPodsOn are the ended pods that the node's return waits for, by name.
func EndedPodsOn(s *core.Snapshot, node string) []core.EndedPod {
	pods := s.Pods[node]
	if pods == nil || !s.Known(core.SourceNodePods) {
		return nil
	}
	return pods.Ended
}

// EndedPodsText names ended pods, each with its state.
func EndedPodsText(s *core.Snapshot, pods []core.EndedPod, most int) string {
	names := make([]string, len(pods))
	for i := range pods {
		names[i] = wording.OneLine(pods[i].FullName(), 100) + " (" + EndedPodText(s, &pods[i]) + ")"
	}
	return wording.Some(names, most)
}

// HeldByEndedPods are the ended pods if nothing else holds the node's return: the node and all other OpenStack pods on it are
// Ready.
func HeldByEndedPods(s *core.Snapshot, node string) []core.EndedPod {
	n, pods := s.Nodes[node], s.Pods[node]
	ended := EndedPodsOn(s, node)
	if n == nil || n.Ready != "True" || len(ended) == 0 {
		return nil
	}
	for _, name := range pods.NotReady {
		if !slices.ContainsFunc(ended, func(e core.EndedPod) bool { return e.PodName() == name }) {
			return nil
		}
	}
	return slices.DeleteFunc(slices.Clone(ended), func(e core.EndedPod) bool { return !e.Deleting.IsZero() })
}

// EndedNames are the pods' names.
func EndedNames(pods []core.EndedPod) []core.PodName {
	names := make([]core.PodName, len(pods))
	for i := range pods {
		names[i] = pods[i].PodName()
	}
	return names
}

// ComesBack tells whether the node is on its way back: the OpenStack controller takes it back, or Lockstep has to when it plays
// it.
func ComesBack(s *core.Snapshot, v *core.NodeView) bool {
	return v.Stage == core.StageReturning || ReturnsOurs(s, v.Name)
}

// PodNames are the pods' names with their namespaces.
func PodNames(pods []core.PodName) []string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = p.String()
	}
	return out
}
