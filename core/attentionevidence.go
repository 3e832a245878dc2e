package core

import (
	"fmt"
	"slices"
	"strings"
)

// saysMost is the longest text of a server's that is told as evidence, in bytes.
const saysMost = 400

func seenOne(of, says string) []Evidence { return []Evidence{{Of: of, Says: says}} }

// lockOf is the lock that an entry is about: the lock itself, or the OpenStack controller's on its node.
func (f *attentionFacts) lockOf(a Attention) *WorkloadLock {
	if a.Subject.Kind == KindClusterWorkloadLock || a.Subject.Kind == KindNodeWorkloadLock {
		if l := f.s.lockByUID(a.Subject.UID); l != nil {
			return l
		}
	}
	if a.Node == "" {
		return nil
	}
	return f.s.NodeLock(a.Node, ControllerOpenStack)
}

// message is what a lock says.
func (f *attentionFacts) message(l *WorkloadLock) LockMessage {
	if l == nil || l.Message == "" {
		return LockMessage{}
	}
	return f.s.ReadLock(l)
}

// seenLockItself is how a lock stands, what it says, and what Lockstep sees of that.
func (f *attentionFacts) seenLockItself(l *WorkloadLock) []Evidence {
	if l == nil {
		return nil
	}
	state := oneLine(string(l.State()), 40)
	if r, ok := f.s.History.Locks[l.UID]; ok && r.State == l.State() && r.Since.Exact {
		state += " since " + dayText(r.Since.At, f.s.Now)
	}
	if l.InnerState != "" {
		state += ", inner_state " + oneLine(l.InnerState, 20)
	}
	if l.Release != "" {
		state += ", release " + oneLine(l.Release, 60)
	}
	if !l.Deleting.IsZero() {
		state += ", in deletion since " + dayText(l.Deleting, f.s.Now)
	}
	out := seenOne(oneLine(l.Controller, 40)+" lock", state)
	if l.Message != "" {
		out = append(out, Evidence{"it says", oneLine(l.Message, saysMost)})
		out = append(out, Evidence{"Lockstep sees", f.s.Seen(l, f.message(l))})
	} else if l.State() != LockInactive {
		out = append(out, Evidence{"it says", "nothing"})
	}
	return append(out, Evidence{"whom to ask", f.s.AskAbout(l)})
}

func seenLock(f *attentionFacts, a Attention) []Evidence { return f.seenLockItself(f.lockOf(a)) }

func seenNodeLock(f *attentionFacts, a Attention) []Evidence {
	return f.seenLockItself(f.s.NodeLock(a.Node, ControllerOpenStack))
}

// seenAnyLock is the lock of a played controller.
func seenAnyLock(f *attentionFacts, a Attention) []Evidence { return f.seenLockItself(f.playedLock(a)) }

// playedLock is the lock that an entry about a played controller is about.
func (f *attentionFacts) playedLock(a Attention) *WorkloadLock {
	if a.Node == "" {
		return f.s.clusterLock(a.Controller)
	}
	return f.s.NodeLock(a.Node, a.Controller)
}

// seenLocks are all locks that name a node.
func seenLocks(f *attentionFacts, a Attention) []Evidence {
	var names []string
	for _, l := range f.s.NodeLocks[a.Node] {
		names = append(names, oneLine(l.Name, 80)+" ("+oneLine(string(l.State()), 40)+")")
	}
	return seenOne("its locks", some(names, 6))
}

// seenNode is where the node stands, what is asked of it, and whether it is Ready.
func seenNode(f *attentionFacts, a Attention) []Evidence {
	v, ok := f.s.NodeView(a.Node)
	if !ok {
		return nil
	}
	out := seenOne("stage", string(v.Stage)+", "+v.Reason)
	for _, r := range f.s.NodeRequests[a.Node] {
		text := "since " + dayText(r.Created, f.s.Now) + ", scope " + textOf(oneLine(string(r.Scope), 20), "none")
		if !r.Deleting.IsZero() {
			text += ", being removed since " + dayText(r.Deleting, f.s.Now)
		}
		out = append(out, Evidence{"request", text})
	}
	if d := f.s.Deletions[a.Node]; d != nil {
		out = append(out, Evidence{"its removal", "asked for since " + dayText(d.Created, f.s.Now)})
	}
	if n := v.Node; n != nil && (n.Ready != "True" || n.Cordoned) {
		text := "Ready"
		if n.Ready != "True" {
			text = "not Ready since " + dayText(n.ReadySince, f.s.Now) + inBrackets(oneLine(n.ReadyReason, 60))
		}
		if n.Cordoned {
			text += ", cordoned"
		}
		out = append(out, Evidence{"node", text})
	}
	return append(out, seenAccount(f, a)...)
}

// seenAccount is what the OpenStack controller has noted of its own work.
func seenAccount(f *attentionFacts, a Attention) []Evidence {
	if a.Node == "" {
		return seenOne("the controller", f.s.accountSentence(f.s.requestAccount(f.request), "", LockMessage{}))
	}
	return seenOne("the controller", f.s.accountSentence(f.s.NodeAccount(a.Node), a.Node, f.message(f.s.NodeLock(a.Node, ControllerOpenStack))))
}

func seenService(f *attentionFacts, a Attention) []Evidence {
	svc := f.s.Services[f.s.HostOf(a.Node)]
	if svc == nil {
		return nil
	}
	return seenOne("nova-compute", upText(svc)+", "+serviceText(svc))
}

func seenVolumeServices(f *attentionFacts, a Attention) []Evidence {
	var out []Evidence
	for _, v := range f.s.VolumeServicesOn(a.Node) {
		out = append(out, Evidence{v.label(), v.text()})
	}
	return out
}

// seenInstances are the instances on the node that are in the way, by what is to happen with them.
func seenInstances(f *attentionFacts, a Attention) []Evidence {
	if a.Node == "" {
		return nil
	}
	if !f.s.known(SourceInstances) {
		return seenOne("instances", "not known: "+f.s.whyUnknown(SourceInstances))
	}
	return seenOne("in the way", leftText(slices.DeleteFunc(f.s.InstanceViews(a.Node), func(v InstanceView) bool { return !v.Blocks })))
}

func seenInstance(f *attentionFacts, a Attention) []Evidence {
	v, ok := f.s.InstanceView(a.Instance)
	if !ok {
		return nil
	}
	in := v.Instance
	state := oneLine(in.Status, 40)
	if in.TaskState != "" {
		state += ", " + oneLine(in.TaskState, 40)
	}
	if in.Host != "" {
		state += ", on " + f.s.hostLabel(in.Host)
	}
	return append(seenOne(instanceLabel(in), state), Evidence{"action", fmt.Sprintf("%s (%s)", v.Action, v.Origin)}, Evidence{"why", v.Why},
		Evidence{"fault", oneLine(in.Fault, saysMost)}, Evidence{"owner", f.s.ownerText(v)})
}

// seenMigration are the newest migrations of the instance.
func seenMigration(f *attentionFacts, a Attention) []Evidence {
	const most = 3
	var out []Evidence
	for i, m := range f.s.Migrations[a.Instance] {
		if i == most {
			break
		}
		text := oneLine(m.Status, 40)
		if m.DestHost != "" {
			text += ", to " + f.s.hostLabel(m.DestHost)
		}
		if m.Failure != "" {
			text += ": " + oneLine(m.Failure, saysMost)
		}
		out = append(out, Evidence{"try of " + dayText(m.Created, f.s.Now), text})
	}
	return out
}

func seenMode(f *attentionFacts, a Attention) []Evidence {
	n := f.s.Nodes[a.Node]
	if n == nil {
		return nil
	}
	var out []Evidence
	for _, key := range []string{AnnotationMigrationMode, AnnotationMigrationAttempts} {
		if value := n.annotation(key); value != nil {
			out = append(out, Evidence{"annotation", annotationText(key, value)})
		}
	}
	return out
}

// seenHeldUp are the nodes that wait for others (text F).
func seenHeldUp(f *attentionFacts, _ Attention) []Evidence {
	var names []string
	for _, v := range f.s.NodeViews() {
		if f.waitsForOthers(v) {
			names = append(names, v.Label)
		}
	}
	return seenOne("held up", some(names, 6))
}

// waitsForOthers tells whether the controller has put the node off until others are through (F).
func (f *attentionFacts) waitsForOthers(v NodeView) bool {
	l := f.s.NodeLock(v.Name, ControllerOpenStack)
	return v.Request != nil && v.Request.Deleting.IsZero() && f.message(l).ID == SaysOthersFirst
}

func seenPods(f *attentionFacts, a Attention) []Evidence {
	pods := f.s.Pods[a.Node]
	if pods == nil || !f.s.known(SourceNodePods) {
		return nil
	}
	out := seenOne("pods not ready", oneLine(some(podNames(pods.NotReady), 6), saysMost))
	for i := range pods.Ended {
		out = append(out, Evidence{"ended", oneLine(pods.Ended[i].FullName(), 100) + ", " + pods.Ended[i].Text(f.s.Now)})
	}
	return out
}

// machineOf is the machine that an entry is about; nil when none is known.
func (f *attentionFacts) machineOf(a Attention) *MachineView {
	if a.Subject.Kind == KindMachine || a.Subject.Kind == KindLCMMachine {
		if v := f.s.Management.MachineCalled(a.Subject.Name); v != nil {
			return v
		}
	}
	if a.Node == "" {
		return nil
	}
	return f.s.MachineOf(a.Node)
}

func seenMachine(f *attentionFacts, a Attention) []Evidence {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	return seenOne(v.called(), v.says())
}

func seenDrains(f *attentionFacts, a Attention) []Evidence {
	v := f.machineOf(a)
	if v == nil {
		return nil
	}
	var out []Evidence
	for _, d := range []*DrainState{v.Drain, v.Swarm} {
		if d != nil && d.Message != "" {
			out = append(out, Evidence{oneLine(d.Type, 40), fmt.Sprintf("attempt %d: %s", d.Attempt, oneLine(d.Message, saysMost))})
		}
	}
	return out
}

func seenItem(f *attentionFacts, a Attention) []Evidence {
	v := f.machineOf(a)
	if v == nil || v.Failing == nil {
		return nil
	}
	item := *v.Failing
	out := seenOne("state item", itemText(item))
	if !item.Started.IsZero() {
		out = append(out, Evidence{"its last run", "begun " + dayText(item.Started, f.s.Now)})
	}
	return out
}

// seenPlan is the update plan, step by step, those that are not complete.
func seenPlan(f *attentionFacts, _ Attention) []Evidence {
	p := f.s.Management.Plan()
	if p == nil {
		return nil
	}
	out := seenOne("plan "+oneLine(p.Name, 60), oneLine(textOf(p.Status, "no status"), 40))
	for _, st := range p.Steps {
		if st.Status != PlanCompleted {
			out = append(out, Evidence{stepShort(st), PlanStepText(st, f.s.Now)})
		}
	}
	return out
}

func seenPause(f *attentionFacts, _ Attention) []Evidence {
	p := f.s.Management.Pause
	if p == nil {
		return nil
	}
	out := seenOne("it is paused by", oneLine(some(p.Alerts, 6), saysMost))
	out = append(out, Evidence{"firing now", textOf(oneLine(some(p.Firing, 6), saysMost), "none of them")})
	return append(out, Evidence{"UpdateAutoPause", oneLine(p.Error, saysMost)})
}

func seenLCM(f *attentionFacts, _ Attention) []Evidence {
	c := f.s.Management.LCM
	if c == nil {
		return nil
	}
	return append(seenOne("LCMCluster", oneLine(textOf(c.StuckMessage, "an operation is stuck, and it does not say which"), saysMost)),
		Evidence{"nodes", fmt.Sprintf("%d of %d ready", c.ReadyNodes, c.Requested)})
}

func seenPhase(f *attentionFacts, a Attention) []Evidence {
	for _, p := range f.s.Phases() {
		if p.ID == a.Phase {
			var out []Evidence
			for _, e := range p.Evidence {
				out = append(out, Evidence{"because", oneLine(e, saysMost)})
			}
			return out
		}
	}
	return nil
}

func seenUpdate(f *attentionFacts, _ Attention) []Evidence {
	u := f.s.Update()
	out := seenOne("update", oneLine(u.From, 60)+" → "+oneLine(u.To, 60))
	if u.Nodes > 0 {
		out = append(out, Evidence{"nodes", fmt.Sprintf("%d of %d done", u.Done, u.Nodes)})
	}
	for _, p := range f.s.Phases() {
		if p.State != PhaseDone && p.State != PhasePending {
			out = append(out, Evidence{"phase " + itoa(int(p.ID)), p.Title + ": " + string(p.State)})
		}
	}
	return out
}

func seenCluster(f *attentionFacts, _ Attention) []Evidence {
	var out []Evidence
	for _, text := range f.s.managementSummary() {
		out = append(out, Evidence{"cluster", text})
	}
	return out
}

func seenAfter(f *attentionFacts, _ Attention) []Evidence {
	var out []Evidence
	for _, p := range f.s.AfterUpdate() {
		if p.Unknown == "" && len(p.Open) > 0 {
			out = append(out, Evidence{"not yet: " + p.Title, oneLine(some(p.Open, 6), saysMost)})
		}
	}
	return out
}

// seenController is the OpenStack controller's Deployment.
func seenController(f *attentionFacts, _ Attention) []Evidence {
	c := f.s.Controller
	switch {
	case !f.s.known(SourceOpenStackController):
		return seenOne("rockoon", "not known: "+f.s.whyUnknown(SourceOpenStackController))
	case c == nil:
		return seenOne("rockoon", "there is no such Deployment")
	}
	text := fmt.Sprintf("%d of %d replicas ready", c.Ready, c.Replicas)
	if c.Existing > c.Ready {
		text += ", " + count(c.Existing, "pod") + " there"
	}
	if !c.AwaySince.IsZero() {
		text += ", fewer than there must be since " + dayText(c.AwaySince, f.s.Now)
	}
	return seenOne("Deployment "+oneLine(c.Name, 40), text)
}

func seenImage(f *attentionFacts, _ Attention) []Evidence {
	if c := f.s.Controller; c != nil {
		return seenOne("image", oneLine(c.Image, 200))
	}
	return nil
}

// seenWaiters is what waits for the OpenStack controller while it is away.
func seenWaiters(f *attentionFacts, _ Attention) []Evidence {
	var asked, back []string
	for _, v := range f.s.NodeViews() {
		l := f.s.NodeLock(v.Name, ControllerOpenStack)
		switch {
		case v.Request == nil:
		case !v.Request.Deleting.IsZero():
			back = append(back, v.Label)
		case l != nil && l.State() == LockActive:
			asked = append(asked, v.Label)
		}
	}
	out := seenOne("not released", some(asked, 6))
	out = append(out, Evidence{"not taken back", some(back, 6)})
	if l := f.s.clusterLock(ControllerOpenStack); l != nil && f.request != nil && l.State() == LockActive {
		out = append(out, Evidence{"its cluster lock", "active: LCM waits for it"})
	}
	return append(out, Evidence{"never seen by it", some(f.unseenNodes(), 6)})
}

func seenRoleLabels(f *attentionFacts, _ Attention) []Evidence {
	if c := f.s.Controller; c != nil {
		return seenOne("its setting", oneLine(c.RoleLabels, saysMost))
	}
	return nil
}

// allLocks are the cluster's locks and those of the nodes, in the order of the nodes' labels.
func (f *attentionFacts) allLocks() []*WorkloadLock {
	all := slices.Clone(f.s.ClusterLocks)
	for _, v := range f.s.NodeViews() {
		all = append(all, v.Locks...)
	}
	return all
}

// seenOutage are the locks that say that OpenStack does not answer, each text once.
func seenOutage(f *attentionFacts, _ Attention) []Evidence {
	const most = 4
	var out []Evidence
	told := map[string]bool{}
	for _, l := range f.allLocks() {
		m := f.message(l)
		text := oneLine(m.Text, saysMost)
		switch {
		case m.Class == MessageOutage:
		case f.s.silentOutage(l):
			text = f.s.accountLine(f.s.AccountOf(l), l.Node, m)
		default:
			continue
		}
		if !told[text] && len(out) < most {
			told[text] = true
			out = append(out, Evidence{textOf(oneLine(f.s.Label(l.Node), 64), "cluster lock"), text})
		}
	}
	return out
}

func seenOpenStack(f *attentionFacts, _ Attention) []Evidence {
	return seenOne("Lockstep sees", seesOpenStack(f.s, nil, LockMessage{}))
}

func seenDeployment(f *attentionFacts, _ Attention) []Evidence {
	return append(seenOne("Lockstep sees", seesDeployment(f.s, nil, LockMessage{})), Evidence{"health", seesHealth(f.s, nil, LockMessage{})})
}

// sourcesOf are the sources that an entry is about.
func (f *attentionFacts) sourcesOf(a Attention) []Source {
	var out []Source
	for id, src := range f.s.Sources {
		if string(id) == a.Subject.Name || string(id.Server()) == a.Subject.Name && src.State != SourceLive {
			out = append(out, src)
		}
	}
	slices.SortFunc(out, func(a, b Source) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// seenSources is how each source does; what several have in common is told once.
func seenSources(f *attentionFacts, a Attention) []Evidence {
	const most = 6
	var out []Evidence
	told := map[string]int{}
	var of [][]string // the sources of each
	for _, src := range f.sourcesOf(a) {
		text := string(src.State)
		if !src.AsOf.IsZero() {
			text += ", seen last " + spanText(max(f.s.Wall.Sub(src.AsOf), 0)) + " ago"
		}
		if src.Err != nil {
			text += ": " + string(src.Err.Kind) + prefixed(": ", oneLine(src.Err.Message, saysMost))
		}
		if i, again := told[text]; again {
			of[i] = append(of[i], string(src.ID))
			continue
		}
		if len(out) < most {
			told[text] = len(out)
			out, of = append(out, Evidence{Says: text}), append(of, []string{string(src.ID)})
		}
	}
	for i := range out {
		out[i].Of = some(of[i], 3)
	}
	return out
}

// operationOf is the operation that an entry is about; nil when it is gone.
func (f *attentionFacts) operationOf(a Attention) *Operation {
	for i := range f.s.Operations {
		if f.s.Operations[i].ID == a.Operation {
			return &f.s.Operations[i]
		}
	}
	return nil
}

func seenOperation(f *attentionFacts, a Attention) []Evidence {
	op := f.operationOf(a)
	if op == nil {
		return nil
	}
	text := string(op.State) + ", begun " + dayText(op.Started, f.s.Now)
	if !op.Ended.IsZero() {
		text += ", ended " + dayText(op.Ended, f.s.Now)
	}
	out := append(seenOne("step", text), Evidence{"it says", oneLine(op.Text, saysMost)})
	for _, it := range op.Items {
		if it.State == OperationFailed || it.State == OperationUnknown {
			out = append(out, Evidence{oneLine(it.Label, 64), string(it.State) + because(oneLine(it.Text, saysMost))})
		}
	}
	return out
}

func seenWriting(f *attentionFacts, _ Attention) []Evidence {
	return append(seenOne("lost by", oneLine(f.s.Write.Lost, saysMost)), Evidence{"the lease", textOf(oneLine(f.s.Write.Lease, 100), "nobody holds it, as last seen")})
}
