package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// The documents recommend mode manual for a node with a gateway, so that the operator can move its virtual routers first. Today's OpenStack
// controller looks at modes of computes only: it releases such a node at once (docs/mosk.md#modes-elsewhere). Who plays the controller
// keeps the documents' promise: the node waits for the operator's word.

// ModeCounts tells whether the mode of the node decides anything: of a compute, and of any node where Lockstep plays the controller.
func ModeCounts(s *core.Snapshot, name string) bool {
	n := s.Nodes[name]
	return n == nil || n.Is(core.RoleCompute) || PlaysOn(s, core.ControllerOpenStack, name)
}

// ModeIgnored is why a mode on a node that is no compute decides nothing, and what holds the node instead.
const (
	ModeIgnored = "the OpenStack controller of today looks at the modes of computes only"
	HoldInstead = "hold it by a lock of your own, or do not commence its update group"
)

// AwaitsWord tells whether the node is no compute, is asked for, and waits for the operator's word under a played controller: its mode is
// manual, or none that means anything.
func AwaitsWord(s *core.Snapshot, name string) bool {
	n, r := s.Nodes[name], s.NodeRequest(name)
	if n == nil || n.Is(core.RoleCompute) || r == nil || !r.Deleting.IsZero() || !PlaysOn(s, core.ControllerOpenStack, name) {
		return false
	}
	mode := core.MigrationMode(wording.TextOr(n.Annotation(core.AnnotationMigrationMode), string(core.ModeLive)))
	return mode == core.ModeManual || !mode.Known()
}
