package tui

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
)

// The fixture's clocks: the cluster's time, and the wall clock's.
var (
	fixtureNow  = time.Date(2026, 3, 14, 16, 43, 10, 0, time.UTC)
	fixtureWall = time.Date(2026, 3, 14, 17, 0, 0, 0, time.UTC)

	heldByRockoon = []string{"lcm.mirantis.com/rockoon.nodemaintenancerequest-finalizer"}
)

func before(d time.Duration) time.Time { return fixtureNow.Add(-d) }

func seen(d time.Duration) core.Since { return core.Since{At: before(d), Exact: true} }

// world is an update in its fourth phase: one manual node waits, one is being evacuated and has a failure, one comes back, and
// others are done, queued or idle.
func world() *core.Snapshot {
	s := &core.Snapshot{Facts: core.Facts{
		Revision: 7, Now: fixtureNow, Wall: fixtureWall, Cluster: "mos", Operator: "anna@jump01",
		Sources: make(map[core.SourceID]core.Source), Nodes: make(map[string]*core.Node),
		NodeRequests: make(map[string][]*core.MaintenanceRequest),
		Deletions:    make(map[string]*core.NodeNotice), Disablings: make(map[string]*core.NodeNotice),
		Pods: make(map[string]*core.NodePods), Services: make(map[string]*core.ComputeService),
		ByHost:     make(map[string][]*core.Instance),
		Migrations: make(map[string][]*core.Migration), Agents: make(map[string][]*core.NetworkAgent),
		Projects: map[string]string{"p-shop": "shop", "p-science": "science", "p-ci": "ci"},
		History: core.History{Stages: make(map[string]core.StageRecord), Courses: make(map[string]core.Course),
			Locks:  make(map[string]*core.LockRecord),
			Rounds: make(map[string]core.Round), Phases: make(map[core.PhaseID]core.PhaseRecord),
			Changes: make(map[string]core.AnnotationChange)},
		Write:    core.WriteMode{},
		Settings: core.DefaultSettings(),
	}}
	for _, id := range []core.SourceID{core.SourceNodes, core.SourceClusterLocks, core.SourceNodeLocks,
		core.SourceClusterRequests, core.SourceNodeRequests, core.SourceDeletionRequests, core.SourceDisableNotices,
		core.SourceOpenStackStatus, core.SourceOpenStackController, core.SourceNodePods, core.SourceComputeServices,
		core.SourceInstances, core.SourceMigrations, core.SourceNetworkAgents, core.SourceProjects} {
		s.Sources[id] = core.Source{ID: id, State: core.SourceLive, Since: fixtureWall.Add(-time.Hour),
			AsOf: fixtureWall.Add(-3 * time.Second)}
	}
	const update = "cmr-uid"
	s.ClusterRequests = []*core.MaintenanceRequest{{Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0+25.2",
		Scope: core.ScopeOS, Meta: core.Meta{Name: "mos", UID: update, Created: before(161 * time.Minute), Finalizers: heldByRockoon}}}
	s.History.Update = core.UpdateRecord{UID: update, Release: "21.0.0+25.2", From: "17.4.0", Started: before(161 * time.Minute)}
	s.History.Phases = map[core.PhaseID]core.PhaseRecord{
		core.PhaseTrigger:  {Started: seen(161 * time.Minute), Ended: seen(160 * time.Minute)},
		core.PhaseServices: {Started: seen(160 * time.Minute), Ended: seen(87 * time.Minute)},
		core.PhaseMasters:  {Started: seen(87 * time.Minute), Ended: seen(51 * time.Minute)},
		core.PhaseWorkers:  {Started: seen(51 * time.Minute)},
	}
	s.History.Stands = map[core.PhaseID][]core.Standstill{
		core.PhaseServices: {{Cause: core.StandsFailed, Since: seen(120 * time.Minute), Until: before(105 * time.Minute),
			Why: "ceph: failed: 2 of 3 monitors are in quorum"}},
		core.PhaseWorkers: {{Cause: core.StandsForPerson, Since: seen(12 * time.Minute), Why: "cmp-07: manual mode"}}}
	for i, c := range []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric} {
		l := &core.WorkloadLock{Kind: core.KindClusterWorkloadLock, Controller: c, RawState: core.LockInactive,
			Release: "21.0.0+25.2", Meta: core.Meta{Name: c + "-mos", UID: "cwl-" + c, Created: before(900 * time.Hour)}}
		s.ClusterLocks = append(s.ClusterLocks, l)
		s.History.Locks[l.UID] = &core.LockRecord{State: core.LockInactive, Since: seen(time.Duration(90+i) * time.Minute)}
	}
	s.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", Namespace: "openstack"}, State: "APPLIED",
		OpenStackVersion: "epoxy", Release: "21.0.0+25.2", Health: "68/68", LCMProgress: "16/16"}}
	s.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system"}, Replicas: 1, Ready: 1}
	fixtureNodes(s, update)
	fixtureInstances(s)
	s.Operations = []core.Operation{{ID: "op-1", Step: "live-migrate/web-1", Title: "live-migrate web-1", Label: "web-1",
		Node: "kaas-node-cmp07", Instance: instanceID(1), State: core.OperationRunning, Text: "81 %, to cmp-09",
		Started: before(2 * time.Minute)}}
	return s
}

func fixtureNodes(s *core.Snapshot, update string) {
	add := func(short string, roles []core.Role, mode core.MigrationMode) *core.Node {
		n := &core.Node{Meta: core.Meta{Name: "kaas-node-" + short[:3] + short[4:], UID: "uid-" + short, ResourceVersion: "1",
			Created: before(2000 * time.Hour)}, ShortName: short, Roles: roles, Ready: "True", ReadyReason: "KubeletReady",
			ReadySince: before(1000 * time.Hour), Annotations: map[string]string{}, KubeletVersion: "v1.32.4"}
		if mode != "" {
			n.Annotations[core.AnnotationMigrationMode] = string(mode)
		}
		s.Nodes[n.Name] = n
		for _, c := range []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric} {
			s.NodeLocks = s.NodeLocks.Put(n.Name, append(s.NodeLocks.At(n.Name), &core.WorkloadLock{Kind: core.KindNodeWorkloadLock,
				Controller: c, Node: n.Name, RawState: core.LockActive, Release: "21.0.0+25.2",
				Meta: core.Meta{Name: c + "-" + n.Name, UID: "nwl-" + c + "-" + short, Created: before(900 * time.Hour)}}))
		}
		if n.Is(core.RoleCompute) {
			s.Services[n.Name] = &core.ComputeService{ID: "svc-" + short, Host: n.Name, Enabled: true, Up: true, Zone: "nova"}
		}
		return n
	}
	request := func(n *core.Node, ago time.Duration) *core.MaintenanceRequest {
		r := &core.MaintenanceRequest{Kind: core.KindNodeMaintenanceRequest, Node: n.Name, Release: "21.0.0+25.2",
			Scope: core.ScopeOS, Meta: core.Meta{Name: n.Name, UID: "nmr-" + n.ShortName, Created: before(ago), Finalizers: heldByRockoon}}
		s.NodeRequests[n.Name] = []*core.MaintenanceRequest{r}
		return r
	}
	lock := func(n *core.Node, controller string, state core.LockState, ago time.Duration) *core.WorkloadLock {
		l := s.NodeLock(n.Name, controller)
		l.RawState = state
		s.History.Locks[l.UID] = &core.LockRecord{State: state, Since: seen(ago)}
		return l
	}
	inactive := func(n *core.Node, ago time.Duration) {
		lock(n, core.ControllerCeph, core.LockInactive, ago)
		lock(n, core.ControllerTungstenFabric, core.LockInactive, ago)
	}
	stage := func(n *core.Node, st core.Stage, ago time.Duration) {
		s.History.Stages[n.UID] = core.StageRecord{Stage: st, Since: seen(ago)}
		s.History.Courses[n.UID] = s.History.Courses[n.UID].With(core.CourseStage{Stage: st, Since: seen(ago)})
	}
	// through are the stages of a node that is done, each for a part of its maintenance.
	through := func(n *core.Node, began, ended time.Duration, parts ...core.Stage) {
		for i, st := range parts {
			stage(n, st, began-(began-ended)*time.Duration(i)/time.Duration(len(parts)))
		}
	}
	done := func(n *core.Node, began, ended time.Duration) {
		s.History.Rounds[n.UID] = core.Round{Request: "was-" + n.UID, Update: update, Started: before(began), Ended: before(ended), Instances: -1}
		parts := []core.Stage{core.StagePreparing, core.StageDraining, core.StageUpdating, core.StageUpdating, core.StageRebooting,
			core.StageReturning}
		if n.Is(core.RoleCompute) {
			parts = slices.Insert(parts, 1, core.StageEvacuating, core.StageEvacuating)
		}
		through(n, began, ended, parts...)
		stage(n, core.StageDone, ended)
	}
	compute, gateway, control := []core.Role{core.RoleCompute}, []core.Role{core.RoleGateway}, []core.Role{core.RoleController,
		core.RoleMaster}
	for i := range 3 {
		n := add(fmt.Sprintf("ctl-%02d", i+1), control, "")
		s.NodeLocks = s.NodeLocks.Put(n.Name, s.NodeLocks.At(n.Name)[:2])
		done(n, time.Duration(87-8*i)*time.Minute, time.Duration(79-8*i)*time.Minute)
	}
	for i := range 2 {
		n := add(fmt.Sprintf("gtw-%02d", i+1), gateway, "")
		stage(n, core.StageIdle, 1000*time.Hour)
	}
	modes := map[int]core.MigrationMode{2: core.ModeSkip, 7: core.ModeManual}
	for i := 1; i <= 12; i++ {
		n := add(fmt.Sprintf("cmp-%02d", i), compute, modes[i])
		switch {
		case i <= 2:
			done(n, time.Duration(90-20*i)*time.Minute, time.Duration(72-20*i)*time.Minute)
		case i == 6:
			n.Cordoned = true
			r := request(n, 30*time.Minute)
			r.Deleting = before(3 * time.Minute)
			inactive(n, 25*time.Minute)
			lock(n, core.ControllerCeph, core.LockActive, time.Minute)
			lock(n, core.ControllerOpenStack, core.LockInactive, 20*time.Minute)
			s.Services[n.Name].Enabled, s.Services[n.Name].DisabledReason = false, core.DisabledReasonMaintenance
			s.Agents[n.Name] = []*core.NetworkAgent{{ID: "agent-6", Host: n.Name, Type: "Open vSwitch agent", AdminUp: true,
				Heartbeat: before(4 * time.Minute)}}
			through(n, 30*time.Minute, 3*time.Minute, core.StagePreparing, core.StageEvacuating, core.StageWaiting, core.StageEvacuating,
				core.StageDraining, core.StageUpdating, core.StageRebooting)
			s.History.Courses[n.UID][2].Why = "manual mode: the operator moves the instances"
			stage(n, core.StageReturning, 3*time.Minute)
		case i == 7:
			request(n, 13*time.Minute)
			inactive(n, 12*time.Minute)
			l := lock(n, core.ControllerOpenStack, core.LockActive, 900*time.Hour)
			l.InnerState = core.InnerActive
			l.Message = fmt.Sprintf("2026-03-14 16:41:00 Some servers are still present on the host. Notify owners of the following server: "+
				"[%s] that maintenance is requested. Servers with unset maintenance action: [%s]", "'"+instanceID(3)+"'", "'"+instanceID(2)+"'")
			stage(n, core.StagePreparing, 13*time.Minute)
			stage(n, core.StageWaiting, 12*time.Minute)
			s.History.Rounds[n.UID] = core.Round{Request: "nmr-cmp-07", Update: update, Started: before(13 * time.Minute), Instances: 6}
		case i == 8:
			request(n, 40*time.Second)
			stage(n, core.StageQueued, 40*time.Second)
		case i == 11:
			request(n, 22*time.Minute)
			inactive(n, 21*time.Minute)
			lock(n, core.ControllerOpenStack, core.LockActive, 900*time.Hour).InnerState = core.InnerActive
			s.Services[n.Name].Enabled, s.Services[n.Name].DisabledReason = false, core.DisabledReasonMaintenance
			stage(n, core.StageEvacuating, 22*time.Minute)
			s.History.Rounds[n.UID] = core.Round{Request: "nmr-cmp-11", Update: update, Started: before(22 * time.Minute), Instances: 15}
		default:
			stage(n, core.StageIdle, 1000*time.Hour)
		}
	}
}

func instanceID(n int) string {
	return fmt.Sprintf("%08x-8a3c-4f10-9d2e-5b1f0c7a%04x", 0x0ab4dd8f+n*0x01010101, n)
}

func fixtureInstances(s *core.Snapshot) {
	n := 0
	add := func(name, host, project, status string, power core.PowerState, vcpus, ramGiB int, tags ...string) *core.Instance {
		n++
		i := &core.Instance{ID: instanceID(n), Name: name, ProjectID: project, Host: "kaas-node-cmp" + host, Status: status,
			VMState: "active", Power: power, Tags: tags, TagsKnown: true, Zone: "nova", Created: before(400 * time.Hour),
			Updated: before(20 * time.Hour), SharedFlavor: &core.Flavor{Name: fmt.Sprintf("m1.c%d", vcpus), VCPUs: vcpus, RAMMiB: ramGiB << 10,
				DiskGiB: 40}}
		s.Instances.Put(i)
		s.ByHost[i.Host] = append(s.ByHost[i.Host], i)
		return i
	}
	notify := core.TagMaintenanceAction + string(core.ActionNotify)
	live := core.TagMaintenanceAction + string(core.ActionLiveMigrate)
	web := add("web-1", "07", "p-shop", "MIGRATING", core.PowerRunning, 4, 8, live)
	web.TaskState = "migrating"
	db := add("db-2", "07", "p-shop", "ACTIVE", core.PowerRunning, 8, 64)
	add("batch-17", "07", "p-science", "ACTIVE", core.PowerRunning, 2, 4, notify)
	off := add("old-ci", "07", "p-ci", "SHUTOFF", core.PowerShutdown, 2, 4)
	off.VMState = "stopped"
	s.Migrations[web.ID] = []*core.Migration{{ID: 41, UUID: "m-41", InstanceID: web.ID, Type: core.MigrationLive, Status: "running",
		SourceHost: web.Host, DestHost: "kaas-node-cmp09", Created: before(2 * time.Minute), Updated: before(time.Second),
		Memory: &core.Progress{Total: 8 << 30, Processed: 7 << 30, Remaining: (8 << 30) * 19 / 100}}}
	s.Migrations[db.ID] = []*core.Migration{
		{ID: 40, UUID: "m-40", InstanceID: db.ID, Type: core.MigrationLive, Status: "error", SourceHost: db.Host,
			Created: before(5 * time.Minute), Updated: before(4 * time.Minute), Failure: "No valid host was found. There are not enough hosts " +
				"available."},
		{ID: 39, UUID: "m-39", InstanceID: db.ID, Type: core.MigrationLive, Status: "error", SourceHost: db.Host,
			Created: before(9 * time.Minute), Updated: before(8 * time.Minute), Failure: "No valid host was found. There are not enough hosts " +
				"available."},
	}
	for i := range 9 {
		add(fmt.Sprintf("app-%d", i+1), "11", "p-shop", "ACTIVE", core.PowerRunning, 2, 4)
	}
	for _, host := range []string{"01", "02", "03", "04", "05", "08", "09", "10", "12"} {
		for i := range 4 {
			add(fmt.Sprintf("vm-%s-%d", host, i+1), host, "p-science", "ACTIVE", core.PowerRunning, 2, 4)
		}
	}
}
