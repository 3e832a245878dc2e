package procedure

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// situation is what belongs to a text of the OpenStack controller (docs/mosk.md#texts): what Lockstep itself sees of it, the commands
// to look, and the steps that resolve it, beside those that a node's procedure has anyway. Each may be nil.
type situation struct {
	sees  func(s *core.Snapshot, l *core.WorkloadLock, m progress.LockMessage) string
	look  func(s *core.Snapshot, l *core.WorkloadLock, m progress.LockMessage) []core.Command
	steps func(b *nodeSteps) []core.Step
}

// situations are the situations by text. For the texts that name instances or volumes (H, J, S and T) the node's procedure has a step
// for each of those.
var situations = map[progress.MessageID]situation{
	progress.SaysOtherRelease:         {sees: seesController, look: lookAtController, steps: withdrawOwn},
	progress.SaysLockNotTakenUp:       {sees: seesController, look: lookAtController},
	progress.SaysDeploymentNotTakenUp: {sees: SeesDeployment, look: LookAtDeployment},
	progress.SaysNotApplied:           {sees: SeesDeployment, look: LookAtDeployment},
	progress.SaysNotHealthy:           {sees: SeesHealth, look: lookAtHealth},
	progress.SaysOthersFirst:          {sees: seesOthers, look: LookAtOthers, steps: clearOthers},
	progress.SaysServicesNeedNode:     {sees: seesBlockers, look: lookAtBlockers},
	progress.SaysMigrationRefused:     {steps: moveNamed},
	progress.SaysMigrationOutage:      {sees: SeesOpenStack, look: LookAtOpenStack},
	progress.SaysComputeNotDisabled:   {sees: seesCompute, look: lookAtCompute, steps: (*nodeSteps).disableInstead},
	progress.SaysComputeStaysDown:     {sees: seesCompute, look: lookAtCompute, steps: (*nodeSteps).restartCompute},
	progress.SaysComputeOutage:        {sees: SeesOpenStack, look: LookAtOpenStack, steps: (*nodeSteps).restartCompute},
	progress.SaysSchedulingOutage:     {sees: SeesOpenStack, look: LookAtOpenStack},
	progress.SaysAgentsStayDown:       {sees: seesAgents, look: lookAtAgents, steps: (*nodeSteps).restartAgents},
	progress.SaysAgentsOutage:         {sees: seesAgents, look: lookAtAgents, steps: (*nodeSteps).restartAgents},
	progress.SaysVolumeServiceNotSet:  {sees: seesVolumes, look: lookAtVolumes, steps: (*nodeSteps).refusedVolumes},
	progress.SaysQuorumHoldsCleanup:   {sees: seesBlockers, look: lookAtBlockers},
}

// Seen is what Lockstep itself sees of the matter that the lock's text is about; empty when it has nothing to add.
func Seen(s *core.Snapshot, l *core.WorkloadLock, m progress.LockMessage) string {
	if at := situations[m.ID]; at.sees != nil {
		return at.sees(s, l, m)
	}
	return ""
}

// look are the lines of SituationCommands.
func look(s *core.Snapshot, l *core.WorkloadLock, m progress.LockMessage) []string {
	return lines(SituationCommands(s, l, m))
}

// SituationCommands are the commands that show more of the matter that a lock's text is about.
func SituationCommands(s *core.Snapshot, l *core.WorkloadLock, m progress.LockMessage) []core.Command {
	if at := situations[m.ID]; at.look != nil {
		return at.look(s, l, m)
	}
	return nil
}

// situation adds the steps that resolve what the OpenStack controller says of the node.
func (b *nodeSteps) situation() {
	if at := situations[b.message.ID]; at.steps != nil && !progress.PlaysOn(b.s, core.ControllerOpenStack, b.v.Name) {
		b.add(at.steps(b)...)
	}
}

func seesController(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) string {
	text := "the lock is of release " + wording.TextOf(wording.OneLine(l.Release, 60), "none yet")
	switch c := s.Controller; {
	case !s.Known(core.SourceOpenStackController):
		text += "; the Deployment rockoon is not known: " + s.WhyUnknown(core.SourceOpenStackController)
	case c == nil:
		text += "; there is no Deployment rockoon"
	default:
		text += fmt.Sprintf("; %s has %d of %d replicas ready", wording.OneLine(c.Name, 40), c.Ready, c.Replicas)
	}
	return text
}

// lookAtController shows the OpenStack controller's Deployment and its log (docs/mosk.md#rockoon).
func lookAtController(s *core.Snapshot, _ *core.WorkloadLock, _ progress.LockMessage) []core.Command {
	namespace, name := "osh-system", "rockoon"
	if c := s.Controller; c != nil {
		namespace, name = c.Namespace, c.Name
	}
	return []core.Command{
		ToLook("the OpenStack controller", wording.ShellCommand("kubectl", "-n", namespace, "get", "deployment", name, "-o", "wide")),
		ToLook("its log", wording.ShellCommand("kubectl", "-n", namespace, "logs", "deployment/"+name, "-c", "nodemaintenancerequest",
			"--tail=50")),
	}
}

// withdrawOwn withdraws a request that was made by hand for a release that the controller will not come to by itself.
func withdrawOwn(b *nodeSteps) []core.Step {
	if r := b.v.Request; r != nil && r.ByHand() && r.Deleting.IsZero() {
		return []core.Step{step.Plan(b.s, core.Intent{Kind: core.IntentWithdraw, Object: r.Ref()})}
	}
	return nil
}

// SeesDeployment says how far the OpenStack deployment is, service by service.
func SeesDeployment(s *core.Snapshot, _ *core.WorkloadLock, _ progress.LockMessage) string {
	if !s.Known(core.SourceOpenStackStatus) {
		return "osdplst is not known: " + s.WhyUnknown(core.SourceOpenStackStatus)
	}
	var parts []string
	for _, o := range s.OpenStack {
		text := wording.OneLine(o.Name, 40) + " is " + wording.TextOf(wording.OneLine(o.State, 30), "without a state")
		if o.ControllerVersion != "" {
			text += ", taken up by controller " + wording.OneLine(o.ControllerVersion, 40)
		}
		if o.LCMProgress != "" {
			text += ", LCM progress " + wording.OneLine(o.LCMProgress, 20)
		}
		var open []string
		for _, svc := range o.Services {
			if svc.State != "APPLIED" {
				open = append(open, wording.OneLine(svc.Name, 40)+" ("+wording.TextOf(wording.OneLine(svc.State, 20), "no state")+")")
			}
		}
		if len(open) > 0 {
			text += ", not applied: " + wording.Some(open, 6)
		}
		parts = append(parts, text)
	}
	return wording.TextOf(strings.Join(parts, "; "), "there is no OpenStackDeploymentStatus")
}

// LookAtDeployment shows the OpenStack deployment, its Jobs and its Helm releases.
func LookAtDeployment(*core.Snapshot, *core.WorkloadLock, progress.LockMessage) []core.Command {
	return []core.Command{ToLook("the deployment", progress.KubectlOpenStack("get", "osdplst")),
		ToLook("service by service", progress.KubectlOpenStack("get", "osdplst", "-o", "yaml")),
		ToLook("its Jobs", progress.KubectlOpenStack("get", "jobs")),
		ToLook("its Helm releases",
			wording.ShellCommand("kubectl", "-n", "osh-system", "exec", "deployment/rockoon", "-c", "osdpl", "--", "helm3",
				"-n", core.NamespaceOpenStack, "list", "--all"))}
}

// SeesHealth names the components of OpenStack that are not ready.
func SeesHealth(s *core.Snapshot, _ *core.WorkloadLock, _ progress.LockMessage) string {
	if !s.Known(core.SourceOpenStackStatus) {
		return "osdplst is not known: " + s.WhyUnknown(core.SourceOpenStackStatus)
	}
	var parts []string
	for _, o := range s.OpenStack {
		text := wording.OneLine(o.Name, 40) + ": health " + wording.TextOf(wording.OneLine(o.Health, 20), "not told")
		if len(o.Unhealthy) > 0 {
			text += ", not ready: " + wording.OneLine(wording.Some(o.Unhealthy, 6), 300)
		}
		parts = append(parts, text)
	}
	return wording.TextOf(strings.Join(parts, "; "), "there is no OpenStackDeploymentStatus")
}

func lookAtHealth(*core.Snapshot, *core.WorkloadLock, progress.LockMessage) []core.Command {
	return []core.Command{ToLook("pods that do not run",
		progress.KubectlOpenStack("get", "pods", "--field-selector=status.phase!=Running,status.phase!=Succeeded")),
		ToLook("health, service by service", progress.KubectlOpenStack("get", "osdplst", "-o", "yaml"))}
}

// othersUnderWay are the nodes that count against the OpenStack controller's concurrency: those whose lock has inner_state
// active (docs/mosk.md#concurrency).
func othersUnderWay(s *core.Snapshot, but string) []*core.NodeView {
	var out []*core.NodeView
	for _, v := range progress.NodeViews(s) {
		if l := s.NodeLock(v.Name, core.ControllerOpenStack); v.Name != but && v.Node != nil && l != nil && l.InnerState == core.InnerActive {
			out = append(out, v)
		}
	}
	return out
}

func seesOthers(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) string {
	var names []string
	for _, v := range othersUnderWay(s, l.Node) {
		names = append(names, v.Label+" ("+string(v.Stage)+")")
	}
	if len(names) == 0 {
		return "none counts as under way any more: it begins at the controller's next look, " + progress.NextLookOf(s, l.Node)
	}
	return "under way: " + wording.Some(names, 6)
}

// ListNodeLocks lists the locks of all nodes: whose they are, and what they say. The CRD has no columns of its own.
var ListNodeLocks = wording.ShellCommand("kubectl", "get", "nodeworkloadlocks", "-o",
	"custom-columns=NODE:.spec.nodeName,CONTROLLER:.spec.controllerName,STATE:.status.state,INNER:.metadata.annotations.inner_state")

// LookAtOthers shows which nodes are under way, and which are asked for.
func LookAtOthers(*core.Snapshot, *core.WorkloadLock, progress.LockMessage) []core.Command {
	return []core.Command{
		ToLook("who is under way", ListNodeLocks),
		ToLook("who is asked for", wording.ShellCommand("kubectl", "get", "nodemaintenancerequests")),
	}
}

// clearOthers clears the inner_state of locks on nodes that nobody asks for: they count for nothing.
func clearOthers(b *nodeSteps) []core.Step {
	var out []core.Step
	if !b.s.Known(core.SourceNodeRequests) {
		return nil
	}
	for _, v := range othersUnderWay(b.s, b.v.Name) {
		if l := b.s.NodeLock(v.Name, core.ControllerOpenStack); v.Request == nil && l.State() == core.LockActive {
			out = append(out, step.Plan(b.s, core.Intent{Kind: core.IntentClearInner, Object: l.Ref()}))
		}
	}
	return out
}

func seesBlockers(s *core.Snapshot, l *core.WorkloadLock, m progress.LockMessage) string {
	var parts []string
	for _, word := range m.Blockers {
		if q, ok := progress.QuorumNamed(word); ok {
			parts = append(parts, progress.SeesQuorum(s, q, l.Node))
		}
	}
	if slices.Contains(m.Blockers, "compute") {
		if text := seesZones(s, l); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// seesZones names the compute nodes of other zones that are in maintenance.
func seesZones(s *core.Snapshot, l *core.WorkloadLock) string {
	own := s.Services[s.HostOf(l.Node)]
	if own == nil {
		return ""
	}
	var names []string
	for _, v := range othersUnderWay(s, l.Node) {
		if svc := v.Service; svc != nil && svc.Zone != own.Zone {
			names = append(names, v.Label+" (zone "+wording.OneLine(svc.Zone, 40)+")")
		}
	}
	if len(names) == 0 {
		return "no compute of another zone than " + wording.OneLine(own.Zone, 40) + " is in maintenance any more"
	}
	return "it is in zone " + wording.OneLine(own.Zone, 40) + "; in maintenance are " + wording.Some(names, 6)
}

func lookAtBlockers(_ *core.Snapshot, _ *core.WorkloadLock, m progress.LockMessage) []core.Command {
	var out []core.Command
	for _, word := range m.Blockers {
		if word == "compute" {
			out = append(out, ToLook("the zones", wording.ShellCommand("openstack", "compute", "service", "list", "--service", "nova-compute")),
				ToChange("let zones mix", wording.ShellCommand("kubectl", "-n", "osh-system", "edit", "configmap", "rockoon-config")+
					"  # extra_conf.ini: [maintenance] respect_nova_az = False"))
		} else if q, ok := progress.QuorumNamed(word); ok {
			at := q.Look()
			out = append(out, ToLook(q.Name, at[0]), ToLook("where its pods run", at[1]))
			if m.ID == progress.SaysQuorumHoldsCleanup { // the volume binds a pod to the node
				out = append(out, ToLook("its volume claims",
					wording.ShellCommand("kubectl", "-n", q.Namespace, "get", "pvc")+" | "+wording.ShellCommand("grep", "-e", "-"+q.Name+"-")))
			}
		}
	}
	return out
}

// moveNamed are the steps on the instances that Nova refused to move, and one that sets more attempts.
func moveNamed(b *nodeSteps) []core.Step {
	var out []core.Step
	for _, v := range progress.InstanceViews(b.s, b.v.Name) {
		if v.Blocks && slices.Contains(b.message.Instances, v.Instance.ID) {
			out = append(out, instanceStep(b.s, v))
		}
	}
	if len(out) > 0 && b.v.Attempts < progress.ExampleAttempts {
		out = append(out, step.Plan(b.s, core.Intent{Kind: core.IntentSetAttempts, Nodes: []string{b.v.Name},
			Attempts: progress.ExampleAttempts}))
	}
	return out
}

// SeesOpenStack says whether OpenStack answers Lockstep: an outage that Lockstep sees too, or only the controller.
func SeesOpenStack(s *core.Snapshot, _ *core.WorkloadLock, _ progress.LockMessage) string {
	var live, away []string
	for _, id := range []core.SourceID{core.SourceInstances, core.SourceComputeServices, core.SourceNetworkAgents} {
		switch ok, text := s.Fresh(id); {
		case s.Sources[id].State == core.SourceOff:
		case ok:
			live = append(live, string(id))
		default:
			away = append(away, text)
		}
	}
	switch {
	case len(away) > 0:
		return "neither does it answer Lockstep: " + strings.Join(away, ", ")
	case len(live) > 0:
		return "it answers Lockstep now (" + strings.Join(live, ", ") + "): look at the controller's way to it, or wait for its next try"
	}
	return ""
}

// LookAtOpenStack shows whether the OpenStack APIs answer.
func LookAtOpenStack(*core.Snapshot, *core.WorkloadLock, progress.LockMessage) []core.Command {
	return []core.Command{ToLook("whether Keystone answers", wording.ShellCommand("openstack", "token", "issue")),
		ToLook("whether Nova answers", wording.ShellCommand("openstack", "compute", "service", "list")),
		ToLook("the pods of their APIs", progress.KubectlOpenStack("get", "pods", "-l", "application in (keystone,nova,neutron,ingress)"))}
}

func seesCompute(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) string {
	svc := s.Services[s.HostOf(l.Node)]
	switch {
	case !s.Known(core.SourceComputeServices):
		return "nova-compute is not known: " + s.WhyUnknown(core.SourceComputeServices)
	case svc == nil:
		return "Nova knows no nova-compute on " + wording.OneLine(s.HostOf(l.Node), 64)
	}
	return "nova-compute is " + step.UpText(svc) + ", " + core.ServiceText(svc)
}

func lookAtCompute(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) []core.Command {
	return []core.Command{ToLook("what Nova says of it",
		wording.ShellCommand("openstack", "compute", "service", "list", "--service", "nova-compute", "--host", s.HostOf(l.Node))),
		ToLook("the pod of nova-compute", progress.KubectlOpenStack("get", "pods", "-l", "application=nova,component=compute",
			"--field-selector=spec.nodeName="+l.Node))}
}

// disableInstead takes the host out of scheduling in the controller's place, which leaves a disabled service alone.
func (b *nodeSteps) disableInstead() []core.Step {
	if b.v.Service == nil || !b.v.Service.Enabled {
		return nil
	}
	return []core.Step{step.Plan(b.s, core.Intent{Kind: core.IntentDisableCompute, Node: b.v.Name,
		Reason: progress.OutOfSchedulingReason(b.s)})}
}

// restartCompute is the step that restarts a nova-compute that does not report; none when it reports.
func (b *nodeSteps) restartCompute() []core.Step {
	for _, v := range progress.DaemonViews(b.s) {
		if v.Set.IsNovaCompute() && v.On(b.v.Name) != nil && step.AgentSilent(b.s, v.Set, b.v.Name) {
			return []core.Step{step.Plan(b.s, core.Intent{Kind: core.IntentRestartAgent, Workload: v.Set.Namespace + "/" + v.Set.Name,
				Node: b.v.Name})}
		}
	}
	return nil
}

func seesAgents(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) string {
	host := s.HostOf(l.Node)
	switch down := progress.AgentsDown(s, host); {
	case !s.Known(core.SourceNetworkAgents):
		return "the agents are not known: " + s.WhyUnknown(core.SourceNetworkAgents)
	case len(down) > 0:
		return "Neutron does not hear from " + wording.Some(down, 6)
	case len(s.Agents[host]) == 0:
		return "Neutron lists no agent on " + wording.OneLine(host, 64)
	}
	return "Neutron hears from all " + wording.Count(len(s.Agents[host]), "agent") + " there now"
}

func lookAtAgents(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) []core.Command {
	return []core.Command{ToLook("what Neutron says of them",
		wording.ShellCommand("openstack", "network", "agent", "list", "--host", s.HostOf(l.Node))),
		ToLook("the agents' pods", progress.KubectlOpenStack("get", "pods", "-l", "application in (neutron,openvswitch)",
			"--field-selector=spec.nodeName="+l.Node))}
}

// restartAgents is the step that restarts the node's agents that do not report.
func (b *nodeSteps) restartAgents() []core.Step {
	return []core.Step{step.Plan(b.s, core.Intent{Kind: core.IntentRestartAgents, Node: b.v.Name})}
}
