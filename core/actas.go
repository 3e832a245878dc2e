package core

import (
	"fmt"
	"slices"
)

// ActAs is an application controller that Lockstep plays: the operator does, by confirmed steps, what the controller would
// do by itself (docs/mosk.md#finalizers).
type ActAs struct {
	Controller string // spec.controllerName of its locks
	Roles      []Role // it holds the nodes of these roles; empty: those whose Node.Played names it
	Namespace  string // in which its pods have to be ready; empty: none are looked at
	Absent     bool   // the operator says that the controller has no Deployment by which it could be seen to run
	Finalizer  string // by which the OpenStack controller holds requests; empty: as its own objects bear it
	OneByOne   bool   // never more than one node at a time, whatever its role: the old rule
}

// actAs is how the controller is played; false when it is not.
func (s *Snapshot) actAs(controller string) (ActAs, bool) {
	i := slices.IndexFunc(s.Settings.ActAs, func(a ActAs) bool { return a.Controller == controller })
	if i < 0 {
		return ActAs{}, false
	}
	return s.Settings.ActAs[i], true
}

// holds tells whether the controller has to hold the node.
func (a ActAs) holds(n *Node) bool {
	if n == nil {
		return false
	}
	if len(a.Roles) > 0 {
		return slices.ContainsFunc(a.Roles, n.Is)
	}
	return slices.Contains(n.Played, a.Controller)
}

// clusterLock is the controller's lock on the cluster; nil when there is none.
func (s *Snapshot) clusterLock(controller string) *WorkloadLock {
	for _, l := range s.ClusterLocks {
		if l.Controller == controller {
			return l
		}
	}
	return nil
}

// actTurn is what the flow of the documents asks of a played controller next, on one node or on the cluster.
type actTurn int

const (
	turnNone     actTurn = iota // nothing: nobody asks, and the lock is held
	turnCreate                  // it has no lock there
	turnPrepare                 // it is asked for, and holds it
	turnReleased                // it is asked for, and has released it: LCM's turn
	turnReturn                  // it is asked for no more, and has not taken it back
	turnRemove                  // its removal is asked for, and it holds it
	turnGone                    // the node has left the cluster, and its lock is left
)

// turnOf is whose turn it is. A request that is being removed is as good as gone: with a controller of its own it would wait
// in its removal until that was through (docs/mosk.md#return-of-a-node). A removal of the node is asked for by d.
func turnOf(l *WorkloadLock, r *MaintenanceRequest, d *NodeNotice) actTurn {
	asked := r != nil && r.Deleting.IsZero()
	switch {
	case l == nil:
		return turnCreate
	case (asked || d != nil) && l.State() == LockInactive:
		return turnReleased
	case asked:
		return turnPrepare
	case d != nil:
		return turnRemove
	case l.State() != LockActive || l.InnerState == InnerActive:
		return turnReturn
	}
	return turnNone
}

// actTurn is the turn of a played controller on a node ("" for the cluster); turnNone while what it rests on is not known.
func (s *Snapshot) actTurn(a ActAs, node string) actTurn {
	if node == "" {
		if !s.known(SourceClusterLocks) || !s.known(SourceClusterRequests) {
			return turnNone
		}
		return turnOf(s.clusterLock(a.Controller), s.ClusterRequest(), nil)
	}
	if !s.known(SourceNodeLocks) || !s.known(SourceNodeRequests) {
		return turnNone
	}
	l := s.NodeLock(node, a.Controller)
	n := s.Nodes[node]
	switch {
	case n == nil && l != nil && s.goneFor(node):
		return turnGone
	case n == nil || !a.holds(n) && l == nil:
		return turnNone
	}
	return turnOf(l, s.NodeRequest(node), s.asksRemoval(node))
}

// movesInstances tells whether the played controller has instances to see to on the node: only OpenStack's does, only
// where instances can be, and only when the host may reboot: scope drain never migrates.
func (s *Snapshot) movesInstances(a ActAs, node string) bool {
	m := s.maintenanceOf(node)
	return a.Controller == ControllerOpenStack && s.hasGuests(a, node) && m.node != nil && m.reboot
}

// hasGuests tells whether the node is a compute; or was one, for a label that was taken off moves no instance: it is none that
// the controller holds by its roles, and Nova knows its host. Of others Rockoon does not ask: a controller can have the
// nova-compute of Ironic.
func (s *Snapshot) hasGuests(a ActAs, node string) bool {
	return s.maintenanceOf(node).compute || !a.holds(s.Nodes[node]) && (s.Services[s.HostOf(node)] != nil || len(s.InstancesOn(node)) > 0)
}

// worksOn tells whether the controller counts as being at work on the node: its lock has inner_state active (docs/mosk.md#locks), or
// is not held, and LCM may be at work there. Not every controller that was there before keeps an inner_state (docs/mosk.md#tungsten-fabric:
// while any lock of OpenSDN's is inactive, no other node is handled). A removal counts against nothing.
func (s *Snapshot) worksOn(controller, node string) bool {
	l := s.NodeLock(node, controller)
	switch {
	case l == nil:
		return false
	case l.InnerState == InnerActive:
		return true
	}
	return l.State() != LockActive && s.asksRemoval(node) == nil
}

// underWay are the nodes at which the controller counts as being at work, by each of their roles.
func (s *Snapshot) underWay(controller, but string) map[Role][]string {
	out := map[Role][]string{}
	for _, name := range s.NodeNames() {
		if name == but || !s.worksOn(controller, name) {
			continue
		}
		roles := s.Nodes[name].Roles
		if len(roles) == 0 {
			out[""] = append(out[""], s.Label(name))
		}
		for _, role := range roles {
			out[role] = append(out[role], s.Label(name))
		}
	}
	return out
}

// acting are the played controllers whose turn it is: one entry for each node and for the cluster.
func (f *attentionFacts) acting() {
	for _, a := range f.s.Settings.ActAs {
		who := oneLine(a.Controller, 40)
		switch f.s.actTurn(a, "") {
		case turnCreate:
			f.add(f.actEntry(a, "", "it has no cluster lock", SeverityNotice,
				"as "+who+": it has no cluster lock, so LCM does not wait for it", Since{}))
		case turnPrepare:
			r := f.s.ClusterRequest()
			e := f.actEntry(a, "", "LCM waits for your cluster lock", SeverityUrgent, "as "+who+": LCM waits for your cluster lock",
				Since{At: r.Created, Exact: true})
			e.Detail = Plan(f.s, Intent{Kind: IntentActRelease, Controller: a.Controller}).Blocker()
			f.add(e)
		case turnReturn:
			f.add(f.actEntry(a, "", "the update is over", SeverityWarning,
				"as "+who+": the update is over, and your cluster lock is not taken back", Since{}))
		case turnNone:
			f.heldStill(a, f.s.ClusterRequest())
		}
		missing := 0
		for _, name := range f.s.NodeNames() {
			switch f.s.actTurn(a, name) {
			case turnCreate:
				missing++
				if r := f.s.NodeRequest(name); r != nil {
					f.add(f.actEntry(a, name, "it is asked for", SeverityWarning, "as "+who+": it is asked for, and you hold no lock on it", Since{At: r.Created, Exact: true}))
				}
			case turnPrepare:
				next := "it waits for you to prepare it"
				if at := f.s.preparationOf(a, name); a.Controller == ControllerOpenStack && at.next != prepareIt {
					next = at.next
				}
				e := f.actEntry(a, name, "prepare", SeverityUrgent, "as "+who+": "+next,
					Since{At: f.s.NodeRequest(name).Created, Exact: true})
				if a.Controller == ControllerOpenStack {
					e.Detail = join(append(sentences(f.s.quorumShort(name)),
						f.s.accountSentence(f.s.NodeAccount(name), name, LockMessage{}))...)
				}
				f.add(e)
			case turnReleased:
				if r := f.s.NodeRequest(name); a.Controller == ControllerOpenStack && f.s.unheld(r) {
					e := f.actEntry(a, name, "nobody takes it back once its request is withdrawn", SeverityWarning, "as "+who+": nobody takes it back once its request is withdrawn, which bears no finalizer", Since{At: r.Created, Exact: true})
					e.Detail = f.s.accountSentence(f.s.requestAccount(r), name, LockMessage{})
					f.add(e)
				}
			case turnReturn:
				if a.Controller == ControllerOpenStack && f.s.leftLock(name) != nil && !f.s.playsAlone(name) {
					continue // the controller runs, and does nothing of it: an entry of its own says so
				}
				since := Since{}
				if r := f.s.NodeRequest(name); r != nil {
					since = Since{At: r.Deleting, Exact: true}
				}
				f.add(f.actEntry(a, name, "it waits for you to take it back", SeverityUrgent,
					"as "+who+": it waits for you to take it back", since))
			case turnNone:
				f.heldStill(a, f.s.NodeRequest(name))
			}
		}
		for _, name := range f.s.lockedNames() {
			switch f.s.actTurn(a, name) {
			case turnRemove:
				f.add(f.actEntry(a, name, "its removal waits for you to let it go", SeverityUrgent, "as "+who+": its removal waits for you to let it go", Since{At: f.s.Deletions[name].Created, Exact: true}))
			case turnGone:
				f.add(f.actEntry(a, name, "it is gone", SeverityWarning,
					"as "+who+": it is gone, and "+f.s.goneLeft(a, name)+" wait for you", Since{}))
			}
		}
		if missing > 0 {
			f.add(f.actEntry(a, "", "", SeverityNotice, fmt.Sprintf("as %s: %s of your selection %s no lock of yours", who, count(missing, "node"), verb(missing, "has", "have")), Since{}))
		}
	}
}

// heldStill is a request that is being removed, and that waits for nothing more than to be let go.
func (f *attentionFacts) heldStill(a ActAs, r *MaintenanceRequest) {
	if a.Controller != ControllerOpenStack || f.s.heldByRockoon(r) == "" {
		return
	}
	f.add(f.actEntry(a, r.Node, "LCM waits for you to let its request go", SeverityUrgent, "as "+oneLine(a.Controller, 40)+": LCM waits for you to let its request go", Since{At: r.Deleting, Exact: true}))
}

// actEntry is an entry about a played controller. What it asks for tells it from others of the node; the entry stays the same while
// its reason changes.
func (f *attentionFacts) actEntry(a ActAs, node, asks string, severity Severity, reason string, since Since) Attention {
	e := Attention{Rule: RuleAct, Key: a.Controller + "/" + node + "/" + asks, Controller: a.Controller, Severity: severity, Node: node, Reason: reason, Since: since,
		Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: oneLine(a.Controller, 40), Resolve: clusterProcedure()}
	if n := f.s.Nodes[node]; n != nil {
		e.Subject, e.Label, e.Resolve = n.Ref(), n.Label(), &ProcedureKey{Kind: ProcedureNode, Subject: node}
	} else if node != "" { // it has left the cluster
		e.Subject, e.Label, e.Resolve = Ref{Kind: KindNode, Name: node}, oneLine(node, 64), &ProcedureKey{Kind: ProcedureNode, Subject: node}
	}
	return e
}
