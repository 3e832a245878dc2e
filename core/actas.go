package core

import (
	"slices"
)

// ActAs is an application controller that Lockstep plays: the operator does, by confirmed steps, what the controller would
// do by itself (docs/mosk.md#finalizers).
type ActAs struct {
	Controller string // spec.controllerName of its locks
	Roles      []Role // it holds the nodes of these roles; empty: those whose Node.Played names it
	Namespace  string // its pods here have to be ready; empty: no pods are looked at
	Absent     bool   // the operator says that the controller has no Deployment by which it could be seen to run
	Finalizer  string // the OpenStack controller's finalizer on requests; empty: the one that its objects bear
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
