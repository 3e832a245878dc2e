package forecast

import (
	"cmp"
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
)

// Order are the names of the nodes in the order of the update: masters first, then by the index of the update group and the machines' own;
// without a management cluster by label, which is a guess (docs/mosk.md#order-of-machines). known tells whether it is more than that.
func Order(s *core.Snapshot) (names []string, known bool) {
	o := order.AfterFew(s, orderOf)
	return o.names, o.known
}

var order core.Derivation[ordered]

// ordered is the order of the nodes; nothing of it must be changed.
type ordered struct {
	names  []string
	groups []string // of the names: their update groups; empty where not known
	views  []int    // of the names: where progress.ByNode has their views
	kinds  []roles
	known  bool

	// What it was made of.
	nodes      []string // of which the views are
	management *core.Management
}

// roles is what a forecast takes from the roles of a node. A node that gets others changes everything, so this is looked up once.
type roles struct {
	kind    kind
	compute bool
	narrow  [narrowRoles]bool // by the index in core.OpenStackRoles
	locked  bool              // the OpenStack controller has a lock on it: one with storage alone waits for none of its limits
}

// narrowRoles is how many roles there are of which the OpenStack controller takes so many nodes at once.
const narrowRoles = 3

func rolesOf(n *core.Node) roles {
	r := roles{kind: kindOf(n), compute: n.Is(core.RoleCompute)}
	for i, role := range core.OpenStackRoles() {
		r.narrow[i] = n.Is(role)
		r.locked = r.locked || r.narrow[i]
	}
	return r
}

// isOf tells whether the order is that of the nodes, which is so in nearly each Snapshot.
func (o *ordered) isOf(s *core.Snapshot, nodes []string) bool {
	if len(nodes) == 0 || len(nodes) != len(o.nodes) || &nodes[0] != &o.nodes[0] || s.Management != o.management ||
		len(s.Nodes) != len(o.names) {
		return false
	}
	for i, name := range o.names {
		if n := s.Nodes[name]; n == nil || rolesOf(n) != o.kinds[i] {
			return false
		}
	}
	return true
}

func orderOf(s *core.Snapshot, earlier ordered) ordered {
	nodes := progress.NodeNames(s)
	if earlier.isOf(s, nodes) {
		return earlier
	}
	place, groups := map[string]int{}, map[string]string{}
	if m := s.Management; m != nil && m.Found {
		inv := &core.ManagementInventory{Cluster: m.Name}
		for _, g := range m.Groups {
			inv.Groups = append(inv.Groups, core.UpdateGroup{Name: g.Name, Index: g.Index})
		}
		for _, v := range m.Machines {
			if v.Machine != nil {
				inv.Machines = append(inv.Machines, core.Machine{Name: v.Name, Node: v.Node, Group: v.Machine.Group, Index: v.Machine.UpgradeIndex})
			}
		}
		for i, node := range progress.UpdateOrder(inv) {
			place[node] = i + 1
		}
		for node, v := range m.ByNode {
			if v.Machine != nil {
				groups[node] = cmp.Or(v.Machine.Group, m.Name+"-default")
			}
		}
	}
	o := ordered{known: len(place) > 0, nodes: nodes, management: s.Management}
	for i, name := range nodes {
		if s.Nodes[name] != nil { // locks and requests name others, too
			o.views = append(o.views, i)
		}
	}
	rank := func(view int) (worker, at int) {
		name := nodes[view]
		if !s.Nodes[name].Is(core.RoleMaster) {
			worker = 1
		}
		if at = place[name]; at == 0 {
			at = len(nodes) + 1
		}
		return worker, at
	}
	slices.SortStableFunc(o.views, func(a, b int) int {
		aw, ap := rank(a)
		bw, bp := rank(b)
		return cmp.Or(aw-bw, ap-bp)
	})
	for _, view := range o.views {
		name := nodes[view]
		o.names, o.groups, o.kinds = append(o.names, name), append(o.groups, groups[name]), append(o.kinds, rolesOf(s.Nodes[name]))
	}
	return o
}
