package core

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Derivation names something that is derived from a Snapshot. It is computed once for each Snapshot, by the first who asks, and kept
// with it. A Snapshot that follows another keeps the other's value while no fact has changed and the time changes nothing.
//
// A Derivation is a variable of a package, found by its address. It holds nothing itself.
type Derivation[T any] struct{ _ byte }

// Of is what derive makes of the Snapshot. It is safe for concurrent use. derive must not ask for the same Derivation, must keep
// nothing of the Snapshot that it is given, and asks about times by the Snapshot's methods (Longer, Reached and the like).
func (d *Derivation[T]) Of(s *Snapshot, derive func(*Snapshot) T) T {
	return d.After(s, func(s *Snapshot, _ T) T { return derive(s) })
}

// OfFew is Of for what rests on no fact of a single node but its name, its UID, its label, its roles, and whether it, or a lock or a
// request that names it, exists: it is kept while only other facts of nodes change.
func (d *Derivation[T]) OfFew(s *Snapshot, derive func(*Snapshot) T) T {
	return d.AfterFew(s, func(s *Snapshot, _ T) T { return derive(s) })
}

// After is as Of. derive is also given what was derived from an earlier Snapshot, from which it can take what has not changed; the zero
// value when there is nothing earlier.
func (d *Derivation[T]) After(s *Snapshot, derive func(s *Snapshot, earlier T) T) T {
	return d.derive(s, s.Stamps.Any, derive)
}

// AfterFew is to OfFew what After is to Of.
func (d *Derivation[T]) AfterFew(s *Snapshot, derive func(s *Snapshot, earlier T) T) T {
	return d.derive(s, s.Stamps.All, derive)
}

// OfKeyed is OfFew for what also rests on facts of single nodes, but only by what the key says of them, which is comparable: it is kept
// while the key stays the same. What is derived must be the same for all nodes with which the key is.
func (d *Derivation[T]) OfKeyed(s *Snapshot, key any, derive func(*Snapshot) T) T {
	return d.keyed(s, s.Stamps.All, key, func(s *Snapshot, _ T) T { return derive(s) })
}

// derive is After for what rests on facts with this stamp.
func (d *Derivation[T]) derive(s *Snapshot, stamp uint64, derive func(s *Snapshot, earlier T) T) T {
	return d.keyed(s, stamp, nil, derive)
}

// keyed is derive for what also rests on a key.
func (d *Derivation[T]) keyed(s *Snapshot, stamp uint64, key any, derive func(s *Snapshot, earlier T) T) T {
	own := s.whole()
	kept, ok := own.derived.made.Load(d)
	if !ok {
		kept, _ = own.derived.made.LoadOrStore(d, new(derived[T]))
	}
	k := kept.(*derived[T])
	k.once.Do(func() {
		defer k.done.Store(true)
		earlier, _ := own.derived.earlier[d].(*derived[T])
		k.key = key
		if earlier != nil && earlier.key == key && earlier.when.holds(own, stamp) {
			k.value, k.when = earlier.value, earlier.when
			return
		}
		var before T
		if earlier != nil {
			before = earlier.value
		}
		watching := own.watchedBy(&k.watch)
		k.value = derive(watching, before)
		k.when = whenOf(own, stamp, k.watch)
	})
	if s.derived.watch != nil {
		s.derived.watch.rests(&k.when.watch)
	}
	return k.value
}

// derived is the result of one Derivation of one Snapshot.
type derived[T any] struct {
	once  sync.Once
	done  atomic.Bool // value is there
	value T
	watch watch // while it is being derived
	when  when
	key   any // what else it rests on
}

func (k *derived[T]) isDone() bool { return k.done.Load() }
func (k *derived[T]) from() *when  { return &k.when }

// when is from which facts and at which time something was derived.
type when struct {
	changed   uint64 // the stamp of the facts that it rests on
	now, wall time.Time
	watch     watch
}

func whenOf(s *Snapshot, changed uint64, w watch) when {
	return when{changed: changed, now: s.Now, wall: s.Wall, watch: w}
}

// holds tells whether what was derived then is the same in a later Snapshot, where the facts that it rests on have this stamp.
func (w *when) holds(later *Snapshot, changed uint64) bool {
	return changed != 0 && w.changed == changed && !later.Now.Before(w.now) && !later.Wall.Before(w.wall) && w.watch.holds(later) &&
		(!w.watch.offset || later.Now.Sub(later.Wall) == w.now.Sub(w.wall))
}

// Stamps say when facts changed last, as the Revision of the first Snapshot that has the change. They are 0 in a Snapshot that no Engine
// made: nothing is taken over from it, or into it.
type Stamps struct {
	Any   uint64     // any fact but the times at which sources were heard
	All   uint64     // a fact that anything can rest on
	Nodes NodeStamps // by node and by host: a fact of this one; see Engine

	// The names for which Nodes has this Revision or the one before, in any order: what looks at each Snapshot need not look through all.
	Lately []string
}

// NodeStamps are the Revisions in which a fact of a node or a host changed last. They never change. The zero value has none.
//
// A cluster has thousands of nodes, and each Snapshot has a few stamps more: those are apart from the others until there are many.
type NodeStamps struct {
	most map[string]uint64
	few  map[string]uint64 // newer than those of most
}

// fewStamps is how many stamps are apart from the others at most.
const fewStamps = 100

// At is the stamp of the node or host; 0 when there is none.
func (n NodeStamps) At(name string) uint64 {
	if at, newer := n.few[name]; newer {
		return at
	}
	return n.most[name]
}

// All are the names with their stamps, in any order.
func (n NodeStamps) All() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for name, at := range n.few {
			if !yield(name, at) {
				return
			}
		}
		for name, at := range n.most {
			if _, newer := n.few[name]; !newer && !yield(name, at) {
				return
			}
		}
	}
}

// With are the stamps with those of the names at a newer Revision.
func (n NodeStamps) With(names iter.Seq[string], revision uint64) NodeStamps {
	few := maps.Clone(n.few)
	if few == nil {
		few = map[string]uint64{}
	}
	for name := range names {
		few[name] = revision
	}
	if len(few) <= fewStamps {
		return NodeStamps{n.most, few}
	}
	most := maps.Clone(n.most)
	if most == nil {
		return NodeStamps{most: few}
	}
	maps.Copy(most, few)
	return NodeStamps{most: most}
}

// of is when a fact changed last that the node's own derivations can rest on. A change of the host's name is one of the node, too.
func (st Stamps) of(node, host string) uint64 {
	at := max(st.All, st.Nodes.At(node))
	if host != node {
		at = max(at, st.Nodes.At(host))
	}
	return at
}

// since are the names of nodes and hosts of which a fact has changed in the Snapshot of this Revision or later; now is the Revision of
// the Snapshot with these Stamps.
func (st Stamps) since(revision, now uint64) iter.Seq[string] {
	if revision+1 >= now {
		return slices.Values(st.Lately)
	}
	return func(yield func(string) bool) {
		for name, changed := range st.Nodes.All() {
			if changed >= revision && !yield(name) {
				return
			}
		}
	}
}

// Follow has the Snapshot take over what was derived from an earlier one of the same Engine, as far as it still holds. It is called
// before anything is derived from the Snapshot.
func (s *Snapshot) Follow(earlier *Snapshot) {
	s.derived.earlier = maps.Clone(earlier.derived.earlier)
	if s.derived.earlier == nil {
		s.derived.earlier = map[any]any{}
	}
	earlier.derived.made.Range(func(d, k any) bool {
		if k.(interface{ isDone() bool }).isDone() {
			s.derived.earlier[d] = k
		}
		return true
	})
}

// Same tells whether a later Snapshot of the same Engine shows the same: no fact has changed, and nothing that was derived from this one
// is another one by time alone. What is made of the time itself, as an age, is not looked at.
func (s *Snapshot) Same(later *Snapshot) bool {
	if s.Stamps.Any == 0 || s.Stamps.Any != later.Stamps.Any {
		return false
	}
	same := true
	s.derived.made.Range(func(_, k any) bool {
		d := k.(interface {
			isDone() bool
			from() *when
		})
		same = d.isDone() && d.from().holds(later, d.from().changed)
		return same
	})
	return same
}

// Glance is what a look at a Snapshot rests on. The zero Glance rests on nothing that any Snapshot has.
type Glance struct{ when when }

// GlanceAt hands the Snapshot to whoever looks at it, who asks about times by its methods and keeps nothing of it.
func GlanceAt(s *Snapshot, look func(*Snapshot)) Glance {
	own := s.whole()
	var w watch
	look(own.watchedBy(&w))
	return Glance{whenOf(own, own.Stamps.Any, w)}
}

// Same tells whether a look at a later Snapshot of the same Engine would see the same: no fact has changed, and no time that was asked
// about has come.
func (g *Glance) Same(later *Snapshot) bool { return g.when.holds(later, later.Stamps.Any) }

// derivations is what was derived from a Snapshot, and how.
type derivations struct {
	made    sync.Map    // by *Derivation
	earlier map[any]any // from the Snapshots before it, by *Derivation; the newest of each

	// For whoever derives: the Snapshot whose facts these are, and what notes how the result depends on the time.
	of    *Snapshot
	watch *watch
}

// watchedBy is the Snapshot for whoever derives: w notes how the result depends on the time.
func (s *Snapshot) watchedBy(w *watch) *Snapshot {
	c := &Snapshot{Facts: s.Facts}
	c.derived.of, c.derived.watch = s, w
	return c
}

// whole is the Snapshot itself, for one that is handed to whoever derives.
func (s *Snapshot) whole() *Snapshot {
	if s.derived.of != nil {
		return s.derived.of
	}
	return s
}
