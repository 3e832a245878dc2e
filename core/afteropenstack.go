package core

import (
	"slices"
	"strings"
)

// servicesThat are the labels of the hosts whose compute services are open.
func (s *Snapshot) servicesThat(open func(*ComputeService) bool) []string {
	var out []string
	for host, svc := range s.Services {
		if open(svc) {
			out = append(out, oneLine(s.hostLabel(host), 64))
		}
	}
	slices.Sort(out)
	return out
}

// disabledByLockstep begins the reason that Lockstep proposes for a service that is disabled with it.
const disabledByLockstep = "taken out of scheduling with Lockstep"

// byLockstep tells whether the service was disabled with the reason that Lockstep proposes.
func (s *ComputeService) byLockstep() bool {
	return !s.Enabled && strings.HasPrefix(s.DisabledReason, disabledByLockstep)
}

// leftDisabled tells whether the service was disabled for a maintenance: by the OpenStack controller, or with Lockstep.
func (s *ComputeService) leftDisabled() bool {
	return !s.Enabled && s.DisabledReason == DisabledReasonMaintenance || s.byLockstep()
}

func (s *Snapshot) openDisabled() []string {
	return s.servicesThat((*ComputeService).leftDisabled)
}

func (s *Snapshot) openDown() []string {
	return s.servicesThat(func(c *ComputeService) bool { return c.Enabled && !c.Up })
}

// ownReasons names the compute services that somebody has disabled for a reason of their own.
func (s *Snapshot) ownReasons() string {
	own := s.servicesThat(func(c *ComputeService) bool { return !c.Enabled && !c.leftDisabled() })
	if len(own) == 0 {
		return ""
	}
	return "disabled for another reason: " + some(own, 8)
}

func (s *Snapshot) openAgents() []string {
	var out []string
	for host := range s.Agents {
		for _, a := range s.silentOn(host) {
			out = append(out, oneLine(s.hostLabel(host), 64)+": "+oneLine(a.Type, 40))
		}
	}
	slices.Sort(out)
	return out
}

func (s *Snapshot) openDeployments() []string {
	var out []string
	for _, o := range s.OpenStack {
		if o.State != "APPLIED" {
			out = append(out, oneLine(o.Name, 64)+" is "+textOf(oneLine(o.State, 20), "in no state")+dashed(oneLine(o.LCMProgress, 20)))
		}
	}
	return out
}

func (s *Snapshot) openHealth() []string {
	var out []string
	for _, o := range s.OpenStack {
		for _, name := range o.Unhealthy {
			out = append(out, oneLine(name, 100))
		}
	}
	return out
}

func (s *Snapshot) openDaemonSets() []string {
	var out []string
	for _, v := range s.DaemonViews() {
		if text := v.behind(); text != "" {
			out = append(out, v.Short()+" ("+text+")")
		}
	}
	return out
}
