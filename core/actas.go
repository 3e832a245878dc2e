package core

import (
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

// Holds tells whether the controller has to hold the node.
func (a ActAs) Holds(n *Node) bool {
	if n == nil {
		return false
	}
	if len(a.Roles) > 0 {
		return slices.ContainsFunc(a.Roles, n.Is)
	}
	return slices.Contains(n.Played, a.Controller)
}
