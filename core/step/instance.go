package step

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// InstanceRule is one row of InstanceRules.
type InstanceRule struct {
	verb     string
	title    string   // with %s for the instance's name, where the verb alone does not make it; else empty
	Statuses []string // in which Nova lets it be done (its API reference); empty: in any
	idle     bool     // no task and no migration may be under way
	target   bool     // another host has to be able to take it
	Runs     bool     // its guest has to run
	cuts     bool     // a guest that runs is down for it: no less a risk than what stops it
	Dead     bool     // nova-compute of its host has to be down, not up
	offHost  bool     // it may be on no host; then it needs one
	leaves   bool     // it leaves its host
	running  []string // statuses of the live migration that it acts on; empty when it acts on none
	risk     core.Risk
	typed    bool
	command  []string // the words around the instance's ID, which comes after them
	why      string
	then     string
	undo     string
}

// Moves tells whether it takes the instance to a host that it is not on.
func (r InstanceRule) Moves() bool { return r.target || r.offHost }

// InstanceRules is the table of what can be done with an instance. The statuses are those of Nova's API reference, "Servers - run an
// action". Aborting a live migration that is queued or being prepared needs microversion 2.65.
var InstanceRules = map[core.IntentKind]InstanceRule{
	core.IntentLiveMigrate: {verb: "live-migrate", Statuses: []string{"ACTIVE", "PAUSED"}, idle: true, target: true, leaves: true,
		risk:    core.RiskMedium,
		command: []string{"openstack", "--os-compute-api-version", "2.30", "server", "migrate", "--live-migration"},
		why:     "It moves to a host that the scheduler chooses, and goes on running.",
		then: "Nova copies its memory while it runs; if a guest writes faster than that, the migration does not end until it is aborted or " +
			"forced.",
		undo: "migrate it again, once the node is back"},
	core.IntentColdMigrate: {verb: "cold-migrate", Statuses: []string{"ACTIVE", "SHUTOFF"}, idle: true, target: true, cuts: true,
		leaves:  true,
		risk:    core.RiskMedium,
		command: []string{"openstack", "server", "migrate"},
		why:     "For an instance that cannot be live-migrated. It is down while it is moved, if it runs now.",
		then: "It is stopped if it runs, copied to another host, and started there if it ran; then it waits in VERIFY_RESIZE until the " +
			"migration is confirmed or reverted.",
		undo: "revert the migration, as long as it was not confirmed"},
	core.IntentConfirmResize: {verb: "confirm the migration of", Statuses: []string{"VERIFY_RESIZE"}, idle: true, risk: core.RiskMedium,
		command: []string{"openstack", "server", "migration", "confirm"},
		why:     "Its cold migration or resize waits for a decision; in VERIFY_RESIZE it can be neither migrated nor stopped.",
		then:    "What the source host kept of it is removed, and it is ACTIVE where it is."},
	core.IntentRevertResize: {verb: "revert the migration of", Statuses: []string{"VERIFY_RESIZE"}, idle: true, cuts: true, leaves: true,
		risk:    core.RiskMedium,
		command: []string{"openstack", "server", "migration", "revert"},
		why:     "Its cold migration or resize waits for a decision; reverting takes it back to where it was.",
		then:    "It is down while it goes back to its source host.",
		undo:    "migrate it again"},
	core.IntentStop: {verb: "stop", Statuses: []string{"ACTIVE", "ERROR"}, idle: true, risk: core.RiskHigh, typed: true,
		command: []string{"openstack", "server", "stop"},
		why:     "A stopped instance does not hold the node's lock. Its users lose it until it is started again.",
		then:    "The guest is shut down and stays down until somebody starts it: the maintenance does not.",
		undo:    "start it"},
	core.IntentStart: {verb: "start", Statuses: []string{"SHUTOFF"}, idle: true, risk: core.RiskMedium,
		command: []string{"openstack", "server", "start"},
		why:     "It was stopped; nobody else starts it.",
		then:    "It runs on the host on which it is now.",
		undo:    "stop it"},
	core.IntentResume: {verb: "resume", Statuses: []string{"SUSPENDED"}, idle: true, risk: core.RiskMedium,
		command: []string{"openstack", "server", "resume"},
		why:     "It is suspended: its memory lies on its host, and Nova moves it nowhere before it is resumed.",
		then:    "It goes on where it stood, on the host on which it is now; then it can be migrated.",
		undo:    "suspend it again"},
	core.IntentResetState: {verb: "reset", title: "reset %s to ACTIVE", Statuses: []string{"ERROR"}, idle: true, Runs: true,
		risk: core.RiskHigh, typed: true,
		command: []string{"openstack", "server", "set", "--state", "active"},
		why: "In ERROR nothing migrates it, although its guest runs. This writes ACTIVE into Nova's record and nothing else: no guest is " +
			"started, no volume attached, no port mended; what went wrong before is as it was.",
		then: "Nova treats it as an ordinary running instance, which can be live-migrated. If its guest does not really run, Nova's next " +
			"look at the hypervisor (10 minutes by default) stops it.",
	},
	core.IntentShelve: {verb: "shelve", Statuses: []string{"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED"}, idle: true, risk: core.RiskHigh,
		typed:   true,
		leaves:  true,
		command: []string{"openstack", "server", "shelve"},
		why: "A shelved instance holds no lock, and leaves its host: it keeps no place there, as a stopped one does. Its users lose it until " +
			"it is unshelved; what is in its memory, and on ephemeral and swap disks beside its root disk, is lost.",
		then: "The guest is shut down; a root disk that is not a volume is uploaded to Glance as an image, which takes time and room; " +
			"then Nova takes it off its host, at once unless the cloud sets shelved_offload_time.",
		undo: "unshelve it"},
	core.IntentUnshelve: {verb: "unshelve", Statuses: []string{"SHELVED", "SHELVED_OFFLOADED"}, idle: true, offHost: true,
		risk:    core.RiskMedium,
		command: []string{"openstack", "server", "unshelve"},
		why:     "It was shelved; nobody else brings it back.",
		then:    "It is started on a host that the scheduler chooses, or where it still is.",
		undo:    "shelve it again"},
	core.IntentEvacuate: {verb: "evacuate", title: "rebuild %s on another host", Statuses: []string{"ACTIVE", "SHUTOFF", "ERROR"}, idle: true,
		target: true, Dead: true, leaves: true,
		risk: core.RiskHighest, typed: true, command: []string{"openstack", "server", "evacuate"},
		why: "Its host is down, and nothing moves it off it. Nova starts it anew on another host, from its volumes or from shared storage; " +
			"what was in its memory is lost, and a disk on the host's own storage is made anew from its image. Be sure that the host is off: a " +
			"guest that still runs there writes to the same disks, and destroys them.",
		then: "It is down until it is rebuilt. When the old host comes back, its nova-compute removes what is left of it there.",
	},
	core.IntentAbortMigration: {verb: "abort the live migration of", running: []string{"queued", "preparing", "running"},
		risk:    core.RiskMedium,
		command: []string{"openstack", "--os-compute-api-version", "2.65", "server", "migration", "abort"},
		why:     "A migration that does not end holds up all that follow it.",
		then:    "What was copied is thrown away, and it goes on running where it is. The OpenStack controller may try again.",
		undo:    "live-migrate it again"},
	core.IntentForceComplete: {verb: "force the live migration of", running: []string{"running"}, risk: core.RiskMedium,
		command: []string{"openstack", "--os-compute-api-version", "2.22", "server", "migration", "force", "complete"},
		why:     "The guest writes its memory faster than it can be copied.",
		then: "Nova pauses the guest (or switches to post-copy, where the cloud allows it) until the rest is copied: it stands still for " +
			"that long, seconds to minutes by what remains."},
}

// name is the title of doing it to the instance with this label.
func (r InstanceRule) name(label string) string {
	if r.title != "" {
		return fmt.Sprintf(r.title, label)
	}
	return r.verb + " " + label
}

// instanceAction plans what is done to one instance, by its row of InstanceRules.
func (p *planner) instanceAction() {
	rule, s := InstanceRules[p.i.Kind], p.s
	sources := []core.SourceID{core.SourceInstances, core.SourceComputeServices, core.SourceMigrations}
	switch {
	case rule.Dead:
		sources = append(sources, core.SourceNodes)
	case p.i.Kind == core.IntentRevertResize:
		sources = append(sources, staysUpSources(s)...)
	}
	in := s.Instances.At(p.i.Instance)
	if in == nil {
		p.identify(core.Ref{Kind: core.KindInstance, Name: p.i.Instance, UID: p.i.Instance})
		p.step.Title, p.step.Label, p.step.Risk = rule.name(core.ShortID(p.i.Instance)), core.ShortID(p.i.Instance), rule.risk
		p.common(sources, busyWith(s, p.i.Instance, ""))
		p.unknown("the instance exists", "Nova shows no instance "+wording.OneLine(p.i.Instance, 64))
		return
	}
	view, _ := progress.InstanceView(s, in.ID)
	label := progress.InstanceLabel(in)
	if _, off := core.SafePowerStates[in.Power]; rule.cuts && !off {
		rule.risk, rule.typed = InstanceRules[core.IntentStop].risk, InstanceRules[core.IntentStop].typed
	}
	p.identify(in.Ref())
	p.step.Title, p.step.Label, p.step.Risk = rule.name(label), label, rule.risk
	p.step.Why, p.step.Then, p.step.Undo = rule.why, rule.then, rule.undo
	if n := s.NodeOfHost(in.Host); n != nil {
		p.step.Node = n.Name
	}
	if rule.typed {
		p.step.Type = typable(in.Name, in.ID)
	}
	p.step.Why = wording.Join(p.step.Why, OwnerText(s, view), LockedText(s, in))
	if rule.Dead {
		p.step.Why = wording.Join(p.step.Why, MayRunElsewhere(s, in))
	}
	if p.i.Kind == core.IntentResetState {
		p.step.Undo = "mark it as failed again: " + wording.ShellCommand("openstack", "server", "set", "--state", "error", in.ID)
	}
	if (p.i.Kind == core.IntentStart || p.i.Kind == core.IntentResume) && EntersMaintenance(s, p.step.Node) {
		p.step.Then = wording.Join(p.step.Then, "Its node is in maintenance: it holds the lock again, or goes down with the host.")
	}
	switch m := s.LatestMigration(in.ID); {
	case p.i.Kind == core.IntentRevertResize && (m == nil || m.SourceHost == in.Host): // it was resized on its host
	case rule.leaves:
		p.step.Then = wording.Join(p.step.Then, afterTheLast(s, p.step.Node, lastLeaves, in.ID))
	case p.i.Kind == core.IntentStop:
		p.step.Then = wording.Join(p.step.Then, afterTheLast(s, p.step.Node, lastStopped, in.ID))
	}

	busy := busyWith(s, in.ID, p.step.Node)
	if len(rule.running) > 0 {
		busy = busyBesideMigrations(s, in.ID, p.step.Node)
	}
	m := s.LatestMigration(in.ID)
	if to := returnsTo(s, core.Operation{Intent: p.i, Instance: in.ID}); to != "" {
		elsewhere := busy
		busy = func(op core.Operation) bool { return elsewhere(op) || busyOn(s, to)(op) }
	}
	p.common(sources, busy)
	p.guard(guardExists("the instance", in.Ref()))
	if !rule.offHost {
		p.guard(core.Guard{ID: core.GuardOnHost, Text: "it is on a host", Holds: in.Host != "",
			Answer: wording.TextOf(s.Label(in.Host), "Nova names none"), Remedy: "wait until Nova shows where it is"})
	}
	if len(rule.running) > 0 {
		p.guardRunningMigration(in, m, rule)
	} else {
		p.guardStatus(in, rule)
		if Decides(p.i.Kind) && slices.Contains(rule.Statuses, in.Status) {
			p.guardSource(m)
		}
		p.guardIdle(in, m)
		if rule.Dead {
			p.guardComputeDown(in)
			p.guardHostDead(in)
		} else {
			p.guardComputeUp(in, m)
		}
		if p.i.Kind == core.IntentRevertResize && m != nil {
			if n := s.NodeOfHost(m.SourceHost); n != nil {
				p.guardStaysUp(n.Name)
			}
		}
	}
	if rule.target || rule.offHost && in.Host == "" {
		p.guardTarget(in)
	}
	if rule.Runs {
		p.guard(core.Guard{ID: core.GuardGuestRuns, Text: "its guest runs", Holds: in.Power == core.PowerRunning,
			Answer: "power state " + in.Power.String(),
			Remedy: "ACTIVE would not be true of it: ask its owner to rebuild or to delete it"})
	}

	change := core.InstanceAction{Do: p.i.Kind, Instance: in.Ref(), Host: in.Host, Status: in.Status}
	words := append(slices.Clone(rule.command), in.ID)
	if len(rule.running) > 0 && m != nil {
		change.MigrationID = m.ID
		words = append(words, wording.Itoa(m.ID))
	}
	p.step.Commands = []string{wording.ShellCommand(words...)}
	p.instanceFacts(in)
	if len(rule.running) > 0 {
		if m == nil || !m.Running() || m.Type != core.MigrationLive {
			p.step.Commands = nil
			return // there is nothing to act on
		}
		p.fact("migration", wording.Itoa(m.ID)+" from "+m.SourceHost)
	}
	p.step.Change = change
	p.step.Status = instanceStatus(s, in, view)
	if p.i.Kind == core.IntentLiveMigrate && view.Failures > 0 && !progress.Moving(s, in) && m != nil && m.Failed() {
		if !NoRoom(view) { // else it is not the one to try again
			p.step.State = core.StepFailed
		}
		p.step.Status = "failed " + wording.Times(view.Failures) + wording.Because(wording.OneLine(view.Failure, wording.MostRead))
	}
}

// instanceFacts adds instanceBasis to the step.
func (p *planner) instanceFacts(in *core.Instance) {
	for _, f := range instanceBasis(in) {
		p.fact(f.Name, f.Value)
	}
}

// instanceBasis are the facts on which a step on the instance rests, its owner's tags among them.
func instanceBasis(in *core.Instance) []core.Fact {
	return []core.Fact{
		{Name: "uid", Value: in.ID}, {Name: "host", Value: in.Host}, {Name: "status", Value: in.Status},
		{Name: "task", Value: in.TaskState}, {Name: "vm state", Value: in.VMState}, {Name: "power", Value: in.Power.String()},
		{Name: "tags", Value: strings.Join(actionTags(in), " ")},
	}
}

// ChangedFrom says how the instance differs from a step's basis; empty when it does not.
func ChangedFrom(basis []core.Fact, in *core.Instance) string {
	var out []string
	for _, now := range instanceBasis(in) {
		i := slices.IndexFunc(basis, func(f core.Fact) bool { return f.Name == now.Name })
		if i >= 0 && basis[i].Value != now.Value {
			out = append(out, now.Name+": "+quoteFact(basis[i].Value)+" → "+quoteFact(now.Value))
		}
	}
	return strings.Join(out, "; ")
}

// instanceStatus is the state of the instance in a few words.
func instanceStatus(s *core.Snapshot, in *core.Instance, v core.InstanceView) string {
	if progress.Moving(s, in) {
		return ProgressText(s, in)
	}
	return v.Why
}

// ProgressText says how far the instance's migration is: "81 %, to cmp-09".
func ProgressText(s *core.Snapshot, in *core.Instance) string {
	m := s.LatestMigration(in.ID)
	if m == nil || !m.Running() {
		return progress.MovingText(s, in)
	}
	var parts []string
	if n := m.Percent(); n >= 0 {
		parts = append(parts, wording.Itoa(n)+" %")
	} else {
		parts = append(parts, m.Status)
	}
	if m.DestHost != "" {
		to := m.DestHost
		if n := s.NodeOfHost(to); n != nil {
			to = n.Label()
		}
		parts = append(parts, "to "+to)
	}
	return strings.Join(parts, ", ")
}

// OwnerText says that the instance's owner decides; empty when its tag does not say so.
func OwnerText(s *core.Snapshot, v core.InstanceView) string {
	if v.Action == core.ActionNotify && v.Origin == core.OriginTag {
		return "Its owner asked to be told first (tag notify, project " + wording.OneLine(s.Project(v.Instance.ProjectID), 60) +
			"): the owner decides."
	}
	return ""
}

// LockedText says whom to ask about a locked instance; empty for one that is not locked. Lockstep does not unlock instances: that is
// for the owner.
func LockedText(s *core.Snapshot, in *core.Instance) string {
	if in.Locked {
		return "It is locked: ask its owner first (project " + wording.OneLine(s.Project(in.ProjectID), 60) +
			"). An administrator's call goes through all the same, and the lock stays."
	}
	return ""
}

// MayRunElsewhere warns of a guest that may run where its live migration, or its evacuation, led: a host died before Nova could say how
// that went. Empty for any other instance.
func MayRunElsewhere(s *core.Snapshot, in *core.Instance) string {
	m := s.LatestMigration(in.ID)
	if m == nil || !m.Running() || m.DestHost == "" || m.DestHost == in.Host {
		return ""
	}
	was := map[string]string{core.MigrationLive: "live-migrated to ", core.MigrationEvacuation: "rebuilt on "}[m.Type]
	if was == "" {
		return ""
	}
	return "It was being " + was + progress.HostLabel(s, m.DestHost) + ": first make sure that no guest of it runs there, either."
}

// WaysFor are the intents that get an instance out of the way of its node's maintenance in its present state, the best first.
func WaysFor(s *core.Snapshot, v core.InstanceView) []core.IntentKind {
	in := v.Instance
	if progress.Moving(s, in) {
		if m := s.LatestMigration(in.ID); m != nil && m.Running() && m.Type == core.MigrationLive {
			return []core.IntentKind{core.IntentAbortMigration, core.IntentForceComplete}
		}
		return nil
	}
	switch {
	case progress.ComputeDown(s, in.Host) && slices.Contains(InstanceRules[core.IntentEvacuate].Statuses, in.Status):
		if slices.Contains(TagStatuses, in.Status) {
			return []core.IntentKind{core.IntentEvacuate, core.IntentTagPowerOff} // or it waits for its host
		}
		return []core.IntentKind{core.IntentEvacuate}
	case in.Status == "ACTIVE" && NoRoom(v):
		return []core.IntentKind{core.IntentStop, core.IntentTagPowerOff, core.IntentShelve, core.IntentLiveMigrate, core.IntentColdMigrate}
	case in.Status == "ACTIVE":
		return []core.IntentKind{core.IntentLiveMigrate, core.IntentColdMigrate, core.IntentStop, core.IntentShelve, core.IntentTagPowerOff}
	case in.Status == "PAUSED" && NoRoom(v):
		return []core.IntentKind{core.IntentTagPowerOff, core.IntentShelve, core.IntentLiveMigrate}
	case in.Status == "PAUSED":
		return []core.IntentKind{core.IntentLiveMigrate, core.IntentShelve, core.IntentTagPowerOff}
	case in.Status == "VERIFY_RESIZE":
		return []core.IntentKind{core.IntentConfirmResize, core.IntentRevertResize}
	case in.Status == "ERROR" && in.Power == core.PowerRunning:
		return []core.IntentKind{core.IntentResetState, core.IntentStop}
	case in.Status == "ERROR":
		return []core.IntentKind{core.IntentStop}
	}
	return nil
}

// byID are the instances on the node's host, sorted by ID.
func byID(s *core.Snapshot, node string) []*core.Instance {
	list := slices.Clone(s.InstancesOn(node))
	slices.SortFunc(list, func(a, b *core.Instance) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// instanceFact is an instance's part of the basis of a step on a whole host.
func instanceFact(in *core.Instance) string {
	parts := []string{in.Name, in.Status}
	if in.TaskState != "" {
		parts = append(parts, in.TaskState)
	}
	return strings.Join(append(parts, in.Power.String(), strings.Join(actionTags(in), " ")), ", ")
}

func actionTags(in *core.Instance) []string {
	var out []string
	for _, a := range core.RecognisedTags(in.Tags) {
		out = append(out, string(a))
	}
	return out
}
