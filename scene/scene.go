package scene

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
)

// Noon is the cluster's time in every scene.
var Noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// Ago is the time this long before Noon.
func Ago(d time.Duration) time.Time { return Noon.Add(-d) }

// Scene builds a Snapshot: a cluster in which everything is live, fresh and at rest, plus what a test adds.
type Scene struct{ *core.Snapshot }

// NewScene is an empty cluster whose sources are all live.
func NewScene() Scene {
	s := &core.Snapshot{Facts: core.Facts{
		Revision: 1, Now: Noon, Wall: Noon, Cluster: "mos", Operator: "anna@jump01", Settings: core.DefaultSettings(),
		Sources: map[core.SourceID]core.Source{}, Nodes: map[string]*core.Node{},
		NodeRequests: map[string][]*core.MaintenanceRequest{}, Deletions: map[string]*core.NodeNotice{},
		Disablings: map[string]*core.NodeNotice{},
		Pods:       map[string]*core.NodePods{}, Services: map[string]*core.ComputeService{},
		ByHost: map[string][]*core.Instance{}, Migrations: map[string][]*core.Migration{}, Agents: map[string][]*core.NetworkAgent{},
		VolumeServices: map[string][]*core.VolumeService{}, Volumes: map[string]*core.HostVolumes{},
		Deployments: []*core.OpenStackDeployment{{Meta: core.Meta{Name: "osh-dev", Namespace: core.NamespaceOpenStack, UID: "osdpl"}}},
		Projects:    map[string]string{"p1": "shop"}, Write: core.WriteMode{Armed: true, Mine: true},
		History: core.History{Stages: map[string]core.StageRecord{}, Locks: map[string]*core.LockRecord{}, Rounds: map[string]core.Round{},
			Earlier: map[string]core.Round{},
			Changes: map[string]core.AnnotationChange{}, Tags: map[string]core.TagChange{}},
	}}
	for _, id := range []core.SourceID{core.SourceNodes, core.SourceClusterLocks, core.SourceNodeLocks, core.SourceClusterRequests,
		core.SourceNodeRequests,
		core.SourceDeletionRequests, core.SourceDisableNotices, core.SourceOpenStackStatus, core.SourceOpenStackController, core.SourceNodePods,
		core.SourceComputeServices, core.SourceInstances, core.SourceMigrations, core.SourceNetworkAgents, core.SourceProjects,
		core.SourceDaemonSets, core.SourceRevisions,
		core.SourceDaemonPods, core.SourceFabricSets, core.SourceFabricRevisions, core.SourceFabricPods, core.SourceOpenStackDeployment,
		core.SourceTempestJob, core.SourceCeph,
		core.SourceVolumeServices, core.SourceVolumes, core.SourceStatefulSets, core.SourceRedisSets, core.SourceRedisPods,
		core.SourceClaims, core.SourceRedisClaims, core.SourceLocalVolumes} {
		s.Sources[id] = core.Source{ID: id, State: core.SourceLive, Since: Ago(time.Hour), AsOf: Ago(2 * time.Second)}
	}
	return Scene{s}
}

// Again is a new Snapshot of the same facts, with nothing derived yet.
func (sc Scene) Again() Scene { return Scene{sc.CopyFacts()} }

// Source puts one source into a state.
func (sc Scene) Source(id core.SourceID, state core.SourceState) {
	src := sc.Sources[id]
	src.State = state
	switch state {
	case core.SourceForbidden, core.SourceAbsent, core.SourceOff, core.SourceConnecting:
		src.AsOf = time.Time{}
	}
	if state != core.SourceLive && state != core.SourceConnecting && state != core.SourceOff {
		src.Err = &core.APIError{Kind: core.ErrForbidden, Server: id.Server(), Call: "list " + string(id), Message: "no"}
	}
	sc.Sources[id] = src
}

// Node adds a Ready node with its lock of the OpenStack controller, and with a nova-compute if it is a compute.
func (sc Scene) Node(name string, roles ...core.Role) *core.Node {
	n := &core.Node{Meta: core.Meta{Name: name, UID: "uid-" + name, Created: Ago(900 * time.Hour)}, Roles: roles, Ready: "True",
		ReadySince: Ago(500 * time.Hour), Annotations: map[string]string{}, KubeletVersion: "v1.30.14"}
	sc.Nodes[name] = n
	for _, r := range roles {
		switch r {
		case core.RoleCompute:
			sc.Services[name] = &core.ComputeService{ID: "svc-" + name, Host: name, Enabled: true, Up: true, Zone: "nova"}
		}
		if r != core.RoleMaster && r != core.RoleStorage && sc.NodeLock(name, core.ControllerOpenStack) == nil {
			sc.Lock(name, core.ControllerOpenStack, core.LockActive)
		}
	}
	return n
}

// Lock adds a NodeWorkloadLock, or a ClusterWorkloadLock when node is empty.
func (sc Scene) Lock(node, controller string, state core.LockState) *core.WorkloadLock {
	l := &core.WorkloadLock{Meta: core.Meta{Name: controller + "-" + node, UID: "lock-" + controller + "-" + node,
		Created: Ago(900 * time.Hour)},
		Kind: core.KindNodeWorkloadLock, Controller: controller, Node: node, RawState: state, Release: "17.4.0+25.1",
		InnerState: core.InnerInactive}
	if node == "" {
		l.Kind = core.KindClusterWorkloadLock
		sc.ClusterLocks = append(sc.ClusterLocks, l)
		return l
	}
	sc.NodeLocks = sc.NodeLocks.Put(node, append(sc.NodeLocks.At(node), l))
	return l
}

// Update begins a cluster update.
func (sc Scene) Update(begun time.Duration) *core.MaintenanceRequest {
	r := &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Created: Ago(begun), Finalizers: HeldBy},
		Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0+25.2"}
	sc.ClusterRequests = append(sc.ClusterRequests, r)
	return r
}

// Request adds a maintenance request for a node.
func (sc Scene) Request(node string, begun time.Duration) *core.MaintenanceRequest {
	r := &core.MaintenanceRequest{Meta: core.Meta{Name: node, UID: "nmr-" + node, Created: Ago(begun), Finalizers: HeldBy},
		Kind: core.KindNodeMaintenanceRequest, Node: node,
		Release: "21.0.0+25.2", Scope: core.ScopeOS}
	sc.NodeRequests[node] = append(sc.NodeRequests[node], r)
	return r
}

// Maintained begins the maintenance of a node: its request is there, the OpenStack controller works on it, and the lock has the
// text.
func (sc Scene) Maintained(node, message string) *core.WorkloadLock {
	if sc.ClusterRequest() == nil {
		sc.Update(2 * time.Hour)
	}
	sc.Request(node, 20*time.Minute)
	l := sc.NodeLock(node, core.ControllerOpenStack)
	l.InnerState = core.InnerActive
	if message != "" {
		l.Message = Ago(time.Minute).Format("2006-01-02 15:04:05.000000") + " " + message
	}
	if s := sc.Services[node]; s != nil {
		s.Enabled, s.DisabledReason = false, core.DisabledReasonMaintenance
	}
	return l
}

// Instance adds a running instance.
func (sc Scene) Instance(host, name string, tags ...string) *core.Instance {
	in := &core.Instance{ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", sc.Instances.Len()+1, sc.Instances.Len()+1), Name: name, ProjectID: "p1",
		Host:   host,
		Status: "ACTIVE", VMState: "active", Power: core.PowerRunning, TagsKnown: true, Zone: "nova"}
	for _, t := range tags {
		in.Tags = append(in.Tags, core.TagMaintenanceAction+t)
	}
	sc.Instances.Put(in)
	sc.ByHost[host] = append(sc.ByHost[host], in)
	slices.SortFunc(sc.ByHost[host], func(a, b *core.Instance) int { return cmpText(a.Name, b.Name) })
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

// Migration adds a migration record as the newest one of its instance.
func (sc Scene) Migration(in *core.Instance, status, dest string, begun time.Duration) *core.Migration {
	m := &core.Migration{ID: 100 + len(sc.Migrations)*10 + len(sc.Migrations[in.ID]), InstanceID: in.ID, Type: core.MigrationLive,
		Status: status, SourceHost: in.Host,
		DestHost: dest, Created: Ago(begun), Updated: Ago(begun / 2)}
	sc.Migrations[in.ID] = append([]*core.Migration{m}, sc.Migrations[in.ID]...)
	return m
}

// Mode sets a node's migration mode.
func (sc Scene) Mode(node string, m core.MigrationMode) {
	sc.Nodes[node].Annotations[core.AnnotationMigrationMode] = string(m)
}

// Healthy is a cluster of 3 masters that are also controllers, 3 computes and a gateway, with an instance on every compute.
func Healthy() Scene {
	sc := NewScene()
	for i := range 3 {
		sc.Node(fmt.Sprintf("ctl-%02d", i+1), core.RoleController, core.RoleMaster)
	}
	for i := range 3 {
		name := fmt.Sprintf("cmp-%02d", i+1)
		sc.Node(name, core.RoleCompute)
		sc.Instance(name, fmt.Sprintf("web-%d", i+1))
	}
	sc.Node("gtw-01", core.RoleGateway)
	sc.Lock("", core.ControllerOpenStack, core.LockActive)
	sc.Lock("", core.ControllerCeph, core.LockActive)
	return sc
}
