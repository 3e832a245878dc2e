package progress

import (
	"slices"

	"lockstep/core"
)

// HostsToWatch are the hosts whose instances matter now, sorted: those of computes in maintenance, and of nodes on which Lockstep
// acts. Moving tells whether something moves there and needs a closer look.
func HostsToWatch(s *core.Snapshot) (hosts []string, moving bool) {
	w := watchedHosts(s)
	hosts, moving = slices.Clone(w.instances), w.moving
	for _, op := range s.Operations {
		if op.State.Ended() {
			continue
		}
		moving = true
		if op.Node != "" {
			hosts = append(hosts, s.HostOf(op.Node))
		}
		for _, item := range op.Items { // a batch over several nodes has a node for each
			if item.Node != "" && !item.State.Ended() && item.State != core.OperationQueued {
				hosts = append(hosts, s.HostOf(item.Node))
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), moving
}

// hostsWatched are the hosts of nodes that the slow sources are asked about, in the order of NodeNames.
type hostsWatched struct {
	instances   []string // of computes in maintenance
	moving      bool     // from one of these
	ownDisks    []string // of nodes whose volumes on their own disks matter to instances elsewhere
	withRouters []string // of nodes that are not computes and have a migration mode
}

// nodeWatched is what of a node says which of its hosts are watched.
type nodeWatched struct {
	host, volumes                      string // its host in Nova and in Cinder; volumes is empty for a node without volumes
	active, instances, moving, routers bool
}

var (
	nodesWatched core.Derivation[core.Digest[nodeWatched]]
	watched      core.Derivation[hostsWatched]
)

// watchedHosts are made anew when something of a node has changed that says which hosts are watched. Most changes are others, and there
// are thousands of nodes.
func watchedHosts(s *core.Snapshot) hostsWatched {
	nodes := nodesWatched.After(s, func(s *core.Snapshot, earlier core.Digest[nodeWatched]) core.Digest[nodeWatched] {
		each := core.DeriveByNode(s, earlier.ByNode, nil, NodeNames(s), ByNode(s), func(of *core.Snapshot, name string) (nodeWatched, bool) {
			return nodeWatchedOf(of, ViewOf(s, name)), false // of s: it is noted in the basis
		})
		return core.DigestOf(s, earlier, each, func(n nodeWatched) nodeWatched { return n })
	})
	return watched.OfKeyed(s, nodes.Changed, func(s *core.Snapshot) hostsWatched {
		var w hostsWatched
		var disksNow []string // of those in maintenance
		for n := range nodes.ByNode.All() {
			if n.instances {
				w.instances, w.moving = append(w.instances, n.host), w.moving || n.moving
			}
			if n.volumes != "" {
				w.ownDisks = append(w.ownDisks, n.volumes)
				if n.active {
					disksNow = append(disksNow, n.volumes)
				}
			}
			if n.routers {
				w.withRouters = append(w.withRouters, n.host)
			}
		}
		if len(w.ownDisks) > ownDisksWatched {
			w.ownDisks = disksNow
		}
		return w
	})
}

func nodeWatchedOf(s *core.Snapshot, v *core.NodeView) nodeWatched {
	n := nodeWatched{host: s.HostOf(v.Name), active: v.Active()}
	n.instances = n.active && (v.Node == nil || v.Node.Is(core.RoleCompute))
	n.moving = n.instances && (v.Stage == core.StageEvacuating || v.Moving > 0)
	if v.Node == nil {
		return n
	}
	if len(s.VolumeServicesOn(v.Name)) > 0 {
		n.volumes = s.VolumeHostOf(v.Name)
	}
	n.routers = v.Node.Annotation(core.AnnotationMigrationMode) != nil && !v.Node.Is(core.RoleCompute)
	return n
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
