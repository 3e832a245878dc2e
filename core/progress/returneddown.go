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
	compute = svc != nil && s.Known(core.SourceComputeServices) && svc.Enabled && !svc.Up && !svc.ForcedDown
	if s.Known(core.SourceNetworkAgents) {
		agents = AgentsDown(s, s.HostOf(v.Name))
	}
	return compute, agents
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
