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
	groups  map[string][]T  // by group; each by key: lists, as there are 100,000 instances on thousands of hosts
	changed map[string]bool // groups that changed since the last projection
}

// find is the place of a key in a group.
func find[T core.Object](group []T, key string) (at int, there bool) {
	return slices.BinarySearchFunc(group, key, func(o T, key string) int { return strings.Compare(o.Key(), key) })
}

// put adds an object to a group, or replaces it there.
func (g *grouped[T]) put(group string, o T) {
	if g.groups == nil {
		g.groups = map[string][]T{}
	}
	list := g.groups[group]
	if at, there := find(list, o.Key()); there {
		list[at] = o
	} else {
		g.groups[group] = slices.Insert(list, at, o)
	}
	g.touch(group)
}

// remove takes an object out of a group.
func (g *grouped[T]) remove(group, key string) {
	if at, there := find(g.groups[group], key); there {
		g.groups[group] = slices.Delete(g.groups[group], at, at+1)
	}
	if len(g.groups[group]) == 0 {
		delete(g.groups, group)
	}
	g.touch(group)
}

func (g *grouped[T]) touch(group string) {
	if g.changed == nil {
		g.changed = map[string]bool{}
	}
	g.changed[group] = true
}

// lists are the groups' objects in their order, from those of the Snapshot before, which are not changed. The order must be total; nil is
// the order of the keys.
func (g *grouped[T]) lists(before map[string][]T, order func(list []T)) map[string][]T {
	return since(g, before, func(group []T) []T {
		list := slices.Clip(slices.Clone(group))
		if order != nil {
			order(list)
		}
		return list
	})
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
