package engine

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"lockstep/core"
)

// world is all facts, in the form in which they arrive. Only the Engine's goroutine touches it. Snapshots share its projections: when a
// source has changed its projection is built as a new map, and never changed in place.
type world struct {
	sources map[core.SourceID]core.Source
	objects map[core.SourceID]map[string]core.Object
	dirty   map[core.SourceID]bool

	// What belongs to nodes, hosts, instances and workloads, by these: of large clusters there are thousands, of which few change at a time.
	nodes      grouped[*core.Node] // each by its name
	locks      grouped[*core.WorkloadLock]
	requests   grouped[*core.MaintenanceRequest]
	pods       grouped[*core.DaemonPod] // of all namespaces: their keys differ
	services   grouped[*core.ComputeService]
	agents     grouped[*core.NetworkAgent]
	withRoles  func(*core.Node) *core.Node // makes of a node what Snapshots show of it; nil: it is shown as it comes
	onHosts    grouped[*core.Instance]
	migrations grouped[*core.Migration]

	instances core.Instances            // as the last projection shows them: they are not among the objects
	moved     map[string]*core.Instance // those that changed since, by ID; nil for one that is gone

	// When services and agents that are as they were reported last, by key. A Snapshot shares the map: it is replaced, never changed.
	heard   map[string]time.Time
	hearing bool // heard is not in a Snapshot yet

	place   core.ManagementPlace
	touched touches          // since the last Snapshot
	wall    func() time.Time // nil: no clock is looked at

	noting bool         // changes are noted, for a recording
	noted  []core.Delta // since the last Snapshot: what each Delta has changed
}

func newWorld(expected []core.SourceID, now time.Time) *world {
	w := &world{
		sources: map[core.SourceID]core.Source{},
		objects: map[core.SourceID]map[string]core.Object{},
		dirty:   map[core.SourceID]bool{},

		locks:      grouped[*core.WorkloadLock]{order: lockOrder},
		requests:   grouped[*core.MaintenanceRequest]{order: requestOrder},
		agents:     grouped[*core.NetworkAgent]{order: agentOrder},
		onHosts:    grouped[*core.Instance]{order: instanceOrder},
		migrations: grouped[*core.Migration]{order: newer},
	}
	for _, id := range expected {
		w.sources[id] = core.Source{ID: id, State: core.SourceConnecting, Since: now}
	}
	return w
}

// apply takes a Delta in and tells whether a new Snapshot would differ by more than a source's AsOf.
func (w *world) apply(d core.Delta) bool {
	if w.noting {
		w.noted = append(w.noted, core.Delta{Source: d.Source, At: d.At, State: d.State, Err: d.Err, Next: d.Next, Touch: d.Hears()})
	}
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
	facts := d.Hears()
	// The first pages of a list, or the list of one host, are not all that the source has; AsOf begins when it is live.
	whole := src.State == core.SourceLive || !src.AsOf.IsZero()
	// A clock that was set back leaves what was confirmed by it in the future: that is not later than anything.
	if facts && whole && d.Err == nil && (d.At.After(src.AsOf) || w.wall != nil && src.AsOf.After(w.wall())) {
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
		for _, in := range slices.Clone(w.onHosts.groups[d.Host]) {
			if !keep[in.ID] {
				// It is not on this host any more. The next list of the whole cloud tells where it went, or that it was deleted. Until
				// then it is on no host, but not forgotten.
				moved := *in
				moved.Host = ""
				changed = w.put(d.Source, &moved) || changed
			}
		}
	} else {
		for _, key := range w.keys(d.Source) {
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
	key := o.Key()
	old, known := w.known(src, key)
	if known {
		if sameFacts(old, o) {
			w.hear(old, o)
			return false // a poll that found nothing new, or a heartbeat
		}
		w.group(src, old, false)
	}
	w.group(src, o, true)
	w.touched.object(w, src, old, o)
	w.keep(src, key, o)
	w.dirty[src] = true
	if w.noting {
		d := &w.noted[len(w.noted)-1]
		d.Upserts = append(d.Upserts, o)
	}
	return true
}

// known is an object as it came last.
func (w *world) known(src core.SourceID, key string) (core.Object, bool) {
	if src == core.SourceInstances {
		in, ok := w.moved[key]
		if !ok {
			in = w.instances.At(key)
		}
		if in == nil {
			return nil, false
		}
		return in, true
	}
	o, ok := w.objects[src][key]
	return o, ok
}

// keep notes an object, or with nil that it is gone. Other objects than instances among these are an adapter's mistake.
func (w *world) keep(src core.SourceID, key string, o core.Object) {
	switch {
	case src == core.SourceInstances:
		if w.moved == nil {
			w.moved = map[string]*core.Instance{}
		}
		w.moved[key], _ = o.(*core.Instance)
	case o == nil:
		delete(w.objects[src], key)
	case w.objects[src] == nil:
		w.objects[src] = map[string]core.Object{key: o}
	default:
		w.objects[src][key] = o
	}
}

// keys are those of all objects of a source.
func (w *world) keys(src core.SourceID) (keys []string) {
	if src != core.SourceInstances {
		return slices.Collect(maps.Keys(w.objects[src]))
	}
	for id := range w.instances.All() {
		if _, moved := w.moved[id]; !moved {
			keys = append(keys, id)
		}
	}
	for id, in := range w.moved {
		if in != nil {
			keys = append(keys, id)
		}
	}
	return keys
}

// sameFacts tells whether two objects with one key say the same. The resourceVersion of a node does not count: it changes with every
// heartbeat, thousands of times an hour.
//
// Nor does the time at which a service or an agent reported, while it reports: Nova's services do every ten seconds, each of them.
func sameFacts(a, b core.Object) bool {
	switch x := a.(type) {
	case *core.ComputeService:
		if y, both := b.(*core.ComputeService); both && x.Up && y.Up {
			same := *y
			same.Updated = x.Updated
			return *x == same
		}
	case *core.VolumeService:
		if y, both := b.(*core.VolumeService); both && x.Up && y.Up {
			same := *y
			same.Updated = x.Updated
			return *x == same
		}
	case *core.NetworkAgent:
		if y, both := b.(*core.NetworkAgent); both && x.Alive && y.Alive {
			same := *y
			same.Heartbeat = x.Heartbeat
			return reflect.DeepEqual(x, &same)
		}
	}
	x, isNode := a.(*core.Node)
	y, both := b.(*core.Node)
	if isNode && both && x.ResourceVersion != y.ResourceVersion {
		same := *y
		same.ResourceVersion = x.ResourceVersion
		return reflect.DeepEqual(x, &same)
	}
	return reflect.DeepEqual(a, b)
}

// hear notes when a service or an agent reported last whose facts are the same as before.
func (w *world) hear(before, now core.Object) {
	r, reports := now.(core.Reporter)
	if !reports || !r.Reported().After(core.Later(before.(core.Reporter).Reported(), w.heard[r.Key()])) {
		return
	}
	w.ownHeard()[r.Key()] = r.Reported()
}

// ownHeard is heard, to be changed.
func (w *world) ownHeard() map[string]time.Time {
	if !w.hearing {
		w.heard, w.hearing = maps.Clone(w.heard), true
		if w.heard == nil {
			w.heard = map[string]time.Time{}
		}
	}
	return w.heard
}

func (w *world) remove(src core.SourceID, key string) bool {
	old, ok := w.known(src, key)
	if !ok {
		return false
	}
	w.group(src, old, false)
	w.touched.object(w, src, old, nil)
	w.keep(src, key, nil)
	if _, heard := w.heard[key]; heard {
		delete(w.ownHeard(), key)
	}
	w.dirty[src] = true
	if w.noting {
		d := &w.noted[len(w.noted)-1]
		d.Deletes = append(d.Deletes, key)
	}
	return true
}

// podsIn tells whether a source has pods of DaemonSets and StatefulSets.
func podsIn(src core.SourceID) bool {
	return src == core.SourceDaemonPods || src == core.SourceFabricPods || src == core.SourceRedisPods
}

// group notes to what an object belongs, or that it no longer does.
func (w *world) group(src core.SourceID, o core.Object, there bool) {
	switch o := o.(type) {
	case *core.Node:
		if src == core.SourceNodes {
			hold(&w.nodes, o.Name, o, there)
		}
	case *core.DaemonPod:
		if podsIn(src) {
			hold(&w.pods, o.Owner, o, there)
		}
	case *core.ComputeService:
		if src == core.SourceComputeServices {
			hold(&w.services, o.Host, o, there)
		}
	case *core.NetworkAgent:
		if src == core.SourceNetworkAgents {
			hold(&w.agents, o.Host, o, there)
		}
	case *core.WorkloadLock:
		if src == core.SourceNodeLocks {
			hold(&w.locks, o.Node, o, there)
		}
	case *core.MaintenanceRequest:
		if src == core.SourceNodeRequests {
			hold(&w.requests, o.Node, o, there)
		}
	case *core.Instance:
		if src == core.SourceInstances {
			hold(&w.onHosts, o.Host, o, there)
		}
	case *core.Migration:
		if src == core.SourceMigrations {
			hold(&w.migrations, o.InstanceID, o, there)
		}
	}
}

// hold puts an object into its group, or takes it out.
func hold[T core.Object](g *grouped[T], group string, o T, there bool) {
	if there {
		g.put(group, o)
	} else {
		g.remove(group, o)
	}
}
