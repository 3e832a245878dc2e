package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// actVolumeService begins a played controller's step on the intent's cinder-volume service; nil when there is none.
func (p *planner) actVolumeService(verb, how string) *core.VolumeService {
	v := p.s.VolumeService(p.i.Node, p.i.Object.Name)
	p.step.Title = verb + " " + core.VolumeLabel(p.i.Object.Name) + " " + how + " " + p.step.Label
	if v == nil {
		p.unknown("the volume service exists", p.noVolumeService())
		return nil
	}
	p.fact("service", v.Host)
	p.fact("service state", v.StateText())
	return v
}

// actVolumeOut plans that the scheduler puts no more volumes on the host's disks. nova-compute is disabled before
// (docs/mosk.md#services: compute, networking, block-storage).
func (p *planner) actVolumeOut(l *core.WorkloadLock, turn progress.ActTurn) {
	s, node := p.s, p.i.Node
	p.step.Risk = core.RiskLow
	p.turnGuard(turn, progress.TurnPrepare, progress.TurnRemove)
	if turn != progress.TurnRemove { // a removal counts against no concurrency
		p.guard(core.Guard{ID: core.GuardBegun, Text: "the work on the node was begun", Holds: l.InnerState == core.InnerActive,
			Answer: InnerText(l.InnerState)})
	}
	v := p.actVolumeService("take", "out of scheduling on")
	if v == nil {
		return
	}
	if svc := s.Services[s.HostOf(node)]; svc != nil && progress.MaintenanceOf(s, node).Compute {
		p.guard(core.Guard{ID: core.GuardComputeOut, Text: "nova-compute is out of scheduling before", Holds: !svc.Enabled,
			Answer: "nova-compute is " + core.ServiceText(svc), Remedy: "take it out of scheduling first"})
	}
	p.guard(core.Guard{ID: core.GuardFirstService, Text: "it is the one that Rockoon knows of", Holds: !v.Behind,
		Answer: wording.TextIf(v.Behind, "Cinder lists another one of the host before it", "Cinder lists it first"),
		Remedy: "disable it by your own step: Rockoon would not enable it again"})
	p.step.Why = "The scheduler must put no more volumes on the disks of a host that is about to go down. The reason is the one by which " +
		"Rockoon and Lockstep know what they disabled."
	p.step.Then = "Volumes on it stay, and stay attached; no new one comes to it."
	if !v.Enabled {
		p.done = v.Label() + " is " + v.StateText()
		return
	}
	p.step.Commands = []string{SetVolumeCommand(v.Host, false, core.DisabledReasonMaintenance)}
	p.step.Undo = "enable it: " + SetVolumeCommand(v.Host, true, "")
	p.step.Change = core.SetVolumeService{Service: v.Ref(), Enabled: false, Reason: core.DisabledReasonMaintenance, WasEnabled: true,
		WasReason: v.DisabledReason}
}

// actVolumeIn plans that a host that has returned takes volumes again. nova-compute follows.
func (p *planner) actVolumeIn(turn progress.ActTurn) {
	p.step.Risk = core.RiskMedium
	p.turnGuard(turn, progress.TurnReturn)
	v := p.actVolumeService("put", "back into scheduling on")
	if v == nil {
		return
	}
	p.guardReturned()
	p.guard(core.Guard{ID: core.GuardServiceUp, Text: "the service is up", Holds: v.Up, Answer: v.UpText(),
		Remedy: "look at its pod on the node; or give it a reason of your own, and it stays out: " +
			SetVolumeCommand(v.Host, false, "its disks are being mended")})
	p.step.Why = "The node is back. Only a service that was disabled with the maintenance's reason is enabled; what somebody else disabled " +
		"stays as it is."
	p.step.Then = "New volumes can come to the host from now on."
	switch {
	case v.Enabled:
		p.done = v.Label() + " is enabled"
		return
	case !v.ForMaintenance():
		p.done = v.Label() + " is " + v.StateText() + ": not ours to enable"
		return
	}
	p.step.Commands = []string{SetVolumeCommand(v.Host, true, "")}
	p.step.Undo = "disable it again"
	p.step.Change = core.SetVolumeService{Service: v.Ref(), Enabled: true, WasEnabled: false, WasReason: v.DisabledReason}
}

// guardVolumes holds when the node's volume services are disabled, for a release; or enabled and up, for a return.
func (p *planner) guardVolumes(release bool) {
	s := p.s
	g := core.Guard{ID: core.GuardVolumesOut, Text: "the scheduler puts no more volumes on the host", Holds: true,
		Remedy: "take it out of scheduling first"}
	if !release {
		g.Text, g.Remedy = "its volume services are back in scheduling, and up", "put it back into scheduling first"
	}
	all := s.VolumeServicesOn(p.i.Node)
	bad := progress.VolumesThat(all, release)
	switch {
	case s.NoCinder():
		g.Answer = "the cloud has no Cinder"
	case !s.Known(core.SourceVolumeServices):
		g.Holds, g.Answer, g.Remedy = false, "not known: "+s.WhyUnknown(core.SourceVolumeServices), "mend the source of the volume services"
	case len(all) == 0:
		g.Answer = "it has no cinder-volume"
	case len(bad) > 0:
		g.Holds, g.Answer = false, wording.OneLine(wording.Some(bad, 4), 200)
	default:
		g.Answer = wording.OneLine(VolumesText(all), 200)
	}
	p.fact("volume services", VolumesText(all))
	p.guard(g)
}

// guardVolumesBack holds when none of the node's volume services is disabled for the maintenance any more: they are enabled before
// nova-compute. When they are not known, they hold up the lock, not nova-compute.
func (p *planner) guardVolumesBack() {
	s := p.s
	g := core.Guard{ID: core.GuardVolumesBack, Text: "its volume services are back before", Holds: true,
		Answer: "it has none that was disabled for it", Remedy: "put them back into scheduling first"}
	var out []string
	for _, v := range s.VolumeServicesOn(p.i.Node) {
		if v.ForMaintenance() {
			out = append(out, v.Label()+" is "+v.Text())
		}
	}
	if len(out) > 0 {
		g.Holds, g.Answer = false, wording.OneLine(wording.Some(out, 4), 200)
	}
	p.guard(g)
}

// VolumesText names the services with their states.
func VolumesText(all []*core.VolumeService) string {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = v.Label() + " is " + v.StateText()
	}
	return strings.Join(parts, ", ")
}

// restsOnVolumes tells whether a step of the played OpenStack controller rests on Cinder's services. Steps on the lock do, unless the
// cloud has no Cinder; steps on nova-compute only where Cinder has a service on the node.
func restsOnVolumes(s *core.Snapshot, i core.Intent) bool {
	switch i.Kind {
	case core.IntentActVolumeOut, core.IntentActVolumeIn:
		return true
	case core.IntentActRelease, core.IntentActRearm, core.IntentActFinish:
		return i.Node != "" && !s.NoCinder()
	case core.IntentActDropLock:
		return !s.NoCinder()
	case core.IntentActIntoScheduling:
		return len(s.VolumeServicesOn(i.Node)) > 0
	}
	return false
}
