package progress

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// ActAs is the setting with which Lockstep plays the controller; false when it does not.
func ActAs(s *core.Snapshot, controller string) (core.ActAs, bool) {
	i := slices.IndexFunc(s.Settings.ActAs, func(a core.ActAs) bool { return a.Controller == controller })
	if i < 0 {
		return core.ActAs{}, false
	}
	return s.Settings.ActAs[i], true
}

// ActTurn is what the documents' flow asks next of a played controller, on one node or on the cluster.
type ActTurn int

// The turns.
const (
	TurnNone     ActTurn = iota // nothing: nobody asks, and the lock is held
	TurnCreate                  // it has no lock there
	TurnPrepare                 // it is asked for, and its lock holds it
	TurnReleased                // it is asked for, and has released it: LCM's turn
	TurnReturn                  // it is not asked for any more, and its lock is not taken back
	TurnRemove                  // its removal is asked for, and its lock holds it
	TurnGone                    // the node has left the cluster, and its lock is left
)

// turnOf is the turn by lock, request and NodeDeletionRequest d. A request that is being removed counts as gone: the return begins
// while its finalizer holds it (docs/mosk.md#return-of-a-node).
func turnOf(l *core.WorkloadLock, r *core.MaintenanceRequest, d *core.NodeNotice) ActTurn {
	asked := r != nil && r.Deleting.IsZero()
	switch {
	case l == nil:
		return TurnCreate
	case (asked || d != nil) && l.State() == core.LockInactive:
		return TurnReleased
	case asked:
		return TurnPrepare
	case d != nil:
		return TurnRemove
	case l.State() != core.LockActive || l.InnerState == core.InnerActive:
		return TurnReturn
	}
	return TurnNone
}

// TurnOn is the turn of a played controller on a node ("" for the cluster); TurnNone while its sources are not known.
func TurnOn(s *core.Snapshot, a core.ActAs, node string) ActTurn {
	if node == "" {
		if !s.Known(core.SourceClusterLocks) || !s.Known(core.SourceClusterRequests) {
			return TurnNone
		}
		return turnOf(s.ClusterLock(a.Controller), s.ClusterRequest(), nil)
	}
	if !s.Known(core.SourceNodeLocks) || !s.Known(core.SourceNodeRequests) {
		return TurnNone
	}
	l := s.NodeLock(node, a.Controller)
	n := s.Nodes[node]
	switch {
	case n == nil && l != nil && goneFor(s, node):
		return TurnGone
	case n == nil || !a.Holds(n) && l == nil:
		return TurnNone
	}
	r, d := s.NodeRequest(node), AsksRemoval(s, node)
	if asked := r != nil && r.Deleting.IsZero(); !n.Deleting.IsZero() && (l == nil || !asked && d == nil) {
		return TurnNone // its Node was deleted: no lock is made for it, and nothing is taken back
	}
	turn := turnOf(l, r, d)
	if turn == TurnReturn && r == nil && !RemovalsKnown(s) {
		return TurnNone // it may be one that is to be removed, and stays released
	}
	return turn
}

// RemovalsKnown tells whether it is known which nodes are to be removed. A release without such requests has none.
func RemovalsKnown(s *core.Snapshot) bool {
	return s.Known(core.SourceDeletionRequests) || s.Sources[core.SourceDeletionRequests].State == core.SourceAbsent
}

// MovesInstances tells whether the played controller has to move instances off the node: only OpenStack's does, only on nodes with
// instances, and only when the host may reboot. Scope drain never migrates.
func MovesInstances(s *core.Snapshot, a core.ActAs, node string) bool {
	m := MaintenanceOf(s, node)
	return a.Controller == core.ControllerOpenStack && HasGuests(s, a, node) && m.node != nil && m.Reboot
}

// HasGuests tells whether the node is a compute, or was one: it lost its role label, and Nova still knows its host. Rockoon does not
// ask about other nodes: a controller can run the nova-compute of Ironic.
func HasGuests(s *core.Snapshot, a core.ActAs, node string) bool {
	return MaintenanceOf(s, node).Compute || !a.Holds(s.Nodes[node]) && (s.Services[s.HostOf(node)] != nil || len(s.InstancesOn(node)) > 0)
}

// WorksOn tells whether the controller counts as being at work on the node: its lock has inner_state active (docs/mosk.md#locks), or
// is not held, and LCM may be at work there. Not every controller keeps an inner_state (docs/mosk.md#tungsten-fabric:
// while any lock of OpenSDN's is inactive, no other node is handled). A removal does not count.
func WorksOn(s *core.Snapshot, controller, node string) bool {
	l := s.NodeLock(node, controller)
	switch {
	case l == nil:
		return false
	case l.InnerState == core.InnerActive:
		return true
	}
	return l.State() != core.LockActive && AsksRemoval(s, node) == nil
}

// NodesAtWork are the nodes at which the controller counts as being at work, by each of their roles.
func NodesAtWork(s *core.Snapshot, controller, but string) map[core.Role][]string {
	out := map[core.Role][]string{}
	for _, name := range s.NodeNames() {
		if name == but || !WorksOn(s, controller, name) {
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

// PlaysOn tells whether Lockstep plays the controller on the node.
func PlaysOn(s *core.Snapshot, controller, node string) bool {
	a, played := ActAs(s, controller)
	return played && a.Holds(s.Nodes[node])
}

// PlaysGone tells whether the node is gone, and a played OpenStack controller has to clean up behind it.
func PlaysGone(s *core.Snapshot, node string) bool {
	a, played := ActAs(s, core.ControllerOpenStack)
	return played && TurnOn(s, a, node) == TurnGone
}

// GuardNobodyElse holds when a played controller itself does not run: two writers of one lock undo each other.
func GuardNobodyElse(s *core.Snapshot, controller string) core.Guard {
	g := core.Guard{ID: core.GuardNobodyElse, Text: "the controller itself does not run", Holds: true,
		Answer: "you said so: Lockstep cannot see it"}
	if controller != core.ControllerOpenStack {
		return g
	}
	if !s.Known(core.SourceOpenStackController) {
		g.Holds, g.Answer = false, "not known: "+s.WhyUnknown(core.SourceOpenStackController)
		g.Remedy = "see the Deployment rockoon first"
		return g
	}
	a, _ := ActAs(s, controller)
	OutOfTheWay(&g, s.Controller, a.Absent)
	return g
}

// OutOfTheWay sets a guard by whether the OpenStack controller runs. c is its Deployment, nil when there is none; absent says that the
// operator has confirmed that there is none by another name.
func OutOfTheWay(g *core.Guard, c *core.Deployment, absent bool) {
	switch {
	case c == nil && absent:
		g.Answer = "it has no Deployment rockoon in osh-system, as you said"
	case c == nil:
		g.Holds, g.Answer = false, "there is no Deployment rockoon in osh-system: where it goes by another name it may run all the same"
		g.Remedy = "look: kubectl get deployments --all-namespaces; where none is there, say so: controllers.openstack.absent in the " +
			"configuration"
	case c.Ready > 0:
		g.Holds, g.Answer = false, fmt.Sprintf("%d of %d replicas are ready", c.Ready, c.Replicas)
		g.Remedy = wording.ShellCommand("kubectl", "-n", c.Namespace, "scale", "deployment", c.Name, "--replicas=0")
	case c.Replicas > 0:
		g.Holds, g.Answer = false, "none of its replicas is ready now; it begins as soon as one is"
		g.Remedy = wording.ShellCommand("kubectl", "-n", c.Namespace, "scale", "deployment", c.Name, "--replicas=0")
	case c.Existing > 0:
		g.Holds, g.Answer = false, wording.Count(c.Existing, "pod")+" of it "+wording.Verb(c.Existing, "is", "are")+" there still"
		g.Remedy = "wait until they are gone"
	default:
		g.Answer = "its Deployment is scaled to 0"
	}
}

// AsksRemoval is the NodeDeletionRequest that a node's locks have to answer; nil when there is none, or while the node is in
// maintenance, which comes first.
func AsksRemoval(s *core.Snapshot, node string) *core.NodeNotice {
	d := s.Deletions[node]
	if d == nil || !d.Deleting.IsZero() || !s.Known(core.SourceDeletionRequests) || s.NodeRequest(node) != nil {
		return nil
	}
	return d
}

// goneFor tells whether the node has left the cluster for good. A node whose machine is disabled comes back: its locks and its records
// in OpenStack stay (docs/mosk.md#deletion-requests). A release that knows no disabled machines has none.
func goneFor(s *core.Snapshot, node string) bool {
	disabled := s.Known(core.SourceDisableNotices) || s.Sources[core.SourceDisableNotices].State == core.SourceAbsent
	return s.Nodes[node] == nil && s.Known(core.SourceNodes) && disabled && s.Disablings[node] == nil
}

// ReturnsOurs tells whether it is a played OpenStack controller's turn to take the node back.
func ReturnsOurs(s *core.Snapshot, node string) bool {
	a, played := ActAs(s, core.ControllerOpenStack)
	return played && a.Holds(s.Nodes[node]) && TurnOn(s, a, node) == TurnReturn
}
