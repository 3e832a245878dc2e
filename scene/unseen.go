package scene

import "lockstep/core"

// Unseen is the scene to somebody who may not read a source, and has not seen any of it.
func (sc Scene) Unseen(id core.SourceID) Scene {
	sc = sc.Again()
	sources := make(map[core.SourceID]core.Source, len(sc.Sources))
	for each, src := range sc.Sources {
		sources[each] = src
	}
	sc.Sources = sources
	sc.Source(id, core.SourceForbidden)
	pods := func(of func(namespace string) bool) {
		kept := map[string][]*core.DaemonPod{}
		for uid, all := range sc.DaemonPods {
			for _, p := range all {
				if !of(p.Namespace) {
					kept[uid] = append(kept[uid], p)
				}
			}
		}
		sc.DaemonPods = kept
	}
	switch id {
	case core.SourceNodes:
		sc.Nodes = nil
	case core.SourceClusterLocks:
		sc.ClusterLocks = nil
	case core.SourceNodeLocks:
		sc.NodeLocks = core.ByName[[]*core.WorkloadLock]{}
	case core.SourceClusterRequests:
		sc.ClusterRequests = nil
	case core.SourceNodeRequests:
		sc.NodeRequests = nil
	case core.SourceDeletionRequests:
		sc.Deletions = nil
	case core.SourceDisableNotices:
		sc.Disablings = nil
	case core.SourceOpenStackStatus:
		sc.OpenStack = nil
	case core.SourceOpenStackController:
		sc.Controller = nil
	case core.SourceNodePods:
		sc.Pods = nil
	case core.SourceDaemonSets, core.SourceFabricSets:
		var kept []*core.DaemonSet
		for _, d := range sc.DaemonSets {
			if (d.Namespace == core.NamespaceFabric) != (id == core.SourceFabricSets) {
				kept = append(kept, d)
			}
		}
		sc.DaemonSets = kept
	case core.SourceRevisions, core.SourceFabricRevisions:
		sc.DaemonRevisions = nil
	case core.SourceDaemonPods:
		pods(func(namespace string) bool { return namespace == core.NamespaceOpenStack })
	case core.SourceFabricPods:
		pods(func(namespace string) bool { return namespace == core.NamespaceFabric })
	case core.SourceRedisPods:
		pods(func(namespace string) bool { return namespace == core.NamespaceRedis })
	case core.SourceStatefulSets, core.SourceRedisSets:
		var kept []*core.StatefulSet
		for _, d := range sc.StatefulSets {
			if (d.Namespace == core.NamespaceRedis) != (id == core.SourceRedisSets) {
				kept = append(kept, d)
			}
		}
		sc.StatefulSets = kept
	case core.SourceClaims, core.SourceRedisClaims:
		sc.Claims = nil
	case core.SourceLocalVolumes:
		sc.LocalVolumes = nil
	case core.SourceOpenStackDeployment:
		sc.Deployments = nil
	case core.SourceCeph:
		sc.Ceph = nil
	case core.SourceTempestJob:
		sc.TempestJob = nil
	case core.SourceComputeServices:
		sc.Services = nil
	case core.SourceInstances:
		sc.Instances, sc.ByHost = core.Instances{}, nil
	case core.SourceMigrations:
		sc.Migrations = nil
	case core.SourceNetworkAgents:
		sc.Agents = nil
	case core.SourceProjects:
		sc.Projects = nil
	case core.SourceVolumeServices:
		sc.VolumeServices = nil
	case core.SourceVolumes:
		sc.Volumes = nil
	case core.SourceAlertmanager:
		sc.Snapshot.Alertmanager = nil
	default:
		sc.unmanaged(id)
	}
	return sc
}

// unmanaged takes a source of the management cluster away.
func (sc Scene) unmanaged(id core.SourceID) {
	if sc.Management == nil {
		return
	}
	m := *sc.Management
	views := make([]*core.MachineView, 0, len(m.Machines))
	for _, v := range m.Machines {
		own := *v
		switch id {
		case core.SourceMachines:
			own.Machine = nil
		case core.SourceLCMMachines:
			own.LCM, own.Failing, own.Running = nil, nil, nil
		case core.SourceDrains:
			own.Drain, own.Swarm = nil, nil
		}
		if own.Machine != nil || own.LCM != nil {
			views = append(views, &own)
		}
	}
	m.Machines, m.ByNode = views, map[string]*core.MachineView{}
	for _, v := range views {
		m.ByNode[v.Node] = v
	}
	switch id {
	case core.SourceClusters:
		m.Cluster = nil
	case core.SourceLCMClusters:
		m.LCM = nil
	case core.SourcePlans:
		m.Plans = nil
	case core.SourceGroups:
		m.Groups = nil
	case core.SourceAutoPauses:
		m.Pause = nil
	case core.SourceReboots:
		m.Reboot = nil
	case core.SourceReleases:
		m.Release = nil
	case core.SourceManagementUpgrades:
		m.Upgrade = nil
	}
	sc.Management = &m
}
