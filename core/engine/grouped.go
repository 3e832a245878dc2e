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

// lists are the groups' objects in their order, from those of the Snapshot before, which are not changed. The order must be total.
func (g *grouped[T]) lists(before map[string][]T, order func(list []T)) map[string][]T {
	out := maps.Clone(before)
	if out == nil {
		out = map[string][]T{}
		for group := range g.groups {
			g.touch(group)
		}
	}
	for group := range g.changed {
		if len(g.groups[group]) == 0 {
			delete(out, group)
			continue
		}
		list := slices.Clip(slices.Clone(g.groups[group]))
		order(list)
		out[group] = list
	}
	g.changed = nil
	return out
}
