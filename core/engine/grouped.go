package engine

import (
	"maps"
	"slices"
	"strings"

	"lockstep/core"
)

// grouped is objects by what they belong to, such as locks by their node. A Snapshot's map of lists is made from it: lists that have not
// changed are shared with the Snapshot before.
type grouped[T core.Object] struct {
	order   func(a, b T) int // of a group's objects; nil: by key
	groups  map[string][]T   // by group, each in order; Snapshots share a list that has not changed since the last projection
	changed map[string]bool  // groups that changed since the last projection: their lists are not shared
}

func (g *grouped[T]) compare(a, b T) int {
	if g.order != nil {
		if c := g.order(a, b); c != 0 {
			return c
		}
	}
	return strings.Compare(a.Key(), b.Key())
}

// put adds an object to a group in which it is not.
func (g *grouped[T]) put(group string, o T) {
	if g.groups == nil {
		g.groups = map[string][]T{}
	}
	list := g.own(group)
	at, _ := slices.BinarySearchFunc(list, o, g.compare)
	g.groups[group] = slices.Insert(list, at, o)
}

// remove takes an object out of a group.
func (g *grouped[T]) remove(group string, o T) {
	list := g.own(group)
	if at, there := slices.BinarySearchFunc(list, o, g.compare); there {
		list = slices.Delete(list, at, at+1)
		g.groups[group] = list
	}
	if len(list) == 0 {
		delete(g.groups, group)
	}
}

// own is a group's list, to be changed.
func (g *grouped[T]) own(group string) []T {
	if g.changed == nil {
		g.changed = map[string]bool{}
	}
	if !g.changed[group] {
		g.changed[group] = true
		list := g.groups[group]
		g.groups[group] = append(make([]T, 0, len(list)+1), list...)
	}
	return g.groups[group]
}

// lists are the groups' objects in their order, from those of the Snapshot before, which are not changed.
func (g *grouped[T]) lists(before map[string][]T) map[string][]T {
	return since(g, before, func(group []T) []T { return slices.Clip(group) })
}

// tableAfter are the lists as a table, from that of the Snapshot before.
func (g *grouped[T]) tableAfter(before core.ByName[[]T]) core.ByName[[]T] {
	if before.Len() == 0 {
		return core.NamesIn(g.lists(nil))
	}
	put, gone := make(map[string][]T, len(g.changed)), []string(nil)
	for name := range g.changed {
		if group := g.groups[name]; len(group) > 0 {
			put[name] = slices.Clip(group)
		} else {
			gone = append(gone, name)
		}
	}
	g.changed = nil
	return before.With(put, gone...)
}

// firsts are the groups' objects where each group has one, from those of the Snapshot before, which are not changed; of several it is
// always the same one. as makes of an object what is shown of it; nil: itself.
func (g *grouped[T]) firsts(before map[string]T, as func(T) T) map[string]T {
	return since(g, before, func(group []T) T {
		if as != nil {
			return as(group[0])
		}
		return group[0]
	})
}

// since is what a Snapshot shows of each group: what it was before, with the groups that have changed made anew. A copy of a map costs a
// tenth of a map that is made of thousands of objects one by one.
func since[T core.Object, V any](g *grouped[T], before map[string]V, anew func(group []T) V) map[string]V {
	out := maps.Clone(before)
	if out == nil {
		out = make(map[string]V, len(g.groups))
		for name, group := range g.groups {
			out[name] = anew(group)
		}
		g.changed = nil
		return out
	}
	for name := range g.changed {
		if group := g.groups[name]; len(group) > 0 {
			out[name] = anew(group)
		} else {
			delete(out, name)
		}
	}
	g.changed = nil
	return out
}
