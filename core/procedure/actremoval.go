package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// actRemoval adds the release of a played controller's lock on a node that is to be removed.
func (b *nodeSteps) actRemoval(a core.ActAs) {
	plan := func(kind core.IntentKind) core.Step {
		return step.Plan(b.s, core.Intent{Kind: kind, Controller: a.Controller, Node: b.v.Name})
	}
	switch progress.TurnOn(b.s, a, b.v.Name) {
	case progress.TurnCreate:
		b.add(plan(core.IntentActCreateLock))
	case progress.TurnRemove, progress.TurnReleased:
		b.add(plan(core.IntentActRelease))
	}
}

// actOutForRemoval takes the host of a node that is to be removed out of scheduling, before anything leaves it, where Lockstep plays
// the OpenStack controller.
func (b *nodeSteps) actOutForRemoval() {
	a, played := progress.ActAs(b.s, core.ControllerOpenStack)
	if !played || progress.TurnOn(b.s, a, b.v.Name) != progress.TurnRemove {
		return
	}
	if progress.HasGuests(b.s, a, b.v.Name) {
		b.add(step.Plan(b.s, core.Intent{Kind: core.IntentActOutOfScheduling, Controller: a.Controller, Node: b.v.Name}))
	}
	b.actVolumes(a, core.IntentActVolumeOut)
}

// actGone adds the steps that are left for a node that has left the cluster: what Rockoon does when it deletes the node's lock
// (docs/mosk.md#after-a-node-is-gone). The operator deletes what OpenStack still has of the host; the steps give the commands.
func (b *nodeSteps) actGone(a core.ActAs) {
	s, host := b.s, b.s.HostOf(b.v.Name)
	if a.Controller == core.ControllerOpenStack {
		b.actClaims(a)
		service := b.other("forget-compute", "delete the compute service of "+b.v.Label,
			"Nova removes the host's resource provider with it. A service that still runs would announce itself again.", core.StepDone,
			"Nova knows none")
		switch svc := s.Services[host]; {
		case !s.Known(core.SourceComputeServices):
			service.State, service.Status = core.StepWaiting, "not known: "+s.WhyUnknown(core.SourceComputeServices)
		case svc == nil:
		case svc.Up:
			service.State, service.Status = core.StepWaiting, "nova-compute is up still: wait until it is down"
		default:
			service.State, service.Status = core.StepWaiting, "yours to delete: "+core.ServiceText(svc)+", down"
			service.Commands = []string{wording.ShellCommand("openstack", "server", "list", "--all-projects", "--host", host),
				wording.ShellCommand("openstack", "compute", "service", "delete", svc.ID)}
		}
		agents := b.other("forget-agents", "delete the network agents of "+b.v.Label, "Neutron would show them as dead for ever.", core.StepDone,
			"Neutron knows none")
		switch alive := len(s.Agents[host]) - len(progress.SilentOn(s, host)); {
		case !s.Known(core.SourceNetworkAgents):
			agents.State, agents.Status = core.StepWaiting, "not known: "+s.WhyUnknown(core.SourceNetworkAgents)
		case len(s.Agents[host]) == 0:
		case alive > 0:
			agents.State, agents.Status = core.StepWaiting,
				wording.Count(alive, "agent")+wording.Verb(alive, " is", " are")+" alive still: wait until "+wording.Verb(alive, "it is", "they are")+
					" dead"
		default:
			agents.State, agents.Status = core.StepWaiting, "yours to delete: "+wording.Count(len(s.Agents[host]), "dead agent")
			for _, agent := range s.Agents[host] {
				agents.Commands = append(agents.Commands, wording.ShellCommand("openstack", "network", "agent", "delete", agent.ID))
			}
		}
		b.add(service, agents)
		for _, v := range s.VolumeServicesOn(b.v.Name) {
			st := b.other("forget-volume", "delete "+v.Label()+" of "+b.v.Label, "Cinder would show it as down for ever.", core.StepWaiting,
				"yours to delete: "+v.Text())
			st.ID += "/" + v.Host
			st.Commands = []string{progress.KubectlOpenStack("exec", "deployment/cinder-api", "--", "cinder-manage", "service", "remove",
				"cinder-volume", v.Host)}
			if v.Up {
				st.Status, st.Commands = "it is up still: wait until it is down", nil
			}
			b.add(st)
		}
	}
	b.add(step.Plan(s, core.Intent{Kind: core.IntentActDropLock, Controller: a.Controller, Node: b.v.Name}))
	if l := s.NodeLock(b.v.Name, a.Controller); a.Controller == core.ControllerOpenStack && l != nil &&
		step.RockoonFinalizer(s, l.Meta) != "" {
		b.add(step.Plan(s, core.Intent{Kind: core.IntentActLetGo, Controller: a.Controller, Object: l.Ref()}))
	}
}
