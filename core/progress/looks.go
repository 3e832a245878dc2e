package progress

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core"
)

// Containers of the OpenStack controller whose logs operators read (docs/mosk.md#rockoon).
const (
	ContainerMaintenance = "nodemaintenancerequest"
	ContainerNode        = "node"
	ContainerDeployment  = "osdpl"
)

// namespaceLCM is where LCM runs on the management cluster (docs/mosk.md#when-it-hangs).
const namespaceLCM = "kaas"

// RockoonLog is the log of a container of the OpenStack controller.
func RockoonLog(s *core.Snapshot, container string) core.LogTarget {
	namespace, name := "osh-system", "rockoon"
	if c := s.Controller; c != nil && c.Namespace != "" {
		namespace, name = c.Namespace, c.Name
	}
	return core.LogTarget{Server: core.ServerKubernetes, Namespace: namespace, Part: name + "-", Container: container,
		Label: name + ", " + container}
}

// LCMLog is the log of lcm-controller.
func LCMLog() core.LogTarget {
	return core.LogTarget{Server: core.ServerManagement, Namespace: namespaceLCM, Part: "lcm-controller", Label: "lcm-controller"}
}

// ComputeLog is the log of nova-compute on a node.
func ComputeLog(s *core.Snapshot, node string) core.LogTarget {
	return core.LogTarget{Server: core.ServerKubernetes, Namespace: core.NamespaceOpenStack, Selector: "application=nova,component=compute",
		Node: node, Container: "nova-compute", Label: "nova-compute on " + s.Label(node)}
}

// PodLog is the log of one pod.
func PodLog(namespace, pod string) core.LogTarget {
	return core.LogTarget{Server: core.ServerKubernetes, Namespace: namespace, Pod: pod, Label: "pod " + pod}
}

// CephOperatorLog is the log of Rook's operator. It is scaled to 0 while Ceph is in maintenance (docs/mosk.md#ceph).
func CephOperatorLog() core.LogTarget {
	return core.LogTarget{Server: core.ServerKubernetes, Namespace: core.NamespaceCeph, Part: "rook-ceph-operator",
		Label: "rook-ceph-operator"}
}

// CephLogs are the logs of Ceph's daemons on a node, each kind by itself; with an empty node the monitors and managers of the cluster.
func CephLogs(s *core.Snapshot, node string) []core.LogTarget {
	kinds := []string{"mon", "mgr"}
	if node != "" {
		kinds = []string{"osd", "mon", "mgr"}
	}
	var out []core.LogTarget
	for _, kind := range kinds {
		t := core.LogTarget{Server: core.ServerKubernetes, Namespace: core.NamespaceCeph, Part: "rook-ceph-" + kind + "-", Node: node,
			Container: kind, Label: "Ceph's " + kind}
		if node != "" {
			t.Label += " on " + s.Label(node)
		}
		out = append(out, t)
	}
	return out
}

// FabricLog is the log of the vRouter's pods on a node; with an empty node of the newest ones of the cluster.
func FabricLog(s *core.Snapshot, node string) core.LogTarget {
	t := core.LogTarget{Server: core.ServerKubernetes, Namespace: core.NamespaceFabric, Part: "vrouter", Node: node, Label: "vRouter"}
	if node != "" {
		t.Label += " on " + s.Label(node)
	}
	return t
}

// PodsOf is the choice among the pods of a namespace.
func PodsOf(namespace string) core.PodsTarget {
	return core.PodsTarget{Server: core.ServerKubernetes, Namespace: namespace, Label: "pods in namespace " + namespace}
}

// PodsOn is the choice among the pods of a node.
func PodsOn(s *core.Snapshot, node string) core.PodsTarget {
	return core.PodsTarget{Server: core.ServerKubernetes, Node: node, Label: "pods on " + s.Label(node)}
}

// AnyPod is the choice among all pods of a cluster.
func AnyPod(server core.Server) core.PodsTarget {
	t := core.PodsTarget{Server: server, Label: "any pod"}
	if server == core.ServerManagement {
		t.Label = "any pod of the management cluster"
	}
	return t
}

// HoldingPod is the pod that holds the drain of a node; its name is empty where none does.
func HoldingPod(s *core.Snapshot, node string) core.PodName {
	if s.Management == nil {
		return core.PodName{}
	}
	v := s.Management.ByNode[node]
	if v == nil {
		return core.PodName{}
	}
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d != nil && DrainBlocked(d) {
			if m := ReadDrainMessage(d.Message); m.Pod != "" {
				return core.PodName{Namespace: m.Namespace, Name: m.Pod}
			}
		}
	}
	return core.PodName{}
}

// podsToLookAt are the pods of a node in maintenance that something waits for, the one that holds its drain first.
func podsToLookAt(s *core.Snapshot, node string) []core.PodName {
	const most = 8
	var out []core.PodName
	if p := HoldingPod(s, node); p.Name != "" {
		out = append(out, p)
	}
	if pods := s.Pods[node]; pods != nil {
		for _, p := range pods.NotReady {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out[:min(len(out), most)]
}

// looks are what can be looked at, without repetition: logs first, then events, then objects.
type looks struct {
	s       *core.Snapshot
	logs    []core.Look
	pods    []core.Look
	events  []core.EventTarget
	objects []core.ObjectTarget
}

func (l *looks) log(targets ...core.LogTarget) {
	for _, t := range targets {
		if !slices.ContainsFunc(l.logs, func(have core.Look) bool { return have.Log == t }) {
			l.logs = append(l.logs, t.IsLog())
		}
	}
}

// choose adds choices among pods.
func (l *looks) choose(targets ...core.PodsTarget) {
	for _, t := range targets {
		if !slices.ContainsFunc(l.pods, func(have core.Look) bool { return have.Pods == t }) {
			l.pods = append(l.pods, t.IsPods())
		}
	}
}

// application adds the logs of an application of whose lock or trouble something is said, on a node or (empty) of the cluster.
func (l *looks) application(controller, node string) {
	switch controller {
	case core.ControllerCeph:
		if node != "" {
			l.log(CephLogs(l.s, node)...)
		}
		l.log(CephOperatorLog())
		l.log(CephLogs(l.s, "")...)
		l.choose(PodsOf(core.NamespaceCeph), PodsOf("ceph-lcm-mirantis"))
	case core.ControllerTungstenFabric:
		l.log(FabricLog(l.s, node))
		l.choose(PodsOf(core.NamespaceFabric))
	case core.ControllerStackLight:
		l.choose(PodsOf("stacklight"))
	}
}

// ceph adds Rook's objects, which say how Ceph is.
func (l *looks) ceph() {
	for _, c := range l.s.Ceph {
		l.here(core.Ref{Kind: core.KindCephCluster, Namespace: cmp.Or(c.Namespace, core.NamespaceCeph), Name: c.Name})
	}
}

func (l *looks) object(t core.ObjectTarget) {
	if t.Name == "" || slices.Contains(l.objects, t) {
		return
	}
	l.objects = append(l.objects, t)
	l.events = append(l.events, t.Events())
}

// here adds an object of the MOSK cluster, there one of the management cluster.
func (l *looks) here(r core.Ref)  { l.object(core.TargetOf(core.ServerKubernetes, r)) }
func (l *looks) there(r core.Ref) { l.object(core.TargetOf(core.ServerManagement, r)) }

// of adds an object that is named after a node, and calls it by the node's short name.
func (l *looks) of(node string, r core.Ref) {
	t := core.TargetOf(core.ServerKubernetes, r)
	t.Label = t.Kind + " " + strings.ReplaceAll(t.Name, node, l.s.Label(node))
	l.object(t)
}

// fabric tells whether the cluster has Tungsten Fabric: a DaemonSet in its namespace that has a node.
func (l *looks) fabric() bool {
	return slices.ContainsFunc(l.s.DaemonSets, func(d *core.DaemonSet) bool { return d.Namespace == core.NamespaceFabric && d.Desired > 0 })
}

func (l *looks) managed() bool { return l.s.Management != nil && l.s.Management.Found }

// controllers adds the logs of those that move an update.
func (l *looks) controllers() {
	l.log(RockoonLog(l.s, ContainerMaintenance))
	if l.managed() {
		l.log(LCMLog())
	}
}

func (l *looks) node(name string) {
	s := l.s
	n := s.Nodes[name]
	pods := podsToLookAt(s, name)
	if holds := HoldingPod(s, name); holds.Name != "" {
		l.log(PodLog(holds.Namespace, holds.Name))
	}
	if n != nil && n.Is(core.RoleCompute) {
		l.log(ComputeLog(s, name))
	}
	l.controllers()
	for _, p := range pods {
		l.log(PodLog(p.Namespace, p.Name))
	}
	if n != nil && n.Is(core.RoleStorage) {
		l.log(CephLogs(s, name)...)
	}
	if l.fabric() {
		l.log(FabricLog(s, name))
	}
	l.choose(PodsOn(s, name))
	t := core.ObjectTarget{Server: core.ServerKubernetes, Kind: string(core.KindNode), Name: name, Label: "Node " + s.Label(name)}
	l.object(t)
	for _, r := range s.NodeRequests[name] {
		l.of(name, r.Ref())
	}
	for _, lock := range s.NodeLocks.At(name) {
		l.of(name, lock.Ref())
	}
	for _, p := range pods {
		l.here(core.Ref{Kind: core.KindPod, Namespace: p.Namespace, Name: p.Name})
	}
	if l.managed() {
		if v := s.Management.ByNode[name]; v != nil {
			l.machine(v)
		}
	}
}

func (l *looks) machine(v *core.MachineView) {
	namespace := l.s.Management.Namespace
	if v.Machine != nil {
		l.there(core.Ref{Kind: core.KindMachine, Namespace: namespace, Name: v.Name})
	}
	if v.LCM != nil {
		l.there(core.Ref{Kind: core.KindLCMMachine, Namespace: namespace, Name: v.Name})
	}
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d != nil {
			l.there(core.Ref{Kind: "LCMClusterState", Namespace: namespace, Name: d.Name})
		}
	}
}

// all are the looks in their order; the events of all objects are one.
func (l *looks) all() []core.Look {
	out := slices.Concat(l.logs, l.pods)
	switch n := len(l.events); {
	case n == 1:
		out = append(out, core.Look{Kind: core.LookEvents, What: l.events[0].Label, Events: l.events})
	case n > 1:
		out = append(out, core.Look{Kind: core.LookEvents, What: l.events[0].Label + " and what belongs to it", Events: l.events})
	}
	for _, t := range l.objects {
		out = append(out, t.As(core.LookDescribe), t.As(core.LookYAML))
	}
	return out
}

// LooksAtNode is what can be looked at of a node: logs, its events with those of its locks, requests, machine and pods, objects.
func LooksAtNode(s *core.Snapshot, node string) []core.Look {
	l := &looks{s: s}
	l.node(node)
	return l.all()
}

// LooksAtInstance is what can be looked at of an instance: the logs of its hosts, and its node.
func LooksAtInstance(s *core.Snapshot, id string) []core.Look {
	l := &looks{s: s}
	in := s.Instances.At(id)
	if in == nil {
		return nil
	}
	var hosts []string
	if m := s.LatestMigration(id); m != nil {
		hosts = []string{m.SourceHost, m.DestHost}
	}
	for _, host := range append([]string{in.Host}, hosts...) {
		if n := s.NodeOfHost(host); n != nil {
			l.log(ComputeLog(s, n.Name))
		}
	}
	for i := range l.logs {
		l.logs[i].Find = id // nova-compute names instances by their ID
	}
	l.controllers()
	if n := s.NodeOfHost(in.Host); n != nil {
		l.node(n.Name)
	}
	return l.all()
}

// LooksAtLock is what can be looked at of a lock.
func LooksAtLock(s *core.Snapshot, lock *core.WorkloadLock) []core.Look {
	l := &looks{s: s}
	if lock.Controller == core.ControllerOpenStack {
		l.log(RockoonLog(s, ContainerMaintenance), RockoonLog(s, ContainerNode))
	}
	l.application(lock.Controller, lock.Node)
	l.controllers()
	if lock.Node == "" {
		l.here(lock.Ref())
	} else {
		l.of(lock.Node, lock.Ref())
	}
	if lock.Controller == core.ControllerCeph {
		l.ceph()
	}
	if lock.Node != "" {
		l.node(lock.Node)
	}
	return l.all()
}

// LooksAtUpdate is what can be looked at of the update of the cluster: its controllers' logs, its request, its plan, and what LCM says.
func LooksAtUpdate(s *core.Snapshot) []core.Look {
	l := &looks{s: s}
	if l.managed() {
		l.log(LCMLog())
	}
	l.log(RockoonLog(s, ContainerMaintenance), RockoonLog(s, ContainerDeployment))
	if len(s.Ceph) > 0 {
		l.log(CephOperatorLog())
	}
	l.choose(AnyPod(core.ServerKubernetes))
	if l.managed() {
		l.choose(AnyPod(core.ServerManagement))
	}
	for _, r := range s.ClusterRequests {
		l.here(r.Ref())
	}
	for _, lock := range s.ClusterLocks {
		l.here(lock.Ref())
	}
	for _, st := range s.OpenStack {
		l.here(core.Ref{Kind: core.KindOpenStackDeploymentStatus, Namespace: cmp.Or(st.Namespace, core.NamespaceOpenStack), Name: st.Name})
	}
	if c := s.Controller; c != nil {
		l.here(core.Ref{Kind: core.KindDeployment, Namespace: c.Namespace, Name: c.Name})
	}
	l.ceph()
	if l.managed() {
		m := s.Management
		if p := m.Plan(); p != nil {
			l.there(core.Ref{Kind: core.KindUpdatePlan, Namespace: m.Namespace, Name: p.Name})
		}
		if m.LCM != nil {
			l.there(core.Ref{Kind: core.KindLCMCluster, Namespace: m.Namespace, Name: m.LCM.Name})
		}
		if m.Cluster != nil {
			l.there(core.Ref{Kind: core.KindCluster, Namespace: m.Namespace, Name: m.Cluster.Name})
		}
		for _, g := range m.Groups {
			l.there(g.Ref())
		}
		if m.Pause != nil {
			l.there(m.Pause.Ref())
		}
	}
	return l.all()
}

// LooksAtEntry is what can be looked at of what needs a person: what its commands show comes first.
func LooksAtEntry(s *core.Snapshot, a core.Attention) []core.Look {
	var out []core.Look
	add := func(more ...core.Look) {
		for _, look := range more {
			if !slices.ContainsFunc(out, func(have core.Look) bool { return sameLook(have, look) }) {
				out = append(out, look)
			}
		}
	}
	for _, c := range a.Commands {
		if c.Look != nil {
			add(*c.Look)
		}
	}
	switch {
	case a.Instance != "":
		add(LooksAtInstance(s, a.Instance)...)
	case a.Node != "":
		add(LooksAtNode(s, a.Node)...)
	default:
		add(LooksAtUpdate(s)...)
	}
	slices.SortStableFunc(out, func(a, b core.Look) int { return cmp.Compare(lookRank(a.Kind), lookRank(b.Kind)) })
	return out
}

// lookRank is the place of a kind of look: objects stay in the order of their owners.
func lookRank(k core.LookKind) int {
	switch k {
	case core.LookLog:
		return 0
	case core.LookPods:
		return 1
	case core.LookEvents:
		return 2
	}
	return 3
}

func sameLook(a, b core.Look) bool {
	return a.Kind == b.Kind && a.Log == b.Log && a.Pods == b.Pods && a.Object == b.Object && slices.Equal(a.Events, b.Events)
}
