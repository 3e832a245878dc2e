package engine

import (
	"maps"
	"reflect"
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

// object notes that an object is another one, new (old is nil) or gone (now is nil). An object of a source that is not listed here can
// matter to anything.
func (t *touches) object(w *world, src core.SourceID, old, now core.Object) {
	either := now
	if now == nil {
		either = old
	}
	switch o := either.(type) {
	case *core.Node:
		before, same := old.(*core.Node)
		after, still := now.(*core.Node)
		if !same || !still || before.UID != after.UID || before.Label() != after.Label() {
			t.everything()
		}
		t.node(o.Name)
	case *core.WorkloadLock:
		if src != core.SourceNodeLocks || o.Node == "" {
			t.everything()
		}
		t.node(o.Node)
		if before, same := old.(*core.WorkloadLock); same {
			t.node(before.Node)
		}
	case *core.MaintenanceRequest:
		if src != core.SourceNodeRequests || o.Node == "" {
			t.everything()
		}
		t.node(o.Node)
		if before, same := old.(*core.MaintenanceRequest); same {
			t.node(before.Node)
		}
	case *core.NodeNotice:
		t.node(o.Node)
		if before, same := old.(*core.NodeNotice); same {
			t.node(before.Node)
		}
	case *core.NodePods:
		t.node(o.Node)
	case *core.ComputeService:
		t.node(o.Host)
	case *core.Instance:
		t.node(o.Host)
		if before, same := old.(*core.Instance); same {
			t.node(before.Host)
		}
	case *core.Migration:
		t.node(o.SourceHost)
		t.node(o.DestHost)
		if in, there := w.objects[core.SourceInstances][o.InstanceID].(*core.Instance); there {
			t.node(in.Host)
		}
	case *core.NetworkAgent:
		t.node(o.Host)
	case *core.VolumeService:
		t.node(o.Machine())
	case *core.HostVolumes:
		t.node(o.Host)
	default:
		t.everything()
	}
}

// ofNodes are the maps of a History whose changes observe tells itself, node by node.
var ofNodes = map[string]bool{"Stages": true, "Rounds": true, "Locks": true, "Outages": true, "Refused": true}

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

// stamped gives a Snapshot its Stamps, from what has changed since prev. The facts of the world have been noted as they came.
func (e *Engine) stampSnapshot(s, prev *core.Snapshot) {
	t := &e.world.touched
	if prev == nil {
		t.everything()
	} else {
		if s.Write != prev.Write || s.Management != prev.Management || !e.sameSources(s, prev) || !sameHistory(&s.History, &e.observed, false) {
			t.everything()
		}
		e.touchOperations(prev.Operations, s.Operations)
		s.Stamps = prev.Stamps
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
		s.Stamps.All, s.Stamps.Nodes = s.Revision, nil
	} else if len(t.nodes) > 0 {
		if s.Stamps.Nodes = maps.Clone(s.Stamps.Nodes); s.Stamps.Nodes == nil {
			s.Stamps.Nodes = map[string]uint64{}
		}
		for name := range t.nodes {
			s.Stamps.Nodes[name] = s.Revision
		}
	}
	*t = touches{}
}

// sameSources tells whether all sources are as they were, but for when they were heard. A source that was not heard for a while, and is
// now, is not as it was: rules count from half of Settings.StaleAfterOf on.
func (e *Engine) sameSources(s, prev *core.Snapshot) bool {
	if len(s.Sources) != len(prev.Sources) {
		return false
	}
	for id, now := range s.Sources {
		before, known := prev.Sources[id]
		if !known || before.AsOf.IsZero() != now.AsOf.IsZero() {
			return false
		}
		if now.AsOf.Before(before.AsOf) || now.AsOf.After(before.AsOf) && s.Wall.Sub(before.AsOf) >= s.Settings.StaleAfterOf(id)/2 {
			return false
		}
		before.AsOf = now.AsOf
		if before != now {
			return false
		}
	}
	return true
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
		if !reflect.DeepEqual(before[i], after[i]) {
			at(&before[i])
			at(&after[i])
		}
	}
}
