package engine

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"lockstep/core"
)

// touches are the facts that have changed since the last Snapshot, by what can rest on them.
type touches struct {
	all   bool            // anything can
	any   bool            // what is derived from the whole Snapshot can
	nodes map[string]bool // what is derived for the node, or for the node of the host, can
}

// everything notes a fact that anything can rest on.
func (t *touches) everything() { t.all, t.any = true, true }

// node notes facts of a node, by its name or by its host. An OpenStack that knows hosts by their domain names means the node with the
// part before the dot.
func (t *touches) node(name string) {
	t.any = true
	if name == "" {
		return
	}
	if t.nodes == nil {
		t.nodes = map[string]bool{}
	}
	t.nodes[name] = true
	if short, _, dotted := strings.Cut(name, "."); dotted {
		t.nodes[short] = true
	}
}

// object notes that an object is another one, new (old is nil) or gone (now is nil): for the nodes that it was about, and for those that
// it is about now. What else counts for more than a node is as Derivation.OfFew says.
func (t *touches) object(w *world, src core.SourceID, old, now core.Object) {
	if before, was := old.(*core.Node); was {
		if after, is := now.(*core.Node); is && before.UID == after.UID && before.ShortName == after.ShortName &&
			slices.Equal(w.rolesOf(before), w.rolesOf(after)) {
			t.node(after.Name)
			return
		}
	}
	if w.alone(src, old) != w.alone(src, now) {
		t.everything() // the node's name comes or goes with it
	}
	for _, o := range []core.Object{old, now} {
		if o == nil {
			continue
		}
		nodes := w.nodesOf(src, o)
		if len(nodes) == 0 {
			t.everything()
		}
		for _, name := range nodes {
			t.node(name)
		}
	}
}

// alone is the name of the node of a lock or a request, where the cluster has no such node; else empty.
func (w *world) alone(src core.SourceID, o core.Object) string {
	name := ""
	switch o := o.(type) {
	case *core.WorkloadLock:
		if src == core.SourceNodeLocks {
			name = o.Node
		}
	case *core.MaintenanceRequest:
		if src == core.SourceNodeRequests {
			name = o.Node
		}
	}
	if len(w.nodes.groups[name]) > 0 {
		return ""
	}
	return name
}

// rolesOf are the roles that a node has in Snapshots.
func (w *world) rolesOf(n *core.Node) []core.Role {
	if w.withRoles != nil {
		n = w.withRoles(n)
	}
	return n.Roles
}

// nodesOf are the nodes, or hosts, that alone rest on an object; none for an object that can matter to anything, as one does of a kind
// that is not listed here. A node that comes, goes or is renamed is such an object, too.
func (w *world) nodesOf(src core.SourceID, o core.Object) []string {
	switch o := o.(type) {
	case *core.WorkloadLock:
		if src == core.SourceNodeLocks && o.Node != "" {
			return []string{o.Node}
		}
	case *core.MaintenanceRequest:
		if src == core.SourceNodeRequests && o.Node != "" {
			return []string{o.Node}
		}
	case *core.NodeNotice:
		return []string{o.Node}
	case *core.NodePods:
		return []string{o.Node}
	case *core.ComputeService:
		return []string{o.Host}
	case *core.Instance:
		return []string{o.Host}
	case *core.Migration:
		hosts := []string{o.SourceHost, o.DestHost}
		if in, there := w.known(core.SourceInstances, o.InstanceID); there {
			hosts = append(hosts, in.(*core.Instance).Host)
		}
		return hosts
	case *core.NetworkAgent:
		return []string{o.Host}
	case *core.VolumeService:
		return []string{o.Machine()}
	case *core.HostVolumes:
		return []string{o.Host}
	case *core.Alertmanager:
		return []string{""} // no node's: only what is derived from the whole Snapshot rests on it
	case *core.ManagedMachine, *core.LCMMachine, *core.DrainState:
		return []string{""} // what they change of the Management tells management
	}
	return nil
}

// ofNodes are the maps of a History whose changes observe tells itself, node by node.
var ofNodes = map[string]bool{"Stages": true, "Courses": true, "Rounds": true, "Earlier": true,
	"Locks": true, "LocksLately": true, "Outages": true, "Refused": true}

// sameHistory tells whether two Histories are the same, of which one came from the other. Maps are never changed in place, so the same
// map has the same content. byNode leaves out what observe tells node by node.
func sameHistory(a, b *core.History, byNode bool) bool {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		switch f := x.Field(i); {
		case byNode && ofNodes[x.Type().Field(i).Name]:
		case f.Kind() == reflect.Map:
			if f.Pointer() != y.Field(i).Pointer() {
				return false
			}
		case !f.Equal(y.Field(i)):
			return false
		}
	}
	return true
}

// stampSnapshot gives a Snapshot its Stamps, from what has changed since prev. The facts of the world have been noted as they came.
func (e *Engine) stampSnapshot(s, prev *core.Snapshot) {
	t := &e.world.touched
	if prev == nil {
		t.everything()
	} else {
		same, lately := sameSources(s, prev)
		t.any = t.any || !lately
		t.management(prev.Management, s.Management)
		if s.Write != prev.Write || !same ||
			!slices.Equal(s.Notes, prev.Notes) || !sameHistory(&s.History, &e.observed, false) {
			t.everything()
		}
		e.touchOperations(prev.Operations, s.Operations)
		s.Stamps = prev.Stamps
		s.Stamps.Lately = nil
		for _, name := range prev.Stamps.Lately {
			if prev.Stamps.Nodes.At(name) == prev.Revision {
				s.Stamps.Lately = append(s.Stamps.Lately, name)
			}
		}
	}
	e.stamp(s)
}

// stamp notes in the Snapshot's Stamps what was touched.
func (e *Engine) stamp(s *core.Snapshot) {
	t := &e.world.touched
	if t.any {
		s.Stamps.Any = s.Revision
	}
	if t.all {
		s.Stamps.All, s.Stamps.Nodes, s.Stamps.Lately = s.Revision, core.NodeStamps{}, nil
	} else if len(t.nodes) > 0 {
		s.Stamps.Nodes = s.Stamps.Nodes.With(maps.Keys(t.nodes), s.Revision)
		s.Stamps.Lately = slices.AppendSeq(s.Stamps.Lately, maps.Keys(t.nodes))
	}
	*t = touches{}
}

// management notes what has changed of the management cluster: at the nodes of machines that only go on in their work, or everywhere.
func (t *touches) management(before, now *core.Management) {
	if before == now {
		return
	}
	nodes, only := now.MachinesMoved(before)
	if !only {
		t.everything()
	}
	for _, name := range nodes {
		t.node(name)
	}
}

// sameSources tells whether all sources are as they were, but for when they were heard; lately tells whether each that was heard again had
// been heard lately. One that was not heard for a while, and is now, counts for what is derived from the whole Snapshot: rules about
// sources count from Settings.StaleAfterOf on, and from half of it where a source is not live. Nothing of a node rests on how long ago a
// live source was heard; what waits for it to be heard says so (Snapshot.HeardSince).
func sameSources(s, prev *core.Snapshot) (same, lately bool) {
	if len(s.Sources) != len(prev.Sources) {
		return false, false
	}
	lately = true
	for id, now := range s.Sources {
		before, known := prev.Sources[id]
		if !known || before.AsOf.IsZero() != now.AsOf.IsZero() || now.AsOf.Before(before.AsOf) {
			return false, false
		}
		limit := s.Settings.StaleAfterOf(id)
		if now.State != core.SourceLive {
			limit /= 2
		}
		if now.AsOf.After(before.AsOf) && s.Wall.Sub(before.AsOf) >= limit {
			lately = false
		}
		before.AsOf = now.AsOf
		if before != now {
			return false, false
		}
	}
	return true, lately
}

// touchOperations notes what has changed in the operations: at their nodes, or everywhere for one that is at no node.
func (e *Engine) touchOperations(before, after []core.Operation) {
	t := &e.world.touched
	at := func(op *core.Operation) {
		t.node(op.Node)
		for _, item := range op.Items {
			t.node(item.Node)
		}
		if op.Node == "" {
			t.everything()
		}
	}
	if len(before) != len(after) {
		t.everything()
		return
	}
	for i := range after {
		if before[i].ID != after[i].ID {
			t.everything()
			return
		}
		if !reflect.DeepEqual(&before[i], &after[i]) {
			at(&before[i])
			at(&after[i])
		}
	}
}
