package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// ReturnedDown is what OpenStack does not hear from on a node that was taken back from its maintenance: whether nova-compute, which may
// take instances again, and the binaries of network agents. Nothing is told of a node that is being maintained or not Ready, nor before
// what has just started there could be heard from.
func ReturnedDown(s *core.Snapshot, v *core.NodeView) (compute bool, agents []string) {
	if v.Stage != core.StageDone || v.Request != nil || v.Node == nil || v.Node.Ready != "True" || !s.Known(core.SourceNodeRequests) ||
		Settling(s, v.Node, ReturnSettles) {
		return false, nil
	}
	svc := v.Service
	compute = svc != nil && heardOf(s, core.SourceComputeServices, v.Name) && svc.Enabled && !svc.Up && !svc.ForcedDown
	if heardOf(s, core.SourceNetworkAgents, v.Name) {
		agents = AgentsDown(s, s.HostOf(v.Name))
	}
	return compute, agents
}

// heardOf tells whether a source is known, and was heard since the node returned from its last maintenance: while it was away it showed it
// as down.
func heardOf(s *core.Snapshot, id core.SourceID, node string) bool {
	_, seen := SeenSinceReturn(s, id, node)
	return seen && s.Known(id)
}

// DownText names what ReturnedDown has found.
func DownText(compute bool, agents []string) string {
	switch {
	case len(agents) == 0:
		return "nova-compute down"
	case compute:
		return "nova-compute and network agents down: " + wording.Some(agents, 4)
	}
	return "network agents down: " + wording.Some(agents, 4)
}
