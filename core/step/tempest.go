package step

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// The service by which Tempest is asked for, and the Job that runs it (Rockoon's docs/ops/openstack/tempest.md).
const (
	ServiceTempest = "tempest"
	jobTempest     = "openstack-tempest-run-tests"
)

// tempest plans that the OpenStackDeployment asks for Tempest, or no longer does. A second run needs both, one after the other: the
// OpenStack controller makes the Job when the service is added (Rockoon's docs/ops/openstack/tempest.md).
func (p *planner) tempest() {
	s, add := p.s, p.i.Kind == core.IntentAddTempest
	p.step.Title, p.step.Label, p.step.Risk = "start a run of Tempest", ServiceTempest, core.RiskMedium
	p.step.Why = "Tempest tests the cloud's APIs from end to end: it makes instances, networks and volumes of its own, and removes them."
	p.step.Then = "The OpenStack controller deploys Tempest and makes the Job " + jobTempest +
		"; how that goes is shown in the steps after the update."
	p.step.Undo = "remove it again"
	if !add {
		p.step.Title = "remove Tempest"
		p.step.Why = "Once the run is over Tempest is of no use; a new run needs it to be removed and added again."
		p.step.Then = "The OpenStack controller removes Tempest with its Job. The results stay in the volume pvc-tempest."
		p.step.Undo = "add it again: that is a new run"
	}
	sources := []core.SourceID{core.SourceClusterRequests, core.SourceOpenStackStatus, core.SourceOpenStackDeployment, core.SourceTempestJob}
	busy := func(op core.Operation) bool { return op.Is(core.IntentAddTempest) || op.Is(core.IntentRemoveTempest) }
	p.common(sources, busy)
	if len(s.Deployments) != 1 || !s.Known(core.SourceOpenStackDeployment) {
		p.identify(core.Ref{Kind: core.KindOpenStackDeployment, Namespace: core.NamespaceOpenStack})
		answer := wording.Count(len(s.Deployments), "OpenStackDeployment")
		if !s.Known(core.SourceOpenStackDeployment) {
			answer = "not known: " + s.WhyUnknown(core.SourceOpenStackDeployment)
		}
		p.unknown("the cluster has one OpenStackDeployment", answer)
		return
	}
	d := s.Deployments[0]
	p.identify(d.Ref())
	p.guard(guardExists("the OpenStackDeployment", d.Ref()))
	quiet := core.Guard{ID: core.GuardNoUpdate, Text: "no update runs",
		Holds: s.ClusterRequest() == nil && s.Known(core.SourceClusterRequests), Answer: "none does", Remedy: "wait until it is over"}
	if !quiet.Holds {
		quiet.Answer = "one runs, or that is not known"
	}
	p.guard(quiet)
	p.guard(guardNothingToApply(s))
	p.fact("uid", d.UID)
	p.fact("services", strings.Join(d.Services, " "))
	at := slices.Index(d.Services, ServiceTempest)
	p.guard(core.Guard{ID: core.GuardDiffers, Text: wording.TextIf(add, "Tempest is not asked for yet", "Tempest is asked for"),
		Holds: (at < 0) == add, Answer: wording.TextIf(at < 0, "it is not", "it is"),
		Remedy: wording.TextIf(add, "remove it first: that, and adding it again, is a new run", "")})
	switch {
	case add && at >= 0:
		p.done = "the OpenStackDeployment asks for it"
		return
	case !add && at < 0:
		p.done = "the OpenStackDeployment does not ask for it"
		return
	}
	p.step.Change = core.SetTempest{Deployment: d.Ref(), Add: add, Services: slices.Clone(d.Services)}
	p.step.Commands = []string{tempestCommand(d, add, at)}
}

// tempestCommand makes the change by hand, with a JSON patch that tests what it changes.
func tempestCommand(d *core.OpenStackDeployment, add bool, at int) string {
	patch := `[{"op":"add","path":"/spec/features/services/-","value":"tempest"}]`
	switch {
	case !add:
		path := "/spec/features/services/" + wording.Itoa(at)
		patch = `[{"op":"test","path":"` + path + `","value":"tempest"},{"op":"remove","path":"` + path + `"}]`
	case len(d.Services) == 0:
		patch = `[{"op":"add","path":"/spec/features/services","value":["tempest"]}]`
	}
	return wording.ShellCommand("kubectl", "-n", d.Namespace, "patch", "openstackdeployments.lcm.mirantis.com", d.Name, "--type=json", "-p",
		patch)
}

// TempestStep shows the run of Tempest; nobody confirms it.
func TempestStep(s *core.Snapshot) core.Step {
	j := s.TempestJob
	st := core.Step{ID: "after/tempest-run", Target: core.Ref{Kind: core.KindJob, Namespace: core.NamespaceOpenStack, Name: jobTempest},
		Label: ServiceTempest,
		Title: "Tempest runs through", Why: "The Job " + jobTempest +
			" runs the tests once. Its results are in the volume pvc-tempest, under /var/lib/tempest/data.",
		Commands: []string{wording.ShellCommand("kubectl", "-n", core.NamespaceOpenStack, "get", "job", jobTempest),
			wording.ShellCommand("kubectl", "-n", core.NamespaceOpenStack, "logs", "-l", "application=tempest,component=run-tests", "--tail=-1")}}
	switch {
	case !s.Known(core.SourceTempestJob):
		st.State, st.Status = core.StepWaiting, "not known: "+s.WhyUnknown(core.SourceTempestJob)
	case j == nil && TempestAsked(s):
		st.State, st.Status = core.StepWaiting, "the OpenStack controller is to make the Job"+wording.Dashed(tempestState(s))
	case j == nil:
		st.State, st.Status = core.StepLater, "no run"
	case TempestIsOld(s):
		st.State, st.Status = core.StepLater, "the last run, "+string(j.State)+", was before the end of the update"
	case !j.Deleting.IsZero():
		st.State, st.Status = core.StepWaiting, "the Job is being removed"
	case j.State == core.JobComplete:
		st.State, st.Status = core.StepDone, "passed at "+wording.ClockText(j.Completed)+tookText(j.Started, j.Completed)
	case j.State == core.JobFailed:
		st.State, st.Status = core.StepFailed, "the tests failed"+wording.Because(wording.OneLine(j.Message, wording.MostRead))+
			"; the logs say which"
	default:
		st.State, st.Status = core.StepWaiting, fmt.Sprintf("runs%s, %s", sinceSpan(j.Started, s.Now), wording.Count(j.Active, "pod"))
		if j.Failed > 0 {
			st.Status += ", " + wording.Itoa(j.Failed) + " failed"
		}
	}
	return st
}

// TempestIsOld tells whether the last run was before the end of the update.
func TempestIsOld(s *core.Snapshot) bool {
	return s.TempestJob != nil && s.TempestJob.Created.Before(s.History.Update.Ended)
}

// TempestAsked tells whether Tempest is among the services of the OpenStackDeployment, or of its status when that is not known.
func TempestAsked(s *core.Snapshot) bool {
	for _, d := range s.Deployments {
		if slices.Contains(d.Services, ServiceTempest) {
			return true
		}
	}
	return len(s.Deployments) == 0 && tempestState(s) != ""
}

// tempestState is the service's state as the OpenStack controller shows it: "APPLYING"; empty when there is none.
func tempestState(s *core.Snapshot) string {
	for _, o := range s.OpenStack {
		for _, svc := range o.Services {
			if svc.Name == ServiceTempest {
				return wording.OneLine(svc.State, 40)
			}
		}
	}
	return ""
}

func sinceSpan(from, now time.Time) string {
	if from.IsZero() {
		return ""
	}
	return " for " + wording.SpanText(now.Sub(from))
}

func tookText(from, to time.Time) string {
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return ", took " + wording.SpanText(to.Sub(from))
}
