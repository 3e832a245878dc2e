package core

import (
	"iter"
	"maps"
	"slices"
	"strings"
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

// ByNode is what was derived for each node by itself. The zero value holds nothing.
type ByNode[T any] struct {
	common any // what all of them rest on beside the facts
	basis  Basis
	names  []string
	index  map[string]int // in names
	made   []*nodeMade[T] // by the index

	// For the next Snapshot: which need a look there although nothing of theirs has changed.
	when   when  // when it was derived, and until when none of those that rest on no other nodes changes by time alone
	others []int // those that rest on other nodes
}

type nodeMade[T any] struct {
	value  T
	when   when
	host   string // of the node
	rests  any
	others bool
}

// Basis is what the value of each node rests on beside facts: what was derived by node before it, for the same list of names.
type Basis interface {
	// of is what the value of the node with this index rests on; it is comparable.
	of(i int) any
	// other are the indices of the nodes for which it is not the same as before; known tells whether that can be said.
	other(before Basis) (nodes []int, known bool)
}

func (b ByNode[T]) of(i int) any { return b.made[i] }

func (b ByNode[T]) other(before Basis) (nodes []int, known bool) {
	was, ok := before.(ByNode[T])
	if !ok || len(was.made) != len(b.made) {
		return nil, false
	}
	for i := range b.made {
		if b.made[i] != was.made[i] {
			nodes = append(nodes, i)
		}
	}
	return nodes, true
}

// ChangedSince are the values that are not the same ones as before, each with the one before; known tells whether that can be said of each
// node by itself.
func (b ByNode[T]) ChangedSince(before ByNode[T]) (was, now []T, known bool) {
	nodes, known := b.other(before)
	if !known || len(b.names) == 0 || &b.names[0] != &before.names[0] {
		return nil, nil, false
	}
	was, now = make([]T, 0, len(nodes)), make([]T, 0, len(nodes))
	for _, i := range nodes {
		was, now = append(was, before.made[i].value), append(now, b.made[i].value)
	}
	return was, now, true
}

// Digest tells when that changed which something takes from the values of nodes: most changes of a node matter to few.
type Digest[T any] struct {
	ByNode  ByNode[T]
	Changed uint64 // the Revision of the first Snapshot with the change; comparable as a key of OfKeyed
}

// SameAs tells whether nothing has changed since an earlier Digest of the same Engine.
func (d Digest[T]) SameAs(earlier Digest[T]) bool {
	return d.Changed != 0 && d.Changed == earlier.Changed
}

// DigestOf is what the values of nodes come to, by what is taken from each; earlier is what they came to in an earlier Snapshot.
func DigestOf[T any, D comparable](s *Snapshot, earlier Digest[T], of ByNode[T], take func(T) D) Digest[T] {
	d := Digest[T]{of, earlier.Changed}
	was, now, known := of.ChangedSince(earlier.ByNode)
	changed := !known
	for i := range now {
		changed = changed || take(was[i]) != take(now[i])
	}
	if changed {
		d.Changed = s.whole().Revision
	}
	return d
}

// DeriveByNode derives for each of the nodes, and takes over from earlier what has not changed; nodes of which nothing can have changed
// are not looked at. The value of a node may rest on the node's own facts, on facts that are no node's, on the time, on common, which must
// be comparable, and on what basis has for the node (nil: nothing more). derive says whether it may also rest on other nodes: then it is
// derived anew when any fact has changed. The list of names must not be changed afterwards.
func DeriveByNode[T any](s *Snapshot, earlier ByNode[T], common any, names []string, basis Basis,
	derive func(s *Snapshot, node string) (value T, others bool)) ByNode[T] {
	own := s.whole()
	d := nodeDeriver[T]{s: own, watching: own.watchedBy(nil), derive: derive,
		out: ByNode[T]{common: common, basis: basis, names: names, index: earlier.index, made: make([]*nodeMade[T], len(names))}}
	aligned := len(names) > 0 && len(names) == len(earlier.names) && &names[0] == &earlier.names[0]
	if !aligned {
		d.out.index = make(map[string]int, len(names))
		for i, name := range names {
			d.out.index[name] = i
		}
	}
	same := earlier.common == common
	if !same || !aligned || !d.lookWhere(earlier) {
		d.lookAtAll(earlier, same)
	}
	if w := s.derived.watch; w != nil {
		w.rests(&d.out.when.watch)
		for _, i := range d.out.others {
			w.rests(&d.out.made[i].when.watch)
		}
	}
	return d.out
}

// nodeDeriver makes a ByNode.
type nodeDeriver[T any] struct {
	s        *Snapshot
	watching *Snapshot // s, for whoever derives: of one node after the other
	derive   func(s *Snapshot, node string) (value T, others bool)
	out      ByNode[T]
}

// lookAtAll looks at all nodes; same tells whether what was made earlier can be taken over.
func (d *nodeDeriver[T]) lookAtAll(earlier ByNode[T], same bool) {
	d.out.when, d.out.others = whenOf(d.s, d.s.Revision, watch{}), nil
	for i, name := range d.out.names {
		var made *nodeMade[T]
		if at, there := earlier.index[name]; there && same {
			made = earlier.made[at]
		}
		d.look(i, made)
	}
}

// lookWhere looks only where something can have changed since: at nodes of which a fact or the basis has, and at those that rest on
// others. It returns false, and has done nothing that counts, where that cannot be said.
func (d *nodeDeriver[T]) lookWhere(earlier ByNode[T]) bool {
	at, stamps := earlier.when.changed, d.s.Stamps
	// What was touched by the Snapshot of which earlier was derived may have been touched after that.
	if stamps.All == 0 || stamps.All >= at || d.s.Revision <= at || !earlier.when.holds(d.s, at) {
		return false
	}
	var look []int
	if d.out.basis != nil {
		other, known := d.out.basis.other(earlier.basis)
		if !known {
			return false
		}
		look = other
	}
	for name := range stamps.since(at, d.s.Revision) {
		i, there := d.out.index[name]
		if !there { // a host's name
			short, _, _ := strings.Cut(name, ".")
			if i, there = d.out.index[short]; !there {
				continue
			}
		}
		look = append(look, i)
	}
	look = append(look, earlier.others...)
	slices.Sort(look)
	d.out.when = whenOf(d.s, d.s.Revision, earlier.when.watch)
	copy(d.out.made, earlier.made)
	for _, i := range slices.Compact(look) {
		d.look(i, earlier.made[i])
	}
	return true
}

// look takes over what was made for a node, or makes it anew.
func (d *nodeDeriver[T]) look(i int, made *nodeMade[T]) {
	name := d.out.names[i]
	var rests any
	if d.out.basis != nil {
		rests = d.out.basis.of(i)
	}
	if made == nil || made.rests != rests || !d.holds(name, made) {
		made = &nodeMade[T]{rests: rests, host: d.s.HostOf(name)}
		d.watching.derived.watch = &made.when.watch
		made.value, made.others = d.derive(d.watching, name)
		made.when = whenOf(d.s, d.s.Stamps.of(name, made.host), made.when.watch)
		if made.others {
			made.when.changed = d.s.Revision
		}
	}
	d.out.made[i] = made
	if made.others {
		d.out.others = append(d.out.others, i)
		return
	}
	d.out.when.watch.rests(&made.when.watch)
}

// holds tells whether what was made for a node is the same in this Snapshot. What rests on other nodes is, while no fact at all has changed
// since; what was touched by the Snapshot of which it was made may have been touched after that.
func (d *nodeDeriver[T]) holds(name string, made *nodeMade[T]) bool {
	if made.others {
		return d.s.Stamps.Any != 0 && d.s.Stamps.Any < made.when.changed && made.when.holds(d.s, made.when.changed)
	}
	return made.when.holds(d.s, d.s.Stamps.of(name, made.host))
}

// Get is what was derived for the node.
func (b ByNode[T]) Get(node string) (value T, ok bool) {
	i, ok := b.index[node]
	if !ok {
		return value, false
	}
	return b.made[i].value, true
}

// At is what was derived for the node at this place in the list of names.
func (b ByNode[T]) At(i int) T { return b.made[i].value }

// Others are the values of the nodes that may rest on other nodes, with their places in the list of names, in its order.
func (b ByNode[T]) Others() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for _, i := range b.others {
			if !yield(i, b.made[i].value) {
				return
			}
		}
	}
}

// All are the values, in the order of the names.
func (b ByNode[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, made := range b.made {
			if !yield(made.value) {
				return
			}
		}
	}
}
