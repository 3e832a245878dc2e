package core

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nodeProcedure takes a node through its maintenance: what has happened, what is the operator's to do now, and what others
// do after it (seed 004, steps 2 and 5; mosk-facts 4.1).
func (s *Snapshot) nodeProcedure(name string) (Procedure, bool) {
	v, ok := s.NodeView(name)
	if !ok {
		return Procedure{}, false
	}
	b := &nodeSteps{s: s, v: v, lock: s.NodeLock(name, ControllerOpenStack), target: Ref{Kind: KindNode, Name: name}}
	if v.Node != nil {
		b.target = v.Node.Ref()
	}
	if b.lock != nil {
		b.message = ReadLockMessage(b.lock.Message)
	}
	p := Procedure{Title: "Take " + v.Label + " through its maintenance", Summary: b.summary(),
		Goal: "The node is updated and back in service, and no instance is lost on the way."}
	switch {
	case v.Request == nil && s.Deletions[name] != nil && !b.gone():
		p.Title, p.Goal = "Let "+v.Label+" leave the cluster", "The node is removed, and nothing that anybody needs goes with it."
		b.removal()
	case b.gone():
		p.Title, p.Goal, p.Summary = goneTitle(v.Label), goneGoal, b.goneSummary()
		b.cleanup()
	case v.Request == nil:
		b.outside()
	case v.Request.ByHand() && v.Request.Deleting.IsZero():
		p.Title, p.Goal = "Take "+v.Label+" through maintenance by hand", "Your work on the node is done, it is back in service, and no instance is lost on the way."
		b.asked()
		b.prepare()
		b.byHand()
		b.restore()
	case v.Request.Deleting.IsZero():
		b.asked()
		b.prepare()
		b.lcm()
		b.restore()
	default:
		b.asked()
		b.act()
		b.locks()
		b.lcm()
		b.restore()
	}
	b.machineSteps()
	p.Steps = b.steps
	return p, true
}

// prepare is what gets the node ready for LCM: the OpenStack controller's part, or ours where Lockstep plays it.
func (b *nodeSteps) prepare() {
	b.situation()
	if !b.s.playsOn(ControllerOpenStack, b.v.Name) {
		b.evacuation()
	}
	b.act()
	b.locks()
}

// nodeSteps collects the steps of one node.
type nodeSteps struct {
	s       *Snapshot
	v       NodeView
	lock    *WorkloadLock // the OpenStack controller's; nil when there is none
	message LockMessage   // of lock
	target  Ref
	steps   []Step
}

// add adds steps, each once: what two rules propose is one step.
func (b *nodeSteps) add(steps ...Step) {
	for _, st := range steps {
		if st.ID == "" || !slices.ContainsFunc(b.steps, func(have Step) bool { return have.ID == st.ID }) {
			b.steps = append(b.steps, st)
		}
	}
}

// other is a step that is somebody else's to do.
func (b *nodeSteps) other(id, title, why string, state StepState, status string) Step {
	subject := b.target.UID
	if subject == "" {
		subject = b.target.Name
	}
	return Step{ID: id + "/" + subject, Target: b.target, Label: b.v.Label, Node: b.v.Name, Title: title, Why: why, State: state, Status: status}
}

// summary is what is known of the node that matters here.
func (b *nodeSteps) summary() []string {
	s, v := b.s, b.v
	out := []string{string(v.Stage) + ": " + v.Reason}
	mode := "migration mode " + oneLine(string(v.Mode), 40)
	if !v.ModeSet {
		mode += " (not set: the default)"
	}
	out = append(out, fmt.Sprintf("%s, %d attempts", mode, v.Attempts))
	if b.message.Class != MessageNone {
		who := "the OpenStack controller says: "
		if s.playsOn(ControllerOpenStack, v.Name) {
			who = "its lock says: "
		}
		out = append(out, who+oneLine(b.message.Text, 400))
	}
	if v.Node != nil && v.Node.Is(RoleCompute) {
		switch {
		case v.Instances < 0:
			out = append(out, "its instances are not known: "+s.whyUnknown(SourceInstances))
		default:
			line := count(v.Instances, "instance")
			if v.Blocking > 0 && v.Request == nil {
				line += fmt.Sprintf(", %d would hold it now%s", v.Blocking, b.needHands())
			} else if v.Blocking > 0 {
				line += fmt.Sprintf(", %d in the way", v.Blocking)
			}
			out = append(out, line)
		}
	}
	if v.Service != nil && !v.Service.Enabled {
		out = append(out, "nova-compute is "+serviceText(v.Service))
	}
	out = append(out, b.volumesSummary()...)
	if text := s.MachineOf(v.Name).text(); text != "" {
		out = append(out, text)
	}
	return append(out, v.Problems...)
}

// needHands names the instances that nothing but a person moves.
func (b *nodeSteps) needHands() string {
	var names []string
	for _, v := range b.s.InstanceViews(b.v.Name) {
		if v.Blocks && !v.Migrates {
			names = append(names, instanceLabel(v.Instance))
		}
	}
	if len(names) == 0 || b.v.Mode == ModeManual {
		return ""
	}
	return ": nothing but a person moves " + some(names, 4)
}

// asked says that LCM wants the node.
func (b *nodeSteps) asked() {
	r := b.v.Request
	status := "since " + clockText(r.Created)
	if scope := b.s.scopeOf(r); scope != "" {
		status += ", scope " + oneLine(string(scope), 20)
	}
	who := "LCM asks for "
	if r.ByHand() {
		who = "an operator asks for "
	}
	b.add(b.other("asked", who+b.v.Label, "A NodeMaintenanceRequest names the node: its application controllers prepare it.", StepDone, status))
}

// held tells whether the OpenStack controller holds the node.
func (b *nodeSteps) held() bool { return b.lock != nil && b.lock.State() != LockInactive }

// evacuation is what gets the instances off the node.
func (b *nodeSteps) evacuation() {
	s, name := b.s, b.v.Name
	m := s.maintenanceOf(name)
	if !m.compute {
		if b.v.ModeSet && b.v.Mode == ModeManual && b.held() {
			b.add(Plan(s, Intent{Kind: IntentDeclareSafe, Node: name}))
		}
		return
	}
	if !m.reboot {
		b.add(b.other("evacuate", "no instance has to move", "The request's scope is drain: the host does not reboot.", StepDone, ""))
		return
	}
	if !b.held() {
		b.add(b.other("evacuate", "the instances are out of the way", "", StepDone, ""))
		return
	}
	if b.v.Stage == StageQueued {
		b.add(b.other("begin", "the OpenStack controller begins", b.says(), StepWaiting, textOf(b.v.What, "queued")))
		b.preparation()
		return
	}
	views := s.InstanceViews(name)
	byHand := b.v.Mode == ModeManual || b.v.Stage == StageWaiting || !b.v.Mode.Known()
	if b.v.Mode == ModeLive && b.v.Stage != StageWaiting && b.v.Blocking != 0 {
		b.add(b.controllerMoves())
	}
	b.instances(views, byHand, func(v InstanceView) []Step {
		if byHand || !v.Migrates && b.v.Mode != ModeSkip || v.Action == ActionNotify {
			return []Step{s.instanceStep(v)}
		}
		return nil // the controller moves it
	})
	if byHand || b.v.Mode == ModeSkip {
		b.add(Plan(s, Intent{Kind: IntentDeclareSafe, Node: name}))
	}
}

// instances are the steps that get out of the way what holds the node, the owners' word and room for them first; those that
// move all and make room only byHand; of each that holds the node, what each says.
func (b *nodeSteps) instances(views []InstanceView, byHand bool, each func(InstanceView) []Step) {
	s, name := b.s, b.v.Name
	if !b.v.Mode.Known() {
		for _, mode := range []MigrationMode{ModeManual, ModeLive} {
			b.add(Plan(s, Intent{Kind: IntentSetMode, Nodes: []string{name}, Mode: mode}))
		}
	}
	if held := slices.DeleteFunc(slices.Clone(views), func(v InstanceView) bool { return !holdsAhead(v) }); len(held) > 0 {
		b.add(s.tellOwners(b.target, name, b.v.Label, held))
	}
	if movable, _ := s.movable(name); byHand && (len(movable) >= 2 || b.batchRuns()) {
		b.add(Plan(s, Intent{Kind: IntentLiveMigrateAll, Node: name}))
	}
	left := slices.DeleteFunc(slices.Clone(views), func(v InstanceView) bool { return !v.Blocks })
	if byHand {
		b.add(s.roomSteps(left)...)
	}
	for _, v := range left {
		b.add(each(v)...)
	}
	b.add(b.unconfirmed()...)
	if len(left) == 0 && s.known(SourceInstances) {
		b.add(b.other("emptied", "no running instance is left", "", StepDone, textOf(b.safeText(views), "the host is empty")))
	}
}

// batchRuns tells whether Lockstep moves the node's instances now, or failed to.
func (b *nodeSteps) batchRuns() bool {
	return slices.ContainsFunc(b.s.Operations, func(op Operation) bool {
		return op.Node == b.v.Name && op.isBatchOf(IntentLiveMigrateAll) && (!op.State.Ended() || op.State == OperationFailed && !op.Acknowledged)
	})
}

func (b *nodeSteps) safeText(views []InstanceView) string {
	if len(views) == 0 {
		return ""
	}
	names := make([]string, len(views))
	for i, v := range views {
		names[i] = instanceLabel(v.Instance)
	}
	return "safe: " + some(names, 4)
}

// says is what the OpenStack controller says of the node, in plain words, with what Lockstep itself sees of it.
func (b *nodeSteps) says() string {
	if b.lock == nil {
		return ""
	}
	return b.s.explain(b.lock, b.message)
}

// explain is a lock's text in plain words, with what Lockstep itself sees of it.
func (s *Snapshot) explain(l *WorkloadLock, m LockMessage) string {
	seen := s.Seen(l, m)
	if seen != "" {
		seen = "Seen: " + seen
	}
	return join(sentence(m.Meaning), sentence(seen), sentence(m.Remedy))
}

// controllerMoves is what the OpenStack controller does in mode live.
func (b *nodeSteps) controllerMoves() Step {
	why := join("In mode live the OpenStack controller live-migrates the instances itself.", b.says())
	return b.other("evacuate", "the OpenStack controller moves the instances", why, StepWaiting, textOf(b.v.What, b.v.Reason))
}

// unconfirmed are the steps on instances that were cold-migrated away from the node and wait for a decision: a revert
// brings them back to it.
func (b *nodeSteps) unconfirmed() []Step {
	s, host := b.s, b.s.HostOf(b.v.Name)
	var ids []string
	for id := range s.Migrations {
		in, m := s.Instances[id], s.LatestMigration(id)
		if in == nil || m == nil || in.Host == host || in.Status != "VERIFY_RESIZE" || m.SourceHost != host || m.Type == MigrationLive || m.Running() {
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []Step
	for _, id := range ids {
		st := Plan(s, Intent{Kind: IntentConfirmResize, Instance: id})
		st.Why = join("It is on "+s.hostLabel(s.Instances[id].Host)+" now, and "+b.v.Label+" keeps its files until somebody decides.", st.Why)
		if st.State != StepRunning && st.State != StepFailed {
			st.Status = "is on " + s.hostLabel(s.Instances[id].Host) + " now; " + b.v.Label + " keeps its place"
		}
		st.Alternatives = []Step{Plan(s, Intent{Kind: IntentRevertResize, Instance: id})}
		out = append(out, st)
	}
	return out
}

// locks are the node's locks, each with what its controller says.
func (b *nodeSteps) locks() {
	returning := !b.v.Request.Deleting.IsZero()
	for _, l := range b.v.Locks {
		if _, played := b.s.actAs(l.Controller); played {
			continue // the steps are ours
		}
		title := "the lock of " + oneLine(l.Controller, 40) + " is released"
		if l.Controller == ControllerOpenStack {
			title = "the OpenStack controller releases its lock"
		}
		st := b.s.lockStep(l, title, returning)
		st.Node, st.Label = b.v.Name, b.v.Label
		if l == b.lock && st.State == StepWaiting && b.s.known(SourceInstances) {
			switch {
			case b.v.Blocking > 0 && b.v.Mode != ModeLive || b.v.Stage == StageWaiting:
				st.State = StepLater
			case b.v.Blocking == 0 && b.message.Class == MessageActionable:
				st.Status = "at its next look, within 60 s"
				if b.s.openStackDown() {
					st.Status = "no replica of the OpenStack controller is ready: nobody looks until it is up"
				}
			}
		}
		b.add(st)
	}
}

// lockStep is the release of one lock.
func (s *Snapshot) lockStep(l *WorkloadLock, title string, over bool) Step {
	m := ReadLockMessage(l.Message)
	st := Step{ID: "lock/" + textOf(l.UID, l.Name), Target: l.Ref(), Label: oneLine(l.Controller, 40), Title: title,
		Why: s.explain(l, m)}
	switch {
	case l.State() == LockInactive || over:
		st.State = StepDone
		if r := s.History.Locks[l.UID]; r.State == LockInactive && r.Since.Exact {
			st.Status = "since " + clockText(r.Since.At)
		}
	case l.State() == LockFailed:
		st.State, st.Status = StepFailed, textOf(oneLine(m.Text, 400), "the lock says failed")
		st.Why, st.Commands = join(st.Why, s.AskAbout(l)), askCommands(l)
	default:
		st.Why, st.Commands = join(st.Why, s.AskAbout(l)), append(s.look(l, m), askCommands(l)...)
		st.State, st.Status = StepWaiting, oneLine(m.Text, 400)
		if l.Progress != nil {
			st.Status = strings.TrimSpace(fmt.Sprintf("%d %% %s", l.Progress.Percentage, oneLine(l.Progress.Description, 200)))
		}
	}
	return st
}

// lcmStages is what LCM does with a node that was released, and in which stages that is under way or over.
var lcmStages = []struct {
	id, title, why string
	now, over      []Stage
}{
	{"drain", "LCM drains the node", "LCM cordons the node and moves its pods.", []Stage{StageReleased, StageDraining},
		[]Stage{StageUpdating, StageRebooting, StageReturning, StageDone}},
	{"update", "LCM updates the node", "The host and its Kubernetes are updated; in scope os the host may reboot.", []Stage{StageUpdating, StageRebooting},
		[]Stage{StageReturning, StageDone}},
	{"return", "the node returns to service", "The controllers wait for the node, its pods, its compute service and its agents; then they take their locks back.", []Stage{StageReturning},
		[]Stage{StageDone}},
}

func (b *nodeSteps) lcm() {
	for _, l := range lcmStages {
		st := b.other(l.id, l.title, l.why, StepLater, "")
		switch {
		case slices.Contains(l.over, b.v.Stage):
			st.State = StepDone
		case slices.Contains(l.now, b.v.Stage):
			st.State, st.Status = StepWaiting, textOf(b.v.What, b.v.Reason)
			if l.id == "return" {
				st.Why = join(st.Why, b.says())
				if b.lock != nil {
					st.Commands = b.s.look(b.lock, b.message)
				}
			}
			b.byMachine(l.id, &st)
		}
		b.add(st)
		if l.id == "return" && st.State == StepWaiting {
			b.situation()
		}
	}
}

// restore offers an annotation that Lockstep changed back to what it was, once the node is through.
func (b *nodeSteps) restore() {
	if b.v.Node == nil {
		return
	}
	if st, ok := b.s.restoreTries(b.v.Name); ok {
		if b.v.Request != nil && st.State != StepRunning {
			st.State, st.Status = StepLater, "when the node is back"
		}
		b.add(st)
	}
	if _, changed := b.s.History.Changes[b.v.Node.UID]; !changed {
		return
	}
	st := Plan(b.s, Intent{Kind: IntentRestoreMode, Node: b.v.Name})
	if b.v.Request != nil && st.State != StepRunning && st.State != StepDone {
		st.State, st.Status = StepLater, "when the node is back"
	}
	b.add(st)
}

// outside are the steps on a node of which nothing is asked: what can be settled before its turn comes, and after it.
func (b *nodeSteps) outside() {
	b.act()
	if b.ownReturn() {
		b.restore()
		return // nothing is prepared for the next time before this one is over
	}
	switch b.v.Stage {
	case StageDone:
		b.add(b.other("done", b.v.Label+" went through its maintenance", "", StepDone, b.v.What))
		b.leftInner()
		b.restore()
		b.compute()
		b.volumeScheduling()
		return
	case StageIdle:
	default:
		b.add(b.other("stage", textOf(b.v.What, string(b.v.Stage)), b.v.Reason, StepWaiting, string(b.v.Stage)))
		for _, l := range b.v.Locks {
			if l.State() == LockFailed {
				b.add(b.s.lockStep(l, "the lock of "+oneLine(l.Controller, 40), false))
			}
		}
	}
	b.restore()
	b.leftInner()
	soon := b.v.Stage == StageIdle && b.s.ClusterRequest() != nil
	if soon {
		b.ahead()
	}
	b.preparation()
	if b.v.Stage == StageIdle && !soon {
		b.ahead()
	}
	if cmr := b.s.ClusterRequest(); b.v.Node != nil && cmr != nil && cmr.ByHand() {
		b.askByHand()
	}
	if b.v.Stage == StageIdle {
		state, status := StepLater, "no update runs"
		switch {
		case b.s.ClusterRequest() != nil && b.s.ClusterRequest().ByHand():
			return
		case b.s.ClusterRequest() != nil:
			state, status = StepWaiting, "an update runs; its turn has not come"
		case !b.s.known(SourceClusterRequests):
			status = "whether an update runs is not known"
		}
		b.add(b.other("asked", "LCM asks for "+b.v.Label, "LCM makes a NodeMaintenanceRequest when the node's turn comes.", state, status))
	}
}

// exampleAttempts is the number of attempts that the documents use as their example (seed 004, step 2).
const exampleAttempts = 5

// preparation is what can be settled before the node's turn comes (seed 004, step 2).
func (b *nodeSteps) preparation() {
	if b.v.Node == nil {
		return
	}
	nodes := []string{b.v.Name}
	for _, mode := range []MigrationMode{ModeLive, ModeManual, ModeSkip} {
		b.add(Plan(b.s, Intent{Kind: IntentSetMode, Nodes: nodes, Mode: mode}))
	}
	if b.v.Node.Is(RoleCompute) {
		i := Intent{Kind: IntentSetAttempts, Nodes: nodes, Attempts: exampleAttempts}
		if b.v.AttemptsRaw != "" {
			i.Attempts = 0
		}
		b.add(Plan(b.s, i))
	}
	b.compute()
	b.volumeScheduling()
}

// compute offers to take the node's host out of scheduling, or to put it back.
func (b *nodeSteps) compute() {
	svc := b.v.Service
	switch {
	case svc == nil:
	case svc.Enabled:
		b.add(Plan(b.s, Intent{Kind: IntentDisableCompute, Node: b.v.Name, Reason: b.s.outOfScheduling()}))
	default:
		b.add(Plan(b.s, Intent{Kind: IntentEnableCompute, Node: b.v.Name}))
	}
}

// outOfScheduling is the reason that Lockstep proposes for a host that is taken out of scheduling.
func (s *Snapshot) outOfScheduling() string {
	reason := disabledByLockstep
	if s.Operator != "" {
		reason += " by " + oneLine(s.Operator, 100)
	}
	return reason
}

// sentence is a text as a sentence of its own.
func sentence(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ".")
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:] + "."
}
