package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// OpenStackDeployment is what Lockstep keeps of an OpenStackDeployment: the services that it asks for, and where Nova keeps
// instances' disks. The rest of its spec can hold what is secret.
type OpenStackDeployment struct {
	Meta
	Services []string // spec.features.services, in their order
	Network  string   // spec.features.neutron.backend: ml2/ovn, ml2, tungstenfabric; empty where it is not set
	Disks    string   // spec.features.nova.images.backend: ceph, lvm, qcow2, raw, local (qcow2 by its older name); empty where it is not set
	// NodeDisks are the same of nodes of their own, spec.nodes.<label>::<value>.features.nova.images.backend: by that key.
	NodeDisks map[string]string
}

// Ref names the OpenStackDeployment.
func (d *OpenStackDeployment) Ref() Ref {
	return Ref{Kind: KindOpenStackDeployment, Namespace: d.Namespace, Name: d.Name, UID: d.UID}
}

// Job is what Lockstep keeps of a Job (batch/v1).
type Job struct {
	Meta
	Active    int // pods that run
	Succeeded int
	Failed    int       // pods that failed
	Started   time.Time // zero while it waits
	Completed time.Time // of one that succeeded
	State     JobState
	Message   string // of a failure
}

// JobState is how a Job goes, by its conditions.
type JobState string

// The states of a Job.
const (
	JobRunning  JobState = "running"
	JobComplete JobState = "complete"
	JobFailed   JobState = "failed"
)

// Where Tempest is asked for, and what runs it (Rockoon's docs/ops/openstack/tempest.md).
const (
	serviceTempest = "tempest"
	jobTempest     = "openstack-tempest-run-tests"
)

func (c SetTempest) text() string {
	if c.Add {
		return "add tempest to spec.features.services"
	}
	return "remove tempest from spec.features.services"
}

// tempest plans that a run of Tempest is asked for, or that it is asked for no more. A second run needs both, one after the
// other: the OpenStack controller makes the Job when the service comes (Rockoon's docs/ops/openstack/tempest.md).
func (p *planner) tempest() {
	s, add := p.s, p.i.Kind == IntentAddTempest
	p.step.Title, p.step.Label, p.step.Risk = "start a run of Tempest", serviceTempest, RiskMedium
	p.step.Why = "Tempest tests the cloud's APIs from end to end: it makes instances, networks and volumes of its own, and removes them."
	p.step.Then = "The OpenStack controller deploys Tempest and makes the Job " + jobTempest + "; how that goes is shown in the steps after the update."
	p.step.Undo = "remove it again"
	if !add {
		p.step.Title = "remove Tempest"
		p.step.Why = "Once the run is over Tempest is of no use; a new run needs it to be removed and added again."
		p.step.Then = "The OpenStack controller removes Tempest with its Job. The results stay in the volume pvc-tempest."
		p.step.Undo = "add it again: that is a new run"
	}
	sources := []SourceID{SourceClusterRequests, SourceOpenStackStatus, SourceOpenStackDeployment, SourceTempestJob}
	busy := func(op Operation) bool { return op.is(IntentAddTempest) || op.is(IntentRemoveTempest) }
	p.common(sources, busy)
	if len(s.Deployments) != 1 || !s.known(SourceOpenStackDeployment) {
		p.identify(Ref{Kind: KindOpenStackDeployment, Namespace: namespaceOpenStack})
		answer := count(len(s.Deployments), "OpenStackDeployment")
		if !s.known(SourceOpenStackDeployment) {
			answer = "not known: " + s.whyUnknown(SourceOpenStackDeployment)
		}
		p.unknown("the cluster has one OpenStackDeployment", answer)
		return
	}
	d := s.Deployments[0]
	p.identify(d.Ref())
	p.guard(guardExists("the OpenStackDeployment", d.Ref()))
	quiet := Guard{ID: GuardNoUpdate, Text: "no update runs", Holds: s.ClusterRequest() == nil && s.known(SourceClusterRequests), Answer: "none does", Remedy: "wait until it is over"}
	if !quiet.Holds {
		quiet.Answer = "one runs, or that is not known"
	}
	p.guard(quiet)
	p.guard(s.guardApplied())
	p.fact("uid", d.UID)
	p.fact("services", strings.Join(d.Services, " "))
	at := slices.Index(d.Services, serviceTempest)
	p.guard(Guard{ID: GuardDiffers, Text: textIf(add, "Tempest is not asked for yet", "Tempest is asked for"), Holds: (at < 0) == add, Answer: textIf(at < 0, "it is not", "it is"),
		Remedy: textIf(add, "remove it first: that, and adding it again, is a new run", "")})
	switch {
	case add && at >= 0:
		p.done = "the OpenStackDeployment asks for it"
		return
	case !add && at < 0:
		p.done = "the OpenStackDeployment does not ask for it"
		return
	}
	p.step.Change = SetTempest{Deployment: d.Ref(), Add: add, Services: slices.Clone(d.Services)}
	p.step.Commands = []string{tempestCommand(d, add, at)}
}

// guardApplied holds when the OpenStack controller has nothing else to apply.
func (s *Snapshot) guardApplied() Guard {
	g := Guard{ID: GuardOpenStackApplied, Text: "OpenStack is APPLIED", Remedy: "wait until it is: kubectl -n openstack get osdplst"}
	if len(s.OpenStack) == 0 {
		g.Answer = "its status is not known"
		return g
	}
	g.Holds = true
	for _, o := range s.OpenStack {
		g.Answer = oneLine(o.State, 40)
		if o.State != "APPLIED" {
			g.Holds = false
			break
		}
	}
	return g
}

// tempestCommand is the change by hand, as a JSON patch that tests what it changes.
func tempestCommand(d *OpenStackDeployment, add bool, at int) string {
	patch := `[{"op":"add","path":"/spec/features/services/-","value":"tempest"}]`
	switch {
	case !add:
		path := "/spec/features/services/" + itoa(at)
		patch = `[{"op":"test","path":"` + path + `","value":"tempest"},{"op":"remove","path":"` + path + `"}]`
	case len(d.Services) == 0:
		patch = `[{"op":"add","path":"/spec/features/services","value":["tempest"]}]`
	}
	return shellCommand("kubectl", "-n", d.Namespace, "patch", "openstackdeployments.lcm.mirantis.com", d.Name, "--type=json", "-p", patch)
}

func textIf(yes bool, then, or string) string {
	if yes {
		return then
	}
	return or
}

// tempestChecker asks about the list of services.
type tempestChecker struct {
	e      *Engine
	change SetTempest
}

func checkTempest(e *Engine, _ Step, c SetTempest) checker { return &tempestChecker{e: e, change: c} }

// check asks nothing: the dry-run compares the whole list.
func (w *tempestChecker) check(context.Context) error { return nil }

func (w *tempestChecker) outcome(ctx context.Context, _ sent) outcome {
	services, err := w.e.cfg.Kubernetes.OpenStackServices(ctx, w.change.Deployment)
	if err != nil {
		return outcome{err: err}
	}
	has := slices.Contains(services, serviceTempest)
	text := "the OpenStackDeployment " + textIf(has, "asks for tempest", "does not ask for tempest")
	if has == w.change.Add {
		return outcome{state: OperationDone, text: text}
	}
	return outcome{state: OperationVerifying, text: text}
}

func (w *tempestChecker) values() (string, string) {
	return strings.Join(w.change.Services, " "), w.change.text()
}

// tempestStep is how the run of Tempest goes.
func (s *Snapshot) tempestStep() Step {
	j := s.TempestJob
	st := Step{ID: "after/tempest-run", Target: Ref{Kind: KindJob, Namespace: namespaceOpenStack, Name: jobTempest}, Label: serviceTempest,
		Title: "Tempest runs through", Why: "The Job " + jobTempest + " runs the tests once. Its results are in the volume pvc-tempest, under /var/lib/tempest/data.",
		Commands: []string{shellCommand("kubectl", "-n", namespaceOpenStack, "get", "job", jobTempest),
			shellCommand("kubectl", "-n", namespaceOpenStack, "logs", "-l", "application=tempest,component=run-tests", "--tail=-1")}}
	switch {
	case !s.known(SourceTempestJob):
		st.State, st.Status = StepWaiting, "not known: "+s.whyUnknown(SourceTempestJob)
	case j == nil && s.tempestAsked():
		st.State, st.Status = StepWaiting, "the OpenStack controller is to make the Job"+dashed(s.tempestState())
	case j == nil:
		st.State, st.Status = StepLater, "no run"
	case s.tempestIsOld():
		st.State, st.Status = StepLater, "the last run, "+string(j.State)+", was before the end of the update"
	case !j.Deleting.IsZero():
		st.State, st.Status = StepWaiting, "the Job is being removed"
	case j.State == JobComplete:
		st.State, st.Status = StepDone, "passed at "+clockText(j.Completed)+tookText(j.Started, j.Completed)
	case j.State == JobFailed:
		st.State, st.Status = StepFailed, "the tests failed"+because(oneLine(j.Message, mostRead))+"; the logs say which"
	default:
		st.State, st.Status = StepWaiting, fmt.Sprintf("runs%s, %s", sinceSpan(j.Started, s.Now), count(j.Active, "pod"))
		if j.Failed > 0 {
			st.Status += ", " + itoa(j.Failed) + " failed"
		}
	}
	return st
}

// tempestIsOld tells whether the run that there is says nothing of the cloud as it is after the update.
func (s *Snapshot) tempestIsOld() bool {
	return s.TempestJob != nil && s.TempestJob.Created.Before(s.History.Update.Ended)
}

// tempestAsked tells whether Tempest is among the services, by the OpenStackDeployment or by its status.
func (s *Snapshot) tempestAsked() bool {
	for _, d := range s.Deployments {
		if slices.Contains(d.Services, serviceTempest) {
			return true
		}
	}
	return len(s.Deployments) == 0 && s.tempestState() != ""
}

// tempestState is what the OpenStack controller says of the service: "APPLYING"; empty when nothing.
func (s *Snapshot) tempestState() string {
	for _, o := range s.OpenStack {
		for _, svc := range o.Services {
			if svc.Name == serviceTempest {
				return oneLine(svc.State, 40)
			}
		}
	}
	return ""
}

func sinceSpan(from, now time.Time) string {
	if from.IsZero() {
		return ""
	}
	return " for " + spanText(now.Sub(from))
}

func tookText(from, to time.Time) string {
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return ", took " + spanText(to.Sub(from))
}
