package core

import (
	"fmt"
	"slices"
	"strings"
)

// situation is what belongs to a literal of the OpenStack controller's beside its text (docs/mosk.md#texts): what Lockstep itself
// sees of it, by which commands it is looked at, and the steps that resolve it beside those that a node's procedure has anyway.
// Each may be nil.
type situation struct {
	sees  func(s *Snapshot, l *WorkloadLock, m LockMessage) string
	look  func(s *Snapshot, l *WorkloadLock, m LockMessage) []Command
	steps func(b *nodeSteps) []Step
}

// situations are the rows, by text. The texts that name instances or volumes (H, J, S and T) have their steps in the node's
// procedure: a step for each of them.
var situations = map[MessageID]situation{
	SaysOtherRelease:         {sees: seesController, look: lookAtController, steps: withdrawOwn},
	SaysLockNotTakenUp:       {sees: seesController, look: lookAtController},
	SaysDeploymentNotTakenUp: {sees: seesDeployment, look: lookAtDeployment},
	SaysNotApplied:           {sees: seesDeployment, look: lookAtDeployment},
	SaysNotHealthy:           {sees: seesHealth, look: lookAtHealth},
	SaysOthersFirst:          {sees: seesOthers, look: lookAtOthers, steps: clearOthers},
	SaysServicesNeedNode:     {sees: seesBlockers, look: lookAtBlockers},
	SaysMigrationRefused:     {steps: moveNamed},
	SaysMigrationOutage:      {sees: seesOpenStack, look: lookAtOpenStack},
	SaysComputeNotDisabled:   {sees: seesCompute, look: lookAtCompute, steps: (*nodeSteps).disableInstead},
	SaysComputeStaysDown:     {sees: seesCompute, look: lookAtCompute, steps: (*nodeSteps).restartCompute},
	SaysComputeOutage:        {sees: seesOpenStack, look: lookAtOpenStack, steps: (*nodeSteps).restartCompute},
	SaysSchedulingOutage:     {sees: seesOpenStack, look: lookAtOpenStack},
	SaysAgentsStayDown:       {sees: seesAgents, look: lookAtAgents, steps: (*nodeSteps).restartAgents},
	SaysAgentsOutage:         {sees: seesAgents, look: lookAtAgents, steps: (*nodeSteps).restartAgents},
	SaysVolumeServiceNotSet:  {sees: seesVolumes, look: lookAtVolumes, steps: (*nodeSteps).refusedVolumes},
	SaysQuorumHoldsCleanup:   {sees: seesBlockers, look: lookAtBlockers},
}

// Seen is what Lockstep itself sees of what the lock's text says; empty when there is nothing to add.
func (s *Snapshot) Seen(l *WorkloadLock, m LockMessage) string {
	if at := situations[m.ID]; at.sees != nil {
		return at.sees(s, l, m)
	}
	return ""
}

// look are the commands that show more of what the lock's text says.
func (s *Snapshot) look(l *WorkloadLock, m LockMessage) []string { return lines(s.lookCommands(l, m)) }

func (s *Snapshot) lookCommands(l *WorkloadLock, m LockMessage) []Command {
	if at := situations[m.ID]; at.look != nil {
		return at.look(s, l, m)
	}
	return nil
}

// situation adds the steps that resolve what the OpenStack controller says of the node.
func (b *nodeSteps) situation() {
	if at := situations[b.message.ID]; at.steps != nil && !b.s.playsOn(ControllerOpenStack, b.v.Name) {
		b.add(at.steps(b)...)
	}
}

// kubectlOpenStack is a command in OpenStack's namespace.
func kubectlOpenStack(args ...string) string {
	return shellCommand(append([]string{"kubectl", "-n", namespaceOpenStack}, args...)...)
}

func seesController(s *Snapshot, l *WorkloadLock, _ LockMessage) string {
	text := "the lock is of release " + textOf(oneLine(l.Release, 60), "none yet")
	switch c := s.Controller; {
	case !s.known(SourceOpenStackController):
		text += "; the Deployment rockoon is not known: " + s.whyUnknown(SourceOpenStackController)
	case c == nil:
		text += "; there is no Deployment rockoon"
	default:
		text += fmt.Sprintf("; %s has %d of %d replicas ready", oneLine(c.Name, 40), c.Ready, c.Replicas)
	}
	return text
}

// lookAtController shows the OpenStack controller's Deployment and its words (docs/mosk.md#rockoon).
func lookAtController(s *Snapshot, _ *WorkloadLock, _ LockMessage) []Command {
	namespace, name := "osh-system", "rockoon"
	if c := s.Controller; c != nil {
		namespace, name = c.Namespace, c.Name
	}
	return []Command{
		look("the OpenStack controller", shellCommand("kubectl", "-n", namespace, "get", "deployment", name, "-o", "wide")),
		look("its log", shellCommand("kubectl", "-n", namespace, "logs", "deployment/"+name, "-c", "nodemaintenancerequest", "--tail=50")),
	}
}

// withdrawOwn takes back a request that was made by hand, for a release that the controller will not come to by itself.
func withdrawOwn(b *nodeSteps) []Step {
	if r := b.v.Request; r != nil && r.ByHand() && r.Deleting.IsZero() {
		return []Step{Plan(b.s, Intent{Kind: IntentWithdraw, Object: r.Ref()})}
	}
	return nil
}

func seesDeployment(s *Snapshot, _ *WorkloadLock, _ LockMessage) string {
	if !s.known(SourceOpenStackStatus) {
		return "osdplst is not known: " + s.whyUnknown(SourceOpenStackStatus)
	}
	var parts []string
	for _, o := range s.OpenStack {
		text := oneLine(o.Name, 40) + " is " + textOf(oneLine(o.State, 30), "without a state")
		if o.ControllerVersion != "" {
			text += ", taken up by controller " + oneLine(o.ControllerVersion, 40)
		}
		if o.LCMProgress != "" {
			text += ", LCM progress " + oneLine(o.LCMProgress, 20)
		}
		var open []string
		for _, svc := range o.Services {
			if svc.State != "APPLIED" {
				open = append(open, oneLine(svc.Name, 40)+" ("+textOf(oneLine(svc.State, 20), "no state")+")")
			}
		}
		if len(open) > 0 {
			text += ", not applied: " + some(open, 6)
		}
		parts = append(parts, text)
	}
	return textOf(strings.Join(parts, "; "), "there is no OpenStackDeploymentStatus")
}

func lookAtDeployment(*Snapshot, *WorkloadLock, LockMessage) []Command {
	return []Command{look("the deployment", kubectlOpenStack("get", "osdplst")), look("service by service", kubectlOpenStack("get", "osdplst", "-o", "yaml")),
		look("its Jobs", kubectlOpenStack("get", "jobs")),
		look("its Helm releases", shellCommand("kubectl", "-n", "osh-system", "exec", "deployment/rockoon", "-c", "osdpl", "--", "helm3", "-n", namespaceOpenStack, "list", "--all"))}
}

func seesHealth(s *Snapshot, _ *WorkloadLock, _ LockMessage) string {
	if !s.known(SourceOpenStackStatus) {
		return "osdplst is not known: " + s.whyUnknown(SourceOpenStackStatus)
	}
	var parts []string
	for _, o := range s.OpenStack {
		text := oneLine(o.Name, 40) + ": health " + textOf(oneLine(o.Health, 20), "not told")
		if len(o.Unhealthy) > 0 {
			text += ", not ready: " + oneLine(some(o.Unhealthy, 6), 300)
		}
		parts = append(parts, text)
	}
	return textOf(strings.Join(parts, "; "), "there is no OpenStackDeploymentStatus")
}

func lookAtHealth(*Snapshot, *WorkloadLock, LockMessage) []Command {
	return []Command{look("pods that do not run", kubectlOpenStack("get", "pods", "--field-selector=status.phase!=Running,status.phase!=Succeeded")),
		look("health, service by service", kubectlOpenStack("get", "osdplst", "-o", "yaml"))}
}

// othersUnderWay are the nodes that count against the OpenStack controller's concurrency: those whose lock has inner_state
// active (docs/mosk.md#concurrency).
func (s *Snapshot) othersUnderWay(but string) []NodeView {
	var out []NodeView
	for _, v := range s.NodeViews() {
		if l := s.NodeLock(v.Name, ControllerOpenStack); v.Name != but && v.Node != nil && l != nil && l.InnerState == InnerActive {
			out = append(out, v)
		}
	}
	return out
}

func seesOthers(s *Snapshot, l *WorkloadLock, _ LockMessage) string {
	var names []string
	for _, v := range s.othersUnderWay(l.Node) {
		names = append(names, v.Label+" ("+string(v.Stage)+")")
	}
	if len(names) == 0 {
		return "none counts as under way any more: it begins at the controller's next look, " + s.nextLookOf(l.Node)
	}
	return "under way: " + some(names, 6)
}

func lookAtOthers(*Snapshot, *WorkloadLock, LockMessage) []Command {
	return []Command{
		look("who is under way", shellCommand("kubectl", "get", "nodeworkloadlocks", "-o",
			"custom-columns=NODE:.spec.nodeName,CONTROLLER:.spec.controllerName,STATE:.status.state,INNER:.metadata.annotations.inner_state")),
		look("who is asked for", shellCommand("kubectl", "get", "nodemaintenancerequests")),
	}
}

// clearOthers takes the inner_state off locks of nodes of which nothing is asked: they hold a place for nothing.
func clearOthers(b *nodeSteps) []Step {
	var out []Step
	if !b.s.known(SourceNodeRequests) {
		return nil
	}
	for _, v := range b.s.othersUnderWay(b.v.Name) {
		if l := b.s.NodeLock(v.Name, ControllerOpenStack); v.Request == nil && l.State() == LockActive {
			out = append(out, Plan(b.s, Intent{Kind: IntentClearInner, Object: l.Ref()}))
		}
	}
	return out
}

func seesBlockers(s *Snapshot, l *WorkloadLock, m LockMessage) string {
	var parts []string
	for _, word := range m.Blockers {
		if q, ok := quorumNamed(word); ok {
			parts = append(parts, s.seesQuorum(q, l.Node))
		}
	}
	if slices.Contains(m.Blockers, "compute") {
		if text := seesZones(s, l); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// seesZones is which computes of other zones are in maintenance.
func seesZones(s *Snapshot, l *WorkloadLock) string {
	own := s.Services[s.HostOf(l.Node)]
	if own == nil {
		return ""
	}
	var names []string
	for _, v := range s.othersUnderWay(l.Node) {
		if svc := v.Service; svc != nil && svc.Zone != own.Zone {
			names = append(names, v.Label+" (zone "+oneLine(svc.Zone, 40)+")")
		}
	}
	if len(names) == 0 {
		return "no compute of another zone than " + oneLine(own.Zone, 40) + " is in maintenance any more"
	}
	return "it is in zone " + oneLine(own.Zone, 40) + "; in maintenance are " + some(names, 6)
}

func lookAtBlockers(_ *Snapshot, _ *WorkloadLock, m LockMessage) []Command {
	var out []Command
	for _, word := range m.Blockers {
		if word == "compute" {
			out = append(out, look("the zones", shellCommand("openstack", "compute", "service", "list", "--service", "nova-compute")),
				change("let zones mix", shellCommand("kubectl", "-n", "osh-system", "edit", "configmap", "rockoon-config")+"  # extra_conf.ini: [maintenance] respect_nova_az = False"))
		} else if q, ok := quorumNamed(word); ok {
			at := q.look()
			out = append(out, look(q.name, at[0]), look("where its pods run", at[1]))
			if m.ID == SaysQuorumHoldsCleanup { // the volume binds a pod to the node
				out = append(out, look("its volume claims", shellCommand("kubectl", "-n", q.namespace, "get", "pvc")+" | "+shellCommand("grep", "-e", "-"+q.name+"-")))
			}
		}
	}
	return out
}

// moveNamed are the instances that Nova refused to move, each with the ways that are left, and more attempts.
func moveNamed(b *nodeSteps) []Step {
	var out []Step
	for _, v := range b.s.InstanceViews(b.v.Name) {
		if v.Blocks && slices.Contains(b.message.Instances, v.Instance.ID) {
			out = append(out, b.s.instanceStep(v))
		}
	}
	if len(out) > 0 && b.v.Attempts < exampleAttempts {
		out = append(out, Plan(b.s, Intent{Kind: IntentSetAttempts, Nodes: []string{b.v.Name}, Attempts: exampleAttempts}))
	}
	return out
}

// seesOpenStack tells an outage that Lockstep sees too from one that only the controller sees.
func seesOpenStack(s *Snapshot, _ *WorkloadLock, _ LockMessage) string {
	var live, away []string
	for _, id := range []SourceID{SourceInstances, SourceComputeServices, SourceNetworkAgents} {
		switch ok, text := s.fresh(id); {
		case s.Sources[id].State == SourceOff:
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

func lookAtOpenStack(*Snapshot, *WorkloadLock, LockMessage) []Command {
	return []Command{look("whether Keystone answers", shellCommand("openstack", "token", "issue")), look("whether Nova answers", shellCommand("openstack", "compute", "service", "list")),
		look("the pods of their APIs", kubectlOpenStack("get", "pods", "-l", "application in (keystone,nova,neutron,ingress)"))}
}

func seesCompute(s *Snapshot, l *WorkloadLock, _ LockMessage) string {
	svc := s.Services[s.HostOf(l.Node)]
	switch {
	case !s.known(SourceComputeServices):
		return "nova-compute is not known: " + s.whyUnknown(SourceComputeServices)
	case svc == nil:
		return "Nova knows no nova-compute on " + oneLine(s.HostOf(l.Node), 64)
	}
	return "nova-compute is " + upText(svc) + ", " + serviceText(svc)
}

func lookAtCompute(s *Snapshot, l *WorkloadLock, _ LockMessage) []Command {
	return []Command{look("what Nova says of it", shellCommand("openstack", "compute", "service", "list", "--service", "nova-compute", "--host", s.HostOf(l.Node))),
		look("the pod of nova-compute", kubectlOpenStack("get", "pods", "-l", "application=nova,component=compute", "--field-selector=spec.nodeName="+l.Node))}
}

// disableInstead takes the host out of scheduling in the controller's place: it does not disable what is disabled.
func (b *nodeSteps) disableInstead() []Step {
	if b.v.Service == nil || !b.v.Service.Enabled {
		return nil
	}
	return []Step{Plan(b.s, Intent{Kind: IntentDisableCompute, Node: b.v.Name, Reason: b.s.outOfScheduling()})}
}

// restartCompute starts a nova-compute anew that does not report.
func (b *nodeSteps) restartCompute() []Step {
	for _, v := range b.s.DaemonViews() {
		if v.Set.isNovaCompute() && v.on(b.v.Name) != nil && b.s.agentSilent(v.Set, b.v.Name) {
			return []Step{Plan(b.s, Intent{Kind: IntentRestartAgent, Workload: v.Set.Namespace + "/" + v.Set.Name, Node: b.v.Name})}
		}
	}
	return nil
}

func seesAgents(s *Snapshot, l *WorkloadLock, _ LockMessage) string {
	host := s.HostOf(l.Node)
	switch down := s.agentsDown(host); {
	case !s.known(SourceNetworkAgents):
		return "the agents are not known: " + s.whyUnknown(SourceNetworkAgents)
	case len(down) > 0:
		return "Neutron does not hear from " + some(down, 6)
	case len(s.Agents[host]) == 0:
		return "Neutron lists no agent on " + oneLine(host, 64)
	}
	return "Neutron hears from all " + count(len(s.Agents[host]), "agent") + " there now"
}

func lookAtAgents(s *Snapshot, l *WorkloadLock, _ LockMessage) []Command {
	return []Command{look("what Neutron says of them", shellCommand("openstack", "network", "agent", "list", "--host", s.HostOf(l.Node))),
		look("the agents' pods", kubectlOpenStack("get", "pods", "-l", "application in (neutron,openvswitch)", "--field-selector=spec.nodeName="+l.Node))}
}

// restartAgents starts the node's agents anew that do not report.
func (b *nodeSteps) restartAgents() []Step {
	return []Step{Plan(b.s, Intent{Kind: IntentRestartAgents, Node: b.v.Name})}
}
