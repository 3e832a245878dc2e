package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// The documents recommend mode manual for a node with a gateway, so that the operator can move its virtual routers first. Today's
// OpenStack controller looks at the modes of computes only: it releases such a node at once (docs/mosk.md#modes-elsewhere). A
// played controller keeps the documents' promise: the node waits for the operator's word.

// ModeCounts tells whether the node's mode has an effect: on a compute, and on any node where Lockstep plays the controller.
func ModeCounts(s *core.Snapshot, name string) bool {
	n := s.Nodes[name]
	return n == nil || n.Is(core.RoleCompute) || PlaysOn(s, core.ControllerOpenStack, name)
}

// ModeIgnored says why a mode has no effect on a node that is not a compute, and HoldInstead what holds the node instead.
const (
	ModeIgnored = "the OpenStack controller of today looks at the modes of computes only"
	HoldInstead = "hold it by a lock of your own, or do not commence its update group"
)

// AwaitsWord tells whether the node waits for the operator's word under a played controller: it is not a compute, it is asked for,
// and its mode is manual or not a valid one.
func AwaitsWord(s *core.Snapshot, name string) bool {
	n, r := s.Nodes[name], s.NodeRequest(name)
	if n == nil || n.Is(core.RoleCompute) || r == nil || !r.Deleting.IsZero() || !PlaysOn(s, core.ControllerOpenStack, name) {
		return false
	}
	mode := core.MigrationMode(wording.TextOr(n.Annotation(core.AnnotationMigrationMode), string(core.ModeLive)))
	return mode == core.ModeManual || !mode.Known()
}
