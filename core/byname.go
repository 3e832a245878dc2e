package core

import (
	"iter"
	"maps"
	"reflect"
)

// ByName are values by the names of nodes. A cluster has thousands, and each Snapshot has new values for a few of them: tables share what
// has not changed, and those that changed lately are apart from the others until there are many. A table never changes. The zero value is
// empty.
type ByName[V any] struct {
	most map[string]V
	few  map[string]lately[V] // newer than those of most
	n    int
}

// lately is a newer value, or that there is none any more.
type lately[V any] struct {
	value V
	gone  bool
}

// fewNames is how many values are apart from the others at most.
const fewNames = 100

// NamesIn is the table with what a map has, which must not be changed any more.
func NamesIn[V any](all map[string]V) ByName[V] { return ByName[V]{most: all, n: len(all)} }

// At is the value for the name; V's zero value when there is none.
func (m ByName[V]) At(name string) V {
	value, _ := m.Get(name)
	return value
}

// Get is the value for the name, and whether there is one.
func (m ByName[V]) Get(name string) (V, bool) {
	if l, newer := m.few[name]; newer {
		return l.value, !l.gone
	}
	value, there := m.most[name]
	return value, there
}

// Len is how many names have a value.
func (m ByName[V]) Len() int { return m.n }

// All are the names with their values, in any order.
func (m ByName[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for name, l := range m.few {
			if !l.gone && !yield(name, l.value) {
				return
			}
		}
		for name, value := range m.most {
			if _, newer := m.few[name]; !newer && !yield(name, value) {
				return
			}
		}
	}
}

// Names are the names, in any order.
func (m ByName[V]) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range m.All() {
			if !yield(name) {
				return
			}
		}
	}
}

// With is the table with these values, and without those that are gone.
func (m ByName[V]) With(put map[string]V, gone ...string) ByName[V] {
	out := ByName[V]{most: m.most, few: maps.Clone(m.few), n: m.n}
	if out.few == nil {
		out.few = map[string]lately[V]{}
	}
	set := func(name string, l lately[V]) {
		if _, there := out.Get(name); there {
			out.n--
		}
		if !l.gone {
			out.n++
		}
		out.few[name] = l
	}
	for name, value := range put {
		set(name, lately[V]{value: value})
	}
	for _, name := range gone {
		set(name, lately[V]{gone: true})
	}
	if len(out.few) <= fewNames {
		return out
	}
	all := make(map[string]V, out.n)
	maps.Insert(all, out.All())
	return NamesIn(all)
}

// Put is the table with one more value.
func (m ByName[V]) Put(name string, value V) ByName[V] { return m.With(map[string]V{name: value}) }

// Without is the table without a name.
func (m ByName[V]) Without(name string) ByName[V] { return m.With(nil, name) }

// Equal tells whether two tables have the same names with values that are deeply equal, however they were made.
func (m ByName[V]) Equal(other ByName[V]) bool {
	if m.n != other.n {
		return false
	}
	for name, value := range m.All() {
		if o, there := other.Get(name); !there || !reflect.DeepEqual(value, o) {
			return false
		}
	}
	return true
}
