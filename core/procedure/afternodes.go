package procedure

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func openRequests(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, r := range s.ClusterRequests {
		if r.ByHand() {
			continue // it has a point of its own
		}
		out = append(out, core.Left{Of: wording.OneLine(r.Name, 64), How: beingRemoved(r)})
	}
	return out
}

func openNodeRequests(s *core.Snapshot) []core.Left {
	var out []core.Left
	for name, requests := range s.NodeRequests {
		for _, r := range requests {
			if r.ByHand() {
				continue
			}
			out = append(out, core.Left{Of: wording.OneLine(s.Label(name), 64), How: beingRemoved(r)})
		}
	}
	return sorted(out)
}

// requestsByHand are the maintenance requests that were made by hand and that nobody has withdrawn, those of nodes first.
func requestsByHand(s *core.Snapshot) []*core.MaintenanceRequest {
	var out []*core.MaintenanceRequest
	for _, requests := range s.NodeRequests {
		out = append(out, requests...)
	}
	slices.SortFunc(out, func(a, b *core.MaintenanceRequest) int {
		return cmp.Or(strings.Compare(s.Label(a.Node), s.Label(b.Node)), strings.Compare(a.Name, b.Name))
	})
	out = append(out, s.ClusterRequests...)
	return slices.DeleteFunc(out, func(r *core.MaintenanceRequest) bool { return !r.ByHand() })
}

func openByHand(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, r := range requestsByHand(s) {
		name := "the cluster"
		if r.Node != "" {
			name = wording.OneLine(s.Label(r.Node), 64)
		}
		out = append(out, core.Left{Of: name, How: beingRemoved(r)})
	}
	return out
}

func openClusterLocks(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, l := range s.ClusterLocks {
		if l.State() != core.LockActive {
			out = append(out, core.Left{Of: wording.OneLine(l.Controller, 40), How: wording.OneLine(string(l.State()), 20)})
		}
	}
	return out
}

func openNodeLocks(s *core.Snapshot) []core.Left {
	var out []core.Left
	for name, locks := range s.NodeLocks.All() {
		for _, l := range locks {
			if l.State() != core.LockActive {
				out = append(out, core.Left{Of: wording.OneLine(s.Label(name), 64) + ": " + wording.OneLine(l.Controller, 40),
					How: wording.OneLine(string(l.State()), 20)})
			}
		}
	}
	return sorted(out)
}

// beingRemoved is how a request is left that is to go.
func beingRemoved(r *core.MaintenanceRequest) string {
	return wording.TextIf(r.Deleting.IsZero(), "", "being removed")
}

// sorted are things that are left in the order of their texts.
func sorted(left []core.Left) []core.Left {
	slices.SortFunc(left, func(a, b core.Left) int { return strings.Compare(a.Text(), b.Text()) })
	return left
}

// nodesThat are the nodes of which open says how they are left; of others it says nothing.
func nodesThat(s *core.Snapshot, open func(*core.Node) (how string, left bool)) []core.Left {
	var out []core.Left
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		if how, left := open(n); left {
			out = append(out, core.Left{Of: wording.OneLine(n.Label(), 64), How: how})
		}
	}
	return out
}

func openNodes(s *core.Snapshot) []core.Left {
	return nodesThat(s, func(n *core.Node) (string, bool) {
		return wording.TextOf(wording.OneLine(n.ReadyReason, 60), "not Ready"), n.Ready != "True"
	})
}

func openCordons(s *core.Snapshot) []core.Left {
	return nodesThat(s, func(n *core.Node) (string, bool) { return "", n.Cordoned })
}

func openVersions(s *core.Snapshot) []core.Left {
	newest := progress.NewestKubelet(s)
	return nodesThat(s, func(n *core.Node) (string, bool) {
		// All run the same, or that is not told.
		return wording.OneLine(n.KubeletVersion, 30), newest != "" && n.KubeletVersion != newest && n.KubeletVersion != ""
	})
}
