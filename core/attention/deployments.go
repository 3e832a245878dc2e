package attention

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// deployments finds a cluster that does not have exactly one OpenStackDeployment, which the OpenStack controller treats as having none
// (docs/mosk.md#node-request): it then releases every node at once, with the instances on it. A login that may not read the deployments
// sees two of them by their statuses; that there is none, the statuses do not show.
func (f *facts) deployments() {
	var names []string
	uid := ""
	switch {
	case f.s.Known(core.SourceOpenStackDeployment):
		for _, d := range f.s.Deployments {
			names = append(names, wording.OneLine(d.Name, 60))
			uid = wording.TextOf(uid, d.UID)
		}
		if len(names) == 0 && !anyInstance(f.s) {
			return // OpenStack is not deployed yet, or not any more
		}
	case f.s.Known(core.SourceOpenStackStatus) && len(f.s.OpenStack) > 0:
		for _, o := range f.s.OpenStack {
			names = append(names, wording.OneLine(o.Name, 60))
			uid = wording.TextOf(uid, o.UID)
		}
	default:
		return
	}
	if len(names) == 1 {
		return
	}
	reason := "there is no OpenStackDeployment: the OpenStack controller has nothing to guard"
	if len(names) > 1 {
		reason = wording.Count(len(names), "OpenStackDeployment") + " (" + strings.Join(names[:min(len(names), 3)], ", ") +
			wording.TextIf(len(names) > 3, ", …", "") + "): the OpenStack controller treats that as none"
	}
	a := core.Attention{Rule: core.RuleDeployments, Severity: core.SeverityWarning, Label: core.ControllerOpenStack,
		Resolve: clusterProcedure(),
		Subject: core.Ref{Kind: core.KindOpenStackDeployment, Namespace: core.NamespaceOpenStack, UID: uid},
		Reason:  reason + ", and releases every node at once",
		Detail: "The OpenStack controller works for exactly one. Otherwise it makes the lock of a node inactive as soon as the node's " +
			"maintenance is asked for: it moves no instance, asks no service, and LCM goes on. It leaves the cluster lock as it is. Look at them " +
			"(kubectl -n " + core.NamespaceOpenStack + " get openstackdeployments) before maintenance of the next node is requested. Deleting one " +
			"deletes what it has deployed: first find out which one is OpenStack."}
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); !played && !progress.OpenStackDown(f.s) && f.nodesAreAsked() {
		a.Severity = core.SeverityUrgent
	}
	f.add(a)
}

// anyInstance tells whether the cloud has instances, as far as they are known.
func anyInstance(s *core.Snapshot) bool {
	return s.Known(core.SourceInstances) && s.Instances.Len() > 0
}

// nodesAreAsked tells whether there is a maintenance request for the cluster or a node.
func (f *facts) nodesAreAsked() bool {
	if f.request != nil && f.request.Deleting.IsZero() {
		return true
	}
	for _, requests := range f.s.NodeRequests {
		for _, r := range requests {
			if r.Deleting.IsZero() {
				return true
			}
		}
	}
	return false
}
