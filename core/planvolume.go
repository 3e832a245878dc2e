package core

import (
	"strings"
)

// volumeServiceStep begins an operator's step on a cinder-volume service; nil when there is none.
func (p *planner) volumeServiceStep(verb string) *VolumeService {
	s, name, host := p.s, p.i.Node, p.i.Object.Name
	label := oneLine(s.Label(textOf(name, volumeMachine(host))), 64)
	p.step.Title, p.step.Label, p.step.Node = verb+" "+volumeLabel(host)+" of "+label, label, name
	v := s.volumeService(name, host)
	sources := []SourceID{SourceVolumeServices}
	if p.i.Kind == IntentEnableVolume {
		sources = append(sources, s.staysUpSources()...)
	}
	if v == nil {
		p.identify(Ref{Kind: KindVolumeService, Name: host})
		p.common(sources, s.busyOn(name))
		p.unknown("the volume service exists", p.noVolumeService())
		return nil
	}
	p.identify(v.Ref())
	p.common(sources, s.busyOn(name))
	p.fact("host", v.Host)
	p.fact("state", v.stateText())
	return v
}

// noVolumeService is why there is no service to change.
func (p *planner) noVolumeService() string {
	switch host := oneLine(p.i.Object.Name, 80); {
	case p.s.noCinder():
		return "the cloud has no Cinder"
	case host == "":
		return "none was named"
	case !p.s.known(SourceVolumeServices):
		return "not known: " + p.s.whyUnknown(SourceVolumeServices)
	default:
		return "Cinder knows no cinder-volume " + host + " on the node"
	}
}

// setVolumeCommand is the command that enables or disables the service.
func setVolumeCommand(host string, enabled bool, reason string) string {
	words := []string{"openstack", "volume", "service", "set"}
	switch {
	case enabled:
		words = append(words, "--enable")
	case strings.HasPrefix(reason, "-"):
		words = append(words, "--disable", "--disable-reason="+reason) // else it would be read as another option
	default:
		words = append(words, "--disable", "--disable-reason", reason)
	}
	return shellCommand(append(words, host, "cinder-volume")...)
}

// disableVolume plans that the scheduler puts no more volumes on a host's disks.
func (p *planner) disableVolume() {
	p.step.Risk = RiskLow
	v := p.volumeServiceStep("disable")
	if v == nil {
		return
	}
	reason := p.i.Reason
	good := p.guardReason(reason)
	p.guard(Guard{ID: GuardServiceEnabled, Text: "the service is enabled", Holds: v.Enabled, Answer: v.text()})
	p.step.Why = "The scheduler puts no more volumes on the host's disks. Those on it stay, and stay attached."
	p.step.Then = "It stays disabled until you enable it, or until a maintenance of the node is over: there the OpenStack controller puts its own reason over yours, and enables what bears it."
	if !v.Enabled {
		if v.DisabledReason == reason {
			p.done = v.label() + " is " + v.stateText()
		}
		return
	}
	p.step.Undo = "enable it: " + setVolumeCommand(v.Host, true, "")
	p.step.Commands = []string{setVolumeCommand(v.Host, false, reason)}
	if good {
		p.step.Change = SetVolumeService{Service: v.Ref(), Enabled: false, Reason: reason, WasEnabled: true, WasReason: v.DisabledReason}
	}
}

// enableVolume plans that the scheduler puts volumes on a host's disks again.
func (p *planner) enableVolume() {
	s := p.s
	p.step.Risk = RiskMedium
	v := p.volumeServiceStep("enable")
	if v == nil {
		return
	}
	p.guard(Guard{ID: GuardServiceDisabled, Text: "the service is disabled", Holds: !v.Enabled, Answer: v.text()})
	own := Guard{ID: GuardNotOwned, Text: "it is not the OpenStack controller that keeps it disabled", Holds: true, Answer: v.text()}
	p.requestFact(s.NodeRequest(p.i.Node))
	r := s.NodeRequest(p.i.Node)
	gaveUp := s.cannotEnableVolumes(p.i.Node) && (r == nil || !r.Deleting.IsZero()) // else what it says is of its last return
	switch {
	case !v.forMaintenance() || r == nil:
	case gaveUp:
		own.Answer = "it says that it cannot enable it"
	default:
		own.Holds, own.Answer = false, "the node is in maintenance: the controller enables it when the node returns"
		own.Remedy = "wait until its NodeMaintenanceRequest is gone"
	}
	p.guard(own)
	p.guardSeenSince(SourceVolumeServices)
	p.guardStaysUp(p.i.Node)
	p.step.Why = "The scheduler puts volumes on the host's disks again."
	p.step.Then = "New volumes can come to the host from now on."
	if gaveUp {
		p.step.Then = join(p.step.Then, "The OpenStack controller tries again "+s.nextLookOf(p.i.Node)+", and goes on when Cinder answers it: it leaves alone what does not bear its reason.")
	}
	if v.Enabled {
		p.done = v.label() + " is enabled"
		return
	}
	p.step.Commands = []string{setVolumeCommand(v.Host, true, "")}
	p.step.Undo = "disable it again"
	p.step.Change = SetVolumeService{Service: v.Ref(), Enabled: true, WasEnabled: false, WasReason: v.DisabledReason}
}

// cannotEnableVolumes tells whether the OpenStack controller says of the node that it cannot enable its volume service (R).
func (s *Snapshot) cannotEnableVolumes(node string) bool {
	l := s.NodeLock(node, ControllerOpenStack)
	if l == nil {
		return false
	}
	m := ReadLockMessage(l.Message)
	return m.ID == SaysVolumeServiceNotSet && strings.HasPrefix(m.Text, "Can not enable")
}
