package core

import (
	"slices"
	"strings"
)

// tagVersion is the microversion from which on instances have tags.
const tagVersion = "2.26"

// tagStatuses are those in which Nova lets the tags of an instance change (its API checks the vm_state: active, paused,
// suspended or stopped).
var tagStatuses = []string{"ACTIVE", "PAUSED", "SUSPENDED", "SHUTOFF"}

// tagPowerOff plans that an instance goes down with its host and is started again after its maintenance, whatever its owner
// or its node's mode say. A maintenance action that is there already is replaced: two cancel each other (docs/mosk.md#tags).
func (p *planner) tagPowerOff() {
	in := p.taggedInstance("tag %s poweroff", RiskHigh)
	if in == nil {
		return
	}
	p.step.Type = typable(in.Name, in.ID)
	old := recognisedTags(in.Tags)
	p.step.Why = join("Tagged poweroff, the OpenStack controller leaves it alone: its guest is told to shut down with the host, and is started again when the "+
		"host is back. Nothing moves, and its users lose it for that time.", overriddenText(old), p.s.lockedText(in))
	if p.s.hostDown(in.Host) {
		p.step.Why = join(p.step.Why, "nova-compute of its host is down now: it stays where it is until the host is back.")
	}
	p.step.Then = "It counts when its node's turn comes."
	if n := p.s.NodeOfHost(in.Host); n != nil && p.s.leaving(n.Name) {
		p.step.Then = "The OpenStack controller counts it out at its next look, " + p.s.nextLookOf(n.Name) + "."
	}
	p.step.Then += " The tag stays until somebody takes it off; Lockstep offers the former ones back."
	p.setTags(in, old, []MaintenanceAction{ActionPowerOff})
}

// overriddenText says whose word the tag takes the place of.
func overriddenText(old []MaintenanceAction) string {
	others := slices.DeleteFunc(slices.Clone(old), func(a MaintenanceAction) bool { return a == ActionPowerOff })
	if len(others) == 0 {
		return ""
	}
	return "This overrides its owner's own wish (" + actionWords(others) + "): tell the owner."
}

// restoreTags plans the maintenance actions that an instance had before Lockstep tagged it.
func (p *planner) restoreTags() {
	in := p.taggedInstance("give %s its maintenance tags back", RiskLow)
	if in == nil {
		return
	}
	c, changed := p.s.History.Tags[in.ID]
	g := Guard{ID: GuardChangedByLockstep, Text: "Lockstep changed them", Holds: changed, Answer: "it did not"}
	if changed {
		g.Answer = actionWords(c.New) + " at " + clockText(c.At)
	}
	p.guard(g)
	if !changed {
		return
	}
	current := recognisedTags(in.Tags)
	same := Guard{ID: GuardAsLockstepLeftIt, Text: "it still has what Lockstep set", Holds: sameActions(current, c.New),
		Answer: actionWords(current),
		Remedy: "somebody else has changed it since: that counts"}
	if sameActions(current, c.Old) {
		same.Remedy = ""
	}
	p.guard(same)
	p.step.Why = "Lockstep set " + actionWords(c.New) + "; before, it was " + actionWords(c.Old) + "."
	p.step.Then = "What its owner or its node's mode says counts again in its host's next maintenance."
	if n := p.s.NodeOfHost(in.Host); n != nil && p.s.leaving(n.Name) {
		p.step.Then = "Its node is in maintenance: it holds the lock again, if it still runs."
	}
	p.setTags(in, current, c.Old)
	if !same.Holds {
		p.step.Change = nil
	}
}

// taggedInstance begins a step on the tags of the intent's instance; nil when there is no such instance.
func (p *planner) taggedInstance(title string, risk Risk) *Instance {
	s := p.s
	sources := []SourceID{SourceInstances}
	p.step.Risk = risk
	in := s.Instances[p.i.Instance]
	name := shortID(p.i.Instance)
	if in != nil {
		name = instanceLabel(in)
	}
	p.step.Title, p.step.Label = strings.Replace(title, "%s", name, 1), name
	if in == nil {
		p.identify(Ref{Kind: KindInstance, Name: p.i.Instance, UID: p.i.Instance})
		p.common(sources, s.busyWith(p.i.Instance, ""))
		p.unknown("the instance exists", "Nova shows no instance "+oneLine(p.i.Instance, 64))
		return nil
	}
	p.identify(in.Ref())
	if n := s.NodeOfHost(in.Host); n != nil {
		p.step.Node = n.Name
	}
	p.common(sources, s.busyWith(in.ID, p.step.Node))
	p.guard(guardExists("the instance", in.Ref()))
	p.guard(Guard{ID: GuardTagsKnown, Text: "the cloud has tags on instances", Holds: in.TagsKnown, Answer: map[bool]string{true: "yes", false: "it shows none: it is older than " + tagVersion}[in.TagsKnown]})
	p.guardStatus(in, instanceRule{statuses: tagStatuses})
	p.instanceFacts(in)
	return in
}

// setTags makes the change, its commands and its way back. The commands take one tag after the other; Lockstep replaces
// them in one call.
func (p *planner) setTags(in *Instance, old, to []MaintenanceAction) {
	p.guard(Guard{ID: GuardDiffers, Text: "it is not so yet", Holds: !sameActions(old, to), Answer: actionWords(old)})
	if sameActions(old, to) {
		p.done = "its maintenance action is " + actionWords(to)
		return
	}
	p.step.Status = actionWords(old)
	p.step.Commands = tagCommands(in.ID, old, to)
	p.step.Undo = "set them back: " + strings.Join(tagCommands(in.ID, to, old), "; ")
	p.step.Change = SetMaintenanceTags{Instance: in.Ref(), Old: old, New: to}
}

// tagCommands take the tags that are too many off, then set those that are missing.
func tagCommands(id string, from, to []MaintenanceAction) []string {
	var out []string
	say := func(verb string, list, but []MaintenanceAction) {
		for _, a := range list {
			if !slices.Contains(but, a) {
				out = append(out, shellCommand("openstack", "--os-compute-api-version", tagVersion, "server", verb, "--tag", TagMaintenanceAction+string(a), id))
			}
		}
	}
	say("unset", from, to)
	say("set", to, from)
	return out
}

// actionWords are maintenance actions for a line.
func actionWords(actions []MaintenanceAction) string {
	if len(actions) == 0 {
		return "not tagged"
	}
	words := make([]string, len(actions))
	for i, a := range actions {
		words[i] = string(a)
	}
	return "tagged " + strings.Join(words, ", ")
}

// sameActions tells whether two lists hold the same actions, in any order.
func sameActions(a, b []MaintenanceAction) bool {
	x, y := slices.Clone(a), slices.Clone(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// withActions is the tags with these maintenance actions in place of those that it has. Nova's database takes tags that
// differ in case only for one: such a one goes as well.
func withActions(tags []string, actions []MaintenanceAction) []string {
	out := []string{}
	for _, tag := range tags {
		replaced := false
		for _, a := range []MaintenanceAction{ActionLiveMigrate, ActionPowerOff, ActionNotify} {
			replaced = replaced || tag == TagMaintenanceAction+string(a)
		}
		for _, a := range actions {
			replaced = replaced || strings.EqualFold(tag, TagMaintenanceAction+string(a))
		}
		if !replaced {
			out = append(out, tag)
		}
	}
	for _, a := range actions {
		out = append(out, TagMaintenanceAction+string(a))
	}
	return out
}

// noteTags remembers that Lockstep changed an instance's maintenance actions. What counts as the old ones is what stood
// there before Lockstep's first change; a change back to them is the end of the matter.
func noteTags(changes map[string]TagChange, id string, c TagChange) {
	if first, ok := changes[id]; ok {
		c.Old = first.Old
	}
	if sameActions(c.Old, c.New) {
		delete(changes, id)
		return
	}
	changes[id] = c
}
