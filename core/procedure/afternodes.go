package procedure

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

func openRequests(s *core.Snapshot) []string {
	var out []string
	for _, r := range s.ClusterRequests {
		if r.ByHand() {
			continue // it has a point of its own
		}
		out = append(out, wording.OneLine(r.Name, 64)+wording.TextIf(r.Deleting.IsZero(), "", " (being removed)"))
	}
	return out
}

func openNodeRequests(s *core.Snapshot) []string {
	var out []string
	for name, requests := range s.NodeRequests {
		for _, r := range requests {
			if r.ByHand() {
				continue
			}
			out = append(out, wording.OneLine(s.Label(name), 64)+wording.TextIf(r.Deleting.IsZero(), "", " (being removed)"))
		}
	}
	slices.Sort(out)
	return out
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

func openByHand(s *core.Snapshot) []string {
	var out []string
	for _, r := range requestsByHand(s) {
		name := "the cluster"
		if r.Node != "" {
			name = wording.OneLine(s.Label(r.Node), 64)
		}
		out = append(out, name+wording.TextIf(r.Deleting.IsZero(), "", " (being removed)"))
	}
	return out
}

func openClusterLocks(s *core.Snapshot) []string {
	var out []string
	for _, l := range s.ClusterLocks {
		if l.State() != core.LockActive {
			out = append(out, wording.OneLine(l.Controller, 40)+" ("+wording.OneLine(string(l.State()), 20)+")")
		}
	}
	return out
}

func openNodeLocks(s *core.Snapshot) []string {
	var out []string
	for name, locks := range s.NodeLocks {
		for _, l := range locks {
			if l.State() != core.LockActive {
				out = append(out, wording.OneLine(s.Label(name), 64)+": "+wording.OneLine(l.Controller, 40)+" ("+wording.OneLine(string(l.State()), 20)+
					")")
			}
		}
	}
	slices.Sort(out)
	return out
}

// nodesThat are the labels of the nodes for which open returns a text, with that text.
func nodesThat(s *core.Snapshot, open func(*core.Node) string) []string {
	var out []string
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		if text := open(n); text != "" {
			out = append(out, wording.OneLine(n.Label(), 64)+text)
		}
	}
	return out
}

func openNodes(s *core.Snapshot) []string {
	return nodesThat(s, func(n *core.Node) string {
		if n.Ready == "True" {
			return ""
		}
		return " (" + wording.TextOf(wording.OneLine(n.ReadyReason, 60), "not Ready") + ")"
	})
}

func openCordons(s *core.Snapshot) []string {
	return nodesThat(s, func(n *core.Node) string { return wording.TextIf(n.Cordoned, " is", "") })
}

func openVersions(s *core.Snapshot) []string {
	newest := progress.NewestKubelet(s)
	return nodesThat(s, func(n *core.Node) string {
		if newest == "" || n.KubeletVersion == newest || n.KubeletVersion == "" { // all run the same, or that is not told
			return ""
		}
		return " (" + wording.OneLine(n.KubeletVersion, 30) + ")"
	})
}
