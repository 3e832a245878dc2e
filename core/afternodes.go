package core

import (
	"cmp"
	"slices"
	"strings"
)

func (s *Snapshot) openRequests() []string {
	var out []string
	for _, r := range s.ClusterRequests {
		if r.ByHand() {
			continue // it has a point of its own
		}
		out = append(out, oneLine(r.Name, 64)+textIf(r.Deleting.IsZero(), "", " (being removed)"))
	}
	return out
}

func (s *Snapshot) openNodeRequests() []string {
	var out []string
	for name, requests := range s.NodeRequests {
		for _, r := range requests {
			if r.ByHand() {
				continue
			}
			out = append(out, oneLine(s.Label(name), 64)+textIf(r.Deleting.IsZero(), "", " (being removed)"))
		}
	}
	slices.Sort(out)
	return out
}

// requestsByHand are the maintenance requests that were made by hand and that nobody has withdrawn, those of nodes first.
func (s *Snapshot) requestsByHand() []*MaintenanceRequest {
	var out []*MaintenanceRequest
	for _, requests := range s.NodeRequests {
		out = append(out, requests...)
	}
	slices.SortFunc(out, func(a, b *MaintenanceRequest) int {
		return cmp.Or(strings.Compare(s.Label(a.Node), s.Label(b.Node)), strings.Compare(a.Name, b.Name))
	})
	out = append(out, s.ClusterRequests...)
	return slices.DeleteFunc(out, func(r *MaintenanceRequest) bool { return !r.ByHand() })
}

func (s *Snapshot) openByHand() []string {
	var out []string
	for _, r := range s.requestsByHand() {
		name := "the cluster"
		if r.Node != "" {
			name = oneLine(s.Label(r.Node), 64)
		}
		out = append(out, name+textIf(r.Deleting.IsZero(), "", " (being removed)"))
	}
	return out
}

func (s *Snapshot) openClusterLocks() []string {
	var out []string
	for _, l := range s.ClusterLocks {
		if l.State() != LockActive {
			out = append(out, oneLine(l.Controller, 40)+" ("+oneLine(string(l.State()), 20)+")")
		}
	}
	return out
}

func (s *Snapshot) openNodeLocks() []string {
	var out []string
	for name, locks := range s.NodeLocks {
		for _, l := range locks {
			if l.State() != LockActive {
				out = append(out, oneLine(s.Label(name), 64)+": "+oneLine(l.Controller, 40)+" ("+oneLine(string(l.State()), 20)+")")
			}
		}
	}
	slices.Sort(out)
	return out
}

// nodesThat are the labels of the nodes of which open says something.
func (s *Snapshot) nodesThat(open func(*Node) string) []string {
	var out []string
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		if text := open(n); text != "" {
			out = append(out, oneLine(n.Label(), 64)+text)
		}
	}
	return out
}

func (s *Snapshot) openNodes() []string {
	return s.nodesThat(func(n *Node) string {
		if n.Ready == "True" {
			return ""
		}
		return " (" + textOf(oneLine(n.ReadyReason, 60), "not Ready") + ")"
	})
}

func (s *Snapshot) openCordons() []string {
	return s.nodesThat(func(n *Node) string { return textIf(n.Cordoned, " is", "") })
}

func (s *Snapshot) openVersions() []string {
	newest := newestKubelet(s.Nodes)
	return s.nodesThat(func(n *Node) string {
		if newest == "" || n.KubeletVersion == newest || n.KubeletVersion == "" { // all run the same, or that is not told
			return ""
		}
		return " (" + oneLine(n.KubeletVersion, 30) + ")"
	})
}
