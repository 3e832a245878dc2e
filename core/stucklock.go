package core

import (
	"slices"
	"strings"
)

// A lock of the OpenStack controller on a live node that is in deletion stays so: the clean-up behind the node, for which its finalizer
// stands, does not run while the node exists. It comes about when a node loses its last role label (docs/mosk.md#role-taken-off).

// stuckLock is that lock; nil when there is none. A node that leaves the cluster has such a lock for a moment, or until it is gone.
func (s *Snapshot) stuckLock(name string) *WorkloadLock {
	n, l := s.Nodes[name], s.NodeLock(name, ControllerOpenStack)
	switch {
	case n == nil || l == nil || l.Deleting.IsZero() || !n.Deleting.IsZero():
		return nil
	case s.finalizerOn(l.Meta) == "":
		return nil
	case s.Deletions[name] != nil || s.Disablings[name] != nil:
		return nil
	case s.Now.Sub(l.Deleting) < innerSettles:
		return nil
	case !s.known(SourceNodes) || !s.known(SourceNodeLocks):
		return nil
	}
	return l
}

// hasOpenStackRole tells whether the node has a role for which the OpenStack controller keeps a lock.
func (n *Node) hasOpenStackRole() bool { return slices.ContainsFunc(OpenStackRoles(), n.Is) }

// lostLabels are the role labels that the node had when the controller saw its lock last; those of a compute when nothing tells, and
// Nova knows its host.
func (s *Snapshot) lostLabels(name string, l *WorkloadLock) []string {
	var out []string
	if l != nil {
		for _, role := range s.roleLabels().of(l.Original) {
			out = append(out, s.labelOf(role).String())
		}
	}
	if len(out) == 0 && s.Services[s.HostOf(name)] != nil {
		out = []string{s.labelOf(RoleCompute).String()}
	}
	return out
}

func (s *Snapshot) roleLabels() RoleLabels {
	if len(s.RoleLabels) == 0 {
		return DefaultRoleLabels()
	}
	return s.RoleLabels
}

// labelCommand gives the node its role labels back; empty when none is known.
func labelCommand(node string, labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return shellCommand(append([]string{"kubectl", "label", "node", node}, labels...)...)
}

// lookAgain is a command that makes the controller look at an object: it looks when the object changes, and an annotation is a change.
func lookAgain(kind Kind, name string) string {
	return shellCommand("kubectl", "annotate", strings.ToLower(string(kind)), name, "lockstep/look-again=now", "--overwrite")
}

// ownController is the controllerName of a lock with which an operator holds a node himself.
const ownController = "operator"

// ownLock is an operator's own lock to be made on a node: LCM waits for every lock (docs/mosk.md#modes-elsewhere).
func ownLock(node string) NewLock {
	return NewLock{Kind: KindNodeWorkloadLock, Name: objectName(ownController + "-" + node), Controller: ownController, Node: node}
}

// heldOtherwise is an active lock on the node that is none of MOSK's own controllers', so that none of those lets it go; nil when there
// is none.
func (s *Snapshot) heldOtherwise(node string) *WorkloadLock {
	known := []string{ControllerOpenStack, ControllerCeph, ControllerTungstenFabric, ControllerStackLight}
	for _, l := range s.NodeLocks[node] {
		if l.State() == LockActive && l.Deleting.IsZero() && !slices.Contains(known, l.Controller) {
			return l
		}
	}
	return nil
}

// stuckText says what a lock means that is in deletion for good.
func (s *Snapshot) stuckText(name string, l *WorkloadLock) string {
	text := "its lock is in deletion, which does not end while the node exists"
	if n := s.Nodes[name]; !n.hasOpenStackRole() {
		text = "its role label was taken off: " + text
	}
	if l.State() == LockActive {
		text += ", and LCM waits for it"
	}
	return text
}

// lockStuck is such a lock, which holds up LCM at the node.
func (f *attentionFacts) lockStuck(n nodeAttention) {
	l := f.s.stuckLock(n.Name)
	if l == nil {
		return
	}
	a := n.entry(RuleLockStuck)
	a.Severity, a.Since = SeverityUrgent, Since{At: l.Deleting, Exact: true}
	a.Reason = f.s.stuckText(n.Name, l)
	if n.Node.hasOpenStackRole() {
		a.Detail = "The node has a role again, but the lock does not come back by that. It has to be let go; the controller makes a new one."
	} else {
		a.Detail = "The OpenStack controller removes the lock of a node without a role, and ignores requests for it. The lock has to be let go; with its label back the node gets a new one."
	}
	if f.s.playsAlone(n.Name) || f.s.playsStuck(n.Name) {
		a.Detail = join(a.Detail,
			"As the OpenStack controller you can take the node through its maintenance as it is: LCM goes by what the lock says, also in its deletion.")
	}
	f.add(a)
}

// playsStuck tells whether Lockstep plays the OpenStack controller, alone, of which the node has a lock but no role.
func (s *Snapshot) playsStuck(node string) bool {
	a, played := s.actAs(ControllerOpenStack)
	return played && s.stuckLock(node) != nil && s.guardNobodyElse(a).Holds
}

// roleless is a node on which Nova runs and that has no role: nobody holds it when LCM drains and reboots it.
func (f *attentionFacts) roleless(n nodeAttention) {
	s := f.s
	if n.Node == nil || n.own != nil || n.Node.hasOpenStackRole() || n.Service == nil || !s.known(SourceNodeLocks) || !s.known(SourceComputeServices) ||
		!n.Node.Deleting.IsZero() || s.Deletions[n.Name] != nil || s.playsOn(ControllerOpenStack, n.Name) {
		return
	}
	a := n.entry(RuleRoleless)
	a.Severity, a.Since = SeverityWarning, Since{}
	a.Reason = "nova-compute runs on it, and it has no role label: LCM does not wait for its instances"
	if n.leaving() {
		a.Severity, a.Since = SeverityUrgent, Since{At: n.Request.Created, Exact: true}
		a.Reason = "LCM takes it without waiting for its instances: nova-compute runs on it, and it has no role label"
	}
	a.Detail = "Give it its role label. The OpenStack controller makes its lock then."
	f.add(a)
}

// lockInDeletion is a node that goes no further because its lock is in deletion for good.
func lockInDeletion(f *stageFacts) (verdict, bool) {
	l := f.s.stuckLock(f.name)
	if l == nil || l.State() != LockActive {
		return verdict{}, false
	}
	what := "lock in deletion"
	if !f.node.hasOpenStackRole() {
		what = "role label taken off"
	}
	return verdict{reason: f.s.stuckText(f.name, l), what: what, at: l.Deleting, exact: true}, true
}

// stuckLockSteps let the lock go, and give the node its role back. Where LCM may take the node meanwhile, a lock of the operator's own
// holds it first.
func (b *nodeSteps) stuckLockSteps() {
	s, name := b.s, b.v.Name
	l := s.stuckLock(name)
	if l == nil {
		b.ownLockStep()
		return
	}
	if s.lcmMayTake(name) {
		own := ownLock(name)
		st := b.other("hold-own", "hold "+b.v.Label+" by a lock of your own",
			"LCM waits for every lock, whoever made it. Without another one it drains and reboots the node as soon as this one is gone.",
			StepWaiting, "yours to make")
		st.Commands = []string{createLockCommand(own)}
		if held := s.heldOtherwise(name); held != nil {
			st.State, st.Status, st.Commands = StepDone, oneLine(held.Name, 80), nil
		}
		b.add(st)
	}
	b.add(Plan(s, Intent{Kind: IntentFreeLock, Object: l.Ref()}))
	role := b.other("role", "give "+b.v.Label+" its role label back",
		"The OpenStack controller makes a lock for a node with a role, when it sees the node change. Leave it away if the node is to have no part in OpenStack any more.",
		StepLater, "once the lock is gone")
	if labels := s.lostLabels(name, l); len(labels) > 0 {
		role.Commands = []string{labelCommand(name, labels)}
	}
	if b.v.Node.hasOpenStackRole() {
		role = b.other("role", "let the OpenStack controller make a new lock",
			"It looks at a node when that changes. The label is there already; an annotation does as well.", StepLater, "once the lock is gone")
		role.Commands = []string{lookAgain(KindNode, name)}
	}
	b.add(role)
	if r := b.v.Request; r != nil && r.Deleting.IsZero() {
		st := b.other("look-again", "let the OpenStack controller look at the request again",
			"It has ignored it while the node had no role.", StepLater, "once the new lock is there")
		st.Commands = []string{lookAgain(KindNodeMaintenanceRequest, r.Name)}
		b.add(st)
	}
	b.ownLockStep()
}

// ownLockStep takes an operator's own lock away again.
func (b *nodeSteps) ownLockStep() {
	i := slices.IndexFunc(b.v.Locks, func(l *WorkloadLock) bool {
		return l.Controller == ownController && l.Name == ownLock(b.v.Name).Name && l.Deleting.IsZero()
	})
	if _, played := b.s.actAs(ownController); i < 0 || played {
		return
	}
	l := b.v.Locks[i]
	st := b.other("drop-own", "take your own lock on "+b.v.Label+" away", "LCM waits for it as long as it is there.", StepWaiting,
		"yours to delete, when nothing else has to hold the node any more")
	if b.s.stuckLock(b.v.Name) != nil {
		st.State, st.Status = StepLater, "once the new lock is there"
	}
	st.Commands = []string{deleteCommand(l.Ref())}
	b.add(st)
}

// lcmMayTake tells whether LCM asks for the node, or may at any moment.
func (s *Snapshot) lcmMayTake(node string) bool {
	r := s.NodeRequest(node)
	return r != nil && r.Deleting.IsZero() || s.ClusterRequest() != nil
}

// freeLock plans that a lock goes whose clean-up would wait for ever.
func (p *planner) freeLock() {
	s := p.s
	p.step.Title, p.step.Risk = "let the lock go", RiskHigh
	l := p.lock(SourceNodes, SourceClusterRequests)
	if l == nil {
		return
	}
	node, label := l.Node, oneLine(s.Label(l.Node), 64)
	n := s.Nodes[node]
	p.step.Title = "let the lock of " + s.lockLabel(l) + " go"
	p.step.Type = typable(l.Name, l.UID)
	p.guard(Guard{ID: GuardOpenStackLock, Text: "it is a node's lock of the OpenStack controller",
		Holds: l.Controller == ControllerOpenStack && node != "", Answer: s.lockLabel(l)})
	deleting := Guard{ID: GuardInDeletion, Text: "the lock is in deletion", Holds: !l.Deleting.IsZero(), Answer: "it is not",
		Remedy: "leave it alone: it holds the node"}
	if deleting.Holds {
		deleting.Answer = "since " + clockText(l.Deleting)
	}
	p.guard(deleting)
	finalizer := s.finalizerOn(l.Meta)
	p.guard(Guard{ID: GuardHeldBy, Text: "the OpenStack controller's finalizer keeps it there", Holds: finalizer != "",
		Answer: textOf(finalizer, "it does not")})
	p.fact("finalizer", finalizer)
	there := Guard{ID: GuardNodeStays, Text: "the node exists and stays",
		Holds: n != nil && n.Deleting.IsZero() && s.Deletions[node] == nil && s.Disablings[node] == nil, Answer: "it does",
		Remedy: "the controller cleans up once the node is gone"}
	if !there.Holds {
		there.Answer = "it leaves the cluster, or has left it"
	}
	p.guard(there)
	settled := Guard{ID: GuardSettled, Text: "it does not end by itself",
		Holds: s.stuckLock(node) != nil || !deleting.Holds || !there.Holds, Answer: "the clean-up waits until the node is gone", Remedy: "wait a minute"}
	if !settled.Holds {
		settled.Answer = "it was deleted just now"
	}
	p.guard(settled)
	held := s.heldOtherwise(node)
	alone := Guard{ID: GuardNotTaken, Text: "LCM does not take the node once the lock is gone", Holds: !s.lcmMayTake(node) || held != nil,
		Answer: "nobody asks for it, and no update runs",
		Remedy: "hold it by a lock of your own first"}
	switch r := s.NodeRequest(node); {
	case held != nil:
		alone.Answer = oneLine(held.Name, 80) + " holds it"
		p.fact("held by", held.UID)
	case r != nil && r.Deleting.IsZero():
		alone.Answer = "LCM asks for it since " + clockText(r.Created)
	case !alone.Holds:
		alone.Answer = "an update runs: it may ask for it at any moment"
	}
	p.guard(alone)
	p.step.Why = "The controller wants to clean up behind " + label + ", which it does only when the node is gone. So the lock stays in deletion, and LCM waits for it."
	p.step.Then = "The lock is gone, and nothing holds " + label + " for OpenStack until a new one is there. What OpenStack knows of the host stays as it is."
	if finalizer == "" || !deleting.Holds {
		return
	}
	p.removeFinalizer(l.Ref(), finalizer)
}
