package core

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
)

// world is what the Engine knows, in the form in which it arrives. Only the Engine's goroutine touches it. Snapshots share
// its projections: a projection is rebuilt as a new map when its source has changed, and never changed in place.
type world struct {
	sources map[SourceID]Source
	objects map[SourceID]map[string]Object
	dirty   map[SourceID]bool
	hosts   map[string]bool // hosts whose instances changed since the last projection
	byHost  map[string]map[string]*Instance
	place   ManagementPlace
}

func newWorld(expected []SourceID, now time.Time) *world {
	w := &world{
		sources: map[SourceID]Source{},
		objects: map[SourceID]map[string]Object{},
		dirty:   map[SourceID]bool{},
		hosts:   map[string]bool{},
		byHost:  map[string]map[string]*Instance{},
	}
	for _, id := range expected {
		w.sources[id] = Source{ID: id, State: SourceConnecting, Since: now}
	}
	return w
}

// apply takes a Delta in and tells whether a new Snapshot would differ by more than a source's AsOf.
func (w *world) apply(d Delta) bool {
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

func (w *world) applyState(d Delta) bool {
	src, known := w.sources[d.Source]
	if !known {
		src = Source{ID: d.Source, State: SourceConnecting, Since: d.At}
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
	whole := src.State == SourceLive || !src.AsOf.IsZero()
	if facts && whole && d.Err == nil && d.At.After(src.AsOf) {
		src.AsOf = d.At
	}
	w.sources[d.Source] = src
	return !known || before.State != src.State || before.Err != src.Err || before.Next != src.Next
}

func (w *world) replace(d Delta) bool {
	changed := false
	keep := make(map[string]bool, len(d.Upserts))
	for _, o := range d.Upserts {
		keep[o.Key()] = true
	}
	if d.Source == SourceInstances && d.Host != "" {
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

func (w *world) put(src SourceID, o Object) bool {
	objects := w.objects[src]
	if objects == nil {
		objects = map[string]Object{}
		w.objects[src] = objects
	}
	key := o.Key()
	if old, ok := objects[key]; ok && sameFacts(old, o) {
		return false // a poll that found what was known, or a node's heartbeat
	}
	if in, ok := o.(*Instance); ok {
		if old, ok := objects[key].(*Instance); ok && old.Host != in.Host {
			w.offHost(old)
		}
		if w.byHost[in.Host] == nil {
			w.byHost[in.Host] = map[string]*Instance{}
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
func sameFacts(a, b Object) bool {
	x, isNode := a.(*Node)
	y, both := b.(*Node)
	if isNode && both && x.ResourceVersion != y.ResourceVersion {
		same := *y
		same.ResourceVersion = x.ResourceVersion
		return reflect.DeepEqual(x, &same)
	}
	return reflect.DeepEqual(a, b)
}

func (w *world) remove(src SourceID, key string) bool {
	old, ok := w.objects[src][key]
	if !ok {
		return false
	}
	if in, ok := old.(*Instance); ok {
		w.offHost(in)
	}
	delete(w.objects[src], key)
	w.dirty[src] = true
	return true
}

func (w *world) offHost(in *Instance) {
	delete(w.byHost[in.Host], in.ID)
	if len(w.byHost[in.Host]) == 0 {
		delete(w.byHost, in.Host)
	}
	w.hosts[in.Host] = true
}

// project fills a Snapshot with what is known; prev's projections are shared where nothing has changed.
func (w *world) project(s, prev *Snapshot) {
	s.Sources = maps.Clone(w.sources)
	p := projection{w: w}
	p.own(SourceClusterLocks, func() { s.ClusterLocks = sortedLocks(values[*WorkloadLock](w, SourceClusterLocks)) },
		func() { s.ClusterLocks = prev.ClusterLocks }, prev)
	p.own(SourceNodeLocks, func() {
		s.NodeLocks = group(sortedLocks(values[*WorkloadLock](w, SourceNodeLocks)), func(l *WorkloadLock) string { return l.Node })
	},
		func() { s.NodeLocks = prev.NodeLocks }, prev)
	p.own(SourceClusterRequests, func() { s.ClusterRequests = sortedRequests(values[*MaintenanceRequest](w, SourceClusterRequests)) },
		func() { s.ClusterRequests = prev.ClusterRequests }, prev)
	p.own(SourceNodeRequests, func() {
		s.NodeRequests = group(sortedRequests(values[*MaintenanceRequest](w, SourceNodeRequests)), func(r *MaintenanceRequest) string { return r.Node })
	},
		func() { s.NodeRequests = prev.NodeRequests }, prev)
	p.own(SourceDeletionRequests, func() { s.Deletions = collect(w, SourceDeletionRequests, func(n *NodeNotice) string { return n.Node }) },
		func() { s.Deletions = prev.Deletions }, prev)
	p.own(SourceDisableNotices, func() { s.Disablings = collect(w, SourceDisableNotices, func(n *NodeNotice) string { return n.Node }) },
		func() { s.Disablings = prev.Disablings }, prev)
	p.own(SourceOpenStackStatus, func() {
		s.OpenStack = values[*OpenStackStatus](w, SourceOpenStackStatus)
		sort.Slice(s.OpenStack, func(i, j int) bool { return s.OpenStack[i].Key() < s.OpenStack[j].Key() })
	}, func() { s.OpenStack = prev.OpenStack }, prev)
	p.own(SourceOpenStackController, func() {
		for _, d := range values[*Deployment](w, SourceOpenStackController) {
			s.Controller = d
		}
	}, func() { s.Controller = prev.Controller }, prev)
	w.projectNodes(s, prev)
	p.own(SourceNodePods, func() { s.Pods = collect(w, SourceNodePods, func(p *NodePods) string { return p.Node }) },
		func() { s.Pods = prev.Pods }, prev)
	w.projectWorkloads(s, prev)
	p.own(SourceComputeServices, func() {
		s.Services = collect(w, SourceComputeServices, func(c *ComputeService) string { return c.Host })
	},
		func() { s.Services = prev.Services }, prev)
	p.own(SourceInstances, func() { w.projectInstances(s, prev) },
		func() { s.Instances, s.ByHost = prev.Instances, prev.ByHost }, prev)
	p.own(SourceMigrations, func() {
		s.Migrations = group(values[*Migration](w, SourceMigrations), func(m *Migration) string { return m.InstanceID })
		for _, ms := range s.Migrations {
			sort.Slice(ms, func(i, j int) bool { return newer(ms[i], ms[j]) })
		}
	}, func() { s.Migrations = prev.Migrations }, prev)
	p.own(SourceNetworkAgents, func() {
		agents := values[*NetworkAgent](w, SourceNetworkAgents)
		sort.Slice(agents, func(i, j int) bool {
			return agents[i].Binary+agents[i].ID < agents[j].Binary+agents[j].ID
		})
		s.Agents = group(agents, func(a *NetworkAgent) string { return a.Host })
	}, func() { s.Agents = prev.Agents }, prev)
	p.own(SourceProjects, func() {
		s.Projects = map[string]string{}
		for _, o := range values[*Project](w, SourceProjects) {
			s.Projects[o.ID] = o.Name
		}
	}, func() { s.Projects = prev.Projects }, prev)
	w.projectVolumes(s, prev)
	if prev == nil || w.dirty[SourceNodes] || slices.ContainsFunc(ManagementSources(), func(id SourceID) bool { return w.dirty[id] }) {
		s.Management = managementOf(w, s.Nodes)
	} else {
		s.Management = prev.Management
	}
	clear(w.dirty)
	clear(w.hosts)
}

// projectInstances rebuilds the lists of the hosts that changed, and shares the others: a cloud has 100,000 instances, and
// a second touches a handful.
func (w *world) projectInstances(s, prev *Snapshot) {
	s.Instances = make(map[string]*Instance, len(w.objects[SourceInstances]))
	for key, o := range w.objects[SourceInstances] {
		if in, ok := o.(*Instance); ok {
			s.Instances[key] = in
		}
	}
	if prev != nil && prev.ByHost != nil {
		s.ByHost = maps.Clone(prev.ByHost)
	} else {
		s.ByHost = map[string][]*Instance{}
	}
	for host := range w.hosts {
		list := slices.Collect(maps.Values(w.byHost[host]))
		if len(list) == 0 {
			delete(s.ByHost, host)
			continue
		}
		slices.SortFunc(list, func(a, b *Instance) int {
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

func (p projection) own(src SourceID, build, share func(), prev *Snapshot) {
	if prev == nil || p.w.dirty[src] {
		build()
		return
	}
	share()
}

// values are the objects of a source that have the type that the source is made of; an adapter's mistake is left out
// rather than fatal.
func values[T Object](w *world, src SourceID) []T {
	out := make([]T, 0, len(w.objects[src]))
	for _, o := range w.objects[src] {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

func collect[T Object](w *world, src SourceID, key func(T) string) map[string]T {
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

func sortedLocks(locks []*WorkloadLock) []*WorkloadLock {
	sort.Slice(locks, func(i, j int) bool {
		if locks[i].Controller != locks[j].Controller {
			return locks[i].Controller < locks[j].Controller
		}
		return locks[i].Name < locks[j].Name
	})
	return locks
}

func sortedRequests(requests []*MaintenanceRequest) []*MaintenanceRequest {
	sort.Slice(requests, func(i, j int) bool { return requests[i].Name < requests[j].Name })
	return requests
}

// newer orders migration records of one instance, newest first; records of the same second by their number.
func newer(a, b *Migration) bool {
	if !a.Created.Equal(b.Created) {
		return a.Created.After(b.Created)
	}
	return a.ID > b.ID
}
