package core

import "strings"

// actVolumeService is the cinder-volume service that a played controller's step is about, with its guard and facts; nil when
// there is none.
func (p *planner) actVolumeService(verb, how string) *VolumeService {
	v := p.s.volumeService(p.i.Node, p.i.Object.Name)
	p.step.Title = verb + " " + volumeLabel(p.i.Object.Name) + " " + how + " " + p.step.Label
	if v == nil {
		p.unknown("the volume service exists", p.noVolumeService())
		return nil
	}
	p.fact("service", v.Host)
	p.fact("service state", v.stateText())
	return v
}

// actVolumeOut plans that a host's own volumes are out of scheduling: nova-compute comes before (docs/mosk.md#services: compute,
// networking, block-storage).
func (p *planner) actVolumeOut(l *WorkloadLock, turn actTurn) {
	s, node := p.s, p.i.Node
	p.step.Risk = RiskLow
	p.turnGuard(turn, turnPrepare, turnRemove)
	if turn != turnRemove { // a removal counts against no concurrency
		p.guard(Guard{ID: GuardBegun, Text: "the work on the node was begun", Holds: l.InnerState == InnerActive, Answer: innerText(l.InnerState)})
	}
	v := p.actVolumeService("take", "out of scheduling on")
	if v == nil {
		return
	}
	if svc := s.Services[s.HostOf(node)]; svc != nil && s.maintenanceOf(node).compute {
		p.guard(Guard{ID: GuardComputeOut, Text: "nova-compute is out of scheduling before", Holds: !svc.Enabled, Answer: "nova-compute is " + serviceText(svc), Remedy: "take it out of scheduling first"})
	}
	p.guard(Guard{ID: GuardFirstService, Text: "it is the one that Rockoon knows of", Holds: !v.Behind, Answer: textIf(v.Behind, "Cinder lists another one of the host before it", "Cinder lists it first"),
		Remedy: "disable it by your own step: Rockoon would not enable it again"})
	p.step.Why = "The scheduler must put no more volumes on the disks of a host that is about to go down. The reason is the one by which Rockoon and Lockstep know what they disabled."
	p.step.Then = "Volumes on it stay, and stay attached; no new one comes to it."
	if !v.Enabled {
		p.done = v.label() + " is " + v.stateText()
		return
	}
	p.step.Commands = []string{setVolumeCommand(v.Host, false, DisabledReasonMaintenance)}
	p.step.Undo = "enable it: " + setVolumeCommand(v.Host, true, "")
	p.step.Change = SetVolumeService{Service: v.Ref(), Enabled: false, Reason: DisabledReasonMaintenance, WasEnabled: true, WasReason: v.DisabledReason}
}

// actVolumeIn plans that a host that is back takes volumes again, before nova-compute takes instances.
func (p *planner) actVolumeIn(turn actTurn) {
	p.step.Risk = RiskMedium
	p.turnGuard(turn, turnReturn)
	v := p.actVolumeService("put", "back into scheduling on")
	if v == nil {
		return
	}
	p.guardReturned()
	p.guard(Guard{ID: GuardServiceUp, Text: "the service is up", Holds: v.Up, Answer: v.upText(), Remedy: "look at its pod on the node; or give it a reason of your own, and it stays out: " +
		setVolumeCommand(v.Host, false, "its disks are being mended")})
	p.step.Why = "The node is back. Only what was disabled with the reason of the maintenance is enabled: what somebody else disabled stays as it is."
	p.step.Then = "New volumes can come to the host from now on."
	switch {
	case v.Enabled:
		p.done = v.label() + " is enabled"
		return
	case !v.forMaintenance():
		p.done = v.label() + " is " + v.stateText() + ": not ours to enable"
		return
	}
	p.step.Commands = []string{setVolumeCommand(v.Host, true, "")}
	p.step.Undo = "disable it again"
	p.step.Change = SetVolumeService{Service: v.Ref(), Enabled: true, WasEnabled: false, WasReason: v.DisabledReason}
}

// guardVolumes holds when the node's volume services are as a release asks for, or as a return does.
func (p *planner) guardVolumes(release bool) {
	s := p.s
	g := Guard{ID: GuardVolumesOut, Text: "the scheduler puts no more volumes on the host", Holds: true, Remedy: "take it out of scheduling first"}
	if !release {
		g.Text, g.Remedy = "its volume services are back in scheduling, and up", "put it back into scheduling first"
	}
	all := s.VolumeServicesOn(p.i.Node)
	bad := volumesThat(all, release)
	switch {
	case s.noCinder():
		g.Answer = "the cloud has no Cinder"
	case !s.known(SourceVolumeServices):
		g.Holds, g.Answer, g.Remedy = false, "not known: "+s.whyUnknown(SourceVolumeServices), "mend the source of the volume services"
	case len(all) == 0:
		g.Answer = "it has no cinder-volume"
	case len(bad) > 0:
		g.Holds, g.Answer = false, oneLine(some(bad, 4), 200)
	default:
		g.Answer = oneLine(volumesText(all), 200)
	}
	p.fact("volume services", volumesText(all))
	p.guard(g)
}

// guardVolumesBack holds when none of the node's volume services is disabled for the maintenance any more: they come before
// nova-compute. Where they cannot be seen they hold up the lock, and not nova-compute.
func (p *planner) guardVolumesBack() {
	s := p.s
	g := Guard{ID: GuardVolumesBack, Text: "its volume services are back before", Holds: true, Answer: "it has none that was disabled for it", Remedy: "put them back into scheduling first"}
	var out []string
	for _, v := range s.VolumeServicesOn(p.i.Node) {
		if v.forMaintenance() {
			out = append(out, v.label()+" is "+v.text())
		}
	}
	if len(out) > 0 {
		g.Holds, g.Answer = false, oneLine(some(out, 4), 200)
	}
	p.guard(g)
}

// volumesText is the services with their states.
func volumesText(all []*VolumeService) string {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = v.label() + " is " + v.stateText()
	}
	return strings.Join(parts, ", ")
}

// restsOnVolumes tells whether a step of a played OpenStack controller rests on what Cinder tells: those of its lock do, unless
// there is no Cinder; that of nova-compute only where it told of a service on the node.
func (s *Snapshot) restsOnVolumes(i Intent) bool {
	switch i.Kind {
	case IntentActVolumeOut, IntentActVolumeIn:
		return true
	case IntentActRelease, IntentActRearm:
		return i.Node != "" && !s.noCinder()
	case IntentActDropLock:
		return !s.noCinder()
	case IntentActIntoScheduling, IntentActFinish:
		return len(s.VolumeServicesOn(i.Node)) > 0
	}
	return false
}
