package step

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// AnnotationText is an annotation without the domain of its key: "instance_migration_mode=manual", or "=(not set)" for nil.
func AnnotationText(key string, v *string) string {
	_, short, _ := strings.Cut(key, "/")
	return short + "=" + wording.TextOr(v, "(not set)")
}

// setMode plans the migration mode of one node, or of several.
func (p *planner) setMode() {
	var value *string
	p.step.Title = "set migration mode " + wording.OneLine(string(p.i.Mode), 40)
	if p.i.Mode != "" {
		value = new(string(p.i.Mode))
	} else {
		p.step.Title = "remove the migration mode"
	}
	valid := core.Guard{ID: core.GuardValueKnown, Text: "it is a mode that the OpenStack controller knows", Holds: p.i.Mode == "" ||
		p.i.Mode.Known(),
		Answer: wording.TextOf(wording.OneLine(string(p.i.Mode), 40), "not set: live, the default"), Remedy: "live, manual or skip"}
	p.setAnnotation(core.AnnotationMigrationMode, value, valid)
}

// setAttempts plans how often the OpenStack controller tries to live-migrate an instance.
func (p *planner) setAttempts() {
	var value *string
	p.step.Title = "remove the number of migration attempts"
	if p.i.Attempts != 0 {
		value = new(wording.Itoa(p.i.Attempts))
		p.step.Title = "set migration attempts " + wording.Itoa(p.i.Attempts)
	}
	valid := core.Guard{ID: core.GuardValueKnown, Text: "it is a number from 1", Holds: p.i.Attempts >= 0, Answer: wording.Itoa(p.i.Attempts),
		Remedy: "1 or more; 0 goes back to the default"}
	if p.i.Attempts == 0 {
		valid.Answer = "not set: " + wording.Itoa(core.DefaultMigrationAttempts) + ", the default"
	}
	p.setAnnotation(core.AnnotationMigrationAttempts, value, valid)
}

// setAnnotation plans the annotation key of the intent's nodes. Valid is the guard on the value.
func (p *planner) setAnnotation(key string, value *string, valid core.Guard) {
	names := p.i.NodesOf()
	if len(names) == 1 {
		p.setOneAnnotation(names[0], key, value, valid)
		return
	}
	p.setAnnotations(names, key, value, valid)
}

// setOneAnnotation plans the annotation of one node.
func (p *planner) setOneAnnotation(name, key string, value *string, valid core.Guard) {
	s, n := p.s, p.s.Nodes[name]
	toSkip := IsSkip(key, value)
	if !p.node(name, n, annotationSources(s, name, toSkip)) {
		return
	}
	if p.i.Kind == core.IntentSetMode {
		p.step.ID += "/" + wording.TextOf(string(p.i.Mode), "unset") // the modes stand side by side in a procedure
	}
	p.step.Title += " on " + n.Label()
	p.step.Risk = core.RiskLow
	p.guard(valid)
	p.guardModeCounts(name, value != nil)
	p.step.Why = annotationWhy(key, value)
	if n := s.Nodes[name]; !n.Is(core.RoleCompute) && progress.ModeCounts(s, name) && key == core.AnnotationMigrationMode {
		p.step.Why = elsewhereWhy(value)
	}
	if toSkip {
		p.letGo(name, n)
	}
	p.annotate(n, key, value)
	p.step.Then = annotationThen(s, name, key, value)
	if key == core.AnnotationMigrationMode && !progress.ModeCounts(s, name) {
		p.step.Why, p.step.Then = "It decides nothing there: "+progress.ModeIgnored+".", "Nothing else changes."
	}
	if !valid.Holds {
		p.step.Change = nil
	}
}

// IsSkip tells whether an annotation's value is the mode in which a node goes down with its instances.
func IsSkip(key string, value *string) bool {
	return key == core.AnnotationMigrationMode && value != nil && core.MigrationMode(*value) == core.ModeSkip
}

// annotationSources are the sources on which a change of an annotation rests. During maintenance skip lets the node go down at once.
func annotationSources(s *core.Snapshot, name string, toSkip bool) []core.SourceID {
	sources := []core.SourceID{core.SourceNodes}
	if toSkip {
		sources = append(sources, core.SourceNodeRequests)
	}
	if toSkip && EntersMaintenance(s, name) {
		sources = append(sources, core.SourceNodeLocks, core.SourceInstances, core.SourceMigrations)
	}
	return sources
}

// letGo raises the risk of a step that sets skip. While the node is in maintenance it also adds guards and facts.
func (p *planner) letGo(name string, n *core.Node) {
	p.step.Risk, p.step.Type = core.RiskHigh, typable(n.Label(), n.UID)
	if EntersMaintenance(p.s, name) {
		p.guard(guardNoMigration(p.s, p.s.HostOf(name)))
		p.maintenanceFacts(name)
		p.hostFacts(name)
	}
}

// annotate plans the change of an annotation, with its command and the command that sets the present value back.
func (p *planner) annotate(n *core.Node, key string, value *string) {
	old := n.Annotation(key)
	_, short, _ := strings.Cut(key, "/")
	p.fact(short, wording.TextOr(old, "(not set)"))
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "the node does not have the value yet", Holds: !EqualText(old, value),
		Answer: wording.TextOr(old, "not set")})
	if EqualText(old, value) {
		p.done = "the node shows " + AnnotationText(key, value)
		return
	}
	p.step.Change = core.SetNodeAnnotation{Node: n.Ref(), Key: key, Old: old, New: value}
	p.step.Commands = []string{wording.AnnotateCommand(n.Name, key, value)}
	p.step.Undo = "set it back: " + wording.AnnotateCommand(n.Name, key, old)
}

func annotationWhy(key string, value *string) string {
	if key == core.AnnotationMigrationAttempts {
		return "It says how often the OpenStack controller tries to live-migrate one instance before it says that it needs you; a minute later " +
			"it begins anew."
	}
	switch core.MigrationMode(wording.TextOr(value, string(core.ModeLive))) {
	case core.ModeManual:
		return "In its maintenance the OpenStack controller waits until you have moved its instances and declared it safe."
	case core.ModeSkip:
		return "In its maintenance nobody looks at its instances: they go down with the host. Instances whose owners asked to be told first " +
			"still hold it."
	}
	return "In its maintenance the OpenStack controller live-migrates its instances."
}

// elsewhereWhy is what the mode means on a node that is not a compute node, where Lockstep plays the controller.
func elsewhereWhy(value *string) string {
	switch core.MigrationMode(wording.TextOr(value, string(core.ModeLive))) {
	case core.ModeManual:
		return "In its maintenance it waits for your word: its virtual routers can be moved first."
	case core.ModeSkip:
		return "In its maintenance it does not wait for your word."
	}
	return "In its maintenance nothing waits for your word: live and skip are the same on a node that is not a compute."
}

// annotationThen is what follows from the value: at once when the node is being evacuated, else when its turn comes. The controller
// reads the annotations at each of its looks (docs/mosk.md#migration-mode).
func annotationThen(s *core.Snapshot, name, key string, value *string) string {
	lock := s.NodeLock(name, core.ControllerOpenStack)
	switch {
	case !s.Known(core.SourceNodeRequests):
		return "It counts when the node's turn comes; whether it is in maintenance now is not known."
	case !EntersMaintenance(s, name):
		return "It counts when the node's turn comes."
	case lock == nil || lock.State() != core.LockActive:
		return "The node is in maintenance, and the OpenStack controller does not hold it any more: it counts the next time."
	}
	soon := "The OpenStack controller reads it at its next look, " + progress.NextLookOf(s, name) + ": "
	if key == core.AnnotationMigrationAttempts {
		return soon + "each instance gets so many tries then."
	}
	switch core.MigrationMode(wording.TextOr(value, string(core.ModeLive))) {
	case core.ModeManual:
		return soon + "it waits for you then. What it has begun goes on to its end."
	case core.ModeSkip:
		return soon + skipThen(s, name)
	}
	return soon + "it live-migrates what runs on the host then."
}

// skipThen is what skip does to the instances of a node that is being evacuated.
func skipThen(s *core.Snapshot, name string) string {
	var down, held []string
	for _, v := range progress.InstanceViews(s, name) {
		action, _ := core.EffectiveAction(v.Instance.Tags, core.ModeSkip)
		_, safe := core.SafeAsItStands(v.Instance)
		switch {
		case safe:
		case core.Blocks(v.Instance, action):
			held = append(held, progress.InstanceLabel(v.Instance))
		default:
			down = append(down, progress.InstanceLabel(v.Instance))
		}
	}
	if len(held) > 0 {
		return fmt.Sprintf("it still waits for %s (%s), whose tags say so; %s would go down with the host.", wording.Count(len(held), "instance"),
			wording.Some(held, 4), wording.Count(len(down), "instance"))
	}
	then := "it releases its lock; LCM then drains, updates and reboots the node."
	if len(down) > 0 {
		return then + fmt.Sprintf(" %s %s down with it (%s), and %s started again after it.", wording.Count(len(down), "instance"),
			wording.Verb(len(down), "goes", "go"), wording.Some(down, 4), wording.Verb(len(down), "is", "are"))
	}
	return then
}

// setAnnotations plans the annotation of several nodes, as a batch with one step for each node.
func (p *planner) setAnnotations(names []string, key string, value *string, valid core.Guard) {
	s := p.s
	p.identify(core.Ref{Kind: core.KindCluster, Name: s.Cluster})
	p.step.ID = string(p.i.Kind) + "/" + namesID(names)
	p.step.Label, p.step.Risk = wording.Count(len(names), "node"), core.RiskHigh
	p.step.Title += " on " + p.step.Label
	p.step.Type = p.step.Label
	p.step.Why, p.step.Then = annotationWhy(key, value),
		"It counts for each node when its turn comes, and within 60 s on one that is being evacuated."
	p.step.Undo = "set each back to what it was; Lockstep keeps the old values in its journal"
	p.common([]core.SourceID{core.SourceNodes}, busyOn(s, names...))
	var (
		missing []string
		items   []core.BatchItem
		steps   []core.Step
	)
	for _, name := range names {
		n := s.Nodes[name]
		if n == nil {
			missing = append(missing, wording.OneLine(name, 64))
			continue
		}
		i := p.i
		i.Node, i.Nodes, i.PastFailures = "", []string{name}, false
		one := Plan(s, i)
		for _, f := range one.Basis {
			p.fact(n.Label()+" ("+name+"): "+f.Name, f.Value)
		}
		if one.Change == nil {
			continue // it has the value already
		}
		steps = append(steps, one)
		items = append(items, core.BatchItem{Intent: i, Label: n.Label(), Change: one.Change, Basis: one.Basis})
		p.step.Commands = append(p.step.Commands, one.Commands...)
	}
	p.guard(core.Guard{ID: core.GuardExists, Text: "the nodes exist", Holds: len(missing) == 0 && len(names) > 0,
		Answer: wording.TextOf(wording.Some(missing, 4), wording.Count(len(names), "node"))})
	p.guard(valid)
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "a node does not have the value yet", Holds: len(items) > 0,
		Answer: fmt.Sprintf("%d of %d do not", len(items), len(names))})
	p.guardEach(steps)
	switch {
	case len(missing) > 0 || !valid.Holds || len(names) == 0:
		p.step.Commands = nil
	case len(items) == 0:
		p.done = "all of them have it"
	default:
		p.step.Change = core.Batch{Items: items, AtOnce: 1, PastFailures: p.i.PastFailures}
	}
}

// restoreMode plans to set an annotation that Lockstep changed back to its former value.
func (p *planner) restoreMode() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "give "+wording.OneLine(s.Label(name), 64)+" its migration mode back", core.RiskLow
	var change core.AnnotationChange
	changed := false
	if n != nil {
		change, changed = s.History.Changes[n.UID]
	}
	toSkip := changed && IsSkip(change.Key, change.Old)
	if !p.node(name, n, annotationSources(s, name, toSkip)) {
		return
	}
	g := core.Guard{ID: core.GuardChangedByLockstep, Text: "Lockstep changed it", Holds: changed, Answer: "it did not"}
	if changed {
		g.Answer = AnnotationText(change.Key, change.New) + " at " + wording.ClockText(change.At)
	}
	p.guard(g)
	if !changed {
		return
	}
	current := n.Annotation(change.Key)
	same := core.Guard{ID: core.GuardAsLockstepLeftIt, Text: "it still has the value that Lockstep set", Holds: EqualText(current, change.New),
		Answer: wording.TextOr(current, "not set"),
		Remedy: "somebody else has changed it since: set the mode that you want"}
	if EqualText(current, change.Old) {
		same.Remedy = ""
	}
	p.guard(same)
	p.step.Why = "Lockstep set " + AnnotationText(change.Key, change.New) + " for this maintenance; before, it was " +
		wording.TextOr(change.Old, "not set") + "."
	p.step.Then = annotationThen(s, name, change.Key, change.Old)
	if toSkip {
		p.letGo(name, n)
	}
	p.annotate(n, change.Key, change.Old)
	if !same.Holds {
		p.step.Change = nil
	}
}

// guardModeCounts holds where somebody reads the node's mode, and for its removal.
func (p *planner) guardModeCounts(name string, set bool) {
	g := core.Guard{ID: core.GuardModeCounts, Text: "somebody goes by the node's mode", Holds: !set || progress.ModeCounts(p.s, name),
		Answer: "it does",
		Remedy: progress.HoldInstead}
	switch {
	case !set:
		g.Answer = "it is taken away"
	case !g.Holds:
		g.Answer = "it is not a compute node: " + progress.ModeIgnored
	}
	p.guard(g)
}
