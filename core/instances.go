package core

import (
	"iter"
	"slices"
	"strings"
)

// Instances are instances by ID.
type Instances = ByKey[*Instance]

// ByKey are objects by their keys. A cloud has 100,000 instances, and a handful change between two Snapshots: these share all the parts
// in which nothing has changed. A part is a list, not a map: it costs each object one pointer, and pointers are what the garbage
// collector's work is made of. The zero value is empty.
type ByKey[T Object] struct {
	parts [][]T // by partOf, each in the order of its keys; empty, or all
}

// keyParts is how many parts there are: a change copies one of them, of a hundred objects in a large cloud.
const keyParts = 1024

func partOf(key string) int {
	h := uint32(2166136261) // FNV-1a
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return int(h % keyParts)
}

func placeIn[T Object](part []T, key string) (at int, there bool) {
	return slices.BinarySearchFunc(part, key, func(o T, key string) int { return strings.Compare(o.Key(), key) })
}

// At is the object with the key; T's zero value when there is none.
func (m ByKey[T]) At(key string) (found T) {
	if len(m.parts) == 0 {
		return found
	}
	part := m.parts[partOf(key)]
	if at, there := placeIn(part, key); there {
		found = part[at]
	}
	return found
}

// Len is how many there are.
func (m ByKey[T]) Len() int {
	n := 0
	for _, part := range m.parts {
		n += len(part)
	}
	return n
}

// All are all of them, in no order that means something.
func (m ByKey[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, part := range m.parts {
			for _, o := range part {
				if !yield(o.Key(), o) {
					return
				}
			}
		}
	}
}

// With are the objects after some were put and some removed, by their keys. Those before are left as they are.
func (m ByKey[T]) With(put []T, removed []string) ByKey[T] {
	if len(put)+len(removed) == 0 {
		return m
	}
	out := ByKey[T]{parts: make([][]T, keyParts)}
	copy(out.parts, m.parts)
	var own [keyParts]bool
	part := func(key string) *[]T {
		i := partOf(key)
		if !own[i] {
			own[i], out.parts[i] = true, slices.Clone(out.parts[i])
		}
		return &out.parts[i]
	}
	for _, key := range removed {
		removeFrom(part(key), key)
	}
	for _, o := range put {
		putInto(part(o.Key()), o)
	}
	return out
}

// Put adds an object, or replaces it, for those to whom alone they belong: it changes the objects themselves.
func (m *ByKey[T]) Put(o T) {
	if len(m.parts) == 0 {
		m.parts = make([][]T, keyParts)
	}
	putInto(&m.parts[partOf(o.Key())], o)
}

// Remove takes an object out, as Put adds one.
func (m *ByKey[T]) Remove(key string) {
	if len(m.parts) > 0 {
		removeFrom(&m.parts[partOf(key)], key)
	}
}

func putInto[T Object](part *[]T, o T) {
	at, there := placeIn(*part, o.Key())
	if there {
		(*part)[at] = o
		return
	}
	*part = slices.Insert(*part, at, o)
}

func removeFrom[T Object](part *[]T, key string) {
	if at, there := placeIn(*part, key); there {
		*part = slices.Delete(*part, at, at+1)
	}
}
