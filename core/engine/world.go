package engine

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"lockstep/core"
)

// managementOf joins what the management cluster has told of the cluster whose nodes these are; nil when it has told nothing.
// It is made anew only when something there, or the nodes, have changed: no rule and no screen joins by itself.
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

// projectNodes fills in the nodes, with the roles that the labels which hold now give them.
func (w *world) projectNodes(s, prev *core.Snapshot) {
	s.RoleLabels, s.RoleLabelsFrom = core.RoleLabelsIn(s.Controller, s.Settings.RoleLabels)
	if prev != nil && !w.dirty[core.SourceNodes] && maps.Equal(s.RoleLabels, prev.RoleLabels) {
		s.Nodes = prev.Nodes
		return
	}
	s.Nodes = collect(w, core.SourceNodes, func(n *core.Node) string { return n.Name })
	if s.RoleLabels.IsDefault() {
		return // by which the adapter has read them
	}
	for name, n := range s.Nodes {
		s.Nodes[name] = n.WithRoles(s.RoleLabels)
	}
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

// world is what the Engine knows, in the form in which it arrives. Only the Engine's goroutine touches it. Snapshots share
// its projections: a projection is rebuilt as a new map when its source has changed, and never changed in place.
type world struct {
	sources map[core.SourceID]core.Source
	objects map[core.SourceID]map[string]core.Object
	dirty   map[core.SourceID]bool
	hosts   map[string]bool // hosts whose instances changed since the last projection
	byHost  map[string]map[string]*core.Instance
	place   core.ManagementPlace
}

func newWorld(expected []core.SourceID, now time.Time) *world {
	w := &world{
		sources: map[core.SourceID]core.Source{},
		objects: map[core.SourceID]map[string]core.Object{},
		dirty:   map[core.SourceID]bool{},
		hosts:   map[string]bool{},
		byHost:  map[string]map[string]*core.Instance{},
	}
	for _, id := range expected {
		w.sources[id] = core.Source{ID: id, State: core.SourceConnecting, Since: now}
	}
	return w
}

// apply takes a Delta in and tells whether a new Snapshot would differ by more than a source's AsOf.
func (w *world) apply(d core.Delta) bool {
	changed := w.applyState(d)
	if d.Replace {
		changed = w.replace(d) || changed
	} else {
		for _, o := range d.Upserts {
			changed = w.put(d.Source, o) || changed
		}
	}
	for _, key := range d.Deletes {
		changed = w.remove(d.Source, key) || changed
	}
	return changed
}

func (w *world) applyState(d core.Delta) bool {
	src, known := w.sources[d.Source]
	if !known {
		src = core.Source{ID: d.Source, State: core.SourceConnecting, Since: d.At}
	}
	before := src
	if d.State != "" {
		if d.State != src.State {
			src.State, src.Since = d.State, d.At
		}
		src.Err, src.Next = d.Err, d.Next
	}
	facts := d.Touch || d.Replace || len(d.Upserts)+len(d.Deletes) > 0
	// The first pages of a list, or the list of one host, are not what the source knows: that begins when it is live.
	whole := src.State == core.SourceLive || !src.AsOf.IsZero()
	if facts && whole && d.Err == nil && d.At.After(src.AsOf) {
		src.AsOf = d.At
	}
	w.sources[d.Source] = src
	return !known || before.State != src.State || before.Err != src.Err || before.Next != src.Next
}

func (w *world) replace(d core.Delta) bool {
	changed := false
	keep := make(map[string]bool, len(d.Upserts))
	for _, o := range d.Upserts {
		keep[o.Key()] = true
	}
	if d.Source == core.SourceInstances && d.Host != "" {
		for id, in := range w.byHost[d.Host] {
			if !keep[id] {
				// It is not on this host any more; where it went, or whether it was deleted, the next look at the whole
				// cloud tells. Until then it is on no host, rather than forgotten.
				moved := *in
				moved.Host = ""
				changed = w.put(d.Source, &moved) || changed
			}
		}
	} else {
		for key := range w.objects[d.Source] {
			if !keep[key] {
				changed = w.remove(d.Source, key) || changed
			}
		}
	}
	for _, o := range d.Upserts {
		changed = w.put(d.Source, o) || changed
	}
	return changed
}

func (w *world) put(src core.SourceID, o core.Object) bool {
	objects := w.objects[src]
	if objects == nil {
		objects = map[string]core.Object{}
		w.objects[src] = objects
	}
	key := o.Key()
	if old, ok := objects[key]; ok && sameFacts(old, o) {
		return false // a poll that found what was known, or a node's heartbeat
	}
	if in, ok := o.(*core.Instance); ok {
		if old, ok := objects[key].(*core.Instance); ok && old.Host != in.Host {
			w.offHost(old)
		}
		if w.byHost[in.Host] == nil {
			w.byHost[in.Host] = map[string]*core.Instance{}
		}
		w.byHost[in.Host][key] = in
		w.hosts[in.Host] = true
	}
	objects[key] = o
	w.dirty[src] = true
	return true
}

// sameFacts tells whether two objects of one key say the same. The resourceVersion of a node is no fact: it rises with
// every heartbeat, thousands of times an hour.
func sameFacts(a, b core.Object) bool {
	x, isNode := a.(*core.Node)
	y, both := b.(*core.Node)
	if isNode && both && x.ResourceVersion != y.ResourceVersion {
		same := *y
		same.ResourceVersion = x.ResourceVersion
		return reflect.DeepEqual(x, &same)
	}
	return reflect.DeepEqual(a, b)
}

func (w *world) remove(src core.SourceID, key string) bool {
	old, ok := w.objects[src][key]
	if !ok {
		return false
	}
	if in, ok := old.(*core.Instance); ok {
		w.offHost(in)
	}
	delete(w.objects[src], key)
	w.dirty[src] = true
	return true
}

func (w *world) offHost(in *core.Instance) {
	delete(w.byHost[in.Host], in.ID)
	if len(w.byHost[in.Host]) == 0 {
		delete(w.byHost, in.Host)
	}
	w.hosts[in.Host] = true
}

// project fills a Snapshot with what is known; prev's projections are shared where nothing has changed.
func (w *world) project(s, prev *core.Snapshot) {
	s.Sources = maps.Clone(w.sources)
	p := projection{w: w}
	p.own(core.SourceClusterLocks, func() { s.ClusterLocks = sortedLocks(values[*core.WorkloadLock](w, core.SourceClusterLocks)) },
		func() { s.ClusterLocks = prev.ClusterLocks }, prev)
	p.own(core.SourceNodeLocks, func() {
		s.NodeLocks = group(sortedLocks(values[*core.WorkloadLock](w, core.SourceNodeLocks)), func(l *core.WorkloadLock) string { return l.Node })
	},
		func() { s.NodeLocks = prev.NodeLocks }, prev)
	p.own(core.SourceClusterRequests, func() {
		s.ClusterRequests = sortedRequests(values[*core.MaintenanceRequest](w, core.SourceClusterRequests))
	},
		func() { s.ClusterRequests = prev.ClusterRequests }, prev)
	p.own(core.SourceNodeRequests, func() {
		s.NodeRequests = group(sortedRequests(values[*core.MaintenanceRequest](w, core.SourceNodeRequests)),
			func(r *core.MaintenanceRequest) string { return r.Node })
	},
		func() { s.NodeRequests = prev.NodeRequests }, prev)
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
	p.own(core.SourceComputeServices, func() {
		s.Services = collect(w, core.SourceComputeServices, func(c *core.ComputeService) string { return c.Host })
	},
		func() { s.Services = prev.Services }, prev)
	p.own(core.SourceInstances, func() { w.projectInstances(s, prev) },
		func() { s.Instances, s.ByHost = prev.Instances, prev.ByHost }, prev)
	p.own(core.SourceMigrations, func() {
		s.Migrations = group(values[*core.Migration](w, core.SourceMigrations), func(m *core.Migration) string { return m.InstanceID })
		for _, ms := range s.Migrations {
			sort.Slice(ms, func(i, j int) bool { return newer(ms[i], ms[j]) })
		}
	}, func() { s.Migrations = prev.Migrations }, prev)
	p.own(core.SourceNetworkAgents, func() {
		agents := values[*core.NetworkAgent](w, core.SourceNetworkAgents)
		sort.Slice(agents, func(i, j int) bool {
			return agents[i].Binary+agents[i].ID < agents[j].Binary+agents[j].ID
		})
		s.Agents = group(agents, func(a *core.NetworkAgent) string { return a.Host })
	}, func() { s.Agents = prev.Agents }, prev)
	p.own(core.SourceProjects, func() {
		s.Projects = map[string]string{}
		for _, o := range values[*core.Project](w, core.SourceProjects) {
			s.Projects[o.ID] = o.Name
		}
	}, func() { s.Projects = prev.Projects }, prev)
	w.projectVolumes(s, prev)
	if prev == nil || w.dirty[core.SourceNodes] ||
		slices.ContainsFunc(core.ManagementSources(), func(id core.SourceID) bool { return w.dirty[id] }) {
		s.Management = managementOf(w, s.Nodes)
	} else {
		s.Management = prev.Management
	}
	clear(w.dirty)
	clear(w.hosts)
}

// projectInstances rebuilds the lists of the hosts that changed, and shares the others: a cloud has 100,000 instances, and
// a second touches a handful.
func (w *world) projectInstances(s, prev *core.Snapshot) {
	s.Instances = make(map[string]*core.Instance, len(w.objects[core.SourceInstances]))
	for key, o := range w.objects[core.SourceInstances] {
		if in, ok := o.(*core.Instance); ok {
			s.Instances[key] = in
		}
	}
	if prev != nil && prev.ByHost != nil {
		s.ByHost = maps.Clone(prev.ByHost)
	} else {
		s.ByHost = map[string][]*core.Instance{}
	}
	for host := range w.hosts {
		list := slices.Collect(maps.Values(w.byHost[host]))
		if len(list) == 0 {
			delete(s.ByHost, host)
			continue
		}
		slices.SortFunc(list, func(a, b *core.Instance) int {
			if c := strings.Compare(a.Name, b.Name); c != 0 {
				return c
			}
			return strings.Compare(a.ID, b.ID)
		})
		s.ByHost[host] = list
	}
}

// projection decides, source by source, between building anew and sharing.
type projection struct{ w *world }

func (p projection) own(src core.SourceID, build, share func(), prev *core.Snapshot) {
	if prev == nil || p.w.dirty[src] {
		build()
		return
	}
	share()
}

// values are the objects of a source that have the type that the source is made of; an adapter's mistake is left out
// rather than fatal.
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
			continue // of two for one key always the same
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

func sortedLocks(locks []*core.WorkloadLock) []*core.WorkloadLock {
	sort.Slice(locks, func(i, j int) bool {
		if locks[i].Controller != locks[j].Controller {
			return locks[i].Controller < locks[j].Controller
		}
		return locks[i].Name < locks[j].Name
	})
	return locks
}

func sortedRequests(requests []*core.MaintenanceRequest) []*core.MaintenanceRequest {
	sort.Slice(requests, func(i, j int) bool { return requests[i].Name < requests[j].Name })
	return requests
}

// newer orders migration records of one instance, newest first; records of the same second by their number.
func newer(a, b *core.Migration) bool {
	if !a.Created.Equal(b.Created) {
		return a.Created.After(b.Created)
	}
	return a.ID > b.ID
}
