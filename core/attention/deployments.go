package attention

import (
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// deployments is a cluster that has not exactly one OpenStackDeployment, which the OpenStack controller takes for none
// (docs/mosk.md#node-request): the lock of every node then goes at once, with its instances on it. Who may not see the deployments
// sees two by their statuses; of none, the statuses say nothing.
func (f *attentionFacts) deployments() {
	var names []string
	uid := ""
	switch {
	case f.s.Known(core.SourceOpenStackDeployment):
		for _, d := range f.s.Deployments {
			names = append(names, wording.OneLine(d.Name, 60))
			uid = wording.TextOf(uid, d.UID)
		}
		if len(names) == 0 && !anyInstance(f.s) {
			return // OpenStack is not there yet, or not any more
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
			wording.TextIf(len(names) > 3, ", …", "") + "): the OpenStack controller takes that for none"
	}
	a := core.Attention{Rule: core.RuleDeployments, Severity: core.SeverityWarning, Label: core.ControllerOpenStack,
		Resolve: clusterProcedure(),
		Subject: core.Ref{Kind: core.KindOpenStackDeployment, Namespace: core.NamespaceOpenStack, UID: uid},
		Reason:  reason + ", and lets go of every node at once",
		Detail: "The OpenStack controller works for exactly one. Otherwise it makes the lock of a node inactive as soon as the node's " +
			"maintenance is asked for: " +
			"it moves no instance, asks no service, and LCM goes on. The lock of the cluster it leaves as it is. " +
			"Look at them (kubectl -n " + core.NamespaceOpenStack + " get openstackdeployments) before the next node is asked for. " +
			"Who deletes one deletes what it has deployed: first find out which one OpenStack is."}
	if _, played := progress.ActAs(f.s, core.ControllerOpenStack); !played && !progress.OpenStackDown(f.s) && f.nodesAreAsked() {
		a.Severity = core.SeverityUrgent
	}
	f.add(a)
}

// seenDeployments are the OpenStackDeployments that are seen, or their statuses.
func seenDeployments(f *attentionFacts, _ core.Attention) []core.Evidence {
	says := "none in the namespace " + core.NamespaceOpenStack
	var seen []string
	for _, d := range f.s.Deployments {
		seen = append(seen, wording.OneLine(d.Name, 60)+" "+madeText(d.Created))
	}
	of := "OpenStackDeployments"
	if len(seen) == 0 {
		for _, o := range f.s.OpenStack {
			seen = append(seen, wording.OneLine(o.Name, 60)+" "+madeText(o.Created))
		}
		if len(seen) > 0 {
			of = "their statuses"
		}
	}
	if len(seen) > 0 {
		says = wording.Some(seen, 6)
	}
	return seenOne(of, says)
}

// madeText says how old an object is: of two the older one is OpenStack, as a rule.
func madeText(created time.Time) string {
	if created.IsZero() {
		return "(its age is not known)"
	}
	return "(made " + created.Local().Format("2006-01-02 15:04") + ")"
}

func atDeployments(*attentionFacts, core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("how many there are", progress.KubectlOpenStack("get", "openstackdeployments", "-o", "wide")),
		procedure.ToLook("their statuses", progress.KubectlOpenStack("get", "osdplst"))}
}

// anyInstance tells whether the cloud is known to have instances.
func anyInstance(s *core.Snapshot) bool { return s.Known(core.SourceInstances) && len(s.Instances) > 0 }

// nodesAreAsked tells whether maintenance of the cluster or of a node is asked for.
func (f *attentionFacts) nodesAreAsked() bool {
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
