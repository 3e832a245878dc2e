package step

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// maxDisableReason is the longest reason that Nova accepts, in characters.
const maxDisableReason = 255

// computeService begins a step on the node's nova-compute service; nil when there is none.
func (p *planner) computeService(verb string) *core.ComputeService {
	s, name := p.s, p.i.Node
	host := s.HostOf(name)
	svc := s.Services[host]
	label := wording.OneLine(progress.HostLabel(s, wording.TextOf(name, host)), 64)
	p.step.Title, p.step.Label, p.step.Node = verb+" nova-compute of "+label, label, name
	sources := []core.SourceID{core.SourceComputeServices}
	if p.i.Kind == core.IntentEnableCompute {
		sources = append(sources, staysUpSources(s)...)
	}
	if svc == nil {
		p.identify(core.Ref{Kind: core.KindComputeService, Name: host})
		p.common(sources, busyOn(s, name))
		p.unknown("the compute service exists", "Nova knows no nova-compute on "+
			wording.TextOf(wording.OneLine(host, 64), "a host without a name"))
		return nil
	}
	p.identify(svc.Ref())
	p.common(sources, busyOn(s, name))
	p.guard(guardExists("the compute service", svc.Ref()))
	p.fact("uid", svc.ID)
	p.fact("host", svc.Host)
	p.fact("state", core.ServiceText(svc))
	return svc
}

// guardReason adds the guards on the operator's reason for disabling a service: Nova and Cinder accept it, and it is not the OpenStack
// controller's own. It tells whether they accept it.
func (p *planner) guardReason(reason string) bool {
	good := p.guardOneLine(reason)
	p.guard(core.Guard{ID: core.GuardReasonOwn, Text: "the reason is not the OpenStack controller's own",
		Holds: reason != core.DisabledReasonMaintenance, Answer: wording.TextOf(wording.OneLine(reason, 80), "none"),
		Remedy: "choose another: by this one the controller knows the services that it enables again"})
	return good
}

// guardOneLine holds when there is a reason of one line. It tells whether there is.
func (p *planner) guardOneLine(reason string) bool {
	good := strings.TrimSpace(reason) != "" && strings.TrimSpace(reason) == reason && len([]rune(reason)) <= maxDisableReason &&
		!strings.ContainsAny(reason, "\n\r\t")
	p.guard(core.Guard{ID: core.GuardReasonGiven, Text: "there is a reason, of one line", Holds: good,
		Answer: wording.TextOf(wording.OneLine(reason, 80), "none"),
		Remedy: "say why, in at most 255 characters, so that the next operator knows"})
	return good
}

// disableCompute plans that the scheduler puts no more instances on a host.
func (p *planner) disableCompute() {
	p.step.Risk = core.RiskLow
	svc := p.computeService("disable")
	if svc == nil {
		return
	}
	reason := p.i.Reason
	good := p.guardReason(reason)
	p.guard(core.Guard{ID: core.GuardServiceEnabled, Text: "the service is enabled", Holds: svc.Enabled, Answer: core.ServiceText(svc)})
	p.step.Why = "The scheduler puts no more instances on the host. Those on it stay."
	p.step.Then = "It stays disabled until you enable it: after a maintenance the OpenStack controller enables only what it disabled itself."
	if !svc.Enabled {
		if svc.DisabledReason == reason {
			p.done = "nova-compute is " + core.ServiceText(svc)
		}
		return
	}
	p.step.Undo = "enable it: " + wording.ShellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")
	option := []string{"--disable-reason", reason}
	if strings.HasPrefix(reason, "-") {
		option = []string{"--disable-reason=" + reason} // else it would be read as another option
	}
	words := append([]string{"openstack", "compute", "service", "set", "--disable"}, option...)
	p.step.Commands = []string{wording.ShellCommand(append(words, svc.Host, "nova-compute")...)}
	if good {
		p.step.Change = core.SetComputeService{Service: svc.Ref(), Enabled: false, Reason: reason, WasEnabled: true,
			WasReason: svc.DisabledReason}
	}
}

// enableCompute plans that the scheduler uses a host again.
func (p *planner) enableCompute() {
	p.step.Risk = core.RiskMedium
	svc := p.computeService("enable")
	if svc == nil {
		return
	}
	p.guard(core.Guard{ID: core.GuardServiceDisabled, Text: "the service is disabled", Holds: !svc.Enabled, Answer: core.ServiceText(svc)})
	own := core.Guard{ID: core.GuardNotOwned, Text: "it is not the OpenStack controller that keeps it disabled", Holds: true,
		Answer: core.ServiceText(svc)}
	r := p.s.NodeRequest(p.i.Node)
	if r != nil {
		p.fact("request", r.UID)
	} else {
		p.fact("request", "")
	}
	if !svc.Enabled && svc.DisabledReason == core.DisabledReasonMaintenance && r != nil {
		own.Holds, own.Answer = false, "the node is in maintenance: the controller enables it when the node returns"
		own.Remedy = "wait until its NodeMaintenanceRequest is gone"
	}
	p.guard(own)
	p.guardSeenSince(core.SourceComputeServices)
	p.guardStaysUp(p.i.Node)
	if turn := playedTurn(p.s, core.ControllerOpenStack, p.i.Node); turn != progress.TurnNone && turn != progress.TurnCreate &&
		svc.DisabledReason == core.DisabledReasonMaintenance && progress.PlaysAlone(p.s, p.i.Node) {
		p.guard(core.Guard{ID: core.GuardNotPlayed, Text: "it is not Lockstep's own turn, as the OpenStack controller", Answer: turnTexts[turn],
			Remedy: "put it back into scheduling by the node's own step, which looks at its pods and agents first"})
	}
	p.step.Why = "The scheduler puts instances on the host again."
	p.step.Then = "New and migrated instances can come to the host from now on."
	if svc.Enabled {
		p.done = "nova-compute is enabled"
		return
	}
	p.step.Commands = []string{wording.ShellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")}
	p.step.Undo = "disable it again"
	p.step.Change = core.SetComputeService{Service: svc.Ref(), Enabled: true, WasEnabled: false, WasReason: svc.DisabledReason}
}
