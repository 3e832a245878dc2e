package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// volumeServiceStep begins an operator's step on a cinder-volume service; nil when there is none.
func (p *planner) volumeServiceStep(verb string) *core.VolumeService {
	s, name, host := p.s, p.i.Node, p.i.Object.Name
	label := wording.OneLine(s.Label(wording.TextOf(name, core.VolumeMachine(host))), 64)
	p.step.Title, p.step.Label, p.step.Node = verb+" "+core.VolumeLabel(host)+" of "+label, label, name
	v := s.VolumeService(name, host)
	sources := []core.SourceID{core.SourceVolumeServices}
	if p.i.Kind == core.IntentEnableVolume {
		sources = append(sources, staysUpSources(s)...)
	}
	if v == nil {
		p.identify(core.Ref{Kind: core.KindVolumeService, Name: host})
		p.common(sources, busyOn(s, name))
		p.unknown("the volume service exists", p.noVolumeService())
		return nil
	}
	p.identify(v.Ref())
	p.common(sources, busyOn(s, name))
	p.fact("host", v.Host)
	p.fact("state", v.StateText())
	return v
}

// noVolumeService says why there is no volume service to change.
func (p *planner) noVolumeService() string {
	switch host := wording.OneLine(p.i.Object.Name, 80); {
	case p.s.NoCinder():
		return "the cloud has no Cinder"
	case host == "":
		return "none was named"
	case !p.s.Known(core.SourceVolumeServices):
		return "not known: " + p.s.WhyUnknown(core.SourceVolumeServices)
	default:
		return "Cinder knows no cinder-volume " + host + " on the node"
	}
}

// SetVolumeCommand is the command that enables or disables the service.
func SetVolumeCommand(host string, enabled bool, reason string) string {
	words := []string{"openstack", "volume", "service", "set"}
	switch {
	case enabled:
		words = append(words, "--enable")
	case strings.HasPrefix(reason, "-"):
		words = append(words, "--disable", "--disable-reason="+reason) // else it would be read as another option
	default:
		words = append(words, "--disable", "--disable-reason", reason)
	}
	return wording.ShellCommand(append(words, host, "cinder-volume")...)
}

// disableVolume plans that the scheduler puts no more volumes on a host's disks.
func (p *planner) disableVolume() {
	p.step.Risk = core.RiskLow
	v := p.volumeServiceStep("disable")
	if v == nil {
		return
	}
	reason := p.i.Reason
	good := p.guardReason(reason)
	p.guard(core.Guard{ID: core.GuardServiceEnabled, Text: "the service is enabled", Holds: v.Enabled, Answer: v.Text()})
	p.step.Why = "The scheduler puts no more volumes on the host's disks. Those on it stay, and stay attached."
	p.step.Then = "It stays disabled until you enable it, or until a maintenance of the node is over: there the OpenStack controller puts " +
		"its own reason over yours, and enables what bears it."
	if !v.Enabled {
		if v.DisabledReason == reason {
			p.done = v.Label() + " is " + v.StateText()
		}
		return
	}
	p.step.Undo = "enable it: " + SetVolumeCommand(v.Host, true, "")
	p.step.Commands = []string{SetVolumeCommand(v.Host, false, reason)}
	if good {
		p.step.Change = core.SetVolumeService{Service: v.Ref(), Enabled: false, Reason: reason, WasEnabled: true, WasReason: v.DisabledReason}
	}
}

// enableVolume plans that the scheduler puts volumes on a host's disks again.
func (p *planner) enableVolume() {
	s := p.s
	p.step.Risk = core.RiskMedium
	v := p.volumeServiceStep("enable")
	if v == nil {
		return
	}
	p.guard(core.Guard{ID: core.GuardServiceDisabled, Text: "the service is disabled", Holds: !v.Enabled, Answer: v.Text()})
	own := core.Guard{ID: core.GuardNotOwned, Text: "it is not the OpenStack controller that keeps it disabled", Holds: true, Answer: v.Text()}
	p.requestFact(s.NodeRequest(p.i.Node))
	r := s.NodeRequest(p.i.Node)
	gaveUp := CannotEnableVolumes(s, p.i.Node) && (r == nil || !r.Deleting.IsZero()) // else what it says is of its last return
	switch {
	case !v.ForMaintenance() || r == nil:
	case gaveUp:
		own.Answer = "it says that it cannot enable it"
	default:
		own.Holds, own.Answer = false, "the node is in maintenance: the controller enables it when the node returns"
		own.Remedy = "wait until its NodeMaintenanceRequest is gone"
	}
	p.guard(own)
	p.guardSeenSince(core.SourceVolumeServices)
	p.guardStaysUp(p.i.Node)
	p.step.Why = "The scheduler puts volumes on the host's disks again."
	p.step.Then = "New volumes can come to the host from now on."
	if gaveUp {
		p.step.Then = wording.Join(p.step.Then, "The OpenStack controller tries again "+progress.NextLookOf(s, p.i.Node)+
			", and goes on when Cinder answers it: it leaves alone what does not bear its reason.")
	}
	if v.Enabled {
		p.done = v.Label() + " is enabled"
		return
	}
	p.step.Commands = []string{SetVolumeCommand(v.Host, true, "")}
	p.step.Undo = "disable it again"
	p.step.Change = core.SetVolumeService{Service: v.Ref(), Enabled: true, WasEnabled: false, WasReason: v.DisabledReason}
}

// CannotEnableVolumes tells whether the OpenStack controller's lock says that it cannot enable the node's volume service (text R).
func CannotEnableVolumes(s *core.Snapshot, node string) bool {
	l := s.NodeLock(node, core.ControllerOpenStack)
	if l == nil {
		return false
	}
	m := progress.ReadLockMessage(l.Message)
	return m.ID == progress.SaysVolumeServiceNotSet && strings.HasPrefix(m.Text, "Can not enable")
}
