package core

import "slices"

// HostsToWatch are the hosts whose instances matter now, sorted: those of computes in maintenance, and of nodes on which
// Lockstep does something. Moving tells whether something moves there, and is worth a closer look.
func HostsToWatch(s *Snapshot) (hosts []string, moving bool) {
	for _, v := range s.NodeViews() {
		if !v.Active() || v.Node != nil && !v.Node.Is(RoleCompute) {
			continue
		}
		hosts = append(hosts, s.HostOf(v.Name))
		if v.Stage == StageEvacuating || v.Moving > 0 {
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

// NodesWithPodsToWatch are the nodes whose pods matter now, sorted: those in maintenance, and those that are cordoned
// while an update runs.
func NodesWithPodsToWatch(s *Snapshot) []string {
	update := s.ClusterRequest() != nil
	var names []string
	for _, v := range s.NodeViews() {
		if v.Node == nil {
			continue
		}
		if v.Active() && v.Stage != StageQueued || s.returnsTo(v.Name) || update && v.Node.Cordoned {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names
}

// returnsTo tells whether a controller that Lockstep plays has to take the node back.
func (s *Snapshot) returnsTo(node string) bool {
	return slices.ContainsFunc(s.Settings.ActAs, func(a ActAs) bool { return s.actTurn(a, node) == turnReturn })
}
