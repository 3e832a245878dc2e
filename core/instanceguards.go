package core

import (
	"fmt"
	"slices"
	"strings"
)

func (p *planner) guardStatus(in *Instance, rule instanceRule) {
	p.guard(Guard{ID: GuardStatus, Text: "it is " + strings.Join(rule.statuses, " or "), Holds: slices.Contains(rule.statuses, in.Status),
		Answer: in.Status, Remedy: textOf(wayOut(in), "choose what fits its status")})
}

func (p *planner) guardIdle(in *Instance, m *Migration) {
	p.guard(Guard{ID: GuardNoTask, Text: "nothing is being done with it", Holds: in.TaskState == "", Answer: textOf(in.TaskState, "no task"), Remedy: "wait until Nova is done with it"})
	g := Guard{ID: GuardNoMigration, Text: "it is not being migrated", Holds: true, Answer: "no migration is under way", Remedy: "wait for its end, or abort it"}
	if m != nil && m.Running() {
		g.Holds, g.Answer = false, p.s.progressText(in)
	}
	p.guard(g)
}

// guardComputeUp holds when the nova-compute services that have to carry the step out are up: Nova would take the call,
// and leave the instance in its task for ever.
func (p *planner) guardComputeUp(in *Instance, m *Migration) {
	hosts := []string{in.Host}
	if slices.Contains([]IntentKind{IntentConfirmResize, IntentRevertResize}, p.i.Kind) && m != nil && m.SourceHost != "" && m.SourceHost != in.Host {
		hosts = append(hosts, m.SourceHost)
	}
	g := Guard{ID: GuardComputeUp, Text: "nova-compute of its host is up", Holds: true, Remedy: "look at the nova-compute pod of the node"}
	var up, down, unknown []string
	for _, h := range hosts {
		switch svc := p.s.Services[h]; {
		case svc == nil && h != "":
			unknown = append(unknown, p.s.hostLabel(h))
		case svc == nil: // it is on no host yet
		case !svc.Up || svc.ForcedDown:
			down = append(down, p.s.hostLabel(h))
		default:
			up = append(up, p.s.hostLabel(h))
		}
	}
	g.Answer = textOf(strings.Join(up, ", "), "it is on no host")
	switch {
	case len(down) > 0:
		g.Holds, g.Answer = false, "down on "+strings.Join(down, ", ")
	case len(unknown) > 0:
		g.Holds, g.Answer = false, "Nova knows none on "+strings.Join(unknown, ", ")
	}
	p.guard(g)
}

// hostDown tells whether nova-compute of the host is known to be down.
func (s *Snapshot) hostDown(host string) bool {
	svc := s.Services[host]
	return svc != nil && (!svc.Up || svc.ForcedDown)
}

// guardComputeDown holds when nova-compute of its host is down: Nova evacuates off no other.
func (p *planner) guardComputeDown(in *Instance) {
	g := Guard{ID: GuardComputeDown, Text: "nova-compute of its host is down", Holds: p.s.hostDown(in.Host), Answer: "down on " + p.s.hostLabel(in.Host), Remedy: "migrate it"}
	switch svc := p.s.Services[in.Host]; {
	case svc == nil:
		g.Answer, g.Remedy = "not known", ""
	case !g.Holds:
		g.Answer = "up on " + p.s.hostLabel(in.Host)
	default:
		p.fact("service", svc.ID)
	}
	p.guard(g)
}

// guardHostDead holds while the kubelet of its host does not report. One that does, Ready or not, says that the host lives, and
// its guests with it, whatever has become of its nova-compute. That a host which is silent is off nothing here can see.
func (p *planner) guardHostDead(in *Instance) {
	g := Guard{ID: GuardHostDead, Text: "the kubelet of its host does not report either", Holds: true, Answer: "the cluster has no node of the host",
		Remedy: "the host lives, and its guests may: start its nova-compute anew; or make sure that it is switched off first"}
	if n := p.s.NodeOfHost(in.Host); n != nil {
		ready := textOf(oneLine(n.Ready, 20), "not told")
		g.Holds, g.Answer = n.Ready != "True" && n.Ready != "False", "Ready is "+ready+dashed(oneLine(n.ReadyReason, 60))
		p.fact("ready", ready)
	}
	p.guard(g)
}

// guardTarget holds when at least one other host of its zone could take the instance. Whether there is room the scheduler
// alone knows.
func (p *planner) guardTarget(in *Instance) {
	zone := in.Zone
	if own := p.s.Services[in.Host]; own != nil && own.Zone != "" {
		zone = own.Zone
	}
	n := p.s.targets(in.Host, zone)
	where := ""
	if zone != "" {
		where = " in zone " + zone
	}
	p.guard(Guard{ID: GuardTarget, Text: "another compute service" + where + " is up and enabled", Holds: n > 0, Answer: fmt.Sprintf("%d %s", n, verb(n, "is", "are")),
		Remedy: "enable one, or wait for a node that returns"})
}

// targets counts the compute services beside the host's that the scheduler can use; in any zone when none is given.
func (s *Snapshot) targets(host, zone string) int {
	n := 0
	for h, svc := range s.Services {
		if h != host && svc.Enabled && svc.Up && !svc.ForcedDown && (zone == "" || svc.Zone == zone) {
			n++
		}
	}
	return n
}

func (p *planner) guardRunningMigration(m *Migration, rule instanceRule) {
	g := Guard{ID: GuardLiveMigration, Text: "a live migration of it is " + strings.Join(rule.running, " or ")}
	switch {
	case m == nil || !m.Running():
		g.Answer = "none is under way"
	case m.Type != MigrationLive:
		g.Answer = "what is under way is no live migration: " + m.Type
	default:
		g.Holds, g.Answer = slices.Contains(rule.running, m.Status), m.Status
		g.Remedy = "wait"
	}
	p.guard(g)
}
