package core

import (
	"fmt"
	"slices"
	"strings"
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
	sources := []SourceID{SourceClusterLocks, SourceClusterRequests}
	if node != "" {
		l = s.NodeLock(node, p.i.Controller)
		sources = []SourceID{SourceNodes, SourceNodeLocks, SourceNodeRequests}
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
		p.step.ID = string(p.i.Kind) + "/" + p.i.Controller + "/" + node
	}
	p.step.Title = actTitles[p.i.Kind] + " " + label
	switch p.i.Kind {
	case IntentActOutOfScheduling, IntentActIntoScheduling:
		sources = append(sources, SourceComputeServices)
	case IntentActRelease, IntentActRearm:
		if node != "" && s.movesInstances(a, node) {
			sources = append(sources, SourceComputeServices, SourceInstances, SourceMigrations)
		}
	}
	p.common(sources, s.busyOn(node))
	p.guard(Guard{ID: "played", Text: "Lockstep plays " + who, Holds: played, Answer: "as you said at its start", Remedy: "start it with --act-as " + who})
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
		held := Guard{ID: "holds", Text: who + " holds nodes like this one", Holds: a.holds(n) || n != nil && l != nil, Answer: "it does", Remedy: "its selection of nodes does not name it"}
		if !held.Holds {
			held.Answer = "it is none of them"
		}
		p.guard(held)
		if !held.Holds {
			return
		}
		p.fact("node", n.UID)
	}
	p.requestFact(r)
	turn := s.actTurn(a, node)
	if p.i.Kind == IntentActCreateLock {
		p.actCreate(a, turn, label, who)
		return
	}
	exists := Guard{ID: "exists", Text: "the lock exists", Holds: l != nil, Answer: "it has none", Remedy: "make it first"}
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
	case IntentActRelease:
		p.actRelease(a, l, turn, who)
	case IntentActIntoScheduling:
		p.actIntoScheduling(turn)
	case IntentActRearm:
		p.actRearm(a, l, turn, who)
	case IntentActFinish:
		p.actFinish(l, turn)
	}
}

var actTitles = map[IntentKind]string{
	IntentActCreateLock:      "make the lock on",
	IntentActBegin:           "begin to prepare",
	IntentActOutOfScheduling: "take nova-compute out of scheduling on",
	IntentActRelease:         "release the lock on",
	IntentActIntoScheduling:  "put nova-compute back into scheduling on",
	IntentActRearm:           "take the lock back on",
	IntentActFinish:          "end the work on",
}

// actLockName is the name of a lock to be made. Nothing reads it: LCM and Rockoon go by the spec (mosk-facts 1.1).
func (p *planner) actLockName() string {
	of := p.s.Cluster
	if p.i.Node != "" {
		of = p.i.Node
	}
	return objectName(p.i.Controller + "-" + of)
}

// guardNobodyElse holds when the controller itself is not at work: two that write one lock undo each other.
func (s *Snapshot) guardNobodyElse(a ActAs) Guard {
	g := Guard{ID: "nobody-else", Text: "the controller itself does not run", Holds: true, Answer: "you said so: Lockstep cannot see it"}
	if a.Controller != ControllerOpenStack {
		return g
	}
	c := s.Controller
	switch {
	case !s.known(SourceOpenStackController):
		g.Holds, g.Answer = false, "not known: "+s.whyUnknown(SourceOpenStackController)
		g.Remedy = "see the Deployment rockoon first"
	case c == nil:
		g.Answer = "it has no Deployment"
	case c.Ready > 0:
		g.Holds, g.Answer = false, fmt.Sprintf("%d of %d replicas are ready", c.Ready, c.Replicas)
		g.Remedy = shellCommand("kubectl", "-n", c.Namespace, "scale", "deployment", c.Name, "--replicas=0")
	case c.Replicas > 0:
		g.Holds, g.Answer = false, "none of its replicas is ready now; it begins as soon as one is"
		g.Remedy = shellCommand("kubectl", "-n", c.Namespace, "scale", "deployment", c.Name, "--replicas=0")
	default:
		g.Answer = "its Deployment is scaled to 0"
	}
	return g
}

// turnGuard holds when it is the turn for the step.
func (p *planner) turnGuard(is actTurn, want ...actTurn) {
	g := Guard{ID: "turn", Text: "it is the time for it", Holds: slices.Contains(want, is), Answer: turnTexts[is]}
	p.guard(g)
}

var turnTexts = map[actTurn]string{
	turnNone:     "nobody asks for it, and the lock is held",
	turnCreate:   "it has no lock there",
	turnPrepare:  "it is asked for, and the lock holds it",
	turnReleased: "it is asked for, and released: it is LCM's turn",
	turnReturn:   "nobody asks for it any more, and it is not taken back",
}

func (p *planner) actCreate(a ActAs, turn actTurn, label, who string) {
	p.step.Risk = RiskMedium
	p.step.Why = "LCM waits for every lock, and only for locks: without one it goes on without asking " + who + "."
	p.step.Then = "LCM waits for this lock in every maintenance from now on, and somebody has to release it each time."
	l := NewLock{Kind: KindClusterWorkloadLock, Name: p.actLockName(), Controller: a.Controller}
	if p.i.Node != "" {
		l.Kind, l.Node = KindNodeWorkloadLock, p.i.Node
	}
	p.turnGuard(turn, turnCreate)
	if turn != turnCreate {
		p.done = "the lock is there"
		return
	}
	p.step.Commands = []string{createLockCommand(l)}
	p.step.Undo = "delete it: " + deleteCommand(l.Ref())
	p.step.Change = CreateLock{Lock: l}
}

func createLockCommand(l NewLock) string {
	spec := map[string]string{"controllerName": l.Controller}
	if l.Node != "" {
		spec["nodeName"] = l.Node
	}
	return "kubectl create -f - <<< " + shellQuote(jsonText(map[string]any{
		"apiVersion": "lcm.mirantis.com/v1alpha1", "kind": l.Kind,
		"metadata": map[string]any{"name": l.Name, "labels": map[string]string{"app.kubernetes.io/managed-by": MadeByLockstep}},
		"spec":     spec,
	}))
}

// actBegin notes that the node is worked on, within the rule of how many may be (mosk-facts 4.1).
func (p *planner) actBegin(a ActAs, l *WorkloadLock, turn actTurn, who string) {
	p.step.Risk = RiskLow
	p.turnGuard(turn, turnPrepare)
	p.guard(p.s.guardNoOther(IntentActBegin))
	p.guardConcurrency(a)
	if p.s.movesInstances(a, p.i.Node) {
		p.guardZone(a)
	}
	p.step.Why = "inner_state says that " + who + " is at work there, and counts against its concurrency: Rockoon and Lockstep can take over from one another by it."
	p.step.Then = "Nothing happens to the node yet."
	p.setInner(l, InnerActive)
}

// guardNoOther holds when no operation of the kind is under way: two that are counted at the same moment count neither.
func (s *Snapshot) guardNoOther(kind IntentKind) Guard {
	g := Guard{ID: "one-begins", Text: "nothing is being begun elsewhere", Holds: true, Answer: "nothing", Remedy: "wait a moment"}
	for _, op := range s.Operations {
		if !op.State.Ended() && op.isBatchOf(kind) {
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

// The IDs of the guards that are asked of the server itself once more before a node is begun.
const (
	guardConcurrencyID = "concurrency"
	guardZoneID        = "zone"
)

// guardConcurrency holds when no role of any node is full: a full one holds up all, whatever this node's own roles are.
func (p *planner) guardConcurrency(a ActAs) {
	s := p.s
	under := s.underWay(a.Controller, p.i.Node)
	var full, all []string
	for role, names := range under {
		all = append(all, names...)
		if most := s.Settings.MaxParallelNodes[role]; most > 0 && len(names) >= most {
			full = append(full, string(role)+": "+some(names, 3))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.Sort(full)
	g := Guard{ID: guardConcurrencyID, Text: "no more nodes are worked on than the rule allows", Holds: true, Answer: count(len(all), "other node"), Remedy: "take one back first"}
	switch {
	case a.OneByOne && len(all) > 0:
		g.Holds, g.Answer = false, "one at a time, and there is "+some(all, 3)
	case len(full) > 0:
		g.Holds, g.Answer = false, strings.Join(full, "; ")
	}
	p.fact("worked on", strings.Join(all, " "))
	p.guard(g)
}

// guardZone holds when all computes that are worked on are of one availability zone: Rockoon's rule respect_nova_az.
func (p *planner) guardZone(a ActAs) {
	s := p.s
	zone := func(name string) string {
		if svc := s.Services[s.HostOf(name)]; svc != nil {
			return svc.Zone
		}
		return ""
	}
	own := zone(p.i.Node)
	g := Guard{ID: guardZoneID, Text: "computes of one availability zone only are worked on", Holds: true, Answer: textOf(oneLine(own, 40), "its zone is not known"), Remedy: "take those of the other zone back first"}
	for _, name := range s.NodeNames() {
		l := s.NodeLock(name, a.Controller)
		if name == p.i.Node || l == nil || l.InnerState != InnerActive || !s.Nodes[name].Is(RoleCompute) {
			continue
		}
		if other := zone(name); other != "" && own != "" && other != own {
			g.Holds, g.Answer = false, s.Label(name)+" is of "+oneLine(other, 40)+", this one of "+oneLine(own, 40)
			break
		}
	}
	p.guard(g)
}

func (p *planner) actOutOfScheduling(l *WorkloadLock, turn actTurn) {
	p.step.Risk = RiskLow
	p.turnGuard(turn, turnPrepare)
	p.guard(Guard{ID: "begun", Text: "the work on the node was begun", Holds: l.InnerState == InnerActive, Answer: innerText(l.InnerState)})
	svc := p.actService()
	if svc == nil {
		return
	}
	p.step.Why = "The scheduler must put nothing more on a host that is about to go down. The reason is the one by which Rockoon and Lockstep know what they disabled."
	p.step.Then = "Instances on it stay; migrations to it are refused."
	if !svc.Enabled {
		p.done = "nova-compute is " + serviceText(svc)
		return
	}
	p.step.Commands = []string{shellCommand("openstack", "compute", "service", "set", "--disable", "--disable-reason", DisabledReasonMaintenance, svc.Host, "nova-compute")}
	p.step.Undo = "enable it: " + shellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")
	p.step.Change = SetComputeService{Service: svc.Ref(), Enabled: false, Reason: DisabledReasonMaintenance, WasEnabled: true, WasReason: svc.DisabledReason}
}

// actService is the nova-compute of the node, with its guard and facts; nil when there is none.
func (p *planner) actService() *ComputeService {
	svc := p.s.Services[p.s.HostOf(p.i.Node)]
	if svc == nil {
		p.unknown("the compute service exists", "Nova knows no nova-compute on "+oneLine(p.s.HostOf(p.i.Node), 64))
		return nil
	}
	p.fact("service", svc.ID)
	p.fact("service state", serviceText(svc))
	return svc
}

// actRelease plans the word to LCM that it may go on.
func (p *planner) actRelease(a ActAs, l *WorkloadLock, turn actTurn, who string) {
	s, node := p.s, p.i.Node
	p.step.Risk = RiskHigh
	p.step.Type = typable(p.step.Label, l.UID)
	p.turnGuard(turn, turnPrepare)
	if node == "" {
		p.step.Type = typable(s.Cluster, l.UID)
		p.step.Why = "LCM asks for the cluster and waits for every cluster lock. With this one " + who + " says that it is ready, or updated."
		p.step.Then = s.lcmThen(l, LockInactive)
		if a.Controller == ControllerOpenStack {
			p.guardOpenStackHealthy()
		}
		p.lockChange(l, turn == turnReleased, LockStatus{State: LockInactive})
		return
	}
	p.step.Why = "LCM asks for the node and waits for every lock on it. With this one " + who + " says that its workload is out of the way."
	p.step.Then = s.lcmThen(l, LockInactive)
	p.guard(Guard{ID: "begun", Text: "the work on the node was begun", Holds: l.InnerState == InnerActive, Answer: innerText(l.InnerState), Remedy: "begin it first"})
	if a.Controller == ControllerOpenStack && s.maintenanceOf(node).compute && s.Services[s.HostOf(node)] != nil {
		svc := s.Services[s.HostOf(node)]
		p.fact("service state", serviceText(svc))
		p.guard(Guard{ID: "out", Text: "the scheduler puts nothing more on the host", Holds: !svc.Enabled, Answer: "nova-compute is " + serviceText(svc), Remedy: "take it out of scheduling first"})
	}
	if s.movesInstances(a, node) {
		p.guard(s.guardHostKnown(s.Nodes[node]))
		p.guard(s.guardHostEmpty(node))
		p.guard(s.guardNoMigration(s.HostOf(node)))
		p.hostFacts(node)
		p.hostModeFact(s.Nodes[node])
	}
	p.lockChange(l, turn == turnReleased, LockStatus{State: LockInactive})
}

// lockChange makes the change of a lock's state.
func (p *planner) lockChange(l *WorkloadLock, done bool, to LockStatus) {
	if done {
		p.done = "the lock says " + string(to.State)
		return
	}
	p.step.Commands = []string{lockCommand(l.Ref(), to)}
	p.step.Undo = "set it back: " + lockCommand(l.Ref(), LockStatus{State: l.State(), Message: l.Message}) + "; what LCM did in between stays done"
	p.step.Change = SetLock{Lock: l.Ref(), Was: l.RawState, To: to}
}

// guardOpenStackHealthy holds when the OpenStack deployment is applied and all its services are healthy (mosk-facts 4.1,
// "CMR create").
func (p *planner) guardOpenStackHealthy() {
	s := p.s
	g := Guard{ID: "healthy", Text: "OpenStack is applied and healthy", Remedy: "mend what is not, or wait for it"}
	switch {
	case !s.known(SourceOpenStackStatus):
		g.Answer = "not known: " + s.whyUnknown(SourceOpenStackStatus)
	case len(s.OpenStack) == 0:
		g.Answer = "there is no OpenStackDeploymentStatus"
	default:
		g.Holds = true
		var parts []string
		for _, o := range s.OpenStack {
			parts = append(parts, oneLine(o.Name, 40)+" is "+oneLine(o.State, 30)+", health "+textOf(oneLine(o.Health, 20), "not told"))
			if o.State != "APPLIED" || len(o.Unhealthy) > 0 {
				g.Holds = false
			}
			if len(o.Unhealthy) > 0 {
				parts = append(parts, "not ready: "+oneLine(some(o.Unhealthy, 4), 200))
			}
		}
		g.Answer = strings.Join(parts, "; ")
	}
	p.guard(g)
}

func (p *planner) actIntoScheduling(turn actTurn) {
	p.step.Risk = RiskMedium
	p.turnGuard(turn, turnReturn)
	svc := p.actService()
	if svc == nil {
		return
	}
	p.guardReturned()
	p.guard(Guard{ID: "up", Text: "nova-compute is up", Holds: svc.Up && !svc.ForcedDown, Answer: upText(svc), Remedy: "look at its pod on the node"})
	p.step.Why = "The node is back. Only what was disabled with the reason of the maintenance is enabled: what somebody else disabled stays as it is."
	p.step.Then = "New and migrated instances can come to the host from now on."
	switch {
	case svc.Enabled:
		p.done = "nova-compute is enabled"
		return
	case svc.DisabledReason != DisabledReasonMaintenance:
		p.done = "nova-compute is " + serviceText(svc) + ": not ours to enable"
		return
	}
	p.step.Commands = []string{shellCommand("openstack", "compute", "service", "set", "--enable", svc.Host, "nova-compute")}
	p.step.Undo = "disable it again"
	p.step.Change = SetComputeService{Service: svc.Ref(), Enabled: true, WasEnabled: false, WasReason: svc.DisabledReason}
}

func upText(svc *ComputeService) string {
	switch {
	case svc.ForcedDown:
		return "forced down"
	case svc.Up:
		return "up"
	}
	return "down"
}

// guardReturned holds when the node is back with its pods and agents (mosk-facts 4.1, "NMR delete").
func (p *planner) guardReturned() {
	p.guardNodeBack(p.i.Node)
	p.guardPodsReady()
	p.guardAgents()
}

// podsNamespace is the namespace whose pods NodePods tells of.
const podsNamespace = "openstack"

func (p *planner) guardPodsReady() {
	s := p.s
	a, _ := s.actAs(p.i.Controller)
	g := Guard{ID: "pods", Text: "its pods on the node are ready", Holds: true, Answer: "none are looked at"}
	if a.Namespace == "" {
		p.guard(g)
		return
	}
	if a.Namespace != podsNamespace {
		g.Answer = "those in " + a.Namespace + " are asked for right before"
		p.guard(g)
		return
	}
	pods := s.Pods[p.i.Node]
	var bad []string
	if pods != nil {
		for _, name := range pods.NotReady {
			if strings.HasPrefix(name, a.Namespace+"/") {
				bad = append(bad, strings.TrimPrefix(name, a.Namespace+"/"))
			}
		}
	}
	switch {
	case pods == nil || !s.known(SourceNodePods):
		g.Holds, g.Answer, g.Remedy = false, "not known: "+s.whyUnknown(SourceNodePods), "wait until they are listed"
	case len(bad) > 0:
		g.Holds, g.Answer = false, "not ready: "+oneLine(some(bad, 4), 200)
		g.Remedy = shellCommand("kubectl", "-n", a.Namespace, "get", "pods", "--field-selector", "spec.nodeName="+p.i.Node)
	default:
		g.Answer = "all in " + a.Namespace
	}
	p.guard(g)
}

func (p *planner) guardAgents() {
	s := p.s
	if p.i.Controller != ControllerOpenStack {
		return
	}
	g := Guard{ID: "agents", Text: "its network agents are alive", Holds: true, Answer: "all that Neutron lists", Remedy: "look at the agents' pods on the node"}
	down := s.agentsDown(s.HostOf(p.i.Node))
	switch {
	case !s.known(SourceNetworkAgents):
		g.Holds, g.Answer = false, "not known: "+s.whyUnknown(SourceNetworkAgents)
	case len(down) > 0:
		g.Holds, g.Answer = false, "down: "+oneLine(some(down, 4), 100)
	}
	p.guard(g)
}

// actRearm plans that the lock holds again.
func (p *planner) actRearm(a ActAs, l *WorkloadLock, turn actTurn, who string) {
	s, node := p.s, p.i.Node
	p.step.Risk = RiskMedium
	p.turnGuard(turn, turnReturn)
	p.step.Why = "Nobody asks for it any more: " + who + " takes it back, so that LCM has to ask before it touches it again."
	p.step.Then = "LCM waits for the lock in the next maintenance."
	if node != "" {
		p.guardReturned()
		if svc := s.Services[s.HostOf(node)]; a.Controller == ControllerOpenStack && svc != nil && s.maintenanceOf(node).compute {
			p.fact("service state", serviceText(svc))
			p.guard(Guard{ID: "in", Text: "nova-compute is up, and not disabled for the maintenance", Holds: svc.Up && (svc.Enabled || svc.DisabledReason != DisabledReasonMaintenance),
				Answer: upText(svc) + ", " + serviceText(svc), Remedy: "put it back into scheduling first"})
		}
	}
	p.lockChange(l, l.State() == LockActive, LockStatus{State: LockActive})
}

// actFinish plans that the node counts as worked on no more.
func (p *planner) actFinish(l *WorkloadLock, turn actTurn) {
	p.step.Risk = RiskLow
	p.turnGuard(turn, turnReturn, turnNone)
	p.guard(Guard{ID: "held", Text: "the lock is taken back", Holds: l.State() == LockActive, Answer: "it is " + oneLine(string(l.State()), 40), Remedy: "take it back first"})
	if svc := p.s.Services[p.s.HostOf(p.i.Node)]; svc != nil && p.i.Controller == ControllerOpenStack {
		p.guard(Guard{ID: "in", Text: "nova-compute is not disabled for the maintenance", Holds: svc.Enabled || svc.DisabledReason != DisabledReasonMaintenance, Answer: serviceText(svc),
			Remedy: "put it back into scheduling first"})
	}
	p.step.Why = "The node does not count against the concurrency any more."
	p.step.Then = "The next node can be prepared."
	p.setInner(l, InnerInactive)
}

// finalizersOfRockoon are those by which Rockoon keeps a request until it is through with it (mosk-facts 4.1).
const finalizersOfRockoon = "lcm.mirantis.com/rockoon."

// heldByRockoon is the finalizer with which Rockoon holds a request that is being removed; empty when it does not.
func heldByRockoon(r *MaintenanceRequest) string {
	if r == nil || r.Deleting.IsZero() {
		return ""
	}
	for _, f := range r.Finalizers {
		if strings.HasPrefix(f, finalizersOfRockoon) {
			return f
		}
	}
	return ""
}

// actLetGo plans that a request goes which Rockoon has seen, and is not there to let go.
func (p *planner) actLetGo() {
	s := p.s
	p.step.Title, p.step.Risk = "let the request go", RiskHigh
	a, played := s.actAs(ControllerOpenStack)
	r := s.requestByUID(p.i.Object.UID)
	if r == nil {
		p.identify(p.i.Object)
		p.common([]SourceID{SourceNodeRequests, SourceClusterRequests}, s.busyOn())
		p.unknown("the request exists", "it is gone")
		return
	}
	p.identify(r.Ref())
	p.step.Node, p.step.Label = r.Node, oneLine(textOf(s.Label(r.Node), s.Cluster), 64)
	p.step.Title += " of " + p.step.Label
	p.step.Type = typable(p.step.Label, r.UID)
	p.common([]SourceID{SourceNodeRequests, SourceClusterRequests, SourceNodeLocks, SourceClusterLocks}, s.busyOn(r.Node))
	p.guard(Guard{ID: "played", Text: "Lockstep plays the OpenStack controller", Holds: played, Answer: "as you said at its start", Remedy: "start it with --act-as openstack"})
	p.guard(s.guardNobodyElse(ActAs{Controller: ControllerOpenStack}))
	p.requestFact(r)
	finalizer := heldByRockoon(r)
	p.guard(Guard{ID: "held-by", Text: "the OpenStack controller's finalizer keeps it in its removal", Holds: finalizer != "", Answer: textOf(finalizer, "it does not")})
	turn := turnNone
	if played {
		turn = s.actTurn(a, r.Node)
	}
	p.guard(Guard{ID: "taken-back", Text: "its lock is taken back", Holds: turn == turnNone, Answer: turnTexts[turn], Remedy: "take it back first: this is what the finalizer is for"})
	p.step.Why = "The OpenStack controller has seen the request and keeps it until it has taken the node back. It does not run, and Lockstep has done its part."
	p.step.Then = "The request is gone, and LCM goes on."
	if finalizer == "" {
		p.done = "nothing of the OpenStack controller's holds it"
		return
	}
	p.step.Commands = []string{"kubectl get " + strings.ToLower(string(r.Kind)) + " " + shellQuote(r.Name) + " -o json | jq 'del(.metadata.finalizers[] | select(. == " + jsonText(finalizer) + "))' | kubectl replace -f -"}
	p.step.Change = RemoveFinalizer{Object: r.Ref(), Finalizer: finalizer}
}
