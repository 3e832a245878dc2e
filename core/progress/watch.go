package progress

import (
	"slices"

	"lockstep/core"
)

// HostsToWatch are the hosts whose instances matter now, sorted: those of computes in maintenance, and of nodes on which Lockstep
// acts. Moving tells whether something moves there and needs a closer look.
func HostsToWatch(s *core.Snapshot) (hosts []string, moving bool) {
	for _, v := range NodeViews(s) {
		if !v.Active() || v.Node != nil && !v.Node.Is(core.RoleCompute) {
			continue
		}
		hosts = append(hosts, s.HostOf(v.Name))
		if v.Stage == core.StageEvacuating || v.Moving > 0 {
			moving = true
		}
	}
	for _, op := range s.Operations {
		if op.State.Ended() {
			continue
		}
		moving = true
		if op.Node != "" {
			hosts = append(hosts, s.HostOf(op.Node))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), moving
}

// NodesWithPodsToWatch are the nodes whose pods matter now: those in maintenance, and those that are cordoned during an
// update.
func NodesWithPodsToWatch(s *core.Snapshot) []core.PodsOf {
	update := s.ClusterRequest() != nil
	var nodes []core.PodsOf
	for _, v := range NodeViews(s) {
		if v.Node == nil {
			continue
		}
		if v.Active() && v.Stage != core.StageQueued || returnsTo(s, v.Name) || update && v.Node.Cordoned {
			nodes = append(nodes, core.PodsOf{Node: v.Name, NodeReadySince: v.Node.ReadySince})
		}
	}
	return nodes
}

// returnsTo tells whether a controller that Lockstep plays has to take the node back.
func returnsTo(s *core.Snapshot, node string) bool {
	return slices.ContainsFunc(s.Settings.ActAs, func(a core.ActAs) bool { return TurnOn(s, a, node) == TurnReturn })
}
