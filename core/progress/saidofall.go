package progress

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core"
)

// saidOfAll is what the nodes and their objects say of all of them.
type saidOfAll struct {
	newestKubelet string         // when the nodes differ
	finalizers    map[string]int // how many objects of nodes bear each that is Rockoon's
	marked        bool           // an object has the controller's note
	requested     string         // the release that the first node's request with one is for
	releases      []string       // that the OpenStack controller's locks have, each once, in the order of the nodes
}

// nodeSays is what a node says of all, in texts that can be compared.
type nodeSays struct {
	kubelet, finalizers string // finalizers are in lines, as releases are
	marked              bool
	requested, releases string
}

var (
	saidByNodes core.Derivation[core.Digest[nodeSays]]
	saidByAll   core.Derivation[saidOfAll]
)

// saidOf is made anew when what a node says of all has changed. Hardly any change is one, and there are thousands of nodes.
func saidOf(s *core.Snapshot) saidOfAll {
	nodes := saidByNodes.After(s, func(s *core.Snapshot, earlier core.Digest[nodeSays]) core.Digest[nodeSays] {
		each := core.DeriveByNode(s, earlier.ByNode, nil, NodeNames(s), nil, func(s *core.Snapshot, name string) (nodeSays, bool) {
			return nodeSaysOf(s, name), false
		})
		return core.DigestOf(s, earlier, each, func(n nodeSays) nodeSays { return n })
	})
	return saidByAll.OfKeyed(s, nodes.Changed, func(s *core.Snapshot) saidOfAll {
		all := saidOfAll{finalizers: map[string]int{}}
		var kubelets []string // hardly ever more than two
		for n := range nodes.ByNode.All() {
			kubelets = addNew(kubelets, n.kubelet)
			for f := range strings.SplitSeq(n.finalizers, "\n") {
				all.finalizers[f]++
			}
			all.marked = all.marked || n.marked
		}
		delete(all.finalizers, "") // of nodes without any
		if len(kubelets) > 1 {
			all.newestKubelet = slices.MaxFunc(kubelets, func(a, b string) int { return cmp.Or(compareVersions(a, b), strings.Compare(a, b)) })
		}
		for _, name := range s.NodeNames() {
			n, _ := nodes.ByNode.Get(name)
			all.requested = cmp.Or(all.requested, n.requested)
			for release := range strings.SplitSeq(n.releases, "\n") {
				all.releases = addNew(all.releases, release)
			}
		}
		return all
	})
}

// addNew adds a text that is not there yet.
func addNew(to []string, text string) []string {
	if text == "" || slices.Contains(to, text) {
		return to
	}
	return append(to, text)
}

func nodeSaysOf(s *core.Snapshot, name string) nodeSays {
	var n nodeSays
	if node := s.Nodes[name]; node != nil {
		n.kubelet = node.KubeletVersion
	}
	var own, releases []string
	for _, r := range s.NodeRequests[name] {
		own = append(own, rockoons(r.Meta, false)...)
		n.marked = n.marked || r.Kept.Marked
	}
	if r := s.NodeRequest(name); r != nil {
		n.requested = r.Release
	}
	for _, l := range s.NodeLocks.At(name) {
		rockoon := l.Controller == core.ControllerOpenStack
		own = append(own, rockoons(l.Meta, rockoon)...)
		if rockoon {
			n.marked = n.marked || l.Kept.Marked
			releases = append(releases, l.Release)
		}
	}
	n.finalizers, n.releases = strings.Join(own, "\n"), strings.Join(releases, "\n")
	return n
}
