package core

import (
	"strings"
)

// removalFactName is the name of the fact by which a step rests on the request for a node's removal.
const removalFactName = "removal"

// asksRemoval is the NodeDeletionRequest that a node's locks have to answer; nil when none is to be, or while the node is in
// maintenance, which comes first.
func (s *Snapshot) asksRemoval(node string) *NodeNotice {
	d := s.Deletions[node]
	if d == nil || !d.Deleting.IsZero() || !s.known(SourceDeletionRequests) || s.NodeRequest(node) != nil {
		return nil
	}
	return d
}

// goneFor tells whether the node has left the cluster, and is not there for as long as its machine is disabled: then locks and
// what OpenStack knows of it stay (docs/mosk.md#deletion-requests).
func (s *Snapshot) goneFor(node string) bool {
	return s.Nodes[node] == nil && s.known(SourceNodes) && s.known(SourceDisableNotices) && s.Disablings[node] == nil
}

// actRemovalRelease plans that a node may be removed: its lock lets it go.
func (p *planner) actRemovalRelease(a ActAs, l *WorkloadLock, who string) {
	p.step.Why = "LCM asks for the removal of the node and waits for every lock on it. With this one " + who + " says that nothing of its is left there."
	p.step.Then = "When no other lock holds the node, LCM drains it and takes it out of the cluster, with all that is on its disks."
	p.guardsOfRemoval(a)
	p.lockChange(a, l, false, LockStatus{State: LockInactive})
}

// guardsOfRemoval hold when nothing is left on the node that goes with it for good (docs/mosk.md#removal).
func (p *planner) guardsOfRemoval(a ActAs) {
	s, node := p.s, p.i.Node
	if a.Controller != ControllerOpenStack || s.Nodes[node] == nil {
		return
	}
	if s.hasGuests(a, node) {
		p.guardsOfCompute()
	} else {
		p.guard(s.guardNothingOn(node)) // the controller asks of every role: a controller can have Ironic's
		p.hostFacts(node)
	}
	p.guardVolumes(true)
	p.guard(s.guardNoVolumesOn(node))
	p.guardQuorum(a.Controller, node)
}

// guardsOfCompute are those of the instances.
func (p *planner) guardsOfCompute() {
	s, node := p.s, p.i.Node
	p.guard(s.guardHostKnown(s.Nodes[node]))
	if svc := s.Services[s.HostOf(node)]; svc != nil {
		p.fact("service state", serviceText(svc))
		p.guard(Guard{ID: GuardOutOfScheduling, Text: "the scheduler puts nothing more on the host", Holds: !svc.Enabled, Answer: "nova-compute is " + serviceText(svc), Remedy: "take it out of scheduling first"})
	}
	p.guard(s.guardNothingOn(node))
	p.guard(s.guardNoMigration(s.HostOf(node)))
	p.guard(s.guardDecided(s.HostOf(node)))
	p.hostFacts(node)
}

// guardDecided holds when no instance that left the host waits for a decision: without the host it can be neither confirmed nor
// reverted. Where nova-compute is down it cannot be either way.
func (s *Snapshot) guardDecided(host string) Guard {
	g := Guard{ID: GuardMigrationsDecided, Text: "no migration away from the host waits for a decision", Holds: true, Answer: "none", Remedy: "confirm or revert it: it can be neither once the host is gone"}
	var names []string
	for _, id := range s.undecidedFrom(host) {
		names = append(names, instanceLabel(s.Instances[id]))
	}
	if len(names) > 0 {
		g.Holds, g.Answer = s.hostDown(host), some(names, 8)
	}
	return g
}

// guardNothingOn holds when Nova shows no server on the node's host, in whatever state.
func (s *Snapshot) guardNothingOn(node string) Guard {
	g := Guard{ID: GuardNothingOn, Text: "no instance is left on the host, in whatever state", Answer: "none", Remedy: "migrate them, or have their owners delete them"}
	left := s.InstancesOn(node)
	if !s.known(SourceInstances) {
		g.Answer, g.Remedy = "not known: "+s.whyUnknown(SourceInstances), "mend the source of the instances"
		return g
	}
	if g.Holds = len(left) == 0; !g.Holds {
		names := make([]string, len(left))
		for i, in := range left {
			names[i] = instanceLabel(in) + " (" + oneLine(in.Status, 30) + ")"
		}
		g.Answer = some(names, 8)
	}
	return g
}

// guardNoVolumesOn holds when no volume is on the node's own disks, which go with it.
func (s *Snapshot) guardNoVolumesOn(node string) Guard {
	g := Guard{ID: GuardNoVolumes, Text: "no volume is left on the disks of the node", Answer: "none", Remedy: "have them moved, or deleted by their owners"}
	volumes, known := s.VolumesOn(node)
	switch {
	case s.noCinder():
		g.Holds, g.Answer = true, "the cloud has no Cinder"
	case !known:
		g.Answer, g.Remedy = "not known yet", "wait until they are listed, or mend the source of the volumes"
	case len(volumes) > 0:
		names := make([]string, len(volumes))
		for i, v := range volumes {
			names[i] = volumeName(&v)
		}
		g.Answer = some(names, 8)
	default:
		g.Holds = true
	}
	return g
}

// actDropLock plans the end of the lock of a node that is gone, once OpenStack knows nothing of the node any more: in Rockoon it
// is the deletion of the lock that cleans up (docs/mosk.md#after-a-node-is-gone).
func (p *planner) actDropLock(a ActAs, l *WorkloadLock, turn actTurn) {
	s, node := p.s, p.i.Node
	p.step.Risk, p.step.Type = RiskHigh, typable(l.Name, l.UID)
	p.turnGuard(turn, turnGone)
	if a.Controller == ControllerOpenStack {
		left := s.leftOfHost(node)
		g := Guard{ID: GuardHostForgotten, Text: "OpenStack knows nothing of the host any more", Holds: len(left) == 0, Answer: "no service, no agent, no instance", Remedy: "delete what is left first"}
		if !s.known(SourceVolumeServices) && !s.noCinder() {
			g.Holds, g.Answer, g.Remedy = false, "not known: the volume services", "mend their source"
		} else if !s.known(SourceComputeServices) || !s.known(SourceNetworkAgents) || !s.known(SourceInstances) {
			g.Holds, g.Answer, g.Remedy = false, "not known: the compute services, the network agents or the instances", "mend their sources"
		} else if len(left) > 0 {
			g.Answer = some(left, 6)
		}
		p.guard(g)
		p.fact("left", strings.Join(left, " "))
		p.claimsGone(node)
	}
	p.step.Why = "The node has left the cluster: its lock holds nothing."
	p.step.Then = "The lock is gone. If the node comes back, a lock is made anew."
	if !l.Deleting.IsZero() {
		p.done = "it is being removed since " + clockText(l.Deleting)
		return
	}
	p.step.Commands = []string{deleteCommand(l.Ref())}
	p.step.Undo = "make it again"
	p.step.Change = DeleteObject{Object: l.Ref()}
}

// leftOfHost is what OpenStack still knows of a host.
func (s *Snapshot) leftOfHost(node string) []string {
	var out []string
	host := s.HostOf(node)
	for _, in := range s.ByHost[host] {
		out = append(out, instanceLabel(in))
	}
	if s.Services[host] != nil {
		out = append(out, "nova-compute")
	}
	for _, a := range s.Agents[host] {
		out = append(out, oneLine(a.Binary, 40))
	}
	for _, v := range s.VolumeServicesOn(node) {
		out = append(out, v.label())
	}
	return out
}
