package core

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// setMode plans the migration mode of one node, or of several.
func (p *planner) setMode() {
	var value *string
	p.step.Title = "set migration mode " + oneLine(string(p.i.Mode), 40)
	if p.i.Mode != "" {
		value = new(string(p.i.Mode))
	} else {
		p.step.Title = "remove the migration mode"
	}
	valid := Guard{ID: GuardValueKnown, Text: "it is a mode that the OpenStack controller knows", Holds: p.i.Mode == "" || p.i.Mode.Known(),
		Answer: textOf(oneLine(string(p.i.Mode), 40), "not set: live, the default"), Remedy: "live, manual or skip"}
	p.setAnnotation(AnnotationMigrationMode, value, valid)
}

// setAttempts plans how often the OpenStack controller tries to live-migrate an instance.
func (p *planner) setAttempts() {
	var value *string
	p.step.Title = "remove the number of migration attempts"
	if p.i.Attempts != 0 {
		value = new(itoa(p.i.Attempts))
		p.step.Title = "set migration attempts " + itoa(p.i.Attempts)
	}
	valid := Guard{ID: GuardValueKnown, Text: "it is a number from 1", Holds: p.i.Attempts >= 0, Answer: itoa(p.i.Attempts), Remedy: "1 or more; 0 goes back to the default"}
	if p.i.Attempts == 0 {
		valid.Answer = "not set: " + itoa(DefaultMigrationAttempts) + ", the default"
	}
	p.setAnnotation(AnnotationMigrationAttempts, value, valid)
}

// setAnnotation plans the annotation key of the intent's nodes. Valid is the guard on the value.
func (p *planner) setAnnotation(key string, value *string, valid Guard) {
	names := p.i.nodesOf()
	if len(names) == 1 {
		p.setOneAnnotation(names[0], key, value, valid)
		return
	}
	p.setAnnotations(names, key, value, valid)
}

// setOneAnnotation plans the annotation of one node.
func (p *planner) setOneAnnotation(name, key string, value *string, valid Guard) {
	s, n := p.s, p.s.Nodes[name]
	toSkip := isSkip(key, value)
	if !p.node(name, n, s.annotationSources(name, toSkip)) {
		return
	}
	if p.i.Kind == IntentSetMode {
		p.step.ID += "/" + textOf(string(p.i.Mode), "unset") // the modes stand side by side in a procedure
	}
	p.step.Title += " on " + n.Label()
	p.step.Risk = RiskLow
	p.guard(valid)
	p.guardModeCounts(name, value != nil)
	p.step.Why = annotationWhy(key, value)
	if n := s.Nodes[name]; !n.Is(RoleCompute) && s.modeCounts(name) && key == AnnotationMigrationMode {
		p.step.Why = elsewhereWhy(value)
	}
	if toSkip {
		p.letGo(name, n)
	}
	p.annotate(n, key, value)
	p.step.Then = s.annotationThen(name, key, value)
	if key == AnnotationMigrationMode && !s.modeCounts(name) {
		p.step.Why, p.step.Then = "It decides nothing there: "+modeIgnored+".", "Nothing else changes."
	}
	if !valid.Holds {
		p.step.Change = nil
	}
}

// isSkip tells whether an annotation's value is the mode in which a node goes down with its instances.
func isSkip(key string, value *string) bool {
	return key == AnnotationMigrationMode && value != nil && MigrationMode(*value) == ModeSkip
}

// annotationSources are those that a change of an annotation rests on: in a maintenance, skip lets the node go down at once.
func (s *Snapshot) annotationSources(name string, toSkip bool) []SourceID {
	sources := []SourceID{SourceNodes}
	if toSkip {
		sources = append(sources, SourceNodeRequests)
	}
	if toSkip && s.leaving(name) {
		sources = append(sources, SourceNodeLocks, SourceInstances, SourceMigrations)
	}
	return sources
}

// letGo gives a step that sets skip the care that it needs.
func (p *planner) letGo(name string, n *Node) {
	p.step.Risk, p.step.Type = RiskHigh, typable(n.Label(), n.UID)
	if p.s.leaving(name) {
		p.guard(p.s.guardNoMigration(p.s.HostOf(name)))
		p.maintenanceFacts(name)
		p.hostFacts(name)
	}
}

// node gives the step its node, with the guards that all steps on a node have; false when there is no such node.
func (p *planner) node(name string, n *Node, sources []SourceID) bool {
	p.step.Node = name
	if n == nil {
		p.identify(Ref{Kind: KindNode, Name: name})
		p.step.Label = oneLine(name, 64)
		p.common(sources, p.s.busyOn(name))
		p.unknown("the node exists", "the cluster has no node "+textOf(oneLine(name, 64), "without a name"))
		return false
	}
	p.identify(n.Ref())
	p.step.Label = n.Label()
	p.common(sources, p.s.busyOn(name))
	p.guard(guardExists("the node", n.Ref()))
	p.fact("uid", n.UID)
	return true
}

// annotate makes the change, its command and its way back from the value that the node has now.
func (p *planner) annotate(n *Node, key string, value *string) {
	old := n.annotation(key)
	_, short, _ := strings.Cut(key, "/")
	p.fact(short, textOr(old, "(not set)"))
	p.guard(Guard{ID: GuardDiffers, Text: "the node does not have the value yet", Holds: !equalText(old, value), Answer: textOr(old, "not set")})
	if equalText(old, value) {
		p.done = "the node shows " + annotationText(key, value)
		return
	}
	p.step.Change = SetNodeAnnotation{Node: n.Ref(), Key: key, Old: old, New: value}
	p.step.Commands = []string{annotateCommand(n.Name, key, value)}
	p.step.Undo = "set it back: " + annotateCommand(n.Name, key, old)
}

// annotation is the value of one annotation; nil when it is not set.
func (n *Node) annotation(key string) *string {
	if v, ok := n.Annotations[key]; ok {
		return &v
	}
	return nil
}

func annotationWhy(key string, value *string) string {
	if key == AnnotationMigrationAttempts {
		return "It says how often the OpenStack controller tries to live-migrate one instance " +
			"before it says that it needs you; a minute later it begins anew."
	}
	switch MigrationMode(textOr(value, string(ModeLive))) {
	case ModeManual:
		return "In its maintenance the OpenStack controller waits until you have moved its instances and declared it safe."
	case ModeSkip:
		return "In its maintenance nobody looks at its instances: they go down with the host. Instances whose owners asked to be told first still hold it."
	}
	return "In its maintenance the OpenStack controller live-migrates its instances."
}

// elsewhereWhy is what the mode means on a node that is no compute, where Lockstep plays the controller.
func elsewhereWhy(value *string) string {
	switch MigrationMode(textOr(value, string(ModeLive))) {
	case ModeManual:
		return "In its maintenance it waits for your word: its virtual routers can be moved first."
	case ModeSkip:
		return "In its maintenance it does not wait for your word."
	}
	return "In its maintenance nothing waits for your word: live and skip are the same on a node that is no compute."
}

// annotationThen is what follows from the value: at once when the node is being evacuated, else when its turn comes. The
// annotations are read at each of the controller's looks (docs/mosk.md#migration-mode).
func (s *Snapshot) annotationThen(name, key string, value *string) string {
	lock := s.NodeLock(name, ControllerOpenStack)
	switch {
	case !s.known(SourceNodeRequests):
		return "It counts when the node's turn comes; whether it is in maintenance now is not known."
	case !s.leaving(name):
		return "It counts when the node's turn comes."
	case lock == nil || lock.State() != LockActive:
		return "The node is in maintenance, and the OpenStack controller does not hold it any more: it counts the next time."
	}
	soon := "The OpenStack controller reads it at its next look, " + s.nextLookOf(name) + ": "
	if key == AnnotationMigrationAttempts {
		return soon + "each instance gets so many tries then."
	}
	switch MigrationMode(textOr(value, string(ModeLive))) {
	case ModeManual:
		return soon + "it waits for you then. What it has begun goes on to its end."
	case ModeSkip:
		return soon + s.skipThen(name)
	}
	return soon + "it live-migrates what runs on the host then."
}

// skipThen is what follows from skip on a node that is being evacuated, counted out.
func (s *Snapshot) skipThen(name string) string {
	var down, held []string
	for _, v := range s.InstanceViews(name) {
		action, _ := EffectiveAction(v.Instance.Tags, ModeSkip)
		_, safe := safeAsItStands(v.Instance)
		switch {
		case safe:
		case blocks(v.Instance, action):
			held = append(held, instanceLabel(v.Instance))
		default:
			down = append(down, instanceLabel(v.Instance))
		}
	}
	if len(held) > 0 {
		return fmt.Sprintf("it still waits for %s (%s), whose tags say so; %s would go down with the host.", count(len(held), "instance"), some(held, 4), count(len(down), "instance"))
	}
	then := "it releases its lock; LCM then drains, updates and reboots the node."
	if len(down) > 0 {
		return then + fmt.Sprintf(" %s %s down with it (%s), and %s started again after it.", count(len(down), "instance"), verb(len(down), "goes", "go"), some(down, 4), verb(len(down), "is", "are"))
	}
	return then
}

// setAnnotations plans the annotation of several nodes, as a batch of steps of one node each.
func (p *planner) setAnnotations(names []string, key string, value *string, valid Guard) {
	s := p.s
	p.identify(Ref{Kind: KindCluster, Name: s.Cluster})
	p.step.ID = string(p.i.Kind) + "/" + namesID(names)
	p.step.Label, p.step.Risk = count(len(names), "node"), RiskHigh
	p.step.Title += " on " + p.step.Label
	p.step.Type = p.step.Label
	p.step.Why, p.step.Then = annotationWhy(key, value), "It counts for each node when its turn comes, and within 60 s on one that is being evacuated."
	p.step.Undo = "set each back to what it was; Lockstep keeps the old values in its journal"
	p.common([]SourceID{SourceNodes}, s.busyOn(names...))
	var (
		missing []string
		items   []BatchItem
		steps   []Step
	)
	for _, name := range names {
		n := s.Nodes[name]
		if n == nil {
			missing = append(missing, oneLine(name, 64))
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
		items = append(items, BatchItem{Intent: i, Label: n.Label(), Change: one.Change, Basis: one.Basis})
		p.step.Commands = append(p.step.Commands, one.Commands...)
	}
	p.guard(Guard{ID: GuardExists, Text: "the nodes exist", Holds: len(missing) == 0 && len(names) > 0,
		Answer: textOf(some(missing, 4), count(len(names), "node"))})
	p.guard(valid)
	p.guard(Guard{ID: GuardDiffers, Text: "a node does not have the value yet", Holds: len(items) > 0, Answer: fmt.Sprintf("%d of %d do not", len(items), len(names))})
	p.guardEach(steps)
	switch {
	case len(missing) > 0 || !valid.Holds || len(names) == 0:
		p.step.Commands = nil
	case len(items) == 0:
		p.done = "all of them have it"
	default:
		p.step.Change = Batch{Items: items, AtOnce: 1, PastFailures: p.i.PastFailures}
	}
}

// namesID is a short name for a set of names, the same for the same set.
func namesID(names []string) string {
	h := fnv.New64a()
	for _, n := range names {
		fmt.Fprintf(h, "%s\x00", n)
	}
	return itoa(len(names)) + "-nodes-" + strconv.FormatUint(h.Sum64(), 36)
}

// maintenanceFacts are the request and the OpenStack controller's lock of the node, on which a step in its maintenance
// rests.
func (p *planner) maintenanceFacts(name string) {
	if r := p.s.NodeRequest(name); r != nil {
		p.fact("request", r.UID)
	} else {
		p.fact("request", "")
	}
	if l := p.s.NodeLock(name, ControllerOpenStack); l != nil {
		p.fact("lock", string(l.State())+" "+l.UID)
	} else {
		p.fact("lock", "")
	}
}

// hostFacts are the instances on the node's host, each with its state.
func (p *planner) hostFacts(name string) {
	for _, in := range p.s.byID(name) {
		p.step.Basis = append(p.step.Basis, Fact{Name: "instance " + in.ID, Value: instanceFact(in), Instance: in.ID})
	}
}

// declareSafe plans the operator's word that the node may go down: mode skip, once nothing is in the way (docs/mosk.md#manual-migration).
func (p *planner) declareSafe() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "declare "+oneLine(s.Label(name), 64)+" safe", RiskHigh
	sources := []SourceID{SourceNodes, SourceNodeRequests, SourceNodeLocks, SourceInstances, SourceComputeServices, SourceMigrations}
	elsewhere := n != nil && !n.Is(RoleCompute)
	if elsewhere {
		sources = []SourceID{SourceNodes, SourceNodeRequests, SourceNodeLocks, SourceNetworkAgents}
	}
	ok := p.node(name, n, sources)
	if !ok {
		return
	}
	if elsewhere {
		p.declareElsewhere(n)
		return
	}
	p.step.Type = typable(n.Label(), n.UID)
	p.step.Why = "The OpenStack controller holds the node until no instance is in the way. With skip you say that the node may go down."
	p.step.Then = join("The OpenStack controller releases its lock at its next look, "+s.nextLookOf(name)+
		"; LCM then drains, updates and reboots the node.", p.s.remoteLoss(p.i.Node))
	p.guardRequest(name)
	p.guardLock(name)
	p.guard(s.guardHostKnown(n))
	p.guard(s.guardHostEmpty(name))
	p.guard(s.guardNoMigration(s.HostOf(name)))
	p.maintenanceFacts(name)
	p.hostFacts(name)
	p.annotate(n, AnnotationMigrationMode, new(string(ModeSkip)))
	if p.step.Change != nil {
		p.step.Undo = "set it back (offered when the node is done): " + annotateCommand(n.Name, AnnotationMigrationMode, n.annotation(AnnotationMigrationMode))
	}
}

// declareElsewhere plans the operator's word on a node that is no compute, which somebody has to wait for.
func (p *planner) declareElsewhere(n *Node) {
	s, name := p.s, n.Name
	p.step.Type = typable(n.Label(), n.UID)
	p.step.Why = "The node waits for your word. With skip you say that it may go down with what is on it."
	if served := s.servedShort(name); served != "" {
		p.step.Why = join(p.step.Why, "On it still: "+served+".")
	}
	p.step.Then = "Its lock can be released; LCM then drains, updates and reboots the node."
	p.guardModeCounts(name, true)
	p.guardRequest(name)
	p.guardLock(name)
	listed := Guard{ID: GuardAgentsListed, Text: "what its L3 and DHCP agents serve is known", Holds: s.known(SourceNetworkAgents) || s.Sources[SourceNetworkAgents].State == SourceAbsent, Answer: textOf(s.servedShort(name), "they serve nothing"),
		Remedy: "wait until Neutron has told"}
	for _, a := range s.servingAgents(name) {
		text, known := a.servedText()
		listed.Holds = listed.Holds && known
		p.fact("served by "+a.ID, text+" "+some(a.leftToGo(), 50))
	}
	p.guard(listed)
	p.maintenanceFacts(name)
	p.annotate(n, AnnotationMigrationMode, new(string(ModeSkip)))
	if p.step.Change != nil {
		p.step.Undo = "set it back (offered when the node is done): " + annotateCommand(n.Name, AnnotationMigrationMode, n.annotation(AnnotationMigrationMode))
	}
}

func (p *planner) guardRequest(name string) {
	g := Guard{ID: GuardNodeAskedFor, Text: "LCM asks for the node", Remedy: "wait for its NodeMaintenanceRequest"}
	switch r := p.s.NodeRequest(name); {
	case r == nil:
		g.Answer = "it has no NodeMaintenanceRequest"
	case !r.Deleting.IsZero():
		g.Answer, g.Remedy = "its NodeMaintenanceRequest is being removed: the node is on its way back", ""
	default:
		g.Holds, g.Answer = true, "since "+clockText(r.Created)
	}
	p.guard(g)
}

func (p *planner) guardLock(name string) {
	g := Guard{ID: GuardLockHeld, Text: "the OpenStack controller holds the node"}
	switch l := p.s.NodeLock(name, ControllerOpenStack); {
	case l == nil:
		g.Answer = "it has no NodeWorkloadLock of the OpenStack controller"
	default:
		g.Holds, g.Answer = l.State() == LockActive, "its lock is "+oneLine(string(l.State()), 40)
	}
	p.guard(g)
}

// restoreMode plans an annotation that Lockstep changed back to what it was.
func (p *planner) restoreMode() {
	s, name := p.s, p.i.Node
	n := s.Nodes[name]
	p.step.Title, p.step.Risk = "give "+oneLine(s.Label(name), 64)+" its migration mode back", RiskLow
	var change AnnotationChange
	changed := false
	if n != nil {
		change, changed = s.History.Changes[n.UID]
	}
	toSkip := changed && isSkip(change.Key, change.Old)
	if !p.node(name, n, s.annotationSources(name, toSkip)) {
		return
	}
	g := Guard{ID: GuardChangedByLockstep, Text: "Lockstep changed it", Holds: changed, Answer: "it did not"}
	if changed {
		g.Answer = annotationText(change.Key, change.New) + " at " + clockText(change.At)
	}
	p.guard(g)
	if !changed {
		return
	}
	current := n.annotation(change.Key)
	same := Guard{ID: GuardAsLockstepLeftIt, Text: "it still has the value that Lockstep set", Holds: equalText(current, change.New), Answer: textOr(current, "not set"),
		Remedy: "somebody else has changed it since: set the mode that you want"}
	if equalText(current, change.Old) {
		same.Remedy = ""
	}
	p.guard(same)
	p.step.Why = "Lockstep set " + annotationText(change.Key, change.New) + " for this maintenance; before, it was " + textOr(change.Old, "not set") + "."
	p.step.Then = s.annotationThen(name, change.Key, change.Old)
	if toSkip {
		p.letGo(name, n)
	}
	p.annotate(n, change.Key, change.Old)
	if !same.Holds {
		p.step.Change = nil
	}
}
