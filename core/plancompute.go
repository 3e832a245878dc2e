package core

import "strings"

// maxDisableReason is the longest reason that Nova takes, in characters.
const maxDisableReason = 255

// computeService begins a step on the node's nova-compute service; nil when there is none.
func (p *planner) computeService(verb string) *ComputeService {
	s, name := p.s, p.i.Node
	host := s.HostOf(name)
	svc := s.Services[host]
	label := oneLine(s.hostLabel(textOf(name, host)), 64)
	p.step.Title, p.step.Label, p.step.Node = verb+" nova-compute of "+label, label, name
	sources := []SourceID{SourceComputeServices}
	if p.i.Kind == IntentEnableCompute {
		sources = append(sources, s.staysUpSources()...)
	}
	if svc == nil {
		p.identify(Ref{Kind: KindComputeService, Name: host})
		p.common(sources, s.busyOn(name))
		p.unknown("the compute service exists", "Nova knows no nova-compute on "+textOf(oneLine(host, 64), "a host without a name"))
		return nil
	}
	p.identify(svc.Ref())
	p.common(sources, s.busyOn(name))
	p.guard(guardExists("the compute service", svc.Ref()))
	p.fact("uid", svc.ID)
	p.fact("host", svc.Host)
	p.fact("state", serviceText(svc))
	return svc
}

// guardReason holds when an operator's reason for disabling a service can be told from the OpenStack controller's own, and tells
// whether Nova and Cinder take it.
func (p *planner) guardReason(reason string) bool {
	good := strings.TrimSpace(reason) != "" && strings.TrimSpace(reason) == reason && len([]rune(reason)) <= maxDisableReason && !strings.ContainsAny(reason, "\n\r\t")
	p.guard(Guard{ID: GuardReasonGiven, Text: "there is a reason, of one line", Holds: good, Answer: textOf(oneLine(reason, 80), "none"), Remedy: "say why, in at most 255 characters, so that the next operator knows"})
	p.guard(Guard{ID: GuardReasonOwn, Text: "the reason is not the OpenStack controller's own", Holds: reason != DisabledReasonMaintenance, Answer: textOf(oneLine(reason, 80), "none"),
		Remedy: "choose another: by this one the controller knows the services that it enables again"})
	return good
}

// disableCompute plans that the scheduler puts nothing more on a host.
func (p *planner) disableCompute() {
	p.step.Risk = RiskLow
	svc := p.computeService("disable")
	if svc == nil {
		return
	}
	reason := p.i.Reason
	good := p.guardReason(reason)
	p.guard(Guard{ID: GuardServiceEnabled, Text: "the service is enabled", Holds: svc.Enabled, Answer: serviceText(svc)})
	p.step.Why = "The scheduler puts no more instances on the host. Those on it stay."
	p.step.Then = "It stays disabled until you enable it: after a maintenance the OpenStack controller enables only what it disabled itself."
	if !svc.Enabled {
		if svc.DisabledReason == reason {
			p.done = "nova-compute is " + serviceText(svc)
		}
		return
	}
	p.step.Undo = "enable it: " + shellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")
	option := []string{"--disable-reason", reason}
	if strings.HasPrefix(reason, "-") {
		option = []string{"--disable-reason=" + reason} // else it would be read as another option
	}
	words := append([]string{"openstack", "compute", "service", "set", "--disable"}, option...)
	p.step.Commands = []string{shellCommand(append(words, svc.Host, "nova-compute")...)}
	if good {
		p.step.Change = SetComputeService{Service: svc.Ref(), Enabled: false, Reason: reason, WasEnabled: true, WasReason: svc.DisabledReason}
	}
}

// enableCompute plans that the scheduler uses a host again.
func (p *planner) enableCompute() {
	p.step.Risk = RiskMedium
	svc := p.computeService("enable")
	if svc == nil {
		return
	}
	p.guard(Guard{ID: GuardServiceDisabled, Text: "the service is disabled", Holds: !svc.Enabled, Answer: serviceText(svc)})
	own := Guard{ID: GuardNotOwned, Text: "it is not the OpenStack controller that keeps it disabled", Holds: true,
		Answer: serviceText(svc)}
	r := p.s.NodeRequest(p.i.Node)
	if r != nil {
		p.fact("request", r.UID)
	} else {
		p.fact("request", "")
	}
	if !svc.Enabled && svc.DisabledReason == DisabledReasonMaintenance && r != nil {
		own.Holds, own.Answer = false, "the node is in maintenance: the controller enables it when the node returns"
		own.Remedy = "wait until its NodeMaintenanceRequest is gone"
	}
	p.guard(own)
	p.guardSeenSince(SourceComputeServices)
	p.guardStaysUp(p.i.Node)
	if turn := p.s.playedTurn(ControllerOpenStack, p.i.Node); turn != turnNone && turn != turnCreate && svc.DisabledReason == DisabledReasonMaintenance && p.s.playsAlone(p.i.Node) {
		p.guard(Guard{ID: GuardNotPlayed, Text: "it is not Lockstep's own turn, as the OpenStack controller", Answer: turnTexts[turn],
			Remedy: "put it back into scheduling by the node's own step, which looks at its pods and agents first"})
	}
	p.step.Why = "The scheduler puts instances on the host again."
	p.step.Then = "New and migrated instances can come to the host from now on."
	if svc.Enabled {
		p.done = "nova-compute is enabled"
		return
	}
	p.step.Commands = []string{shellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")}
	p.step.Undo = "disable it again"
	p.step.Change = SetComputeService{Service: svc.Ref(), Enabled: true, WasEnabled: false, WasReason: svc.DisabledReason}
}
