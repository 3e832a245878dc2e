package core

import (
	"maps"
	"reflect"
)

// SameMap tells whether two maps are one. Maps of Snapshots and of a History are never changed in place, so the same one has the same
// content.
func SameMap[K comparable, V any](a, b map[K]V) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// CloneOnWrite is a map that others hold, copied before its first change.
type CloneOnWrite[K comparable, V any] struct {
	M     map[K]V
	owned bool
}

// Set sets a key, on a copy of the map that was handed out.
func (c *CloneOnWrite[K, V]) Set(k K, v V) {
	if !c.owned {
		if c.M = maps.Clone(c.M); c.M == nil {
			c.M = map[K]V{}
		}
		c.owned = true
	}
	c.M[k] = v
}

// Delete removes a key, on a copy of the map that was handed out.
func (c *CloneOnWrite[K, V]) Delete(k K) {
	if _, there := c.M[k]; there {
		c.Set(k, c.M[k])
		delete(c.M, k)
	}
}
