package progress

import (
	"lockstep/core"
)

// When Nova has no nova-compute service for a compute, the OpenStack controller fails on the node's request: with an IndexError,
// again and again, and without a text (docs/mosk.md#no-compute-service).

// Serviceless tells whether Nova has no nova-compute service for a compute node.
func Serviceless(s *core.Snapshot, name string) bool {
	n := s.Nodes[name]
	return n != nil && n.Is(core.RoleCompute) && s.Known(core.SourceComputeServices) && s.Services[s.HostOf(name)] == nil
}

// ServicelessCause is why the controller fails on such a compute.
const ServicelessCause = "Nova has no nova-compute service of it"

// FailsOnService tells whether the controller now fails on the node's request for that reason. It writes no text. It looks at the service
// once it has begun with the node: a request that it defers, or refuses for its release, says so on the lock.
func FailsOnService(s *core.Snapshot, name string) bool {
	r, l := s.NodeRequest(name), s.NodeLock(name, core.ControllerOpenStack)
	return Serviceless(s, name) && r != nil && r.Deleting.IsZero() && l != nil && l.State() == core.LockActive &&
		l.InnerState == core.InnerActive
}

// noComputeService finds a node on whose request the controller fails because it has no nova-compute service.
func noComputeService(f *stageFacts) (verdict, bool) {
	if !f.leaving() || !f.working() || !FailsOnService(f.s, f.name) {
		return verdict{}, false
	}
	return verdict{reason: ServicelessCause + ": the OpenStack controller fails on it without a word" + f.tries("; it "),
		what:  "no compute service",
		since: core.NotBefore(f.requestAt())}, true
}
