package core

import (
	"iter"
	"slices"
	"strings"
)

// ByNode is what was derived for each node by itself. The zero value holds nothing.
type ByNode[T any] struct {
	common any // what all of them rest on beside the facts
	basis  Basis
	names  []string
	index  map[string]int // in names
	made   shelf[T]       // by the index

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

// shelf holds what was made for each node, in rows. Snapshots share the rows in which nothing differs: a cluster has thousands of nodes, of
// which a few are not as in the Snapshot before.
type shelf[T any] struct {
	rows []*[inRow]*nodeMade[T]
	n    int
}

const inRow = 64

// shelfFor is a shelf with room for so many nodes.
func shelfFor[T any](n int) shelf[T] {
	return shelf[T]{make([]*[inRow]*nodeMade[T], (n+inRow-1)/inRow), n}
}

func (s shelf[T]) at(i int) *nodeMade[T] { return s.rows[i/inRow][i%inRow] }

// put puts what was made for a node on the shelf; what the shelf still shares is copied before.
func (s *shelf[T]) put(i int, made *nodeMade[T], shared shelf[T]) {
	row := i / inRow
	switch r := s.rows[row]; {
	case r == nil:
		s.rows[row] = new([inRow]*nodeMade[T])
	case r[i%inRow] == made:
		return
	case shared.n > 0 && r == shared.rows[row]:
		if &s.rows[0] == &shared.rows[0] {
			s.rows = slices.Clone(s.rows)
		}
		own := *r
		s.rows[row] = &own
	}
	s.rows[row][i%inRow] = made
}

// other are the indices at which another shelf for as many nodes has something else.
func (s shelf[T]) other(than shelf[T]) []int {
	var out []int
	for row, r := range s.rows {
		if r == than.rows[row] {
			continue
		}
		for at, made := range r {
			if made != than.rows[row][at] {
				out = append(out, row*inRow+at)
			}
		}
	}
	return out
}

// Basis is what the value of each node rests on beside facts: what was derived by node before it, for the same list of names.
type Basis interface {
	// of is what the value of the node with this index rests on; it is comparable.
	of(i int) any
	// other are the indices of the nodes for which it is not the same as before; known tells whether that can be said.
	other(before Basis) (nodes []int, known bool)
}

func (b ByNode[T]) of(i int) any { return b.made.at(i) }

func (b ByNode[T]) other(before Basis) (nodes []int, known bool) {
	was, ok := before.(ByNode[T])
	if !ok || was.made.n != b.made.n {
		return nil, false
	}
	return b.made.other(was.made), true
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
		was, now = append(was, before.At(i)), append(now, b.At(i))
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
		out: ByNode[T]{common: common, basis: basis, names: names, index: earlier.index, made: earlier.made}}
	aligned := len(names) > 0 && len(names) == len(earlier.names) && &names[0] == &earlier.names[0]
	d.shared = earlier.made
	if !aligned {
		d.out.made, d.shared = shelfFor[T](len(names)), shelf[T]{}
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
			w.rests(&d.out.made.at(i).when.watch)
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
	shared   shelf[T] // what out.made began as: it belongs to the Snapshot before
}

// lookAtAll looks at all nodes; same tells whether what was made earlier can be taken over.
func (d *nodeDeriver[T]) lookAtAll(earlier ByNode[T], same bool) {
	d.out.when, d.out.others = whenOf(d.s, d.s.Revision, watch{}), nil
	for i, name := range d.out.names {
		var made *nodeMade[T]
		if at, there := earlier.index[name]; there && same {
			made = earlier.made.at(at)
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
	for _, i := range slices.Compact(look) {
		d.look(i, earlier.made.at(i))
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
	d.out.made.put(i, made, d.shared)
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
	return b.At(i), true
}

// At is what was derived for the node at this place in the list of names.
func (b ByNode[T]) At(i int) T { return b.made.at(i).value }

// Others are the values of the nodes that may rest on other nodes, with their places in the list of names, in its order.
func (b ByNode[T]) Others() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for _, i := range b.others {
			if !yield(i, b.At(i)) {
				return
			}
		}
	}
}

// All are the values, in the order of the names.
func (b ByNode[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range b.made.n {
			if !yield(b.At(i)) {
				return
			}
		}
	}
}
