package step

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func (p *planner) guardStatus(in *core.Instance, rule InstanceRule) {
	p.guard(core.Guard{ID: core.GuardStatus, Text: "it is " + strings.Join(rule.Statuses, " or "),
		Holds:  slices.Contains(rule.Statuses, in.Status),
		Answer: in.Status, Remedy: wording.TextOf(progress.WayOut(in), "choose what fits its status")})
}

func (p *planner) guardIdle(in *core.Instance, m *core.Migration) {
	task := core.Guard{ID: core.GuardNoTask, Text: "nothing is being done with it", Holds: in.TaskState == "",
		Answer: wording.TextOf(in.TaskState, "no task"), Remedy: "wait until Nova is done with it"}
	switch {
	case !progress.HostDead(p.s, in.Host) || LeftAlone(p.s, in):
	case progress.AwaitedBack(p.s, in.Host):
		task.Remedy = "its node reboots: nova-compute sees to the task when it is back"
	default:
		task.Remedy = "its host is dead, and ends no task: written down as ERROR it has none (" +
			wording.ShellCommand("openstack", "server", "set", "--state", "error", in.ID) + ")"
	}
	p.guard(task)
	g := core.Guard{ID: core.GuardNoMigration, Text: "it is not being migrated", Holds: true, Answer: "no migration is under way",
		Remedy: "wait for its end, or abort it"}
	switch {
	case m == nil || !m.Running():
	case progress.LeftRunning(p.s, in):
		g.Answer = "the record of one still runs: its host cannot end it"
	default:
		g.Holds, g.Answer = false, ProgressText(p.s, in)
	}
	p.guard(g)
}

// LeftAlone tells whether an instance on a dead host is on its way without it, as far as its task (nova.compute.task_states) and its newest
// migration tell: Nova rebuilds it on another host, or deletes it. On a host that is dead, too, nobody rebuilds it.
func LeftAlone(s *core.Snapshot, in *core.Instance) bool {
	m := s.LatestMigration(in.ID)
	if m != nil && m.Running() && m.Type == core.MigrationEvacuation && m.SourceHost == in.Host {
		if m.DestHost == "" { // no host has taken it yet: after a while nobody will
			return !s.Longer(core.Later(m.Created, m.Updated), evacuationTaken)
		}
		return !progress.HostDead(s, m.DestHost)
	}
	rebuilds := strings.HasPrefix(in.TaskState, "rebuild") && !s.Longer(in.Updated, recordsSettle)
	return rebuilds || strings.HasSuffix(in.TaskState, "deleting")
}

const (
	// evacuationTaken is within which time a host takes an evacuation that Nova has accepted; afterwards the message was lost.
	evacuationTaken = 30 * time.Minute
	// recordsSettle is how long a task may be known before the record of what it belongs to. A rebuild without a record of an evacuation is
	// the owner's own, on the host that is dead.
	recordsSettle = 2 * time.Minute
)

// Decides tells whether the intent decides a cold migration or a resize. Its source has a part in either: it cleans up, or takes the
// instance back.
func Decides(kind core.IntentKind) bool {
	return kind == core.IntentConfirmResize || kind == core.IntentRevertResize
}

// SourceFactName names the fact of the host from which an instance came.
const SourceFactName = "came from"

// guardSource holds when Nova's record shows from where the instance came. Without it nobody knows whether that host lives, and whether it
// goes down next. Nova itself decides only what is "finished" by its record (nova.compute.api: confirm_resize, revert_resize).
func (p *planner) guardSource(m *core.Migration) {
	g := core.Guard{ID: core.GuardValueKnown, Text: "it is known from where it came", Answer: "no record of its migration is known",
		Remedy: "wait until Nova's records are read"}
	switch {
	case m == nil:
	case m.Status == "confirming" || m.Status == "reverting":
		g.Answer = "the record of its migration is " + m.Status
		g.Remedy = "its source " + wording.TextOf(progress.HostLabel(p.s, m.SourceHost), "host") +
			" is to end that: look at the log of nova-compute there; where the request was lost, only Nova's database can be mended"
	case m.Status != "finished":
		g.Answer = "the record of its migration is " + wording.TextOf(wording.OneLine(m.Status, 30), "without a status")
		g.Remedy = "Nova decides only what is finished: look at openstack server migration list"
	case m.SourceHost == "":
		g.Answer, g.Remedy = "the record of its migration names no source", "look at openstack server migration list"
	default:
		g.Holds, g.Answer = true, "from "+progress.HostLabel(p.s, m.SourceHost)
		p.fact(SourceFactName, m.SourceHost)
	}
	p.guard(g)
}

// guardComputeUp holds when the nova-compute services that carry the step out are up. Else Nova would accept the call and leave the
// instance in its task for ever.
func (p *planner) guardComputeUp(in *core.Instance, m *core.Migration) {
	hosts := []string{in.Host}
	if Decides(p.i.Kind) && m != nil && m.SourceHost != "" && m.SourceHost != in.Host {
		hosts = append(hosts, m.SourceHost)
	}
	g := core.Guard{ID: core.GuardComputeUp, Text: "nova-compute of its host is up", Holds: true,
		Remedy: "look at the nova-compute pod of the node"}
	var up, down, unknown []string
	for _, h := range hosts {
		switch svc := p.s.Services[h]; {
		case svc == nil && h != "":
			unknown = append(unknown, progress.HostLabel(p.s, h))
		case svc == nil: // it is on no host yet
		case !svc.Up || svc.ForcedDown:
			down = append(down, progress.HostLabel(p.s, h))
		default:
			up = append(up, progress.HostLabel(p.s, h))
		}
	}
	g.Answer = wording.TextOf(strings.Join(up, ", "), "it is on no host")
	switch {
	case len(down) > 0:
		g.Holds, g.Answer = false, "down on "+strings.Join(down, ", ")
	case len(unknown) > 0:
		g.Holds, g.Answer = false, "Nova knows none on "+strings.Join(unknown, ", ")
	}
	p.guard(g)
}

// guardComputeDown holds when nova-compute of its host is down: else Nova does not evacuate.
func (p *planner) guardComputeDown(in *core.Instance) {
	g := core.Guard{ID: core.GuardComputeDown, Text: "nova-compute of its host is down", Holds: progress.ComputeDown(p.s, in.Host),
		Answer: "down on " + progress.HostLabel(p.s, in.Host), Remedy: "migrate it"}
	switch svc := p.s.Services[in.Host]; {
	case svc == nil:
		g.Answer, g.Remedy = "not known", ""
	case !g.Holds:
		g.Answer = "up on " + progress.HostLabel(p.s, in.Host)
	default:
		p.fact("service", svc.ID)
	}
	p.guard(g)
}

// guardHostDead holds while the kubelet of its host does not report. A kubelet that reports, Ready or not, shows that the host is
// alive, and its guests may be, whatever nova-compute does. Nothing here can see whether a silent host is really off.
func (p *planner) guardHostDead(in *core.Instance) {
	g := core.Guard{ID: core.GuardHostDead, Text: "the kubelet of its host does not report either", Holds: true,
		Answer: "the cluster has no node of the host",
		Remedy: "the host is alive, and its guests may be: restart its nova-compute; or first make sure that it is switched off"}
	if n := p.s.NodeOfHost(in.Host); n != nil {
		ready := wording.TextOf(wording.OneLine(n.Ready, 20), "not told")
		g.Holds, g.Answer = !n.Alive(), "Ready is "+ready+wording.Dashed(wording.OneLine(n.ReadyReason, 60))
		p.fact("ready", ready)
	}
	p.guard(g)
}

// guardTarget holds when at least one other host of its zone could take the instance. Only the scheduler knows whether there is room.
func (p *planner) guardTarget(in *core.Instance) {
	zone := in.Zone
	if own := p.s.Services[in.Host]; own != nil && own.Zone != "" {
		zone = own.Zone
	}
	n := targets(p.s, in.Host, zone)
	where := ""
	if zone != "" {
		where = " in zone " + zone
	}
	g := core.Guard{ID: core.GuardTarget, Text: "another compute service" + where + " is up and enabled", Holds: n > 0,
		Answer: fmt.Sprintf("%d %s", n, wording.Verb(n, "is", "are")),
		Remedy: "enable one, or wait for a node that returns"}
	if down := goingDown(p.s, in.Host, zone); len(down) > 0 {
		g.Text = "no other compute service" + where + " that is up and enabled goes down now"
		g.Holds, g.Answer = false, "the scheduler may choose "+wording.Some(down, 3)+
			": the lock is released, so the host may be rebooted or removed at any time, and nova-compute is enabled"
		g.Remedy = "disable nova-compute there first"
	}
	p.guard(g)
}

// goingDown are the other hosts in the zone that the scheduler can use although their nodes are released: an instance that comes there goes
// down with the host, and no lock holds it.
func goingDown(s *core.Snapshot, host, zone string) []string {
	var out []string
	for h, svc := range s.Services {
		n := s.NodeOfHost(h)
		if h == host || n == nil || !usable(svc, zone) {
			continue
		}
		if l := s.NodeLock(n.Name, core.ControllerOpenStack); l == nil || l.State() != core.LockInactive {
			continue
		}
		if s.Deletions[n.Name] != nil || EntersMaintenance(s, n.Name) && progress.ScopeOf(s, s.NodeRequest(n.Name)) != core.ScopeDrain {
			out = append(out, wording.OneLine(n.Label(), 64))
		}
	}
	slices.Sort(out)
	return out
}

// usable tells whether the scheduler can use a compute service, in the zone; in any zone when zone is empty.
func usable(svc *core.ComputeService, zone string) bool {
	return svc.Enabled && svc.Up && !svc.ForcedDown && (zone == "" || svc.Zone == zone)
}

// targets counts the other compute services that the scheduler can use, in the zone; in any zone when zone is empty.
func targets(s *core.Snapshot, host, zone string) int {
	n := 0
	for h, svc := range s.Services {
		if h != host && usable(svc, zone) {
			n++
		}
	}
	return n
}

// taskMigrating is Nova's task of an instance that is live-migrated (nova.compute.task_states).
const taskMigrating = "migrating"

// guardRunningMigration holds while Nova would act on the migration. It refuses that for an instance whose state was reset meanwhile, as it
// looks at the instance's task, which then is no migration any more (nova.compute.api: live_migrate_abort, live_migrate_force_complete).
func (p *planner) guardRunningMigration(in *core.Instance, m *core.Migration, rule InstanceRule) {
	g := core.Guard{ID: core.GuardLiveMigration, Text: "a live migration of it is " + strings.Join(rule.running, " or ")}
	switch {
	case m == nil || !m.Running():
		g.Answer = "none is under way"
	case m.Type != core.MigrationLive:
		g.Answer = "what is under way is not a live migration: " + m.Type
	case slices.Contains(rule.running, m.Status) && in.TaskState != taskMigrating:
		g.Answer = m.Status + ", but the instance's task is " + wording.TextOf(wording.OneLine(in.TaskState, 40), "none") +
			": its state was reset, and Nova refuses"
		g.Remedy = "wait for the end of the migration"
	default:
		g.Holds, g.Answer = slices.Contains(rule.running, m.Status), m.Status
		g.Remedy = "wait"
	}
	p.guard(g)
}
