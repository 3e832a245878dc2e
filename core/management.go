package core

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core/wording"
)

// Management is what the management cluster shows of this cluster, joined: its Cluster, its machines with what LCM does on each, its
// update plan. It is immutable.
type Management struct {
	Found     bool   // this cluster is one of its clusters
	Elsewhere bool   // the cluster that the place names has machines that are nodes, and none of them is here: it is another one
	Namespace string // the project; empty when it was not found
	Name      string // of the Cluster; empty when it was not found

	Cluster  *ManagedCluster // nil when it was not seen
	LCM      *LCMCluster     // nil when it was not seen
	Machines []*MachineView  // by name
	Plans    []*UpdatePlan   // by name
	Groups   []*MachineGroup // by index, then name
	Pause    *AutoPause      // nil when there is none
	Reboot   *RebootRequest  // nil when there is none

	Release *ManagementRelease // of the management cluster itself; nil when it was not seen
	Upgrade *ManagementUpgrade // nil when there is none

	Seen int // machines that were seen, of all clusters

	ByNode map[string]*MachineView
	byName map[string]*MachineView
}

// MachineView is a Machine with its LCMMachine. At least one of Machine and LCM is set.
type MachineView struct {
	Name    string // the machine's
	Node    string // the Kubernetes node's name; empty when it has none
	Machine *ManagedMachine
	LCM     *LCMMachine
	Drain   *DrainState // of the pods; nil when there is none
	Swarm   *DrainState // of Docker Swarm

	Failing *StateItem // the item whose last run failed; nil when there is none
	Running *StateItem // the item that runs now
}

// Called is "machine m-7".
func (v *MachineView) Called() string { return "machine " + wording.OneLine(v.Name, 64) }

// MachineCalled is the machine of that name; nil when not known.
func (m *Management) MachineCalled(name string) *MachineView {
	if m == nil {
		return nil
	}
	return m.byName[name]
}

// HasMachines tells whether a machine has the label of the update group.
func (m *Management) HasMachines(group string) bool {
	return slices.ContainsFunc(m.Machines, func(v *MachineView) bool { return v.Machine != nil && v.Machine.Group == group })
}

// GroupOf is the UpdateGroup of that name; nil when not known.
func (m *Management) GroupOf(name string) *MachineGroup {
	for _, g := range m.Groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// GroupNameOf is the name of the UpdateGroup that the machine belongs to: that of its label, or the default one of its role
// (docs/mosk.md#update-groups).
func (m *Management) GroupNameOf(machine *ManagedMachine) string {
	switch {
	case machine.Control:
		return m.ControlGroup()
	case machine.Group != "":
		return machine.Group
	}
	return m.DefaultGroup()
}

// DefaultGroup is the name of the group of the workers that have no label of a group.
func (m *Management) DefaultGroup() string { return m.Name + "-default" }

// ControlGroup is the name of the group of the control plane, which is always updated first.
func (m *Management) ControlGroup() string { return m.Name + "-control" }

// InGroup are the machines of an update group in the order of their update: by their upgrade index, those without one last
// (docs/mosk.md#order-of-machines). Machines of one index have no order; they are by name.
func (m *Management) InGroup(group string) []*MachineView {
	return m.ByGroup()[group]
}

// ByGroup are the machines of each update group that has some, in the order of InGroup.
func (m *Management) ByGroup() map[string][]*MachineView {
	all := map[string][]*MachineView{}
	for _, v := range m.Machines {
		if v.Machine != nil {
			name := m.GroupNameOf(v.Machine)
			all[name] = append(all[name], v)
		}
	}
	for _, in := range all {
		byUpgradeIndex(in)
	}
	return all
}

func byUpgradeIndex(in []*MachineView) {
	slices.SortStableFunc(in, func(a, b *MachineView) int {
		x, y := a.Machine.UpgradeIndex, b.Machine.UpgradeIndex
		switch {
		case x == y:
			return strings.Compare(a.Name, b.Name)
		case x == 0:
			return 1
		case y == 0:
			return -1
		}
		return cmp.Compare(x, y)
	})
}

// Plan is the update plan that runs or comes next, else the one that was completed last; nil when there is none. A plan that begins at
// another release than the Cluster's comes next only where there is no other. Of several that come next, the one that leads to the release
// that the Cluster is to be at counts, else the first by name.
func (m *Management) Plan() *UpdatePlan {
	if m == nil {
		return nil
	}
	var found *UpdatePlan
	const completed = 1
	rank := func(p *UpdatePlan) int {
		switch {
		case p.skipped(m.Cluster):
			return 0
		case p.UnderWay():
			return 4
		case p.Status == PlanScheduled:
			return 3
		case p.Status != PlanCompleted:
			return 2
		}
		return completed
	}
	wanted := func(p *UpdatePlan) bool { return m.Cluster != nil && p.Target != "" && p.Target == m.Cluster.Target }
	for _, p := range m.Plans {
		switch {
		case found == nil || rank(p) > rank(found):
			found = p
		case rank(p) < rank(found):
		case rank(p) == completed:
			if p.Completed.After(found.Completed) {
				found = p
			}
		case wanted(p) && !wanted(found):
			found = p
		}
	}
	return found
}

// PlansBeside are the other plans that lead on from where the Cluster is, while neither plan has begun: which of them LCM is to follow is
// said by whoever commences its first step.
func (m *Management) PlansBeside(plan *UpdatePlan) []*UpdatePlan {
	if m == nil || m.Cluster == nil || plan == nil || plan.UnderWay() {
		return nil
	}
	var out []*UpdatePlan
	for _, p := range m.Plans {
		if p != plan && p.Target != plan.Target && !p.UnderWay() && p.Status != PlanCompleted && p.FromHere(m.Cluster) {
			out = append(out, p)
		}
	}
	return out
}

// MachinesMoved are the nodes of the machines of which something is not as it was before; empty for a machine without a node. only tells
// whether nothing else has changed: there are the same machines on the same nodes and in the same order of the update, and all other
// objects are as they were.
func (m *Management) MachinesMoved(before *Management) (nodes []string, only bool) {
	if m == nil || before == nil {
		return nil, m == before
	}
	if m.Found != before.Found || m.Elsewhere != before.Elsewhere || m.Namespace != before.Namespace || m.Name != before.Name ||
		m.Cluster != before.Cluster || m.LCM != before.LCM || m.Pause != before.Pause || m.Reboot != before.Reboot ||
		m.Release != before.Release || m.Upgrade != before.Upgrade || m.Seen != before.Seen || !slices.Equal(m.Plans, before.Plans) ||
		!slices.Equal(m.Groups, before.Groups) || len(m.Machines) != len(before.Machines) || len(m.ByNode) != len(before.ByNode) {
		return nil, false
	}
	for i, v := range m.Machines {
		was := before.Machines[i]
		if v.Name != was.Name || v.Node != was.Node || !v.Machine.samePlace(was.Machine) {
			return nil, false
		}
		if v.Machine != was.Machine || v.LCM != was.LCM || v.Drain != was.Drain || v.Swarm != was.Swarm {
			nodes = append(nodes, v.Node)
		}
	}
	return nodes, true
}

// samePlace tells whether two states of a machine have the same place in the order of the update. Both can be nil.
func (m *ManagedMachine) samePlace(other *ManagedMachine) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.UID == other.UID && m.Control == other.Control && m.Group == other.Group && m.UpgradeIndex == other.UpgradeIndex
}

// clusterKey names a Cluster of the management cluster.
type clusterKey struct{ namespace, name string }

// JoinManagement joins a management cluster's objects to the nodes of one of its clusters: the one that the place names, or the one
// with these nodes. The objects can be of any cluster and in any order; nodes are by name.
func JoinManagement(place ManagementPlace, nodes map[string]*Node, objects ...Object) *Management {
	machines, lcm, clusters := ofType[*ManagedMachine](objects), ofType[*LCMMachine](objects), ofType[*ManagedCluster](objects)
	m := &Management{Seen: max(len(machines), len(lcm)), ByNode: map[string]*MachineView{}, byName: map[string]*MachineView{}}
	m.joinReleases(objects)
	key, ok, elsewhere := thisCluster(place, clusters, machines, lcm, nodes)
	if m.Elsewhere = elsewhere; ok {
		m.join(key, nodes, objects)
	}
	return m
}

// JoinCluster joins a management cluster's objects to the Cluster of that name and namespace, also while that is not seen itself: the
// others name it. No nodes are known.
func JoinCluster(namespace, name string, objects ...Object) *Management {
	m := JoinManagement(ManagementPlace{Namespace: namespace, Cluster: name}, nil, objects...)
	if !m.Found {
		m.join(clusterKey{namespace, name}, nil, objects)
	}
	return m
}

// join takes the objects of one cluster.
func (m *Management) join(key clusterKey, nodes map[string]*Node, objects []Object) {
	machines, lcm := ofType[*ManagedMachine](objects), ofType[*LCMMachine](objects)
	m.Found = true
	m.Namespace, m.Name = key.namespace, key.name
	mine := func(meta Meta, cluster string) bool { return meta.Namespace == key.namespace && cluster == key.name }
	for _, c := range ofType[*ManagedCluster](objects) {
		if mine(c.Meta, c.Name) {
			m.Cluster = c
		}
	}
	for _, c := range ofType[*LCMCluster](objects) {
		if mine(c.Meta, c.Name) {
			m.LCM = c
		}
	}
	view := func(name string) *MachineView {
		v := m.byName[name]
		if v == nil {
			v = &MachineView{Name: name}
			m.byName[name] = v
			m.Machines = append(m.Machines, v)
		}
		return v
	}
	for _, o := range machines {
		if mine(o.Meta, o.Cluster) {
			v := view(o.Name)
			v.Machine, v.Node = o, o.Node
		}
	}
	for _, o := range lcm {
		if mine(o.Meta, o.Cluster) {
			v := view(o.Name)
			v.LCM = o
			v.Node = cmp.Or(v.Node, o.Hostname)
			for i := range o.Items {
				if o.Items[i].Failing() {
					v.Failing = &o.Items[i]
				}
				if o.Items[i].Running() {
					v.Running = &o.Items[i]
				}
			}
		}
	}
	slices.SortFunc(m.Machines, func(a, b *MachineView) int { return strings.Compare(a.Name, b.Name) })
	m.joinNodes(nodes)
	for _, d := range ofType[*DrainState](objects) {
		v := m.byName[d.Machine]
		if v == nil {
			v = m.ByNode[d.Machine]
		}
		switch {
		case v == nil || !mine(d.Meta, d.Cluster):
		case d.Type == DrainKubernetes:
			v.Drain = d
		default:
			v.Swarm = d
		}
	}
	for _, p := range ofType[*UpdatePlan](objects) {
		if mine(p.Meta, p.Cluster) {
			m.Plans = append(m.Plans, p)
		}
	}
	for _, g := range ofType[*MachineGroup](objects) {
		if mine(g.Meta, g.Cluster) {
			m.Groups = append(m.Groups, g)
		}
	}
	for _, p := range ofType[*AutoPause](objects) {
		if mine(p.Meta, p.Name) { // it has its cluster's name
			m.Pause = p
		}
	}
	for _, r := range ofType[*RebootRequest](objects) {
		if mine(r.Meta, r.Name) { // it has its cluster's name
			m.Reboot = r
		}
	}
	slices.SortFunc(m.Plans, func(a, b *UpdatePlan) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Groups, func(a, b *MachineGroup) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Name, b.Name))
	})
}

func ofType[T Object](objects []Object) []T {
	var out []T
	for _, o := range objects {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// joinNodes finds each machine's node: by its nodeRef or, when that is missing, by the host name that its agent reports, or by the
// node's label with the machine's name (docs/mosk.md#lcmmachine, #cluster-and-machine).
func (m *Management) joinNodes(nodes map[string]*Node) {
	byLabel := map[string]string{}
	for _, n := range nodes {
		if n.ShortName != "" {
			byLabel[n.ShortName] = n.Name
		}
	}
	for _, v := range m.Machines {
		if nodes[v.Node] == nil {
			v.Node = cmp.Or(byLabel[v.Name], v.Node)
		}
		if v.Node != "" {
			m.ByNode[v.Node] = v
		}
	}
}

// thisCluster is the Cluster to which the nodes belong: the one with most of them among those that the place allows, or the one that
// the place names when none of its machines is a node here. other: all that the place names have machines that are nodes, and none is here.
func thisCluster(place ManagementPlace, clusters []*ManagedCluster, machines []*ManagedMachine, lcm []*LCMMachine,
	nodes map[string]*Node) (key clusterKey, found, other bool) {
	allowed := func(k clusterKey) bool {
		return k.name != "" && (place.Namespace == "" || place.Namespace == k.namespace) && (place.Cluster == "" || place.Cluster == k.name)
	}
	type machine struct{ namespace, name string }
	counted := map[machine]bool{}
	votes := map[clusterKey]int{}
	vote := func(meta Meta, cluster, node string) {
		k := clusterKey{meta.Namespace, cluster}
		if one := (machine{meta.Namespace, meta.Name}); allowed(k) && nodes[node] != nil && !counted[one] {
			counted[one] = true
			votes[k]++
		}
	}
	for _, o := range machines {
		vote(o.Meta, o.Cluster, o.Node)
	}
	for _, o := range lcm {
		vote(o.Meta, o.Cluster, o.Hostname)
	}
	var best clusterKey
	for k, n := range votes {
		if n > votes[best] || n == votes[best] && (k.namespace+"/"+k.name < best.namespace+"/"+best.name) {
			best = k
		}
	}
	if votes[best] > 0 {
		return best, true, false
	}
	if place.Cluster == "" {
		return clusterKey{}, false, false
	}
	// The named cluster counts only while none of its machines says which node it is. Once they do and none is here, the nodes are another
	// cluster's: its plan must not be driven by what these show.
	elsewhere := map[clusterKey]bool{}
	if len(nodes) > 0 {
		for _, o := range machines {
			if o.Node != "" {
				elsewhere[clusterKey{o.Namespace, o.Cluster}] = true
			}
		}
	}
	for _, c := range clusters {
		k := clusterKey{c.Namespace, c.Name}
		switch {
		case !allowed(k):
		case elsewhere[k]:
			other = true
		case best.name == "" || k.namespace < best.namespace:
			best = k
		}
	}
	return best, best.name != "", other && best.name == ""
}
