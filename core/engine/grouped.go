package engine

import "maps"

// grouped is objects by what they belong to, such as locks by their node. A Snapshot's map of lists is made from it: lists that have not
// changed are shared with the Snapshot before.
type grouped[T any] struct {
	groups  map[string]map[string]T // by group, then by key
	changed map[string]bool         // groups that changed since the last projection
}

// put adds an object to a group, or replaces it there.
func (g *grouped[T]) put(group, key string, o T) {
	if g.groups == nil {
		g.groups = map[string]map[string]T{}
	}
	if g.groups[group] == nil {
		g.groups[group] = map[string]T{}
	}
	g.groups[group][key] = o
	g.touch(group)
}

// remove takes an object out of a group.
func (g *grouped[T]) remove(group, key string) {
	delete(g.groups[group], key)
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
		objects := g.groups[group]
		if len(objects) == 0 {
			delete(out, group)
			continue
		}
		list := make([]T, 0, len(objects))
		for _, o := range objects {
			list = append(list, o)
		}
		order(list)
		out[group] = list
	}
	g.changed = nil
	return out
}
