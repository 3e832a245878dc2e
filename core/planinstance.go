package core

import (
	"fmt"
	"slices"
	"strings"
)

// instanceRule is one row of the table of what can be done with an instance.
type instanceRule struct {
	verb     string
	title    string   // with %s for the instance's name, where the verb alone does not make it; else empty
	statuses []string // in which Nova lets it be done (its API reference); empty: in any
	idle     bool     // no task and no migration may be under way
	target   bool     // another host has to be able to take it
	runs     bool     // its guest has to run
	cuts     bool     // a guest that runs is down for it: no less a risk than what stops it
	dead     bool     // nova-compute of its host has to be down, not up
	offHost  bool     // it may be on no host; then it needs one
	running  []string // statuses of the live migration that it acts on; empty when it acts on none
	risk     Risk
	typed    bool
	command  []string // the words around the instance's ID, which comes after them
	why      string
	then     string
	undo     string
}

// instanceRules is that table. The statuses are those of Nova's API reference, "Servers - run an action"; that a live
// migration can be aborted while it is queued or prepared needs microversion 2.65.
var instanceRules = map[IntentKind]instanceRule{
	IntentLiveMigrate: {verb: "live-migrate", statuses: []string{"ACTIVE", "PAUSED"}, idle: true, target: true, risk: RiskMedium,
		command: []string{"openstack", "--os-compute-api-version", "2.30", "server", "migrate", "--live-migration"},
		why:     "It moves to a host that the scheduler chooses, and goes on running.",
		then:    "Nova copies its memory while it runs; a guest that writes faster than that does not get away without being aborted or forced.",
		undo:    "migrate it again, once the node is back"},
	IntentColdMigrate: {verb: "cold-migrate", statuses: []string{"ACTIVE", "SHUTOFF"}, idle: true, target: true, cuts: true, risk: RiskMedium,
		command: []string{"openstack", "server", "migrate"},
		why:     "For an instance that cannot be live-migrated. It is down while it is moved, if it runs now.",
		then:    "It is stopped if it runs, copied to another host, and started there if it ran; then it waits in VERIFY_RESIZE until the migration is confirmed or reverted.",
		undo:    "revert the migration, as long as it was not confirmed"},
	IntentConfirmResize: {verb: "confirm the migration of", statuses: []string{"VERIFY_RESIZE"}, idle: true, risk: RiskMedium,
		command: []string{"openstack", "server", "migration", "confirm"},
		why:     "Its cold migration or resize waits for a decision; in VERIFY_RESIZE it can be neither migrated nor stopped.",
		then:    "What the source host kept of it is removed, and it is ACTIVE where it is."},
	IntentRevertResize: {verb: "revert the migration of", statuses: []string{"VERIFY_RESIZE"}, idle: true, cuts: true, risk: RiskMedium,
		command: []string{"openstack", "server", "migration", "revert"},
		why:     "Its cold migration or resize waits for a decision; reverting takes it back to where it was.",
		then:    "It is down while it goes back to its source host.",
		undo:    "migrate it again"},
	IntentStop: {verb: "stop", statuses: []string{"ACTIVE", "ERROR"}, idle: true, risk: RiskHigh, typed: true,
		command: []string{"openstack", "server", "stop"},
		why:     "A stopped instance does not hold the node's lock. Its users lose it until it is started again.",
		then:    "The guest is shut down and stays down until somebody starts it: the maintenance does not.",
		undo:    "start it"},
	IntentStart: {verb: "start", statuses: []string{"SHUTOFF"}, idle: true, risk: RiskMedium,
		command: []string{"openstack", "server", "start"},
		why:     "It was stopped; nobody else starts it.",
		then:    "It runs on the host on which it is now.",
		undo:    "stop it"},
	IntentResume: {verb: "resume", statuses: []string{"SUSPENDED"}, idle: true, risk: RiskMedium,
		command: []string{"openstack", "server", "resume"},
		why:     "It is suspended: its memory lies on its host, and Nova moves it nowhere before it is resumed.",
		then:    "It goes on where it stood, on the host on which it is now; then it can be migrated.",
		undo:    "suspend it again"},
	IntentResetState: {verb: "reset", title: "reset %s to ACTIVE", statuses: []string{"ERROR"}, idle: true, runs: true, risk: RiskHigh, typed: true,
		command: []string{"openstack", "server", "set", "--state", "active"},
		why: "In ERROR nothing migrates it, although its guest runs. This writes ACTIVE into Nova's record and nothing else: no guest is started, " +
			"no volume attached, no port mended; what went wrong before is as it was.",
		then: "Nova treats it as an ordinary running instance, which can be live-migrated. If its guest does not run in truth, Nova's next look at the " +
			"hypervisor (10 minutes by default) stops it.",
	},
	IntentShelve: {verb: "shelve", statuses: []string{"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED"}, idle: true, risk: RiskHigh, typed: true,
		command: []string{"openstack", "server", "shelve"},
		why: "A shelved instance holds no lock, and leaves its host: it keeps no place there, as a stopped one does. Its users lose it until it is " +
			"unshelved; what is in its memory, and on ephemeral and swap disks beside its root disk, is lost.",
		then: "The guest is shut down; a root disk that is no volume is uploaded to Glance as an image, which takes time and room; then Nova takes it off its " +
			"host, at once unless the cloud sets shelved_offload_time.",
		undo: "unshelve it"},
	IntentUnshelve: {verb: "unshelve", statuses: []string{"SHELVED", "SHELVED_OFFLOADED"}, idle: true, offHost: true, risk: RiskMedium,
		command: []string{"openstack", "server", "unshelve"},
		why:     "It was shelved; nobody else brings it back.",
		then:    "It is started on a host that the scheduler chooses, or where it still is.",
		undo:    "shelve it again"},
	IntentEvacuate: {verb: "evacuate", title: "rebuild %s on another host", statuses: []string{"ACTIVE", "SHUTOFF", "ERROR"}, idle: true, target: true, dead: true,
		risk: RiskHighest, typed: true, command: []string{"openstack", "server", "evacuate"},
		why: "Its host is down, and nothing moves it off it. Nova starts it anew on another host, from its volumes or from shared storage; what was in its memory is lost, " +
			"and a disk on the host's own storage is made anew from its image. Be sure that the host is off: a guest that still runs there writes to the same disks, and destroys them.",
		then: "It is down until it is rebuilt. When the old host comes back, its nova-compute removes what is left of it there.",
	},
	IntentAbortMigration: {verb: "abort the live migration of", running: []string{"queued", "preparing", "running"}, risk: RiskMedium,
		command: []string{"openstack", "--os-compute-api-version", "2.65", "server", "migration", "abort"},
		why:     "A migration that does not come to an end holds up all that follow it.",
		then:    "What was copied is thrown away, and it goes on running where it is. The OpenStack controller may try again.",
		undo:    "live-migrate it again"},
	IntentForceComplete: {verb: "force the live migration of", running: []string{"running"}, risk: RiskMedium,
		command: []string{"openstack", "--os-compute-api-version", "2.22", "server", "migration", "force", "complete"},
		why:     "The guest writes its memory faster than it can be copied.",
		then:    "Nova pauses the guest (or switches to post-copy, where the cloud allows it) until the rest is copied: it stands still for that long, seconds to minutes by what remains."},
}

// name is what doing it with something called label is called.
func (r instanceRule) name(label string) string {
	if r.title != "" {
		return fmt.Sprintf(r.title, label)
	}
	return r.verb + " " + label
}

// instanceAction plans all that is done with one instance.
func (p *planner) instanceAction() {
	rule, s := instanceRules[p.i.Kind], p.s
	sources := []SourceID{SourceInstances, SourceComputeServices, SourceMigrations}
	switch {
	case rule.dead:
		sources = append(sources, SourceNodes)
	case p.i.Kind == IntentRevertResize:
		sources = append(sources, s.staysUpSources()...)
	}
	in := s.Instances[p.i.Instance]
	if in == nil {
		p.identify(Ref{Kind: KindInstance, Name: p.i.Instance, UID: p.i.Instance})
		p.step.Title, p.step.Label, p.step.Risk = rule.name(shortID(p.i.Instance)), shortID(p.i.Instance), rule.risk
		p.common(sources, s.busyWith(p.i.Instance, ""))
		p.unknown("the instance exists", "Nova shows no instance "+oneLine(p.i.Instance, 64))
		return
	}
	view, _ := s.InstanceView(in.ID)
	label := instanceLabel(in)
	if _, off := safePowerStates[in.Power]; rule.cuts && !off {
		rule.risk, rule.typed = instanceRules[IntentStop].risk, instanceRules[IntentStop].typed
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
	p.step.Why = join(p.step.Why, s.ownerText(view), s.lockedText(in))
	if p.i.Kind == IntentResetState {
		p.step.Undo = "mark it as failed again: " + shellCommand("openstack", "server", "set", "--state", "error", in.ID)
	}
	if (p.i.Kind == IntentStart || p.i.Kind == IntentResume) && s.leaving(p.step.Node) {
		p.step.Then = join(p.step.Then, "Its node is in maintenance: it holds the lock again, or goes down with the host.")
	}

	busy := s.busyWith(in.ID, p.step.Node)
	if len(rule.running) > 0 {
		busy = s.busyBesideMigrations(in.ID, p.step.Node)
	}
	p.common(sources, busy)
	p.guard(guardExists("the instance", in.Ref()))
	if !rule.offHost {
		p.guard(Guard{ID: GuardOnHost, Text: "it is on a host", Holds: in.Host != "", Answer: textOf(s.Label(in.Host), "Nova names none"), Remedy: "wait until Nova shows where it is"})
	}
	m := s.LatestMigration(in.ID)
	if len(rule.running) > 0 {
		p.guardRunningMigration(m, rule)
	} else {
		p.guardStatus(in, rule)
		p.guardIdle(in, m)
		if rule.dead {
			p.guardComputeDown(in)
			p.guardHostDead(in)
		} else {
			p.guardComputeUp(in, m)
		}
		if p.i.Kind == IntentRevertResize && m != nil {
			if n := s.NodeOfHost(m.SourceHost); n != nil {
				p.guardStaysUp(n.Name)
			}
		}
	}
	if rule.target || rule.offHost && in.Host == "" {
		p.guardTarget(in)
	}
	if rule.runs {
		p.guard(Guard{ID: GuardGuestRuns, Text: "its guest runs", Holds: in.Power == PowerRunning,
			Answer: "power state " + in.Power.String(),
			Remedy: "ACTIVE would not be true of it: ask its owner to rebuild or to delete it"})
	}

	change := InstanceAction{Do: p.i.Kind, Instance: in.Ref(), Host: in.Host, Status: in.Status}
	words := append(slices.Clone(rule.command), in.ID)
	if len(rule.running) > 0 && m != nil {
		change.MigrationID = m.ID
		words = append(words, itoa(m.ID))
	}
	p.step.Commands = []string{shellCommand(words...)}
	p.instanceFacts(in)
	if len(rule.running) > 0 {
		if m == nil || !m.Running() || m.Type != MigrationLive {
			p.step.Commands = nil
			return // there is nothing to act on
		}
		p.fact("migration", itoa(m.ID)+" from "+m.SourceHost)
	}
	p.step.Change = change
	p.step.Status = s.instanceStatus(in, view)
	if p.i.Kind == IntentLiveMigrate && view.Failures > 0 && !s.moving(in) && m != nil && m.Failed() {
		if !noRoom(view) { // else it is not the one to try again
			p.step.State = StepFailed
		}
		p.step.Status = "failed " + times(view.Failures) + because(oneLine(view.Failure, mostRead))
	}
}

// instanceFacts are what a step on the instance rests on.
func (p *planner) instanceFacts(in *Instance) {
	for _, f := range instanceBasis(in) {
		p.fact(f.Name, f.Value)
	}
}

// instanceBasis are the facts on which a step on the instance rests, its owner's word among them.
func instanceBasis(in *Instance) []Fact {
	return []Fact{
		{Name: "uid", Value: in.ID}, {Name: "host", Value: in.Host}, {Name: "status", Value: in.Status},
		{Name: "task", Value: in.TaskState}, {Name: "vm state", Value: in.VMState}, {Name: "power", Value: in.Power.String()},
		{Name: "tags", Value: strings.Join(actionTags(in), " ")},
	}
}

// changedFrom is how the instance is not as a step's basis says; empty when it is.
func changedFrom(basis []Fact, in *Instance) string {
	var out []string
	for _, now := range instanceBasis(in) {
		i := slices.IndexFunc(basis, func(f Fact) bool { return f.Name == now.Name })
		if i >= 0 && basis[i].Value != now.Value {
			out = append(out, now.Name+": "+quoteFact(basis[i].Value)+" → "+quoteFact(now.Value))
		}
	}
	return strings.Join(out, "; ")
}

// instanceStatus is how it is with the instance, short.
func (s *Snapshot) instanceStatus(in *Instance, v InstanceView) string {
	if s.moving(in) {
		return s.progressText(in)
	}
	return v.Why
}

// progressText is how the instance's migration goes: "81 %, to cmp-09".
func (s *Snapshot) progressText(in *Instance) string {
	m := s.LatestMigration(in.ID)
	if m == nil || !m.Running() {
		return s.movingText(in)
	}
	var parts []string
	if n := m.Percent(); n >= 0 {
		parts = append(parts, itoa(n)+" %")
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

// ownerText reminds of an instance whose owner decides.
func (s *Snapshot) ownerText(v InstanceView) string {
	if v.Action == ActionNotify && v.Origin == OriginTag {
		return "Its owner asked to be told first (tag notify, project " + oneLine(s.Project(v.Instance.ProjectID), 60) + "): the owner decides."
	}
	return ""
}

// lockedText says of a locked instance whom to ask. Lockstep unlocks none: that is the owner's to do.
func (s *Snapshot) lockedText(in *Instance) string {
	if in.Locked {
		return "It is locked: ask its owner first (project " + oneLine(s.Project(in.ProjectID), 60) + "). An administrator's call goes through all the same, and the lock stays."
	}
	return ""
}

// hostLabel is what people call the node of a host.
func (s *Snapshot) hostLabel(host string) string {
	if n := s.NodeOfHost(host); n != nil {
		return n.Label()
	}
	return host
}

// leaving tells whether the node is asked to go into maintenance and not on its way back.
func (s *Snapshot) leaving(node string) bool {
	r := s.NodeRequest(node)
	return r != nil && r.Deleting.IsZero()
}

// textOf is text, or the other one when it is empty.
func textOf(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}

// join puts sentences together, the empty ones left out.
func join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// waysFor are the steps that get an instance out of the way of its node's maintenance as it stands now, the best first.
func (s *Snapshot) waysFor(v InstanceView) []IntentKind {
	in := v.Instance
	if s.moving(in) {
		if m := s.LatestMigration(in.ID); m != nil && m.Running() && m.Type == MigrationLive {
			return []IntentKind{IntentAbortMigration, IntentForceComplete}
		}
		return nil
	}
	switch {
	case s.hostDown(in.Host) && slices.Contains(instanceRules[IntentEvacuate].statuses, in.Status):
		if slices.Contains(tagStatuses, in.Status) {
			return []IntentKind{IntentEvacuate, IntentTagPowerOff} // or it waits for its host
		}
		return []IntentKind{IntentEvacuate}
	case in.Status == "ACTIVE" && noRoom(v):
		return []IntentKind{IntentStop, IntentTagPowerOff, IntentShelve, IntentLiveMigrate, IntentColdMigrate}
	case in.Status == "ACTIVE":
		return []IntentKind{IntentLiveMigrate, IntentColdMigrate, IntentStop, IntentShelve, IntentTagPowerOff}
	case in.Status == "PAUSED" && noRoom(v):
		return []IntentKind{IntentTagPowerOff, IntentShelve, IntentLiveMigrate}
	case in.Status == "PAUSED":
		return []IntentKind{IntentLiveMigrate, IntentShelve, IntentTagPowerOff}
	case in.Status == "VERIFY_RESIZE":
		return []IntentKind{IntentConfirmResize, IntentRevertResize}
	case in.Status == "ERROR" && in.Power == PowerRunning:
		return []IntentKind{IntentResetState, IntentStop}
	case in.Status == "ERROR":
		return []IntentKind{IntentStop}
	}
	return nil
}
