package step

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// A guard's text is true when it holds. Its answer says what was found, its remedy what to do when it does not hold.

// common adds the guards that every step has: writing is armed, the sources are fresh, and no other operation of Lockstep touches the
// object.
func (p *planner) common(sources []core.SourceID, busy func(core.Operation) bool) {
	p.guard(guardArmed(p.s))
	p.guard(guardFresh(p.s, sources))
	p.guard(guardAlone(p.s, busy))
}

func guardArmed(s *core.Snapshot) core.Guard {
	g := core.Guard{ID: core.GuardArmed, Text: "writing is armed", Holds: s.Write.Armed && s.Write.Barred == "", Answer: "armed",
		Remedy: "arm writing"}
	switch {
	case s.Write.Barred != "":
		g.Answer, g.Remedy = "read-only: "+s.Write.Barred, ""
	case g.Holds:
	case s.Write.Lost != "":
		g.Answer = s.Write.Lost
	default:
		g.Answer = "read-only"
	}
	return g
}

// guardFresh holds when all sources are live and were confirmed recently enough for a write.
func guardFresh(s *core.Snapshot, sources []core.SourceID) core.Guard {
	g := core.Guard{ID: core.GuardFresh, Text: "what is known is fresh", Holds: true,
		Remedy: "wait until it is seen again, or mend the source"}
	var good, bad []string
	for _, id := range sources {
		ok, text := s.Fresh(id)
		if ok {
			good = append(good, text)
			continue
		}
		bad = append(bad, text)
	}
	g.Answer = strings.Join(good, ", ")
	if len(bad) > 0 {
		g.Holds, g.Answer = false, strings.Join(bad, ", ")
	}
	return g
}

// guardAlone holds when busy is false for every operation of Lockstep that is under way.
func guardAlone(s *core.Snapshot, busy func(core.Operation) bool) core.Guard {
	g := core.Guard{ID: core.GuardAlone, Text: "nothing else is being done there", Holds: true, Answer: "nothing",
		Remedy: "wait for its end, or stop it"}
	for _, op := range s.Operations {
		if !op.State.Ended() && !op.Past && busy(op) { // what an earlier run began its own object tells
			g.Holds, g.Answer = false, op.Title
			break
		}
	}
	return g
}

// returnsTo is the node to which an operation takes its instance back; empty for one that does not.
func returnsTo(s *core.Snapshot, op core.Operation) string {
	if !op.Is(core.IntentRevertResize) {
		return ""
	}
	if m := s.LatestMigration(op.Instance); m != nil {
		if n := s.NodeOfHost(m.SourceHost); n != nil {
			return n.Name
		}
	}
	return ""
}

// busyOn tells whether an operation touches one of the nodes, or brings an instance to it.
func busyOn(s *core.Snapshot, nodes ...string) func(core.Operation) bool {
	return func(op core.Operation) bool {
		for _, name := range nodes {
			if op.Node == name || name != "" && returnsTo(s, op) == name {
				return true
			}
			for _, item := range op.Items { // a batch over nodes
				if item.Instance == "" && item.Node == name && !item.State.Ended() {
					return true
				}
			}
		}
		return false
	}
}

// busyWith tells whether an operation touches the instance or its node.
func busyWith(s *core.Snapshot, instance, node string) func(core.Operation) bool {
	return func(op core.Operation) bool {
		if op.Instance == instance || node != "" && busyOn(s, node)(op) {
			return true
		}
		return slices.ContainsFunc(op.Items, func(item core.OperationItem) bool { return item.Instance == instance && !item.State.Ended() })
	}
}

// busyBesideMigrations is busyWith without migrations: aborting or forcing one must be possible while Lockstep itself waits for it.
func busyBesideMigrations(s *core.Snapshot, instance, node string) func(core.Operation) bool {
	busy := busyWith(s, instance, node)
	return func(op core.Operation) bool {
		return busy(op) && !op.Is(core.IntentLiveMigrate) && !op.Is(core.IntentLiveMigrateAll)
	}
}

// guardEach holds when each step of a batch could be done by itself. A guard that already fails for the batch as a whole is not
// repeated.
func (p *planner) guardEach(items []core.Step) {
	g := core.Guard{ID: core.GuardEach, Text: "each of them can be done by itself", Holds: true, Answer: wording.Count(len(items), "step")}
	said := map[core.GuardID]bool{}
	for _, own := range p.step.Guards {
		said[own.ID] = !own.Holds
	}
	var bad []string
	for _, item := range items {
		for _, own := range item.Guards {
			if !own.Holds && !said[own.ID] {
				bad = append(bad, item.Label+" — "+own.Text+": "+own.Answer)
				g.Remedy = own.Remedy
				break
			}
		}
	}
	if len(bad) > 0 {
		g.Holds, g.Answer = false, wording.Some(bad, 3)
	}
	p.guard(g)
}

// guardExists holds for an object whose UID is known.
func guardExists(what string, ref core.Ref) core.Guard {
	g := core.Guard{ID: core.GuardExists, Text: what + " exists", Holds: ref.UID != "", Answer: "uid " + ref.UID}
	if !g.Holds {
		g.Answer = "its UID is not known"
	}
	return g
}

// guardHostKnown holds when Nova knows the node's host. A host whose name in Nova cannot be matched would look empty.
func guardHostKnown(s *core.Snapshot, n *core.Node) core.Guard {
	g := core.Guard{ID: core.GuardHostKnown, Text: "Nova knows the host", Holds: true,
		Remedy: "find out under which name nova-compute of the node runs: openstack compute service list"}
	svc := s.Services[s.HostOf(n.Name)]
	switch {
	case svc != nil:
		g.Answer = "as " + svc.Host
	case n.Is(core.RoleCompute):
		g.Holds, g.Answer = false, "no nova-compute service is known for it"
	case len(s.InstancesOn(n.Name)) > 0:
		g.Answer = "as " + s.HostOf(n.Name)
	default:
		g.Answer = "the node is not a compute node"
	}
	return g
}

// served are those of the sources whose kind the API has: an older release knows no removals and no disabled machines. What cannot be there
// need not be seen.
func served(s *core.Snapshot, ids ...core.SourceID) []core.SourceID {
	return slices.DeleteFunc(ids, func(id core.SourceID) bool { return s.Sources[id].State == core.SourceAbsent })
}

// staysUpSources are the sources that guardStaysUp reads.
func staysUpSources(s *core.Snapshot) []core.SourceID {
	sources := []core.SourceID{core.SourceNodeRequests, core.SourceNodeLocks}
	sources = append(sources, served(s, core.SourceDeletionRequests)...)
	return sources
}

// guardStaysUp holds while the node is neither released nor to be removed. Whatever is put on a released node goes down with it, as no
// lock holds it any more.
func (p *planner) guardStaysUp(name string) {
	s := p.s
	g := core.Guard{ID: core.GuardStaysUp, Text: wording.OneLine(s.Label(name), 64) + " does not go down now", Holds: true,
		Answer: "it is neither released nor to be removed", Remedy: "wait until it is back"}
	l := s.NodeLock(name, core.ControllerOpenStack)
	switch {
	case LeavesCluster(s, name):
		g.Holds, g.Answer, g.Remedy = false, "it is to be removed", ""
	case EntersMaintenance(s, name) && l != nil && l.State() == core.LockInactive:
		g.Holds, g.Answer = false, "its lock is released: it is drained, and may be rebooted"
	}
	p.fact("goes down", wording.TextIf(g.Holds, "", g.Answer))
	p.guard(g)
}

// InTheWay are the instances on the node that must not go down with it: those that Rockoon's blocking check finds, whatever the
// request's scope, and those that are about to run.
func InTheWay(s *core.Snapshot, node string) []core.InstanceView {
	var out []core.InstanceView
	for _, v := range progress.InstanceViews(s, node) {
		if core.Blocks(v.Instance, v.Action) || comingUp(v) {
			out = append(out, v)
		}
	}
	return out
}

// comingUp tells whether Nova is starting an instance that does not run yet (nova.compute.task_states). One that is being built counts
// as soon as it has a host. The OpenStack controller's blocking check does not see it.
func comingUp(v core.InstanceView) bool {
	if v.Action == core.ActionPowerOff || v.Instance.Host == "" {
		return false
	}
	switch v.Instance.TaskState {
	case "powering-on", "resuming", "unshelving", "restoring", "spawning", "rebuilding", "rebuild_block_device_mapping", "rebuild_spawning":
		return true
	case "deleting":
		return false
	}
	return v.Instance.VMState == "building"
}

// guardHostEmpty holds when no instance is left on the host that its reboot would hurt.
func guardHostEmpty(s *core.Snapshot, node string) core.Guard {
	g := core.Guard{ID: core.GuardHostEmpty, Text: "no running instance is left on the host"}
	if !s.Known(core.SourceInstances) {
		g.Answer, g.Remedy = "not known: "+s.WhyUnknown(core.SourceInstances), "mend the source of the instances"
		return g
	}
	left := InTheWay(s, node)
	if len(left) == 0 {
		g.Holds, g.Answer = true, "none"
		if n := len(s.InstancesOn(node)); n > 0 {
			g.Answer = fmt.Sprintf("none; %s safe", wording.Count(n, "instance")+wording.Verb(n, " is", " are"))
		}
		return g
	}
	names, remedies := make([]string, len(left)), make([]string, len(left))
	for i, v := range left {
		name := progress.InstanceLabel(v.Instance)
		state := string(v.Action)
		if comingUp(v) {
			state = wording.TextOf(v.Instance.TaskState, "being built")
		}
		names[i] = fmt.Sprintf("%s (%s)", name, state)
		remedies[i] = name + ": " + remedyFor(s, v)
	}
	g.Answer = fmt.Sprintf("%d left: %s", len(left), wording.Some(names, 8))
	g.Remedy = strings.Join(remedies[:min(len(remedies), 8)], "; ")
	if n := len(remedies) - 8; n > 0 {
		g.Remedy += fmt.Sprintf("; and %d more", n)
	}
	return g
}

// remedyFor says how to get one instance out of the way.
func remedyFor(s *core.Snapshot, v core.InstanceView) string {
	in := v.Instance
	ways := WaysFor(s, v)
	switch {
	case progress.Moving(s, in) && progress.HostDead(s, in.Host):
		return "its host is dead: see its own steps"
	case progress.Moving(s, in):
		return "wait for its migration"
	case comingUp(v):
		return "wait until Nova has brought it up, then move or stop it"
	case len(ways) == 0:
		return "it is " + in.Status + wording.Dashed(wording.TextOf(progress.WayOut(in), "wait until Nova is done with it"))
	case in.Status == "VERIFY_RESIZE":
		return "confirm or revert its migration"
	case NoRoom(v):
		return "make room for it, or " + wayWords(ways)
	case v.Action == core.ActionNotify && v.Origin == core.OriginTag:
		return "tell its owner, then " + wayWords(ways)
	}
	return wayWords(ways)
}

// wayWords is "live-migrate, cold-migrate or stop it": the first three ways that have a verb.
func wayWords(ways []core.IntentKind) string {
	var verbs []string
	for _, w := range ways {
		if r, ok := InstanceRules[w]; ok && len(verbs) < 3 {
			verbs = append(verbs, r.verb)
		}
	}
	last := len(verbs) - 1
	if last == 0 {
		return verbs[0] + " it"
	}
	return strings.Join(verbs[:last], ", ") + " or " + verbs[last] + " it"
}

// migrationsOn names the instances with a migration under way from or to the host. Only an instance's newest record counts: older ones
// that never ended are Nova's leftovers.
func migrationsOn(s *core.Snapshot, host string) []string {
	var names []string
	for id := range s.Migrations {
		in, m := s.Instances.At(id), s.LatestMigration(id)
		if in != nil && m != nil && m.Touches(host) && !(m.SourceHost == host && progress.LeftRunning(s, in)) {
			names = append(names, progress.InstanceLabel(in))
		}
	}
	slices.Sort(names)
	return names
}

func guardNoMigration(s *core.Snapshot, host string) core.Guard {
	g := core.Guard{ID: core.GuardNoMigration, Text: "no migration from or to the host is under way", Holds: true, Answer: "none",
		Remedy: "wait for its end, or abort it"}
	if names := migrationsOn(s, host); len(names) > 0 {
		g.Holds, g.Answer = false, wording.Some(names, 8)
	}
	return g
}

// NoRoom tells whether the scheduler found no host for the instance since its node's maintenance began. Another try does not help until
// somebody makes room.
func NoRoom(v core.InstanceView) bool {
	return v.Failures > 0 && progress.NoValidHost(v.Failure)
}

// guardSeenSince holds when the source was read after the node's return. Until then the step waits.
func (p *planner) guardSeenSince(id core.SourceID) {
	back, seen := progress.SeenSinceReturn(p.s, id, p.i.Node)
	if seen {
		return
	}
	p.guard(core.Guard{ID: core.GuardSeenSince, Text: "what is known is no older than the node's return",
		Answer: "the node is back since " + wording.ClockText(back) + "; OpenStack is being asked",
		Remedy: "wait for the answer"})
	p.step.State, p.step.Status = core.StepWaiting, "OpenStack is being asked: what is known is older than the node's return"
}
