package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
)

// quorumAhead adds, before the node's turn or its removal, a step for each StatefulSet that would lose its quorum without the node now.
func (b *nodeSteps) quorumAhead() {
	s, node := b.s, b.v.Name
	leaves := s.Deletions[node] != nil && b.v.Request == nil
	if !b.held() || !leaves && s.ClusterRequest() == nil && !progress.QuorumMatters(s, node) {
		return
	}
	title := " before the node's turn"
	if leaves {
		title = " before the node leaves"
	}
	for _, q := range progress.QuorumSets {
		v, there := progress.Quorum(s, q)
		if !q.AskedFirst() || !there || progress.QuorumUnknown(s, q) != "" {
			continue
		}
		why := ""
		switch held := v.Holds(node); {
		case held == progress.QuorumFree:
			continue
		case progress.PlaysOn(s, core.ControllerOpenStack, node):
			if !progress.QuorumMatters(s, node) {
				continue
			}
			why = "Lockstep, in the OpenStack controller's place, does not begin the node until then."
		case held == progress.QuorumOthersDown && progress.QuorumMatters(s, node):
			// rockoon/kube.py compares only pods that are ready, and finds them all ready.
			why = "The OpenStack controller should hold the node until then, but versions of it only count the pods: then the quorum goes with " +
				"the node."
		case leaves: // a retry of the handler, which leaves no text on the lock
			why = "The OpenStack controller keeps the node until then, and its lock does not say so."
		default:
			why = "The OpenStack controller defers the node until then."
		}
		st := b.other("quorum-"+q.Name, "mend "+q.Name+title, why, core.StepWaiting, progress.QuorumText(s, v, node))
		st.Commands = q.Look()
		b.add(st)
	}
}
