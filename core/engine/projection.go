package engine

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"lockstep/core"
)

// project fills a Snapshot with the facts. It shares prev's projections where nothing has changed.
func (w *world) project(s, prev *core.Snapshot) {
	s.Sources = maps.Clone(w.sources)
	p := projection{w: w}
	p.own(core.SourceClusterLocks, func() {
		s.ClusterLocks = values[*core.WorkloadLock](w, core.SourceClusterLocks)
		slices.SortFunc(s.ClusterLocks, lockOrder)
	},
		func() { s.ClusterLocks = prev.ClusterLocks }, prev)
	var before core.Facts
	if prev != nil {
		before = prev.Facts
	}
	p.own(core.SourceNodeLocks, func() {
		s.NodeLocks = w.locks.tableAfter(before.NodeLocks)
	}, func() { s.NodeLocks = prev.NodeLocks }, prev)
	p.own(core.SourceClusterRequests, func() {
		s.ClusterRequests = values[*core.MaintenanceRequest](w, core.SourceClusterRequests)
		slices.SortFunc(s.ClusterRequests, requestOrder)
	},
		func() { s.ClusterRequests = prev.ClusterRequests }, prev)
	p.own(core.SourceNodeRequests, func() {
		s.NodeRequests = w.requests.lists(before.NodeRequests)
	}, func() { s.NodeRequests = prev.NodeRequests }, prev)
	p.own(core.SourceDeletionRequests, func() {
		s.Deletions = collect(w, core.SourceDeletionRequests, func(n *core.NodeNotice) string { return n.Node })
	},
		func() { s.Deletions = prev.Deletions }, prev)
	p.own(core.SourceDisableNotices, func() {
		s.Disablings = collect(w, core.SourceDisableNotices, func(n *core.NodeNotice) string { return n.Node })
	},
		func() { s.Disablings = prev.Disablings }, prev)
	p.own(core.SourceOpenStackStatus, func() {
		s.OpenStack = values[*core.OpenStackStatus](w, core.SourceOpenStackStatus)
		sort.Slice(s.OpenStack, func(i, j int) bool { return s.OpenStack[i].Key() < s.OpenStack[j].Key() })
	}, func() { s.OpenStack = prev.OpenStack }, prev)
	p.own(core.SourceOpenStackController, func() {
		for _, d := range values[*core.Deployment](w, core.SourceOpenStackController) {
			s.Controller = d
		}
	}, func() { s.Controller = prev.Controller }, prev)
	w.projectNodes(s, prev)
	p.own(core.SourceNodePods, func() { s.Pods = collect(w, core.SourceNodePods, func(p *core.NodePods) string { return p.Node }) },
		func() { s.Pods = prev.Pods }, prev)
	w.projectWorkloads(s, prev)
	p.own(core.SourceComputeServices, func() { s.Services = w.services.firsts(before.Services, nil) },
		func() { s.Services = prev.Services }, prev)
	p.own(core.SourceInstances, func() { w.projectInstances(s, before.ByHost) },
		func() { s.Instances, s.ByHost = prev.Instances, prev.ByHost }, prev)
	p.own(core.SourceMigrations, func() {
		s.Migrations = w.migrations.lists(before.Migrations)
	}, func() { s.Migrations = prev.Migrations }, prev)
	p.own(core.SourceNetworkAgents, func() {
		s.Agents = w.agents.lists(before.Agents)
	}, func() { s.Agents = prev.Agents }, prev)
	p.own(core.SourceProjects, func() {
		s.Projects = map[string]string{}
		for _, o := range values[*core.Project](w, core.SourceProjects) {
			s.Projects[o.ID] = o.Name
		}
	}, func() { s.Projects = prev.Projects }, prev)
	w.projectVolumes(s, prev)
	s.Heard, w.hearing = w.heard, false
	p.own(core.SourceAlertmanager, func() {
		for _, a := range values[*core.Alertmanager](w, core.SourceAlertmanager) {
			s.Alertmanager = a
		}
	}, func() { s.Alertmanager = prev.Alertmanager }, prev)
	// Of the nodes the management cluster's objects are joined with only which there are and what they are called, which touches everything.
	if prev == nil || w.dirty[core.SourceNodes] && w.touched.all ||
		slices.ContainsFunc(core.ManagementSources(), func(id core.SourceID) bool { return w.dirty[id] }) {
		s.Management = managementOf(w, s.Nodes)
	} else {
		s.Management = prev.Management
	}
	clear(w.dirty)
}

// projection decides for each source whether to build its projection or share the last one.
type projection struct{ w *world }

func (p projection) own(src core.SourceID, build, share func(), prev *core.Snapshot) {
	if prev == nil || p.w.dirty[src] {
		build()
		return
	}
	share()
}

// projectNodes fills in the nodes, with their roles by the role labels that hold now.
func (w *world) projectNodes(s, prev *core.Snapshot) {
	s.RoleLabels, s.RoleLabelsFrom = core.RoleLabelsIn(s.Controller, s.Settings.RoleLabels)
	var before map[string]*core.Node // with the same roles
	if prev != nil && maps.Equal(s.RoleLabels, prev.RoleLabels) {
		before = prev.Nodes
	}
	if before != nil && !w.dirty[core.SourceNodes] {
		s.Nodes = before
		return
	}
	if before == nil {
		labels := s.RoleLabels
		w.withRoles = func(n *core.Node) *core.Node { return n.WithRoles(labels) }
		if labels.IsDefault() {
			w.withRoles = nil // the adapter has read the roles by these
		}
	}
	s.Nodes = w.nodes.firsts(before, w.withRoles)
}

// projectInstances takes in the instances that have changed: a cloud has 100,000 of them, and a handful change in a second. The world
// keeps them as the Snapshot has them: another map of them all would be as large.
func (w *world) projectInstances(s *core.Snapshot, before map[string][]*core.Instance) {
	var put []*core.Instance
	var removed []string
	for id, in := range w.moved {
		if in != nil {
			put = append(put, in)
		} else {
			removed = append(removed, id)
		}
	}
	w.instances, w.moved = w.instances.With(put, removed), nil
	s.Instances, s.ByHost = w.instances, w.onHosts.lists(before)
}

// projectVolumes fills a Snapshot with what is known of Cinder.
func (w *world) projectVolumes(s, prev *core.Snapshot) {
	p := projection{w: w}
	p.own(core.SourceVolumeServices, func() {
		all := values[*core.VolumeService](w, core.SourceVolumeServices)
		slices.SortFunc(all, func(a, b *core.VolumeService) int { return strings.Compare(a.Host, b.Host) })
		s.VolumeServices = group(all, (*core.VolumeService).Machine)
	}, func() { s.VolumeServices = prev.VolumeServices }, prev)
	p.own(core.SourceVolumes, func() { s.Volumes = collect(w, core.SourceVolumes, func(h *core.HostVolumes) string { return h.Host }) },
		func() { s.Volumes = prev.Volumes }, prev)
}

// projectWorkloads fills a Snapshot with the DaemonSets and StatefulSets of all namespaces, with their revisions, pods and volumes, and
// with the deployments and the job of Tempest.
func (w *world) projectWorkloads(s, prev *core.Snapshot) {
	anew := func(sources ...core.SourceID) bool {
		return prev == nil || slices.ContainsFunc(sources, func(id core.SourceID) bool { return w.dirty[id] })
	}
	if anew(core.SourceDaemonSets, core.SourceFabricSets) {
		s.DaemonSets = slices.Concat(values[*core.DaemonSet](w, core.SourceDaemonSets), values[*core.DaemonSet](w, core.SourceFabricSets))
		slices.SortFunc(s.DaemonSets, func(a, b *core.DaemonSet) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.DaemonSets = prev.DaemonSets
	}
	if anew(core.SourceRevisions, core.SourceFabricRevisions) {
		all := slices.Concat(values[*core.DaemonRevision](w, core.SourceRevisions), values[*core.DaemonRevision](w, core.SourceFabricRevisions))
		slices.SortFunc(all, func(a, b *core.DaemonRevision) int { return strings.Compare(a.Key(), b.Key()) })
		s.DaemonRevisions = group(all, func(r *core.DaemonRevision) string { return r.Owner })
	} else {
		s.DaemonRevisions = prev.DaemonRevisions
	}
	if anew(core.SourceStatefulSets, core.SourceRedisSets) {
		s.StatefulSets = slices.Concat(values[*core.StatefulSet](w, core.SourceStatefulSets), values[*core.StatefulSet](w, core.SourceRedisSets))
		slices.SortFunc(s.StatefulSets, func(a, b *core.StatefulSet) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.StatefulSets = prev.StatefulSets
	}
	if anew(core.SourceDaemonPods, core.SourceFabricPods, core.SourceRedisPods) {
		var before map[string][]*core.DaemonPod
		if prev != nil {
			before = prev.DaemonPods
		}
		s.DaemonPods = w.pods.lists(before)
	} else {
		s.DaemonPods = prev.DaemonPods
	}
	if anew(core.SourceClaims, core.SourceRedisClaims) {
		s.Claims = map[string]*core.VolumeClaim{}
		for _, c := range slices.Concat(values[*core.VolumeClaim](w, core.SourceClaims), values[*core.VolumeClaim](w, core.SourceRedisClaims)) {
			s.Claims[c.Key()] = c
		}
	} else {
		s.Claims = prev.Claims
	}
	if anew(core.SourceLocalVolumes) {
		s.LocalVolumes = collect(w, core.SourceLocalVolumes, func(v *core.PersistentVolume) string { return v.Name })
	} else {
		s.LocalVolumes = prev.LocalVolumes
	}
	if anew(core.SourceOpenStackDeployment) {
		s.Deployments = values[*core.OpenStackDeployment](w, core.SourceOpenStackDeployment)
		slices.SortFunc(s.Deployments, func(a, b *core.OpenStackDeployment) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.Deployments = prev.Deployments
	}
	if anew(core.SourceCeph) {
		s.Ceph = values[*core.CephCluster](w, core.SourceCeph)
		slices.SortFunc(s.Ceph, func(a, b *core.CephCluster) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.Ceph = prev.Ceph
	}
	if anew(core.SourceTempestJob) {
		for _, j := range values[*core.Job](w, core.SourceTempestJob) {
			s.TempestJob = j
		}
	} else {
		s.TempestJob = prev.TempestJob
	}
}

// managementOf joins what is known from the management cluster with the nodes; nil when nothing is known. It is done only when one of
// the two has changed, and only here: no rule and no screen joins them itself.
func managementOf(w *world, nodes map[string]*core.Node) *core.Management {
	var objects []core.Object
	for _, id := range core.ManagementSources() {
		for _, o := range w.objects[id] {
			objects = append(objects, o)
		}
	}
	if len(objects) == 0 {
		return nil
	}
	return core.JoinManagement(w.place, nodes, objects...)
}

// values are the objects of a source that have its type. Other objects are an adapter's mistake; they are left out, so that Lockstep
// goes on.
func values[T core.Object](w *world, src core.SourceID) []T {
	out := make([]T, 0, len(w.objects[src]))
	for _, o := range w.objects[src] {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

func collect[T core.Object](w *world, src core.SourceID, key func(T) string) map[string]T {
	out := make(map[string]T, len(w.objects[src]))
	for _, o := range values[T](w, src) {
		k := key(o)
		if other, double := out[k]; double && other.Key() < o.Key() {
			continue // of two with one key, always the same one
		}
		out[k] = o
	}
	return out
}

func group[T any](list []T, key func(T) string) map[string][]T {
	out := map[string][]T{}
	for _, o := range list {
		out[key(o)] = append(out[key(o)], o)
	}
	return out
}

// The orders of what belongs to a node, a host or an instance. Objects that are equal in them are in the order of their keys.

func lockOrder(a, b *core.WorkloadLock) int {
	return cmp.Or(strings.Compare(a.Controller, b.Controller), strings.Compare(a.Name, b.Name))
}

func requestOrder(a, b *core.MaintenanceRequest) int { return strings.Compare(a.Name, b.Name) }

func instanceOrder(a, b *core.Instance) int { return strings.Compare(a.Name, b.Name) }

func agentOrder(a, b *core.NetworkAgent) int {
	return cmp.Or(strings.Compare(a.Binary, b.Binary), strings.Compare(a.ID, b.ID))
}

// newer orders migration records of one instance, newest first; records of the same second by their ID.
func newer(a, b *core.Migration) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
}
