package core

import (
	"fmt"
	"slices"
)

// act plans the steps of an application controller that is played, each of them one change of the documented flow.
func (p *planner) act() {
	s := p.s
	a, played := s.actAs(p.i.Controller)
	who := oneLine(p.i.Controller, 40)
	node := p.i.Node
	label := "the cluster"
	if node != "" {
		label = oneLine(s.Label(node), 64)
	}
	p.step.Node, p.step.Label = node, label
	l := s.clusterLock(p.i.Controller)
	if node != "" {
		l = s.NodeLock(node, p.i.Controller)
	}
	target := Ref{Kind: KindClusterWorkloadLock, Name: p.actLockName()}
	if node != "" {
		target.Kind = KindNodeWorkloadLock
	}
	if l != nil {
		target = l.Ref()
	}
	p.identify(target)
	if node != "" {
		p.step.ID = string(p.i.Kind) + "/" + p.i.Controller + "/" + node + textIf(p.i.Object.Name != "", "/"+p.i.Object.Name, "")
	}
	p.step.Title = actTitles[p.i.Kind] + " " + label
	p.common(s.actSources(p.i, a), s.busyOn(node))
	p.guard(Guard{ID: GuardPlayed, Text: "Lockstep plays " + who, Holds: played, Answer: "as you said at its start", Remedy: "start it with --act-as " + who})
	if !played {
		return
	}
	p.guard(s.guardNobodyElse(a))
	p.fact("controller", p.i.Controller)
	if l != nil {
		p.fact("uid", l.UID)
		p.fact("state", string(l.RawState))
		p.fact("inner_state", l.InnerState)
	} else {
		p.fact("uid", "")
	}
	r := s.ClusterRequest()
	if node != "" {
		r = s.NodeRequest(node)
		n := s.Nodes[node]
		gone := p.i.Kind == IntentActDropLock && l != nil
		held := Guard{ID: GuardHoldsNode, Text: who + " holds nodes like this one", Holds: a.holds(n) || n != nil && l != nil || gone, Answer: "it does", Remedy: "its selection of nodes does not name it"}
		if !held.Holds {
			held.Answer = "it is none of them"
		}
		p.guard(held)
		if !held.Holds {
			return
		}
		p.fact("node", s.uidOf(node))
		if d := s.asksRemoval(node); d != nil {
			p.fact(removalFactName, d.UID)
		}
	}
	p.requestFact(r)
	turn := s.actTurn(a, node)
	if p.i.Kind == IntentActCreateLock {
		p.actCreate(a, turn, label, who)
		return
	}
	exists := Guard{ID: GuardExists, Text: "the lock exists", Holds: l != nil, Answer: "it has none", Remedy: "make it first"}
	if l != nil {
		exists.Answer = l.Name
	}
	p.guard(exists)
	if l == nil {
		return
	}
	if turn == turnPrepare && node != "" && l.InnerState != InnerActive && p.i.Kind != IntentActBegin {
		p.step.State, p.step.Status = StepLater, "once it is begun"
	}
	switch p.i.Kind {
	case IntentActBegin:
		p.actBegin(a, l, turn, who)
	case IntentActOutOfScheduling:
		p.actOutOfScheduling(l, turn)
	case IntentActVolumeOut:
		p.actVolumeOut(l, turn)
	case IntentActSay:
		p.actSay(a, l, turn)
	case IntentActRelease:
		p.actRelease(a, l, turn, who)
	case IntentActIntoScheduling:
		p.actIntoScheduling(turn)
	case IntentActVolumeIn:
		p.actVolumeIn(turn)
	case IntentActRearm:
		p.actRearm(a, l, turn, who)
	case IntentActFinish:
		p.actFinish(l, turn)
	case IntentActDropLock:
		p.actDropLock(a, l, turn)
	}
}

// actSources are what the step of a played controller rests on: all that its guards read has to be fresh.
func (s *Snapshot) actSources(i Intent, a ActAs) []SourceID {
	out := []SourceID{SourceClusterLocks, SourceClusterRequests}
	if i.Node != "" {
		out = []SourceID{SourceNodes, SourceNodeLocks, SourceNodeRequests}
	}
	switch {
	case i.Kind == IntentActDropLock:
		out = append(out, SourceDisableNotices)
	case s.asksRemoval(i.Node) != nil:
		out = append(out, SourceDeletionRequests)
	}
	if i.Node != "" && a.Namespace == podsNamespace && (i.Kind == IntentActIntoScheduling || i.Kind == IntentActRearm || i.Kind == IntentActVolumeIn) {
		out = append(out, SourceNodePods)
	}
	if a.Controller != ControllerOpenStack {
		return out
	}
	out = append(out, SourceOpenStackController) // whether it runs itself
	if s.restsOnVolumes(i) {
		out = append(out, SourceVolumeServices)
	}
	if i.Kind == IntentActBegin || i.Kind == IntentActRelease {
		out = append(out, s.quorumSources(a.Controller, i.Node)...)
	}
	compute := i.Node != "" && s.hasGuests(a, i.Node)
	if s.asksRemoval(i.Node) != nil && i.Kind == IntentActRelease {
		if !s.noCinder() {
			out = append(out, SourceVolumes)
		}
		out = append(out, SourceInstances)
		if compute {
			out = append(out, SourceComputeServices, SourceMigrations)
		}
		return out
	}
	switch i.Kind {
	case IntentActDropLock:
		out = append(out, SourceComputeServices, SourceInstances, SourceNetworkAgents)
		out = append(out, s.claimSourcesKnown()...)
	case IntentActSay:
		out = append(out, SourceInstances)
	case IntentActRelease:
		switch {
		case i.Node == "":
			out = append(out, SourceOpenStackStatus)
		case s.movesInstances(a, i.Node):
			out = append(out, SourceComputeServices, SourceInstances, SourceMigrations)
		case compute:
			out = append(out, SourceComputeServices)
		}
		if i.Node != "" && s.releaseMatters(a, s.NodeRequest(i.Node)) {
			out = append(out, SourceOpenStackStatus)
		}
	case IntentActBegin, IntentActOutOfScheduling, IntentActFinish:
		if i.Kind == IntentActBegin && s.releaseMatters(a, s.NodeRequest(i.Node)) {
			out = append(out, SourceOpenStackStatus)
		}
		if compute {
			out = append(out, SourceComputeServices)
		}
	case IntentActVolumeOut:
		if compute {
			out = append(out, SourceComputeServices)
		}
	case IntentActVolumeIn:
		out = append(out, SourceNetworkAgents)
	case IntentActIntoScheduling, IntentActRearm:
		if i.Node == "" {
			out = append(out, SourceOpenStackStatus) // which says the release that the lock gets
		}
		if compute {
			out = append(out, SourceComputeServices)
		}
		if i.Node != "" {
			out = append(out, SourceNetworkAgents)
		}
	}
	return out
}

var actTitles = map[IntentKind]string{
	IntentActCreateLock:      "make the lock on",
	IntentActBegin:           "begin to prepare",
	IntentActOutOfScheduling: "take nova-compute out of scheduling on",
	IntentActSay:             "say what is waited for on the lock of",
	IntentActRelease:         "release the lock on",
	IntentActIntoScheduling:  "put nova-compute back into scheduling on",
	IntentActRearm:           "take the lock back on",
	IntentActFinish:          "end the work on",
	IntentActDropLock:        "delete the lock of",
}

// actLockName is the name of a lock to be made. LCM goes by the spec; Rockoon finds its own by their names, of the node or of its
// OpenStackDeployment, and makes another beside one that is called otherwise (docs/mosk.md#locks).
func (p *planner) actLockName() string {
	of := p.s.Cluster
	switch {
	case p.i.Node != "":
		of = p.i.Node
	case p.i.Controller == ControllerOpenStack && len(p.s.OpenStack) == 1:
		of = p.s.OpenStack[0].Name // as its OpenStackDeployment
	}
	return objectName(p.i.Controller + "-" + of)
}

// guardNobodyElse holds when the controller itself is not at work: two that write one lock undo each other.
func (s *Snapshot) guardNobodyElse(a ActAs) Guard {
	g := Guard{ID: GuardNobodyElse, Text: "the controller itself does not run", Holds: true, Answer: "you said so: Lockstep cannot see it"}
	if a.Controller != ControllerOpenStack {
		return g
	}
	if !s.known(SourceOpenStackController) {
		g.Holds, g.Answer = false, "not known: "+s.whyUnknown(SourceOpenStackController)
		g.Remedy = "see the Deployment rockoon first"
		return g
	}
	outOfTheWay(&g, s.Controller, a.Absent)
	return g
}

// outOfTheWay says in a guard whether the OpenStack controller is out of the way: its Deployment c, which is nil where there is none, has
// no replicas; absent is the operator's word that it has none by another name.
func outOfTheWay(g *Guard, c *Deployment, absent bool) {
	switch {
	case c == nil && absent:
		g.Answer = "it has no Deployment rockoon in osh-system, as you said"
	case c == nil:
		g.Holds, g.Answer = false, "there is no Deployment rockoon in osh-system: where it goes by another name it may run all the same"
		g.Remedy = "look: kubectl get deployments --all-namespaces; where none is there, say so: controllers.openstack.absent in the configuration"
	case c.Ready > 0:
		g.Holds, g.Answer = false, fmt.Sprintf("%d of %d replicas are ready", c.Ready, c.Replicas)
		g.Remedy = shellCommand("kubectl", "-n", c.Namespace, "scale", "deployment", c.Name, "--replicas=0")
	case c.Replicas > 0:
		g.Holds, g.Answer = false, "none of its replicas is ready now; it begins as soon as one is"
		g.Remedy = shellCommand("kubectl", "-n", c.Namespace, "scale", "deployment", c.Name, "--replicas=0")
	case c.Existing > 0:
		g.Holds, g.Answer = false, count(c.Existing, "pod")+" of it "+verb(c.Existing, "is", "are")+" there still"
		g.Remedy = "wait until they are gone"
	default:
		g.Answer = "its Deployment is scaled to 0"
	}
}

// turnGuard holds when it is the turn for the step.
func (p *planner) turnGuard(is actTurn, want ...actTurn) {
	g := Guard{ID: GuardTurn, Text: "it is the time for it", Holds: slices.Contains(want, is), Answer: turnTexts[is]}
	p.guard(g)
}

var turnTexts = map[actTurn]string{
	turnNone:     "nobody asks for it, and the lock is held",
	turnCreate:   "it has no lock there",
	turnPrepare:  "it is asked for, and the lock holds it",
	turnReleased: "it is asked for, and released: it is LCM's turn",
	turnReturn:   "nobody asks for it any more, and it is not taken back",
	turnRemove:   "its removal is asked for, and the lock holds it",
	turnGone:     "it has left the cluster",
}

func (p *planner) actCreate(a ActAs, turn actTurn, label, who string) {
	p.step.Risk = RiskMedium
	p.step.Why = "LCM waits for every lock, and only for locks: without one it goes on without asking " + who + "."
	p.step.Then = "LCM waits for this lock in every maintenance from now on, and somebody has to release it each time."
	l := NewLock{Kind: KindClusterWorkloadLock, Name: p.actLockName(), Controller: a.Controller, Release: p.s.releaseFor(a, p.i.Node)}
	if p.i.Node != "" {
		l.Kind, l.Node = KindNodeWorkloadLock, p.i.Node
	}
	p.turnGuard(turn, turnCreate)
	if turn != turnCreate {
		p.done = "the lock is there"
		return
	}
	p.fact("release", l.Release)
	p.step.Commands = []string{createLockCommand(l)}
	if l.Release != "" {
		p.step.Commands = append(p.step.Commands, lockCommand(l.Ref(), LockStatus{State: LockActive, Release: l.Release}))
	}
	p.step.Undo = "delete it: " + deleteCommand(l.Ref())
	p.step.Change = CreateLock{Lock: l}
}

func createLockCommand(l NewLock) string {
	spec := map[string]any{"controllerName": l.Controller}
	if l.Node != "" {
		spec["nodeName"], spec["nodeDeletionRequestSupported"] = l.Node, true
	}
	return "kubectl create -f - <<< " + shellQuote(jsonText(map[string]any{
		"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": l.Kind,
		"metadata": map[string]any{"name": l.Name, "labels": map[string]string{"app.kubernetes.io/managed-by": MadeByLockstep}},
		"spec":     spec,
	}))
}

// actBegin notes that the node is worked on, within the rule of how many may be (docs/mosk.md#concurrency).
func (p *planner) actBegin(a ActAs, l *WorkloadLock, turn actTurn, who string) {
	p.step.Risk = RiskLow
	p.turnGuard(turn, turnPrepare)
	if r := p.s.NodeRequest(p.i.Node); p.s.releaseMatters(a, r) {
		p.guardApplied(r) // text A: it handles no request for another release than its own
	}
	if a.Controller == ControllerOpenStack {
		p.guardHeld(p.s.NodeRequest(p.i.Node))
		p.guardScope(p.s.NodeRequest(p.i.Node))
	}
	p.guard(p.s.guardNoOther(IntentActBegin))
	p.guardConcurrency(a)
	p.guardQuorum(a.Controller, p.i.Node)
	if a.Controller == ControllerOpenStack && p.s.maintenanceOf(p.i.Node).compute && !p.s.Settings.AcrossZones {
		p.guardZone(a) // whatever the request's scope is: can_handle_nmr knows none
	}
	p.step.Why = "inner_state says that " + who + " is at work there, and counts against its concurrency: Rockoon and Lockstep can take over from one another by it."
	p.step.Then = "Nothing happens to the node yet."
	p.setInner(l, InnerActive)
}

// guardNoOther holds when no operation of the kind is under way: two that are counted at the same moment count neither.
func (s *Snapshot) guardNoOther(kind IntentKind) Guard {
	g := Guard{ID: GuardOneBegins, Text: "nothing is being begun elsewhere", Holds: true, Answer: "nothing", Remedy: "wait a moment"}
	for _, op := range s.Operations {
		if !op.State.Ended() && !op.Past && op.is(kind) {
			g.Holds, g.Answer = false, op.Title
		}
	}
	return g
}

// setInner makes the change of a lock's inner_state.
func (p *planner) setInner(l *WorkloadLock, to string) {
	if l.InnerState == to {
		p.done = "the lock has " + innerText(to)
		return
	}
	p.step.Commands = []string{innerCommand(l.Ref(), to)}
	p.step.Undo = "set it back: " + innerCommand(l.Ref(), l.InnerState)
	p.step.Change = SetInnerState{Lock: l.Ref(), Was: l.InnerState, To: to}
}
