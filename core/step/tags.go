package step

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// TagVersion is the first microversion in which instances have tags.
const TagVersion = "2.26"

// TagStatuses are the statuses in which Nova lets an instance's tags change (its API checks the vm_state: active, paused, suspended or
// stopped).
var TagStatuses = []string{"ACTIVE", "PAUSED", "SUSPENDED", "SHUTOFF"}

// tagPowerOff plans that an instance goes down with its host and is started again after the maintenance, whatever its owner or its
// node's mode say. It replaces any maintenance action that is there: two cancel each other (docs/mosk.md#tags).
func (p *planner) tagPowerOff() {
	in := p.taggedInstance("tag %s poweroff", core.RiskHigh)
	if in == nil {
		return
	}
	p.step.Type = typable(in.Name, in.ID)
	old := core.RecognisedTags(in.Tags)
	p.step.Why = wording.Join("Tagged poweroff, the OpenStack controller leaves it alone: its guest is told to shut down with the host, "+
		"and is started again when the "+
		"host is back. Nothing moves, and its users lose it for that time.", overriddenText(old), LockedText(p.s, in))
	if progress.ComputeDown(p.s, in.Host) {
		p.step.Why = wording.Join(p.step.Why, "nova-compute of its host is down now: it stays where it is until the host is back.")
	}
	p.step.Then = "It counts when its node's turn comes."
	if n := p.s.NodeOfHost(in.Host); n != nil && EntersMaintenance(p.s, n.Name) {
		p.step.Then = "The OpenStack controller counts it out at its next look, " + progress.NextLookOf(p.s, n.Name) + "."
	}
	p.step.Then = wording.Join(p.step.Then, "The tag stays until somebody takes it off; Lockstep offers the former ones back.",
		afterTheLast(p.s, p.step.Node, lastGoes, in.ID))
	p.setTags(in, old, []core.MaintenanceAction{core.ActionPowerOff})
}

// overriddenText says which tags of the owner's the new one replaces.
func overriddenText(old []core.MaintenanceAction) string {
	others := slices.DeleteFunc(slices.Clone(old), func(a core.MaintenanceAction) bool { return a == core.ActionPowerOff })
	if len(others) == 0 {
		return ""
	}
	return "This overrides its owner's own wish (" + ActionWords(others) + "): tell the owner."
}

// restoreTags plans to give an instance the maintenance actions back that it had before Lockstep tagged it.
func (p *planner) restoreTags() {
	in := p.taggedInstance("give %s its maintenance tags back", core.RiskLow)
	if in == nil {
		return
	}
	c, changed := p.s.History.Tags[in.ID]
	g := core.Guard{ID: core.GuardChangedByLockstep, Text: "Lockstep changed them", Holds: changed, Answer: "it did not"}
	if changed {
		g.Answer = ActionWords(c.New) + " at " + wording.ClockText(c.At)
	}
	p.guard(g)
	if !changed {
		return
	}
	current := core.RecognisedTags(in.Tags)
	same := core.Guard{ID: core.GuardAsLockstepLeftIt, Text: "it still has what Lockstep set", Holds: SameActions(current, c.New),
		Answer: ActionWords(current),
		Remedy: "somebody else has changed it since: that counts"}
	if SameActions(current, c.Old) {
		same.Remedy = ""
	}
	p.guard(same)
	p.step.Why = "Lockstep set " + ActionWords(c.New) + "; before, it was " + ActionWords(c.Old) + "."
	p.step.Then = "What its owner or its node's mode says counts again in its host's next maintenance."
	if n := p.s.NodeOfHost(in.Host); n != nil && EntersMaintenance(p.s, n.Name) {
		p.step.Then = "Its node is in maintenance: it holds the lock again, if it still runs."
	}
	p.setTags(in, current, c.Old)
	if !same.Holds {
		p.step.Change = nil
	}
}

// taggedInstance begins a step on the tags of the intent's instance; nil when there is no such instance.
func (p *planner) taggedInstance(title string, risk core.Risk) *core.Instance {
	s := p.s
	sources := []core.SourceID{core.SourceInstances}
	p.step.Risk = risk
	in := s.Instances.At(p.i.Instance)
	name := core.ShortID(p.i.Instance)
	if in != nil {
		name = progress.InstanceLabel(in)
	}
	p.step.Title, p.step.Label = strings.Replace(title, "%s", name, 1), name
	if in == nil {
		p.identify(core.Ref{Kind: core.KindInstance, Name: p.i.Instance, UID: p.i.Instance})
		p.common(sources, busyWith(s, p.i.Instance, ""))
		p.unknown("the instance exists", "Nova shows no instance "+wording.OneLine(p.i.Instance, 64))
		return nil
	}
	p.identify(in.Ref())
	if n := s.NodeOfHost(in.Host); n != nil {
		p.step.Node = n.Name
	}
	p.common(sources, busyWith(s, in.ID, p.step.Node))
	p.guard(guardExists("the instance", in.Ref()))
	p.guard(core.Guard{ID: core.GuardTagsKnown, Text: "the cloud has tags on instances", Holds: in.TagsKnown,
		Answer: map[bool]string{true: "yes", false: "it shows none: it is older than " + TagVersion}[in.TagsKnown]})
	p.guardStatus(in, InstanceRule{Statuses: TagStatuses})
	p.instanceFacts(in)
	return in
}

// setTags plans the change of the tags, with its commands and the way back. The commands change one tag after the other; Lockstep
// replaces them in one call.
func (p *planner) setTags(in *core.Instance, old, to []core.MaintenanceAction) {
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "the tags differ from that", Holds: !SameActions(old, to), Answer: ActionWords(old)})
	if SameActions(old, to) {
		p.done = "its maintenance action is " + ActionWords(to)
		return
	}
	p.step.Status = ActionWords(old)
	p.step.Commands = TagCommands(in.ID, old, to)
	p.step.Undo = "set them back: " + strings.Join(TagCommands(in.ID, to, old), "; ")
	p.step.Change = core.SetMaintenanceTags{Instance: in.Ref(), Old: old, New: to}
}

// TagCommands are the commands that first remove the tags that are too many, then set the missing ones.
func TagCommands(id string, from, to []core.MaintenanceAction) []string {
	var out []string
	say := func(verb string, list, but []core.MaintenanceAction) {
		for _, a := range list {
			if !slices.Contains(but, a) {
				out = append(out, wording.ShellCommand("openstack", "--os-compute-api-version", TagVersion, "server", verb, "--tag",
					core.TagMaintenanceAction+string(a), id))
			}
		}
	}
	say("unset", from, to)
	say("set", to, from)
	return out
}

// ActionWords is "tagged live_migrate, poweroff", or "not tagged".
func ActionWords(actions []core.MaintenanceAction) string {
	if len(actions) == 0 {
		return "not tagged"
	}
	words := make([]string, len(actions))
	for i, a := range actions {
		words[i] = string(a)
	}
	return "tagged " + strings.Join(words, ", ")
}

// SameActions tells whether two lists hold the same actions, in any order.
func SameActions(a, b []core.MaintenanceAction) bool {
	x, y := slices.Clone(a), slices.Clone(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// WithActions is the list of tags with these maintenance actions in place of the present ones. For Nova's database tags that differ
// only in case are the same, so such tags go too.
func WithActions(tags []string, actions []core.MaintenanceAction) []string {
	out := []string{}
	for _, tag := range tags {
		replaced := false
		for _, a := range []core.MaintenanceAction{core.ActionLiveMigrate, core.ActionPowerOff, core.ActionNotify} {
			replaced = replaced || tag == core.TagMaintenanceAction+string(a)
		}
		for _, a := range actions {
			replaced = replaced || strings.EqualFold(tag, core.TagMaintenanceAction+string(a))
		}
		if !replaced {
			out = append(out, tag)
		}
	}
	for _, a := range actions {
		out = append(out, core.TagMaintenanceAction+string(a))
	}
	return out
}

// NoteTags notes that Lockstep changed an instance's maintenance actions. The old ones are those before the first of Lockstep's changes
// that followed one another: where somebody else has changed them since, theirs are the old ones. A change back deletes the note.
func NoteTags(changes map[string]core.TagChange, id string, c core.TagChange) {
	if before, ok := changes[id]; ok && SameActions(before.New, c.Old) {
		c.Old = before.Old
	}
	if SameActions(c.Old, c.New) {
		delete(changes, id)
		return
	}
	changes[id] = c
}
