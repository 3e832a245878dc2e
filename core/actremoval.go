package core

import (
	"maps"
	"slices"
)

// actRemoval is the release of a played controller's lock on a node that is to be removed.
func (b *nodeSteps) actRemoval(a ActAs) {
	plan := func(kind IntentKind) Step {
		return Plan(b.s, Intent{Kind: kind, Controller: a.Controller, Node: b.v.Name})
	}
	switch b.s.actTurn(a, b.v.Name) {
	case turnCreate:
		b.add(plan(IntentActCreateLock))
	case turnRemove, turnReleased:
		b.add(plan(IntentActRelease))
	}
}

// actOutForRemoval takes the host out of scheduling where Lockstep plays the OpenStack controller: before anything leaves it.
func (b *nodeSteps) actOutForRemoval() {
	a, played := b.s.actAs(ControllerOpenStack)
	if !played || b.s.actTurn(a, b.v.Name) != turnRemove {
		return
	}
	if b.s.hasGuests(a, b.v.Name) {
		b.add(Plan(b.s, Intent{Kind: IntentActOutOfScheduling, Controller: a.Controller, Node: b.v.Name}))
	}
	b.actVolumes(a, IntentActVolumeOut)
}

// actGone is what is left to do for a node that has left the cluster: what Rockoon does when it deletes the node's lock
// (docs/mosk.md#after-a-node-is-gone). What OpenStack knows of the host is the operator's to delete: it is looked for, and its
// commands are said.
func (b *nodeSteps) actGone(a ActAs) {
	s, host := b.s, b.s.HostOf(b.v.Name)
	if a.Controller == ControllerOpenStack {
		b.actClaims(a)
		service := b.other("forget-compute", "delete the compute service of "+b.v.Label, "Nova removes the host's resource provider with it. A service that still runs would announce itself again.", StepDone, "Nova knows none")
		switch svc := s.Services[host]; {
		case !s.known(SourceComputeServices):
			service.State, service.Status = StepWaiting, "not known: "+s.whyUnknown(SourceComputeServices)
		case svc == nil:
		case svc.Up:
			service.State, service.Status = StepWaiting, "nova-compute is up still: wait until it is down"
		default:
			service.State, service.Status = StepWaiting, "yours to delete: "+serviceText(svc)+", down"
			service.Commands = []string{shellCommand("openstack", "server", "list", "--all-projects", "--host", host), shellCommand("openstack", "compute", "service", "delete", svc.ID)}
		}
		agents := b.other("forget-agents", "delete the network agents of "+b.v.Label, "Neutron would show them as dead for ever.", StepDone, "Neutron knows none")
		switch alive := len(s.Agents[host]) - len(s.silentOn(host)); {
		case !s.known(SourceNetworkAgents):
			agents.State, agents.Status = StepWaiting, "not known: "+s.whyUnknown(SourceNetworkAgents)
		case len(s.Agents[host]) == 0:
		case alive > 0:
			agents.State, agents.Status = StepWaiting, count(alive, "agent")+verb(alive, " is", " are")+" alive still: wait until "+verb(alive, "it is", "they are")+" dead"
		default:
			agents.State, agents.Status = StepWaiting, "yours to delete: "+count(len(s.Agents[host]), "dead agent")
			for _, agent := range s.Agents[host] {
				agents.Commands = append(agents.Commands, shellCommand("openstack", "network", "agent", "delete", agent.ID))
			}
		}
		b.add(service, agents)
		for _, v := range s.VolumeServicesOn(b.v.Name) {
			st := b.other("forget-volume", "delete "+v.label()+" of "+b.v.Label, "Cinder would show it as down for ever.", StepWaiting, "yours to delete: "+v.text())
			st.ID += "/" + v.Host
			st.Commands = []string{kubectlOpenStack("exec", "deployment/cinder-api", "--", "cinder-manage", "service", "remove", "cinder-volume", v.Host)}
			if v.Up {
				st.Status, st.Commands = "it is up still: wait until it is down", nil
			}
			b.add(st)
		}
	}
	b.add(Plan(s, Intent{Kind: IntentActDropLock, Controller: a.Controller, Node: b.v.Name}))
	if l := s.NodeLock(b.v.Name, a.Controller); a.Controller == ControllerOpenStack && l != nil && s.rockoonFinalizer(l.Meta) != "" {
		b.add(Plan(s, Intent{Kind: IntentActLetGo, Controller: a.Controller, Object: l.Ref()}))
	}
}

// silentOn are the network agents of a host that Neutron does not hear from.
func (s *Snapshot) silentOn(host string) []*NetworkAgent {
	var out []*NetworkAgent
	for _, a := range s.Agents[host] {
		if !a.Alive {
			out = append(out, a)
		}
	}
	return out
}

// lockedNames are the names of the nodes on which there are locks, sorted: nodes that have left the cluster are among them.
func (s *Snapshot) lockedNames() []string { return slices.Sorted(maps.Keys(s.NodeLocks)) }

// playsGone tells whether the node is gone, and a played OpenStack controller has to clean up behind it.
func (s *Snapshot) playsGone(node string) bool {
	a, played := s.actAs(ControllerOpenStack)
	return played && s.actTurn(a, node) == turnGone
}
