package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// RemovalFactName names the fact of the NodeDeletionRequest on which a step rests.
const RemovalFactName = "removal"

// actRemovalRelease plans the release of the lock of a node that is to be removed.
func (p *planner) actRemovalRelease(a core.ActAs, l *core.WorkloadLock, who string) {
	p.step.Why = "LCM asks for the removal of the node and waits for every lock on it. With this one " + who +
		" says that nothing of its is left there."
	p.step.Then = "When no other lock holds the node, LCM drains it and takes it out of the cluster, with all that is on its disks."
	p.guardsOfRemoval(a)
	p.lockChange(a, l, false, core.LockStatus{State: core.LockInactive})
}

// guardsOfRemoval hold when nothing is left on the node that would be lost with it (docs/mosk.md#removal).
func (p *planner) guardsOfRemoval(a core.ActAs) {
	s, node := p.s, p.i.Node
	if a.Controller != core.ControllerOpenStack || s.Nodes[node] == nil {
		return
	}
	if progress.HasGuests(s, a, node) {
		p.guardsOfCompute()
	} else {
		p.guard(guardNothingOn(s, node)) // the controller asks of every role: a controller can have Ironic's
		p.hostFacts(node)
	}
	p.guardVolumes(true)
	p.guard(guardNoVolumesOn(s, node))
	p.guardQuorum(a.Controller, node)
}

// guardsOfCompute are the guards on the node's instances.
func (p *planner) guardsOfCompute() {
	s, node := p.s, p.i.Node
	p.guard(guardHostKnown(s, s.Nodes[node]))
	if svc := s.Services[s.HostOf(node)]; svc != nil {
		p.fact("service state", core.ServiceText(svc))
		p.guard(core.Guard{ID: core.GuardOutOfScheduling, Text: "the scheduler puts nothing more on the host", Holds: !svc.Enabled,
			Answer: "nova-compute is " + core.ServiceText(svc), Remedy: "take it out of scheduling first"})
	}
	p.guard(guardNothingOn(s, node))
	p.guard(guardNoMigration(s, s.HostOf(node)))
	p.guard(guardDecided(s, s.HostOf(node)))
	p.hostFacts(node)
}

// guardDecided holds when no instance that left the host waits in VERIFY_RESIZE: without the host it can be neither confirmed nor
// reverted. Where nova-compute is down that is impossible already, so the guard holds.
func guardDecided(s *core.Snapshot, host string) core.Guard {
	g := core.Guard{ID: core.GuardMigrationsDecided, Text: "no migration away from the host waits for a decision", Holds: true, Answer: "none",
		Remedy: "confirm or revert it: it can be neither once the host is gone"}
	var names []string
	for _, id := range progress.UndecidedFrom(s, host) {
		names = append(names, progress.InstanceLabel(s.Instances.At(id)))
	}
	if len(names) > 0 {
		g.Holds, g.Answer = progress.ComputeDown(s, host), wording.Some(names, 8)
	}
	return g
}

// guardNothingOn holds when Nova shows no server on the node's host, in whatever state.
func guardNothingOn(s *core.Snapshot, node string) core.Guard {
	g := core.Guard{ID: core.GuardNothingOn, Text: "no instance is left on the host, in whatever state", Answer: "none",
		Remedy: "migrate them, or have their owners delete them"}
	left := s.InstancesOn(node)
	if !s.Known(core.SourceInstances) {
		g.Answer, g.Remedy = "not known: "+s.WhyUnknown(core.SourceInstances), "mend the source of the instances"
		return g
	}
	if g.Holds = len(left) == 0; !g.Holds {
		names := make([]string, len(left))
		for i, in := range left {
			names[i] = progress.InstanceLabel(in) + " (" + wording.OneLine(in.Status, 30) + ")"
		}
		g.Answer = wording.Some(names, 8)
	}
	return g
}

// guardNoVolumesOn holds when no volume is on the node's own disks, which go with it.
func guardNoVolumesOn(s *core.Snapshot, node string) core.Guard {
	g := core.Guard{ID: core.GuardNoVolumes, Text: "no volume is left on the disks of the node", Answer: "none",
		Remedy: "have them moved, or deleted by their owners"}
	volumes, known := s.VolumesOn(node)
	switch {
	case s.NoCinder():
		g.Holds, g.Answer = true, "the cloud has no Cinder"
	case !known:
		g.Answer, g.Remedy = "not known yet", "wait until they are listed, or mend the source of the volumes"
	case len(volumes) > 0:
		names := make([]string, len(volumes))
		for i, v := range volumes {
			names[i] = progress.VolumeName(&v)
		}
		g.Answer = wording.Some(names, 8)
	default:
		g.Holds = true
	}
	return g
}

// actDropLock plans the deletion of the lock of a node that is gone, once OpenStack knows nothing more of the node: Rockoon cleans up
// when the lock is deleted (docs/mosk.md#after-a-node-is-gone).
func (p *planner) actDropLock(a core.ActAs, l *core.WorkloadLock, turn progress.ActTurn) {
	s, node := p.s, p.i.Node
	p.step.Risk, p.step.Type = core.RiskHigh, typable(l.Name, l.UID)
	p.turnGuard(turn, progress.TurnGone)
	if a.Controller == core.ControllerOpenStack {
		left := leftOfHost(s, node)
		g := core.Guard{ID: core.GuardHostForgotten, Text: "OpenStack knows nothing of the host any more", Holds: len(left) == 0,
			Answer: "no service, no agent, no instance", Remedy: "delete what is left first"}
		if !s.Known(core.SourceVolumeServices) && !s.NoCinder() {
			g.Holds, g.Answer, g.Remedy = false, "not known: the volume services", "mend their source"
		} else if !s.Known(core.SourceComputeServices) || !s.Known(core.SourceNetworkAgents) || !s.Known(core.SourceInstances) {
			g.Holds, g.Answer, g.Remedy = false, "not known: the compute services, the network agents or the instances", "mend their sources"
		} else if len(left) > 0 {
			g.Answer = wording.Some(left, 6)
		}
		p.guard(g)
		p.fact("left", strings.Join(left, " "))
		p.claimsGone(node)
	}
	p.step.Why = "The node has left the cluster: its lock holds nothing."
	p.step.Then = "The lock is gone. If the node comes back, a lock is made anew."
	if !l.Deleting.IsZero() {
		p.done = "it is being removed since " + wording.ClockText(l.Deleting)
		return
	}
	p.step.Commands = []string{DeleteCommand(l.Ref())}
	p.step.Undo = "make it again"
	p.step.Change = core.DeleteObject{Object: l.Ref()}
}

// leftOfHost is what OpenStack still has of a node's host.
func leftOfHost(s *core.Snapshot, node string) []string {
	var out []string
	host := s.HostOf(node)
	for _, in := range s.ByHost[host] {
		out = append(out, progress.InstanceLabel(in))
	}
	if s.Services[host] != nil {
		out = append(out, "nova-compute")
	}
	for _, a := range s.Agents[host] {
		out = append(out, wording.OneLine(a.Binary, 40))
	}
	for _, v := range s.VolumeServicesOn(node) {
		out = append(out, v.Label())
	}
	return out
}
