package core

import (
	"fmt"
	"slices"
	"time"
)

// noon is the cluster's time in every scene.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// scene builds a Snapshot: a cluster in which everything is live, fresh and at rest, and what a test adds to it.
type scene struct{ *Snapshot }

func newScene() scene {
	s := &Snapshot{Facts: Facts{
		Revision: 1, Now: noon, Wall: noon, Cluster: "mos", Operator: "anna@jump01", Settings: DefaultSettings(),
		Sources: map[SourceID]Source{}, Nodes: map[string]*Node{}, NodeLocks: map[string][]*WorkloadLock{},
		NodeRequests: map[string][]*MaintenanceRequest{}, Deletions: map[string]*NodeNotice{}, Disablings: map[string]*NodeNotice{},
		Pods: map[string]*NodePods{}, Services: map[string]*ComputeService{}, Instances: map[string]*Instance{},
		ByHost: map[string][]*Instance{}, Migrations: map[string][]*Migration{}, Agents: map[string][]*NetworkAgent{},
		VolumeServices: map[string][]*VolumeService{}, Volumes: map[string]*HostVolumes{},
		Deployments: []*OpenStackDeployment{{Meta: Meta{Name: "osh-dev", Namespace: namespaceOpenStack, UID: "osdpl"}}},
		Projects:    map[string]string{"p1": "shop"}, Write: WriteMode{Armed: true, Mine: true},
		History: History{Stages: map[string]StageRecord{}, Locks: map[string]LockRecord{}, Rounds: map[string]Round{}, Changes: map[string]AnnotationChange{}, Tags: map[string]TagChange{}},
	}}
	for _, id := range []SourceID{SourceNodes, SourceClusterLocks, SourceNodeLocks, SourceClusterRequests, SourceNodeRequests,
		SourceDeletionRequests, SourceDisableNotices, SourceOpenStackStatus, SourceOpenStackController, SourceNodePods,
		SourceComputeServices, SourceInstances, SourceMigrations, SourceNetworkAgents, SourceProjects, SourceDaemonSets, SourceRevisions,
		SourceDaemonPods, SourceFabricSets, SourceFabricRevisions, SourceFabricPods, SourceOpenStackDeployment, SourceTempestJob,
		SourceVolumeServices, SourceVolumes, SourceStatefulSets, SourceRedisSets, SourceRedisPods,
		SourceClaims, SourceRedisClaims, SourceLocalVolumes} {
		s.Sources[id] = Source{ID: id, State: SourceLive, Since: ago(time.Hour), AsOf: ago(2 * time.Second)}
	}
	return scene{s}
}

// again is the same facts as a new Snapshot, with nothing derived yet.
func (sc scene) again() scene { return scene{sc.copyFacts()} }

// source puts one source into a state.
func (sc scene) source(id SourceID, state SourceState) {
	src := sc.Sources[id]
	src.State = state
	switch state {
	case SourceForbidden, SourceAbsent, SourceOff, SourceConnecting:
		src.AsOf = time.Time{}
	}
	if state != SourceLive && state != SourceConnecting && state != SourceOff {
		src.Err = &APIError{Kind: ErrForbidden, Server: id.Server(), Call: "list " + string(id), Message: "no"}
	}
	sc.Sources[id] = src
}

// node adds a Ready node with its lock of the OpenStack controller, and a nova-compute when it is a compute.
func (sc scene) node(name string, roles ...Role) *Node {
	n := &Node{Meta: Meta{Name: name, UID: "uid-" + name, Created: ago(900 * time.Hour)}, Roles: roles, Ready: "True",
		ReadySince: ago(500 * time.Hour), Annotations: map[string]string{}, KubeletVersion: "v1.30.14"}
	sc.Nodes[name] = n
	for _, r := range roles {
		switch r {
		case RoleCompute:
			sc.Services[name] = &ComputeService{ID: "svc-" + name, Host: name, Enabled: true, Up: true, Zone: "nova"}
		}
		if r != RoleMaster && r != RoleStorage && sc.NodeLock(name, ControllerOpenStack) == nil {
			sc.lock(name, ControllerOpenStack, LockActive)
		}
	}
	return n
}

// lock adds a NodeWorkloadLock, or a ClusterWorkloadLock when node is empty.
func (sc scene) lock(node, controller string, state LockState) *WorkloadLock {
	l := &WorkloadLock{Meta: Meta{Name: controller + "-" + node, UID: "lock-" + controller + "-" + node, Created: ago(900 * time.Hour)},
		Kind: KindNodeWorkloadLock, Controller: controller, Node: node, RawState: state, Release: "17.4.0+25.1", InnerState: InnerInactive}
	if node == "" {
		l.Kind = KindClusterWorkloadLock
		sc.ClusterLocks = append(sc.ClusterLocks, l)
		return l
	}
	sc.NodeLocks[node] = append(sc.NodeLocks[node], l)
	return l
}

// update begins a cluster update.
func (sc scene) update(begun time.Duration) *MaintenanceRequest {
	r := &MaintenanceRequest{Meta: Meta{Name: "mos", UID: "cmr", Created: ago(begun), Finalizers: heldBy}, Kind: KindClusterMaintenanceRequest, Release: "21.0.0+25.2"}
	sc.ClusterRequests = append(sc.ClusterRequests, r)
	return r
}

// request asks for a node's maintenance.
func (sc scene) request(node string, begun time.Duration) *MaintenanceRequest {
	r := &MaintenanceRequest{Meta: Meta{Name: node, UID: "nmr-" + node, Created: ago(begun), Finalizers: heldBy}, Kind: KindNodeMaintenanceRequest, Node: node,
		Release: "21.0.0+25.2", Scope: ScopeOS}
	sc.NodeRequests[node] = append(sc.NodeRequests[node], r)
	return r
}

// maintained begins the maintenance of a node: request there, the OpenStack controller at work, its text on the lock.
func (sc scene) maintained(node, message string) *WorkloadLock {
	if sc.ClusterRequest() == nil {
		sc.update(2 * time.Hour)
	}
	sc.request(node, 20*time.Minute)
	l := sc.NodeLock(node, ControllerOpenStack)
	l.InnerState = InnerActive
	if message != "" {
		l.Message = ago(time.Minute).Format("2006-01-02 15:04:05.000000") + " " + message
	}
	if s := sc.Services[node]; s != nil {
		s.Enabled, s.DisabledReason = false, DisabledReasonMaintenance
	}
	return l
}

// instance adds a running instance.
func (sc scene) instance(host, name string, tags ...string) *Instance {
	in := &Instance{ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", len(sc.Instances)+1, len(sc.Instances)+1), Name: name, ProjectID: "p1", Host: host,
		Status: "ACTIVE", VMState: "active", Power: PowerRunning, TagsKnown: true, Zone: "nova"}
	for _, t := range tags {
		in.Tags = append(in.Tags, TagMaintenanceAction+t)
	}
	sc.Instances[in.ID] = in
	sc.ByHost[host] = append(sc.ByHost[host], in)
	slices.SortFunc(sc.ByHost[host], func(a, b *Instance) int { return cmpText(a.Name, b.Name) })
	return in
}

func cmpText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// migration adds a migration record, the newest one of its instance.
func (sc scene) migration(in *Instance, status, dest string, begun time.Duration) *Migration {
	m := &Migration{ID: 100 + len(sc.Migrations)*10 + len(sc.Migrations[in.ID]), InstanceID: in.ID, Type: MigrationLive, Status: status, SourceHost: in.Host,
		DestHost: dest, Created: ago(begun), Updated: ago(begun / 2)}
	sc.Migrations[in.ID] = append([]*Migration{m}, sc.Migrations[in.ID]...)
	return m
}

func (sc scene) mode(node string, m MigrationMode) {
	sc.Nodes[node].Annotations[AnnotationMigrationMode] = string(m)
}

// healthy is a cluster of 3 masters that are controllers, 3 computes and a gateway, with an instance on every compute.
func healthy() scene {
	sc := newScene()
	for i := range 3 {
		sc.node(fmt.Sprintf("ctl-%02d", i+1), RoleController, RoleMaster)
	}
	for i := range 3 {
		name := fmt.Sprintf("cmp-%02d", i+1)
		sc.node(name, RoleCompute)
		sc.instance(name, fmt.Sprintf("web-%d", i+1))
	}
	sc.node("gtw-01", RoleGateway)
	sc.lock("", ControllerOpenStack, LockActive)
	sc.lock("", ControllerCeph, LockActive)
	return sc
}
